// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string_view>

namespace argtrace {

/// Whether `text` is a glob: it has a `*` (any number of characters) or a `?` (any one).
bool is_glob(std::string_view text);

/// Whether `glob` matches the whole of `text`.
bool glob_matches(std::string_view glob, std::string_view text);

} // namespace argtrace
