// SPDX-License-Identifier: GPL-2.0-only
// The context that records show, where only a kernel of some kind has it.
#include <gtest/gtest.h>

#include <memory>

#include "device.h"
#include "kallsyms.h"
#include "machine.h"

namespace vmtest {
namespace {

/// Two processes that take turns on CPU 0, in the kernel nearly all the time.
void hammer_on_cpu_0() {
    pin_to_cpu(0);
    for (;;)
        call_functions("burst", 20000);
}

TEST(Context, a_lazy_reschedule_shows) {
    if (read_file("/sys/kernel/debug/sched/preempt").find("(lazy)") == std::string::npos)
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
        return lazy > 0;
    })) << "none of " << records << " records";
    EXPECT_LT(lazy, records) << "between the tick and the reschedule, not always";
}

} // namespace
} // namespace vmtest
