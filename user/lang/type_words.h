// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace argtrace::lang {

/// Whether the word is one of those that C writes its own types with: "unsigned", "const" ...
bool is_type_keyword(std::string_view word);

/// The usual spelling of a type of C's own ("unsigned long" for long, unsigned, int); nothing if
/// these words are none. Qualifiers are ignored.
std::optional<std::string> basic_type(std::span<const std::string> words);

/// Whether a name is a type's by its looks: u8, __be16, size_t ... The parser has no BTF to look
/// into, and in `(name) - 1` has to know.
bool looks_like_type(std::string_view name);

} // namespace argtrace::lang
