// SPDX-License-Identifier: GPL-2.0-only
// Random programs, on functions that are called in every context, and on those with which the
// kernel handles the very faults that programs cause: every call is counted once, every record
// holds what the ABI header says. scripts/vm checks that the kernel log is clean.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <thread>

#include "hostile/ioctl_fuzzer.h"
#include "hostile/random_program.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"
#include "support/mixed_load.h"
#include "support/raw_map.h"

namespace vmtest {
namespace {

constexpr const char *counted_functions[] = {"al_process", "al_interrupt", "al_nmi"};

// Those of them that exist and can be traced are used. A fault calls the first ones.
constexpr const char *hot_functions[] = {
    "fixup_exception",
    "search_exception_tables",
    "search_kernel_exception_table",
    "search_extable",
    "kernelmode_fixup_or_oops",
    "do_kern_addr_fault",
    "do_user_addr_fault",
    "bad_area_nosemaphore",
    "ex_get_fixup_type",
    "bsearch",
    "vfs_read",
    "vfs_write",
    "vfs_open",
    "d_lookup",
    "__d_lookup_rcu",
    "dput",
    "kmem_cache_free",
    "wake_up_process",
    "try_to_wake_up",
    "__schedule",
    "hrtimer_interrupt",
};

class ProgramFuzz : public testing::Test {
protected:
    static constexpr std::uint32_t packet_size = 16384;
    static constexpr std::uint32_t nr_packets = 4;

    void SetUp() override {
        need_argtrace();
        need_load_module();
        need_test_module();
        const std::uint64_t seed = test_seed();
        std::cout << "seed " << seed << ", " << steps_ << " steps" << std::endl;
        random_.seed(seed);
        targets_ = std::make_unique<FuzzTargets>();
        const auto can_be_traced = [&](std::uint64_t addr) {
            const auto &any = targets_->any, &known = targets_->known;
            return std::find(any.begin(), any.end(), addr) != any.end() ||
                   std::find(known.begin(), known.end(), addr) != known.end();
        };
        std::map<std::string_view, std::uint64_t> symbols;
        for (const KernelSymbol &symbol : kernel_symbols()) {
            symbols[symbol.name] = symbol.addr;
            if (random_() % 64 == 0)
                addresses_.push_back(symbol.addr);
        }
        for (const char *name : hot_functions) {
            const auto found = symbols.find(name);
            if (found != symbols.end() && can_be_traced(found->second))
                hot_.push_back(found->second);
        }
        EXPECT_GT(hot_.size(), 5u);
    }

    std::uint64_t random(std::uint64_t below) { return random_() % below; }

    /// A probe with a program, and what it takes to judge its records.
    struct Made {
        std::unique_ptr<RandomProgram> program;
        unsigned registers = 0;
        bool records = true;
        std::size_t map = SIZE_MAX; ///< of maps_, if it has one
    };

    RawProbe probe(std::uint64_t addr, Made &made) {
        made.registers = static_cast<unsigned>(random(3));
        if (random(3)) {
            made.program = std::make_unique<RandomProgram>(random_, addresses_);
        } else {
            made.records = false;
            if (!maps_.empty() && random(4))
                made.map = random(maps_.size());
            made.program = std::make_unique<RandomProgram>(
                random_, addresses_, made.map < maps_.size() ? &maps_[made.map]->description() : nullptr);
        }
        RawProbe probe = RawProbe::words(addr, made.registers);
        for (const argtrace_arg &output : made.program->outputs())
            probe.args.push_back(output);
        probe.program = made.program->bytes();
        probe.seal();
        return probe;
    }

    /// One that is nearly right is refused, or it is right.
    void add_nearly_right(const RawDevice &device) {
        Made made;
        RawProbe spoiled = probe(address_of("al_writer"), made);
        for (std::uint64_t left = 1 + random(3); left > 0; left--)
            spoiled.program[random(spoiled.program.size())] ^= std::byte(1 << random(8));
        const int error = device.add(spoiled.bytes(), 1);
        EXPECT_TRUE(error == 0 || error == EINVAL || error == E2BIG) << strerror(error);
        refused_ += error != 0;
        taken_ += error == 0;
        if (!error) {
            call_from_here(50);
            EXPECT_EQ(device.remove({address_of("al_writer")}), 0);
        }
    }

    void judge(const RawRecord &record) {
        const std::uint32_t id = argtrace_record_probe(record.id);
        ASSERT_TRUE(id >= 1 && id <= made_.size()) << id;
        const Made &made = made_[id - 1];
        if (!made.program) // nearly right
            return;
        const std::size_t before = 8 + 8 * made.registers; // the caller, and registers
        ASSERT_GE(record.data.size(), before);
        const std::string fault = made.program->fault_of(std::span(record.data).subspan(before));
        ASSERT_EQ(fault, "") << "a record of " << record.size << " bytes of probe " << id;
    }

    using Rings = std::vector<std::unique_ptr<RawRing>>;

    void read_once(const Rings &rings, bool flight) {
        std::uint64_t missed = 0;
        for (const auto &ring : rings) {
            for (const RawRecord &record : flight ? ring->snapshot(missed) : ring->records()) {
                judge(record);
                read_[argtrace_record_probe(record.id)]++;
            }
        }
    }

