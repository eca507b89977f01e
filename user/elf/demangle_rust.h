// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace argtrace::elf {

struct LegacyRustName {
    std::string name;
    std::string_view suffix; ///< what is behind the mangled name
};

/// Rust's first mangling, which is that of C++ with a hash as the last part: _ZN4core3fmt5write17h0123456789abcdefE. Nothing if
/// it is something else.
std::optional<LegacyRustName> demangle_legacy_rust(std::string_view symbol);

/// Rust's own mangling (RFC 2603, "v0"): _R...; hashes of crates are left out. Nothing if it is
/// damaged, or has what this does not know.
std::optional<std::string> demangle_rust(std::string_view mangled);

} // namespace argtrace::elf
