// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <string_view>

namespace argtrace {

/// Why the module refuses to follow the returns of the function or system call (model/probe_kind.h) of that name, as it goes on after the name: "never returns".
/// Nothing: it does not, for its name.
std::optional<std::string_view> return_refusal(std::string_view function);

} // namespace argtrace