    void step() {
        const bool flight = random(3) == 0;
        RawDevice device;
        ASSERT_EQ(device.session("", packet_size, nr_packets, 0,
                                 flight ? ARGTRACE_SESSION_FLIGHT : 0,
                                 random(3) ? ARGTRACE_CLOCK_BEST : ARGTRACE_CLOCK_MONOTONIC),
                  0);
        if (!flight) {
            ASSERT_EQ(device.reader(), 0);
        }
        Rings rings;
        for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
            rings.push_back(
                std::make_unique<RawRing>(device, cpu, packet_size, nr_packets,
                                          flight ? RawRing::Mode::flight : RawRing::Mode::stream));
        maps_.clear();
        for (std::uint64_t left = random(4); left > 0; left--)
            maps_.push_back(std::make_unique<RawMap>(device, random_map(random_)));
        // Until one has been refused, which few steps might not come to.
        for (int tries = 0; tries == 0 || (refused_ == 0 && tries < 30); tries++)
            add_nearly_right(device);
        std::vector<std::uint64_t> in_maps; // what came there from programs that are nearly right
        for (const auto &map : maps_)
            in_maps.push_back(map->count());

        // One that was taken and removed has kept its id.
        const auto earlier = device.counts(ARGTRACE_LIST_REMOVED).size();
        made_.clear();
        made_.resize(earlier);
        read_.clear();
        std::vector<std::uint64_t> addrs;
        for (const char *function : counted_functions)
            addrs.push_back(address_of(function));
        std::shuffle(hot_.begin(), hot_.end(), random_);
        addrs.insert(addrs.end(), hot_.begin(), hot_.begin() + static_cast<long>(random(5)));
        for (std::uint64_t left = random(4); left > 0; left--) {
            const std::uint64_t addr = targets_->any[random(targets_->any.size())];
            if (std::find(addrs.begin(), addrs.end(), addr) == addrs.end())
                addrs.push_back(addr);
        }
        // Ids are given in the order of the addresses.
        std::sort(addrs.begin(), addrs.end());
        std::vector<std::byte> probes;
        for (const std::uint64_t addr : addrs)
            probes = probes + probe(addr, made_.emplace_back()).bytes();
        std::uint32_t failed = 0;
        const int error = device.add(probes, static_cast<std::uint32_t>(addrs.size()), &failed);
        ASSERT_EQ(error, 0) << strerror(error) << ", probe " << failed << " of " << addrs.size();

        const LoadCalls before = load_calls();
        std::atomic<bool> stop = false;
        std::thread reader([&] {
            while (!stop && !flight)
                read_once(rings, flight);
        });
        run_load({.calls = 300, .period_ns = 500000, .burst = 5, .nmis = 20, .nmi_burst = 3});
        stop = true;
        reader.join();
        const LoadCalls after = load_calls();

        const std::uint64_t calls[] = {after.process - before.process,
                                       after.interrupt - before.interrupt, after.nmi - before.nmi};
        const std::vector<argtrace_counts> counts = device.counts();
        ASSERT_EQ(counts.size(), addrs.size());
        for (std::size_t i = 0; i < std::size(counted_functions); i++) {
            const auto at = std::find(addrs.begin(), addrs.end(), address_of(counted_functions[i]));
            EXPECT_EQ(hits(counts[static_cast<std::size_t>(at - addrs.begin())]), calls[i])
                << counted_functions[i];
        }
        for (const argtrace_counts &one : counts) {
            recursion_ += one.lost[ARGTRACE_LOST_RECURSION];
            faults_ += one.faults;
            records_ += one.records;
        }
        ASSERT_EQ(device.remove_all(), 0);
        read_once(rings, flight);
        for (const argtrace_counts &one : device.counts(ARGTRACE_LIST_REMOVED)) {
            if (one.id <= earlier)
                continue;
            const Made &made = made_[one.id - 1];
            if (made.map < maps_.size())
                in_maps[made.map] += one.records;
            if (!made.records)
                aggregated_ += one.records;
            if (!made.records || !flight) {
                EXPECT_EQ(read_[one.id], made.records ? one.records : 0) << "probe " << one.id;
            }
        }
        for (std::size_t i = 0; i < maps_.size(); i++)
            EXPECT_EQ(maps_[i]->count(), in_maps[i]) << "map " << i;
    }

    // A step here is long compared with one of Stress.
    const std::uint64_t steps_ =
        std::max<std::uint64_t>(stress_steps(is_long_run() ? 300 : 40) / 5, 1);
    std::mt19937_64 random_;
    std::unique_ptr<FuzzTargets> targets_;
    std::vector<std::uint64_t> addresses_, hot_;
    std::vector<Made> made_;
    std::map<std::uint32_t, std::uint64_t> read_;
    std::vector<std::unique_ptr<RawMap>> maps_;
    std::uint64_t aggregated_ = 0;
    std::uint64_t taken_ = 0, refused_ = 0, recursion_ = 0, faults_ = 0, records_ = 0;
};

TEST_F(ProgramFuzz, under_load) {
    MixedLoad load(1);
    // Few of a few programs may be called meanwhile, and fewer of those that count: then it goes on.
    for (std::uint64_t i = 0; (i < steps_ || (aggregated_ <= steps_ && i < 10 * steps_)) && !HasFailure(); i++) {
        SCOPED_TRACE("step " + std::to_string(i));
        step();
    }
    EXPECT_GT(load.stop(), 0u);
    std::cout << records_ << " records, " << faults_ << " with faults, " << recursion_
              << " calls lost as they were too deep; of programs that are nearly right " << taken_
              << " taken, " << refused_ << " refused; " << aggregated_ << " counted or in maps\n";
    // Enough of each for the test to say something.
    EXPECT_GT(records_, 10 * steps_);
    EXPECT_GT(faults_, 10 * steps_);
    EXPECT_GT(refused_, 0u);
    EXPECT_GT(aggregated_, steps_);
}

} // namespace
} // namespace vmtest
