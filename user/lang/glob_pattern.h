// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string_view>

#include "lang/node.h"

namespace argtrace::lang {

/// The simplest pattern that matches what a glob of lib/glob.c does: `*`, `?`, `[a-z]`, `[!a]`,
/// and `\` before any character that means itself. "sd*" is a PREFIX, "sda1" is WHOLE.
TextPattern simplest_pattern(std::string_view glob);

} // namespace argtrace::lang
