// SPDX-License-Identifier: GPL-2.0-only
// Makes a GoogleTest test `Cases.NAME` of each case.
#pragma once

#include <functional>
#include <string>

#include "cases/case.h"

namespace cases {

/// Takes the cases of all files FOLDER/*.case that need a kernel, or all that need none. A file
/// that cannot be read, or a folder without such a case, becomes a test that fails. `begin` runs
/// before each case and `end` after it.
bool register_cases(
    const std::string &folder, bool with_kernel, const Environment &environment,
    const std::function<void()> &begin = [] {}, const std::function<void()> &end = [] {});

} // namespace cases
