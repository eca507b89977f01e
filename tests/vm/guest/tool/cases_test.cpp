// SPDX-License-Identifier: GPL-2.0-only
// The cases of tests/vm/cases that need a kernel.
#include <cstdlib>

#include "cases/register.h"
#include "support/command.h"
#include "support/machine.h"

namespace vmtest {
namespace {

void begin() {
    need_argtrace();
    need_test_module();
    run({"argtrace", "clear"});
}

/// Cleans up, since a case may stop wherever it fails.
void end() {
    run({"rmmod", "argtrace_other_version"});
    need_argtrace();
    run({"argtrace", "clear"});
}

const bool registered = cases::register_cases(
    "/root", true, cases::parse_share(getenv("ARGTRACE_TEST_CASES")), {"/root/functions.bash", getenv("PATH") ? getenv("PATH") : "", 300}, begin, end);

} // namespace
} // namespace vmtest
