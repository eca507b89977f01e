// SPDX-License-Identifier: GPL-2.0-only
// Makes a GoogleTest test `Cases.NAME` of each case.
#pragma once

#include <functional>
#include <string>

#include "cases/case.h"

namespace cases {

/// Each N-th case, beginning with the one of that number, which is less than N.
struct Share {
    unsigned number = 0, of = 1;
};

/// What "NUMBER/N" says, where NUMBER is 1 to N; all cases where there is no text. Throws std::runtime_error.
Share parse_share(const char *text);

/// Takes the cases of all files FOLDER/*.case that need a kernel, or all that need none; of these the share. A file
/// that cannot be read, or a folder without such a case, becomes a test that fails. `begin` runs
/// before each case and `end` after it.
bool register_cases(
    const std::string &folder, bool with_kernel, const Share &share, const Environment &environment,
    const std::function<void()> &begin = [] {}, const std::function<void()> &end = [] {});

} // namespace cases
