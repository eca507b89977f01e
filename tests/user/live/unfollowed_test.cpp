// SPDX-License-Identifier: GPL-2.0-only
#include "live/unfollowed.h"

#include <gmock/gmock.h>

#include "support/thrown.h"

namespace argtrace {
namespace {

using testing::HasSubstr;

Probe returning_probe(const char *function) {
    Probe probe;
    probe.function = function;
    probe.flags = ARGTRACE_PROBE_RETURN;
    return probe;
}

TEST(Unfollowed, TheReasonIsPartOfASentence) {
    std::vector<Probe> probes{returning_probe("s:exit_group")};
    EXPECT_EQ(thrown([&] { Unfollowed().take_refused(probes); }), "s:exit_group: its return cannot be followed: it never returns");
    probes = {returning_probe("s:exit"), returning_probe("s:exit_group")};
    EXPECT_EQ(thrown([&] { Unfollowed().take_refused(probes); }),
              "their returns cannot be followed: s:exit, s:exit_group (never returns)");
    probes = {returning_probe("some_function")};
    EXPECT_EQ(thrown([&] { Unfollowed().take(probes, 0); }),
              "some_function: its return cannot be followed: it is one that the kernel lets nobody follow");
}

} // namespace
} // namespace argtrace
