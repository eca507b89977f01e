// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>

namespace argtrace {

/// A gzip file with these bytes.
std::string gzip(std::string_view bytes);

} // namespace argtrace
