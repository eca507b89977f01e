// SPDX-License-Identifier: GPL-2.0-only
// CPUs that go offline and come online while a session traces. Those that were not even present when it was made are
// a matter of tests/kunit/hotplug_test.c.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "device.h"
#include "kallsyms.h"
#include "machine.h"

namespace vmtest {
namespace {

constexpr std::uint32_t kPacketSize = 4096, kPackets = 4;

class Hotplug : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_test_module();
        cpu_ = cpu_count() - 1;
        ASSERT_GT(cpu_, 0u);
        ASSERT_TRUE(set_online(false)) << "this kernel does not take CPU " << cpu_ << " offline";
    }
    void TearDown() override {
        unpin();
        EXPECT_TRUE(set_online(true));
    }

    bool set_online(bool online) const {
        std::ofstream out("/sys/devices/system/cpu/cpu" + std::to_string(cpu_) + "/online");
        out << online << std::flush;
        return out.good();
    }

    unsigned cpu_ = 0;
};

TEST_F(Hotplug, a_cpu_that_goes_and_comes_keeps_its_ring) {
    RawDevice device;
    ASSERT_EQ(device.session("", kPacketSize, kPackets), 0);
    ASSERT_EQ(device.reader(), 0);
    ASSERT_EQ(device.add(RawProbe::words(address_of("at_four"), 4, "at_four").bytes(), 1), 0);
    RawRing ring(device, cpu_, kPacketSize, kPackets);
    const std::uint64_t used = device.info().memory_used;
    for (std::uint64_t round = 1; round <= 3; ++round) {
        ASSERT_TRUE(set_online(true));
        pin_to_cpu(cpu_);
        call_functions("burst", 20);
        unpin();
        ASSERT_TRUE(set_online(false));
        EXPECT_EQ(ring.drain(), 20u);
        EXPECT_EQ(device.counts().at(0).records, round * 20);
        EXPECT_EQ(hits(device.counts().at(0)), round * 20);
        EXPECT_EQ(device.info().memory_used, used);
    }
}

} // namespace
} // namespace vmtest
