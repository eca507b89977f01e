// SPDX-License-Identifier: GPL-2.0-only
// A machine that may have many more processors than it has: what is kept for each possible one must stay small. tests/vm/run
// --many-cpus boots such a machine.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"

namespace vmtest {
namespace {

constexpr std::uint64_t most_memory = 64 << 20;

/// From a list such as "0-254" in /sys/devices/system/cpu/.
unsigned possible_cpus() {
    const std::string list = read_file("/sys/devices/system/cpu/possible");
    return static_cast<unsigned>(std::stoul(list.substr(list.find('-') + 1))) + 1;
}

class ManyCpus : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_test_module();
        run({"argtrace", "clear"});
        ASSERT_GE(possible_cpus(), 255u);
        ASSERT_LT(cpu_count(), 16u);
    }
    void TearDown() override { run({"argtrace", "clear"}); }
};

TEST_F(ManyCpus, all_functions_take_less_than_64_mebibytes_beside_the_rings) {
    ASSERT_EQ(run({"argtrace", "add", "--buffer", "256K", "at_four"}).status, 0);
    const std::uint64_t rings = RawDevice().info().memory_used;
    const Outcome added = run({"argtrace", "add", "*"});
    ASSERT_EQ(added.status, 0) << added.err;
    const std::uint64_t all = RawDevice().info().memory_used;
    std::printf("%u possible CPUs: %llu KiB for the session with one function, %llu KiB more for all\n", possible_cpus(),
                static_cast<unsigned long long>(rings >> 10), static_cast<unsigned long long>((all - rings) >> 10));
    EXPECT_GT(all, rings);
    EXPECT_LT(all - rings, most_memory);
}

TEST_F(ManyCpus, calls_are_counted) {
    ASSERT_EQ(run({"argtrace", "add", "at_four"}).status, 0);
    for (unsigned cpu = 0; cpu < cpu_count(); ++cpu) {
        pin_to_cpu(cpu);
        call_functions("burst", 100);
    }
    unpin();
    const auto status = json_lines(run({"argtrace", "status", "--json"}).out);
    ASSERT_FALSE(status.empty());
    EXPECT_EQ(status.back()["hits"], 100 * cpu_count());
}

TEST_F(ManyCpus, rings_by_default_are_for_the_cpus_there_are) {
    ASSERT_EQ(run({"argtrace", "add", "at_four"}).status, 0);
    EXPECT_LT(RawDevice().info().memory_used, most_memory);
}

} // namespace
} // namespace vmtest
