// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace argtrace::lang {

/// The value of a macro of the kernel's interface, which BTF does not have: O_*, S_I*, MAP_*,
/// PROT_*, SIG*, AF_*, CLONE_*, MS_*, AT_*, SEEK_*, SOCK_*, FMODE_*, errno names, those of the
/// kernel alone too. As this machine's kernel has it.
std::optional<std::int64_t> macro_constant(std::string_view name);

/// Their names, for suggestions. They live as long as the program.
std::vector<std::string_view> macro_names();

} // namespace argtrace::lang
