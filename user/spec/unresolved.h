// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/expression_error.h"
#include "spec/spec.h"
#include "util/error.h"

namespace argtrace {

/// The functions of a spec in which its expressions, or the request's conditions, cannot be
/// resolved, and those whose returns cannot be followed.
class Unresolved {
public:
    /// The spec and the conditions, which are those of --if, must outlive it. `keys` is the text of --by.
    Unresolved(const Spec &spec, const std::vector<lang::Expression> &conditions, std::string keys)
        : spec_(&spec), conditions_(&conditions), keys_(std::move(keys)) {}

    void add(std::string_view function, const lang::ExpressionError &error);

    /// Its return cannot be followed, for which `why` is a sentence about it.
    void add_unfollowed(std::string_view function, std::string_view why);

    bool empty() const { return names_.total == 0 && unfollowed_.total == 0; }

    /// Some cannot be for the spec's own sake.
    bool by_spec() const { return by_spec_; }

    /// Why that of them cannot be in which most is resolved.
    Error error() const;

    /// "2 functions are left out, where --if cannot be resolved (a, b): ...", for each cause.
    std::vector<std::string> describe() const;

private:
    struct Names {
        std::size_t total = 0;
        std::vector<std::string> first; // few
        std::string sentence;           // about the first

        void add(std::string_view function);
        std::string describe(std::string_view what) const;
    };

    // The option whose expression that is, or none.
    std::string_view option_of(std::string_view text) const;

    const Spec *spec_;
    const std::vector<lang::Expression> *conditions_;
    std::string keys_;
    std::string_view option_; // whose expression it is that cannot be resolved, if not the spec's
    Names names_, unfollowed_;
    std::optional<lang::ExpressionError> furthest_; // of those in the same text
    bool by_spec_ = false;
};

} // namespace argtrace
