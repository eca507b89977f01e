// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "spec/capture.h"
#include "spec/followers.h"
#include "spec/functions.h"
#include "spec/kernel.h"
#include "spec/spec.h"
#include "spec/unresolved.h"
#include "util/error.h"

namespace argtrace {

/// Collects what is found for a request. The finders of all kinds of probes hand in what a spec means; what cannot be recorded as the
/// request wants it is not taken.
class Search {
public:
    /// Both stay the caller's.
    Search(Kernel &kernel, const Request &request);

    /// The probe of a timer.
    void add_ticks(const Timer &timer);

    /// Whether a spec of the request excludes it.
    bool is_excluded(std::string_view name, std::string_view module) const;

    /// For the functions of a spec that accept() does not take. The spec must outlive it.
    Unresolved unresolved(const Spec &spec) const;

    /// Takes what has been found for the spec. False if what is wanted of it cannot be resolved there.
    bool accept(const Spec &spec, Function function, Unresolved &unresolved);

    /// A sentence about the spec, for what has been left out.
    void note_left(const Spec &spec, std::string_view sentence);
    void note_unresolved(const Spec &spec, const Unresolved &unresolved);

    /// Nothing is left of the functions that the spec means. Throws Error, unless that is due to the request's conditions: other specs
    /// may still have some.
    void give_up(const Unresolved &unresolved);

    /// All specs have been looked at. Throws Error when they come to nothing.
    Found finish();

private:
    void choose(const Spec &spec, Function &function);
    void add(const Spec &spec, Function function);
    void add_goroutines();
    void check_exclusions() const;

    const Request &request_;
    Followers followers_;
    CaptureCompiler compiler_;
    std::optional<Error> unmet_; // no function of a spec meets the request's conditions
    Found found_;
    /// By kind, file and address: where in found_.functions.
    std::map<std::tuple<std::uint16_t, const UserFile *, std::uint64_t>, std::size_t> index_;
};

} // namespace argtrace
