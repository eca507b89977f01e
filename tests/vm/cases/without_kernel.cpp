// SPDX-License-Identifier: GPL-2.0-only
// The cases that need no kernel, for CTest: they run the tool that has just been built.
#include <cstdlib>

#include "cases/register.h"

namespace {

std::string path_with_tool() {
    const char *const path = getenv("PATH");
    return std::string(ARGTRACE_TOOL_FOLDER ":") + (path ? path : "/usr/bin:/bin");
}

const bool registered = cases::register_cases(
    ARGTRACE_CASES, false, {}, {ARGTRACE_CASES "/functions.bash", path_with_tool(), 60});

} // namespace
