// SPDX-License-Identifier: GPL-2.0-only
// CPUs that go offline and come online while a session traces. Those that were not even present when it was made are
// a matter of tests/kunit/hotplug_test.c, where the module has seen each CPU already.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "device.h"
#include "kallsyms.h"
#include "machine.h"

namespace vmtest {
namespace {

constexpr std::uint32_t kPacketSize = 4096, kPackets = 4;

std::vector<std::byte> probe_at(std::uint64_t addr) { return RawProbe::words(addr, 0).bytes(); }

/// The names of the functions that ftrace can trace.
std::set<std::string, std::less<>> traceable_functions() {
    std::set<std::string, std::less<>> names;
    std::istringstream lines(read_file("/sys/kernel/tracing/available_filter_functions"));
    for (std::string line; std::getline(lines, line);)
        names.insert(line.substr(0, line.find(' ')));
    return names;
}

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

// Counters of probes have a page for each CPU that has been online since the module was loaded. While the mapping that
// holds these pages is replaced by one with another page, calls go on, and not one of them is counted elsewhere.
TEST_F(Hotplug, a_cpu_that_comes_for_the_first_time_gets_counters) {
    ASSERT_EQ(unload_module("argtrace"), 0);
    need_argtrace();
    // The probe under test is the last one, so that it is not in the first block.
    std::vector<std::byte> probes;
    std::uint32_t count = 0;
    const auto traceable = traceable_functions();
    for (const KernelSymbol &symbol : kernel_symbols()) {
        if (symbol.name.starts_with("__x64_sys_") && traceable.contains(symbol.name) && count < 150)
            probes = probes + probe_at(symbol.addr), ++count;
    }
    ASSERT_GT(count, 110u) << "more than one block of counters is wanted";
    RawDevice device;
    ASSERT_EQ(device.session("", kPacketSize, kPackets), 0);
    ASSERT_EQ(device.add(probes, count), 0);
    ASSERT_EQ(device.add(probe_at(address_of("at_four")), 1), 0);
    const std::uint64_t used = device.info().memory_used;

    constexpr std::uint64_t kBursts = 300, kCalls = 1000;
    std::thread caller([] {
        pin_to_cpu(0);
        for (std::uint64_t burst = 0; burst < kBursts; ++burst)
            call_functions("burst", kCalls);
    });
    EXPECT_TRUE(set_online(true));
    pin_to_cpu(cpu_);
    call_functions("burst", 20);
    caller.join();
    unpin();
    EXPECT_EQ(hits(device.counts().back()), kBursts * kCalls + 20);
    // A page for each block: of the first call of PROBE_ADD two, of the second one.
    EXPECT_EQ(device.info().memory_used, used + 3 * 4096);

    // It has its counters for good.
    ASSERT_TRUE(set_online(false));
    const std::uint64_t with_it = device.info().memory_used;
    ASSERT_TRUE(set_online(true));
    EXPECT_EQ(device.info().memory_used, with_it);
    EXPECT_EQ(hits(device.counts().back()), kBursts * kCalls + 20);
}

} // namespace
} // namespace vmtest
