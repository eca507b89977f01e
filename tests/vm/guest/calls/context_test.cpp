// SPDX-License-Identifier: GPL-2.0-only
// The context that records show, where only a kernel of some kind or another tracer makes it what
// it is.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "support/command.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"
#include "support/tracefs.h"

namespace vmtest {
namespace {

/// Two processes that take turns on CPU 0, in the kernel nearly all the time.
void hammer_on_cpu_0() {
    pin_to_cpu(0);
    for (;;)
        call_functions("burst", 20000);
}

TEST(Context, a_lazy_reschedule_shows) {
    const std::string file = "/sys/kernel/debug/sched/preempt"; // not there where nothing can be chosen
    if (!std::filesystem::exists(file) || read_file(file).find("(lazy)") == std::string::npos)
        GTEST_SKIP() << "this kernel does not reschedule lazily";
    need_argtrace();
    need_test_module();
    constexpr std::uint32_t packet_size = 65536, nr_packets = 64;
    RawDevice device;
    ASSERT_EQ(device.session("", packet_size, nr_packets), 0);
    ASSERT_EQ(device.add(RawProbe::words(address_of("at_four"), 0, "at_four").bytes(), 1), 0);
    ASSERT_EQ(device.reader(), 0);
    RawRing ring(device, 0, packet_size, nr_packets);

    Child one(hammer_on_cpu_0), two(hammer_on_cpu_0);
    std::uint64_t lazy = 0, records = 0;
    EXPECT_TRUE(eventually([&] {
        for (const RawRecord &record : ring.records()) {
            lazy += (record.context & ARGTRACE_CTX_NEED_RESCHED_LAZY) != 0;
            records++;
        }
        return lazy > 0 && lazy < records;
    })) << lazy << " of " << records << " records, which it should be between the tick and the reschedule alone";
}

/// Expects this caller of ksys_read(), as JSON and as text.
void expect_caller(const nlohmann::json &json, const std::string &text) {
    const Outcome one = run(
        {"argtrace", "trace", "-n", "1", "--json", "-F", "ksys_read", "--", "cat", "/etc/passwd"});
    const auto events = json_lines(one.out);
    ASSERT_EQ(events.size(), 1u) << one.err;
    EXPECT_EQ(events[0]["caller"], json);
    const Outcome other =
        run({"argtrace", "trace", "-n", "1", "-F", "ksys_read", "--", "cat", "/etc/passwd"});
    EXPECT_NE(other.out.find(" <- " + text + "\n"), std::string::npos) << other.out << other.err;
}

// It has put the address of its own code in the place of the caller's: __x64_sys_read() ends with a
// jump to ksys_read(), which finds it there as the address that it returns to.
TEST(Context, a_caller_that_a_tracer_of_returns_hides_is_unknown) {
    need_argtrace();
    const Outcome plain = run(
        {"argtrace", "trace", "-n", "1", "--json", "-F", "ksys_read", "--", "cat", "/etc/passwd"});
    const auto events = json_lines(plain.out);
    ASSERT_EQ(events.size(), 1u) << plain.err;
    const std::string caller = events[0]["caller"];
    const bool is_called = caller.starts_with(SYSCALL_PREFIX "read+");
    if (is_arm64 && is_called)
        GTEST_SKIP() << "the compiler has made a call of ksys_read(), and no jump";
    ASSERT_FALSE(is_called) << "it calls ksys_read() and does not jump there";

    EXPECT_EQ(write_tracefs("dynamic_events", "r:at_returns " SYSCALL_PREFIX "read\n"), 0);
    EXPECT_EQ(write_tracefs("events/kprobes/at_returns/enable", "1"), 0);
    expect_caller(nullptr, "?");
    EXPECT_EQ(write_tracefs("events/kprobes/at_returns/enable", "0"), 0);
    EXPECT_EQ(write_tracefs("dynamic_events", "-:kprobes/at_returns\n"), 0);

    if (has_fprobe()) {
        EXPECT_EQ(write_tracefs("dynamic_events", "f:at_returns " SYSCALL_PREFIX "read%return\n"), 0);
        EXPECT_EQ(write_tracefs("events/fprobes/at_returns/enable", "1"), 0);
        expect_caller(nullptr, "?");
        EXPECT_EQ(write_tracefs("events/fprobes/at_returns/enable", "0"), 0);
        EXPECT_EQ(write_tracefs("dynamic_events", "-:fprobes/at_returns\n"), 0);
    }

    EXPECT_EQ(write_tracefs("set_ftrace_filter", SYSCALL_PREFIX "read\n"), 0);
    EXPECT_EQ(write_tracefs("current_tracer", "function_graph"), 0);
    expect_caller(nullptr, "?");
    EXPECT_EQ(write_tracefs("current_tracer", "nop"), 0);
    EXPECT_EQ(write_tracefs("set_ftrace_filter", "!" SYSCALL_PREFIX "read\n"), 0);

    expect_caller(caller, caller);
}

} // namespace
} // namespace vmtest
