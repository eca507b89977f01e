// SPDX-License-Identifier: GPL-2.0-only
// The clocks of sessions: what a record's time is in nanoseconds of CLOCK_MONOTONIC.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <map>

#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"

namespace vmtest {
namespace {

std::int64_t monotonic() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

bool has_tsc() {
    return RawDevice().info().features & ARGTRACE_FEATURE_TSC;
}

std::uint32_t clock_of(std::uint32_t wanted, int *error) {
    argtrace_session_attr attr{};
    attr.size = sizeof(attr);
    attr.clock = wanted;
    RawDevice device;
    *error = device.call(ARGTRACE_IOC_SESSION, &attr);
    return attr.clock;
}

class Clock : public testing::Test {
protected:
    void SetUp() override { need_argtrace(); }
    void TearDown() override { run({"argtrace", "clear"}); }
};

TEST_F(Clock, best_is_the_tsc_where_it_can_be_had) {
    int error = -1;
    if (has_tsc()) {
        EXPECT_EQ(clock_of(ARGTRACE_CLOCK_BEST, &error), ARGTRACE_CLOCK_TSC);
        EXPECT_EQ(clock_of(ARGTRACE_CLOCK_TSC, &error), ARGTRACE_CLOCK_TSC);
        EXPECT_EQ(error, 0);
    } else {
        EXPECT_EQ(clock_of(ARGTRACE_CLOCK_BEST, &error), ARGTRACE_CLOCK_MONOTONIC);
        clock_of(ARGTRACE_CLOCK_TSC, &error);
        EXPECT_EQ(error, EOPNOTSUPP);
    }
    EXPECT_EQ(clock_of(ARGTRACE_CLOCK_MONOTONIC, &error), ARGTRACE_CLOCK_MONOTONIC);
    EXPECT_EQ(error, 0);
}

TEST_F(Clock, this_machine_has_a_tsc) {
    // The kernel itself counts the TSC, or what arm64 has for it; otherwise the tests of it would show nothing.
    std::ifstream in("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    std::string source;
    in >> source;
    EXPECT_EQ(has_tsc(), source == "tsc" || source == "tsc-early" || source == "arch_sys_counter") << source;
}

/// Calls vfs_read, each time between two readings of CLOCK_MONOTONIC, and compares the times shown.
void times_lie_between(const std::string &clock) {
    constexpr int calls = 400, at_a_time = 100;
    // Half a microsecond on either side, plus the error of the rate (a few millionths) over the seconds
    // between two samples of both clocks; a machine that shares its processor adds to both.
    constexpr std::int64_t slack = 20000;
    const Outcome added =
        run({"argtrace", "add", "--clock", clock, "--buffer", "4M", "vfs_read"});
    ASSERT_EQ(added.status, 0) << added.err;

    std::vector<std::pair<std::int64_t, std::int64_t>> around;
    const int fd = open("/dev/zero", O_RDONLY);
    char byte;
    for (int i = 0; i < calls; i++) {
        if (i % at_a_time == 0)
            usleep(700000); // the upper half of the counter changes meanwhile
        const std::int64_t before = monotonic();
        ASSERT_EQ(read(fd, &byte, 1), 1);
        around.emplace_back(before, monotonic());
    }
    close(fd);

    const Outcome shown = run({"argtrace", "trace", "--json", "--duration", "0.2"});
    std::map<int, std::int64_t> last;
    std::size_t found = 0;
    for (const auto &event : json_lines(shown.out)) {
        const std::int64_t ts = event["ts"];
        EXPECT_GE(ts, last[event["cpu"]]) << "time steps back on a CPU";
        last[event["cpu"]] = ts;
        if (event["tid"] != gettid() || event["args"]["count"] != 1 || found == calls)
            continue;
        ASSERT_GE(ts, around[found].first - slack) << found;
        ASSERT_LE(ts, around[found].second + slack) << found;
        found++;
    }
    EXPECT_EQ(found, calls) << shown.err;
}

TEST_F(Clock, tsc_is_shown_as_monotonic) {
    if (!has_tsc())
        GTEST_SKIP() << "the TSC of this machine cannot be trusted";
    times_lie_between("tsc");
}

TEST_F(Clock, monotonic_is_shown_as_it_is) {
    times_lie_between("mono");
}

TEST_F(Clock, a_session_keeps_its_clock) {
    ASSERT_EQ(run({"argtrace", "add", "--clock", "mono", "vfs_read"}).status, 0);
    EXPECT_EQ(run({"argtrace", "add", "--clock", "mono", "vfs_write"}).status, 0);
    EXPECT_EQ(run({"argtrace", "add", "vfs_open"}).status, 0);
    if (!has_tsc())
        return;
    const Outcome other = run({"argtrace", "add", "--clock", "tsc", "vfs_fsync"});
    EXPECT_NE(other.status, 0);
    EXPECT_NE(other.err.find("--clock tsc"), std::string::npos) << other.err;
}

} // namespace
} // namespace vmtest
