// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "model/probe.h"
#include "spec/calls.h"
#include "spec/functions.h"

namespace argtrace {

/// How the table of calls shows an argument of several functions, or what they return, where it stands for the calls of all of them, as in
/// keys: as all their rows show it.
class CommonForm {
public:
    explicit CommonForm(const Calls &calls) : calls_(calls) {}

    /// Takes one more function in: its argument of that name, or lang::result_name.
    void add(const Function &function, std::string_view name);
    /// The same of a probe, with the argument that is recorded.
    void add(const Probe &probe, const Argument &argument);

    /// Nothing where some rows differ, or do not know it, or show it as its type says.
    std::optional<ShownAs> form() const;

private:
    void add_row_form(const ShownAs *form);
    void add_rows(std::string_view title, std::optional<std::size_t> position, std::string_view name, std::string_view type);

    const Calls &calls_;
    std::optional<ShownAs> form_;
    bool differs_ = false;
};

} // namespace argtrace
