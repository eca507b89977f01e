// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>

namespace argtrace {

/// The text with U+FFFD for whatever in it is not UTF-8. Valid until the next call in this thread.
std::string_view valid_utf8(std::string_view text);

} // namespace argtrace
