// SPDX-License-Identifier: GPL-2.0-only
// ARGTRACE_READER_EXCLUDE_SELF: the reader's own calls, and nobody else's.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actor.h"
#include "device.h"
#include "kallsyms.h"
#include "machine.h"

namespace vmtest {
namespace {

TEST(Exclusion, ends_with_the_process_though_another_holds_its_file) {
    need_argtrace();
    need_test_module();
    RawDevice device;
    ASSERT_EQ(device.session("", 4096, 4), 0);
    ASSERT_EQ(device.add(RawProbe::words(address_of("at_four"), 4, "at_four").bytes(), 1), 0);

    const pid_t reader = fork();
    if (reader == 0) {
        if (device.reader(ARGTRACE_READER_EXCLUDE_SELF) != 0)
            _exit(1);
        call_functions("burst", 3);
        _exit(0);
    }
    int status = 1;
    ASSERT_EQ(waitpid(reader, &status, 0), reader);
    ASSERT_EQ(status, 0);
    ASSERT_EQ(device.counts().at(0).filtered, 3u);

    Actor namesake(reader);
    ASSERT_EQ(namesake.pid(), reader);
    namesake.call(5);
    EXPECT_EQ(device.counts().at(0).filtered, 3u) << "it has nothing to do with the reader";
    EXPECT_EQ(hits(device.counts().at(0)), 8u);

    // The file is still the reader, and may exclude a process again.
    EXPECT_EQ(device.reader(ARGTRACE_READER_EXCLUDE_SELF), 0);
    call_functions("burst", 2);
    EXPECT_EQ(device.counts().at(0).filtered, 5u);
}

} // namespace
} // namespace vmtest
