// SPDX-License-Identifier: GPL-2.0-only
// Calls whose return is followed, in every context and while CPUs go and come: each is recorded once, or counted.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/command.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"
#include "support/mixed_load.h"

namespace vmtest {
namespace {

constexpr std::uint32_t returns_packet_size = 64 << 10, returns_packets = 16;

/// A function of `count` words that returns nothing.
RawProbe call_of_words(const std::string &function, unsigned count) {
    RawProbe probe = RawProbe::words(address_of(function), count, function);
    probe.header.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0);
    return probe;
}

/// A session whose rings are all mapped.
class ReturnSession {
public:
    ReturnSession() {
        EXPECT_EQ(device_.session("", returns_packet_size, returns_packets), 0);
        EXPECT_EQ(device_.reader(), 0);
        for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
            rings_.push_back(std::make_unique<RawRing>(device_, cpu, returns_packet_size, returns_packets));
    }

    RawDevice &device() { return device_; }
    std::vector<RawRecord> records() {
        std::vector<RawRecord> all;
        for (const auto &ring : rings_) {
            const auto own = ring->records();
            all.insert(all.end(), own.begin(), own.end());
        }
        return all;
    }

private:
    RawDevice device_;
    std::vector<std::unique_ptr<RawRing>> rings_;
};

std::uint64_t word_of(const RawRecord &record, std::size_t index) {
    std::uint64_t value = 0;
    if ((index + 1) * 8 > record.data.size())
        ADD_FAILURE() << "a record of " << record.size << " bytes";
    else
        memcpy(&value, &record.data[index * 8], 8);
    return value;
}

TEST(Returns, of_calls_in_processes_interrupts_and_nmis) {
    need_argtrace();
    need_load_module();
    constexpr const char *functions_of_load[] = {"al_process", "al_interrupt", "al_nmi"};
    ReturnSession session;
    std::vector<std::byte> probes;
    for (const char *function : functions_of_load)
        probes = probes + call_of_words(function, 3).bytes();
    ASSERT_EQ(session.device().add(probes, std::size(functions_of_load)), 0);

    const LoadCalls before = load_calls();
    Load load;
    load.calls = 2000;
    load.period_ns = 300000;
    load.burst = 5;
    load.nmis = 20;
    load.nmi_burst = 3;
    run_load(load);
    const LoadCalls after = load_calls();
    const std::uint64_t calls[] = {after.process - before.process, after.interrupt - before.interrupt, after.nmi - before.nmi};

    std::map<std::uint32_t, std::uint64_t> seen;
    std::uint64_t in_nmi = 0, in_interrupt = 0;
    for (const RawRecord &record : session.records()) {
        seen[record.id]++;
        // Caller, duration, and the three arguments.
        ASSERT_EQ(word_of(record, 3), ~word_of(record, 2));
        in_nmi += (record.context & ARGTRACE_CTX_NMI) != 0;
        in_interrupt += (record.context & (ARGTRACE_CTX_NMI | ARGTRACE_CTX_HARDIRQ)) == ARGTRACE_CTX_HARDIRQ;
    }
    const auto counts = session.device().return_counts();
    ASSERT_EQ(counts.size(), std::size(functions_of_load));
    for (std::size_t i = 0; i < counts.size(); i++) {
        EXPECT_EQ(calls[i] > 0, i != 2 || has_nmis) << functions_of_load[i];
        EXPECT_EQ(hits(counts[i]), calls[i]) << functions_of_load[i];
        EXPECT_EQ(counts[i].in_flight, 0u) << functions_of_load[i];
        EXPECT_EQ(seen[counts[i].counts.id], counts[i].counts.records) << functions_of_load[i];
        for (const auto reason : {ARGTRACE_UNFOLLOWED_TAKEN, ARGTRACE_UNFOLLOWED_REMOVED, ARGTRACE_UNFOLLOWED_EXITED})
            EXPECT_EQ(counts[i].unfollowed[reason], 0u) << functions_of_load[i];
    }
    EXPECT_EQ(in_nmi, counts[2].counts.records);
    EXPECT_EQ(in_interrupt, counts[1].counts.records);
    EXPECT_EQ(counts[2].counts.records > 0, has_nmis);
    EXPECT_GT(counts[1].counts.records, 0u);
}

/// The last CPU; online again at the end.
class LastCpu {
public:
    ~LastCpu() { set_online(true); }

    bool set_online(bool online) const {
        std::ofstream out("/sys/devices/system/cpu/cpu" + std::to_string(number_) + "/online");
        out << online << std::flush;
        return out.good();
    }

private:
    unsigned number_ = cpu_count() - 1;
};

TEST(Returns, while_a_cpu_goes_and_comes_under_load) {
    need_argtrace();
    need_test_module();
    ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
    constexpr std::uint64_t bursts = 30, burst_size = 100;
    constexpr int rounds = 3;
    {
        ReturnSession session;
        ASSERT_EQ(session.device().add(call_of_words("at_four", 4).bytes(), 1), 0);
        // What brings CPUs up and down is followed as well.
        const Outcome added = run({"argtrace", "add", "-r", "--buffer", "1M", "vfs_*", "cpuhp_invoke_callback*", "sched_cpu_*"});
        ASSERT_EQ(added.status, 0) << added.err;
        std::uint64_t rounds_of_load = 0;
        {
            LastCpu cpu;
            MixedLoad load(2);
            std::thread caller([] {
                for (std::uint64_t burst = 0; burst < bursts; ++burst)
                    call_functions("burst", burst_size);
            });
            for (int round = 0; round < rounds; ++round) {
                EXPECT_TRUE(cpu.set_online(false));
                EXPECT_TRUE(cpu.set_online(true));
            }
            caller.join();
            rounds_of_load = load.stop();
        }
        EXPECT_GT(rounds_of_load, 0u);
        const auto own = session.device().return_counts().at(0);
        EXPECT_EQ(hits(own), bursts * burst_size);
        EXPECT_EQ(own.counts.records, bursts * burst_size);
        EXPECT_EQ(session.records().size(), bursts * burst_size);

        RawDevice device;
        ASSERT_EQ(device.session("default"), 0);
        std::uint64_t hit = 0;
        for (const auto &one : device.return_counts())
            hit += hits(one);
        EXPECT_GT(hit, 0u);
    }
    EXPECT_EQ(run({"argtrace", "clear"}).status, 0);
    EXPECT_TRUE(eventually([] { return RawDevice().info().in_flight == 0; })) << "a CPU has taken calls with it";
}

} // namespace
} // namespace vmtest
