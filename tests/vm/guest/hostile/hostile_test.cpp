// SPDX-License-Identifier: GPL-2.0-only
// Whatever readers do and whenever the module is unloaded, the kernel and the next reader are not
// affected. scripts/vm checks that the kernel log is clean.
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <random>
#include <thread>

#include "hostile/ioctl_fuzzer.h"
#include "hostile/random_program.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"

namespace vmtest {
namespace {

class Hostile : public testing::Test {
protected:
    static constexpr std::uint32_t packet_size = 4096;
    static constexpr std::uint32_t nr_packets = 4;
    static constexpr char session_name[] = "hostile";

    void SetUp() override {
        need_argtrace();
        need_test_module();
        remove_session(session_name);
    }
    void TearDown() override { remove_session(session_name); }

    static void attach(const RawDevice &device) {
        ASSERT_EQ(device.session(session_name, packet_size, nr_packets), 0);
    }

    static void add(const RawDevice &device, const std::string &function) {
        ASSERT_EQ(device.add(RawProbe::words(address_of(function), 4, function).bytes(), 1), 0);
    }

    using Rings = std::vector<std::unique_ptr<RawRing>>;
    static Rings map_rings(const RawDevice &device) {
        Rings rings;
        for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
            rings.push_back(std::make_unique<RawRing>(device, cpu, packet_size, nr_packets));
        return rings;
    }

    static std::uint64_t drain(const Rings &rings) {
        std::uint64_t records = 0;
        for (const auto &ring : rings)
            records += ring->drain();
        return records;
    }

    /// Run by a child until it is killed.
    static void read_for_ever() {
        RawDevice own;
        attach(own);
        while (own.reader() == EBUSY) // somebody_reads() may be it for a moment
            ;
        for (const Rings rings = map_rings(own);;)
            drain(rings);
    }

    static bool somebody_reads() {
        RawDevice device;
        attach(device);
        return device.reader() == EBUSY;
    }
};

TEST_F(Hostile, a_burst_larger_than_the_ring_is_counted_to_the_last_call) {
    RawDevice device;
    attach(device);
    add(device, "at_four");
    ASSERT_EQ(device.reader(), 0);
    const Rings rings = map_rings(device);

    call_functions("burst", 20000);
    argtrace_counts counts = device.counts().at(0);
    EXPECT_EQ(hits(counts), 20000u);
    EXPECT_GT(counts.records, 0u);
    EXPECT_GT(counts.lost[ARGTRACE_LOST_FULL], 0u);
    EXPECT_EQ(counts.records + counts.lost[ARGTRACE_LOST_FULL], 20000u);
    EXPECT_EQ(drain(rings), counts.records) << "what was counted as recorded is there";

    std::uint64_t lost = 0;
    for (const auto &ring : rings)
        lost += ring->control()->lost;
    EXPECT_EQ(lost, counts.lost[ARGTRACE_LOST_FULL]);

    call_functions("burst", 50);
    EXPECT_EQ(drain(rings), 50u) << "there is room again";
    EXPECT_EQ(hits(device.counts().at(0)), 20050u);
}

TEST_F(Hostile, writers_nested_in_writers) {
    // 4 MiB hold all records: none may be missing, whatever the timer interrupts.
    RawDevice device;
    ASSERT_EQ(device.session("", 65536, 64), 0);
    add(device, "at_four");
    add(device, "at_two");
    ASSERT_EQ(device.reader(), 0);
    std::vector<std::unique_ptr<RawRing>> rings;
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
        rings.push_back(std::make_unique<RawRing>(device, cpu, 65536, 64));

    const std::uint64_t before = storm_calls();
    std::uint64_t calls = 0, read = 0;
    for (int round = 0; round < 10 || (storm_calls() - before < 200 && round < 200); round++) {
        call_functions("storm", 5000);
        calls += 5000;
        read += drain(rings);
    }
    const std::uint64_t ticks = storm_calls() - before;
    EXPECT_GE(ticks, 200u) << "the timer hardly ran: this shows nothing";

    std::uint64_t records = 0, recursion = 0;
    for (const argtrace_counts &counts : device.counts()) {
        const bool is_four = counts.id == 1;
        EXPECT_EQ(hits(counts), is_four ? calls : ticks);
        EXPECT_EQ(counts.lost[ARGTRACE_LOST_FULL], 0u);
        // An interrupt between the guard and the preemption count looks like recursion to it, which
        // is a matter of a few instructions.
        EXPECT_EQ(counts.records + counts.lost[ARGTRACE_LOST_RECURSION], hits(counts));
        EXPECT_LE(counts.lost[ARGTRACE_LOST_RECURSION] * 100, hits(counts));
        records += counts.records;
        recursion += counts.lost[ARGTRACE_LOST_RECURSION];
    }
    std::printf("%llu calls, %llu of them in interrupts, %llu lost to recursion\n",
                static_cast<unsigned long long>(calls + ticks),
                static_cast<unsigned long long>(ticks), static_cast<unsigned long long>(recursion));
    EXPECT_EQ(read, records);
}

TEST_F(Hostile, a_reader_that_scribbles_over_its_page) {
    RawDevice device;
    attach(device);
    add(device, "at_four");
    std::uint64_t calls = 0;
    {
        RawDevice bad;
        attach(bad);
        ASSERT_EQ(bad.reader(), 0);
        const Rings rings = map_rings(bad);
        std::atomic<bool> stop = false;
        std::thread scribbler([&] {
            std::mt19937_64 random(42);
            while (!stop) {
                for (const auto &ring : rings) {
                    auto *words = reinterpret_cast<volatile std::uint64_t *>(ring->reader());
                    // Wild values, and values near the right one, which are more dangerous.
                    const std::uint64_t near = ring->control()->head + random() % 65536 - 32768;
                    words[0] = random() % 2 ? random() : near;
                    words[1 + random() % 511] = random();
                }
            }
        });
        for (int i = 0; i < 50; i++, calls += 500)
            call_functions("burst", 500);
        stop = true;
        scribbler.join();
        for (const auto &ring : rings)
            ring->reader()->tail = 0x123456789abcdef;
    }
    EXPECT_EQ(hits(device.counts().at(0)), calls);

    ASSERT_EQ(device.reader(), 0);
    const Rings rings = map_rings(device);
    drain(rings);
    const std::uint64_t before = device.counts().at(0).records;
    call_functions("burst", 40);
    EXPECT_EQ(device.counts().at(0).records - before, 40u);
    EXPECT_EQ(drain(rings), 40u) << "the next reader reads as if nothing had been";
    EXPECT_EQ(hits(device.counts().at(0)), calls + 40);
}

TEST_F(Hostile, a_reader_that_is_killed_while_it_reads) {
    RawDevice device;
    attach(device);
    add(device, "at_four");
    std::uint64_t calls = 0;
    for (int round = 0; round < 5; round++) {
        Child reader(read_for_ever);
        ASSERT_TRUE(eventually(somebody_reads));
        for (int i = 0; i < 20; i++, calls += 500)
            call_functions("burst", 500);
        EXPECT_EQ(device.reader(), EBUSY) << "it is alive";
        reader.kill_and_wait();

        RawDevice next;
        attach(next);
        ASSERT_EQ(next.reader(), 0);
        const Rings rings = map_rings(next);
        drain(rings);
        call_functions("burst", 40);
        calls += 40;
        EXPECT_EQ(drain(rings), 40u);
    }
    EXPECT_EQ(hits(device.counts().at(0)), calls);
}

TEST_F(Hostile, the_module_goes_while_functions_are_called) {
    for (int round = 0; round < 3; round++) {
        need_argtrace();
        {
            RawDevice device;
            attach(device);
            add(device, "vfs_read");
        }
        std::vector<std::unique_ptr<Child>> writers;
        for (int i = 0; i < 4; i++)
            writers.push_back(std::make_unique<Child>(hammer_vfs_read));
        Child reader(read_for_ever);
        ASSERT_TRUE(eventually(somebody_reads));
        ASSERT_TRUE(eventually([] {
            RawDevice device;
            attach(device);
            return device.counts().at(0).records > 2000;
        }));
        EXPECT_EQ(unload_module("argtrace"), EAGAIN) << "a reader has it open";
        reader.kill_and_wait();
        ASSERT_TRUE(is_armed("vfs_read"));
        EXPECT_EQ(unload_module("argtrace"), 0);
        EXPECT_FALSE(is_armed("vfs_read"));
        EXPECT_FALSE(module_is_loaded("argtrace"));
    }
    need_argtrace();
}

/// vfs_read() with a random program, for a session whose packets may be too small for it.
RawProbe with_random_program(std::mt19937_64 &random, const FuzzTargets &targets) {
    RawProbe probe = RawProbe::words(address_of("vfs_read"), 4);
    const RandomProgram program(random, targets.any);
    probe.program = program.bytes();
    for (const argtrace_arg &output : program.outputs())
        probe.args.push_back(output);
    return probe.seal();
}

TEST_F(Hostile, programs_come_and_go_while_they_run) {
    const std::uint64_t seed = test_seed();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::mt19937_64 random(seed);
    const FuzzTargets targets;
    std::vector<std::unique_ptr<Child>> writers;
    for (int i = 0; i < 4; i++)
        writers.push_back(std::make_unique<Child>(hammer_vfs_read));
    unsigned added = 0, too_large = 0;
    for (int round = 0; round < 3; round++) {
        need_argtrace();
        std::unique_ptr<Child> reader;
        for (int i = 0; i < 8; i++) {
            RawDevice device;
            attach(device);
            const int error = device.add(with_random_program(random, targets).bytes(), 1);
            if (error) {
                EXPECT_EQ(error, E2BIG);
                too_large++;
                continue;
            }
            added++;
            if (i % 4 == 0) { // the last one is killed while it reads
                reader = std::make_unique<Child>(read_for_ever);
                ASSERT_TRUE(eventually(somebody_reads));
            }
            ASSERT_TRUE(eventually([&] {
                std::uint64_t calls = 0;
                for (const argtrace_counts &counts : device.counts())
                    calls += hits(counts);
                return calls > 0;
            }));
            if (i < 7) {
                ASSERT_EQ(device.remove_all(), 0);
            }
        }
        reader.reset();
        unload_argtrace();
        EXPECT_FALSE(is_armed("vfs_read"));
    }
    std::printf("%u programs, %u of them too large\n", added + too_large, too_large);
    EXPECT_GT(added, 12u);
    need_argtrace();
}

TEST_F(Hostile, adding_and_removing_under_load) {
    std::vector<std::unique_ptr<Child>> writers;
    for (int i = 0; i < 2; i++)
        writers.push_back(std::make_unique<Child>(hammer_vfs_read));
    RawDevice device;
    attach(device);
    const std::uint64_t read = address_of("vfs_read"), write = address_of("vfs_write");
    for (int round = 0; round < 5; round++) {
        const auto both = RawProbe::words(read, 4).bytes() + RawProbe::words(write, 4).bytes();
        ASSERT_EQ(device.add(both, 2), 0);
        ASSERT_EQ(device.remove({write}), 0);
        EXPECT_TRUE(is_armed("vfs_read"));
        EXPECT_FALSE(is_armed("vfs_write"));
        ASSERT_EQ(device.remove({read}), 0);
        // To ftrace, an empty filter means every function of the kernel.
        EXPECT_EQ(read_file("/sys/kernel/tracing/enabled_functions"), "");
    }
    argtrace_list list{};
    list.size = sizeof(list);
    std::vector<std::byte> entries(65536);
    list.flags = ARGTRACE_LIST_REMOVED;
    list.buffer = reinterpret_cast<std::uintptr_t>(entries.data());
    list.length = entries.size();
    ASSERT_EQ(device.call(ARGTRACE_IOC_PROBE_LIST, &list), 0);
    EXPECT_LE(list.count, 2u) << "a removed probe comes back to life: no new one each time";
}

TEST_F(Hostile, an_id_is_never_given_twice) {
    RawDevice device;
    attach(device);
    add(device, "at_two");
    const std::uint32_t first = device.counts().at(0).id;
    ASSERT_EQ(device.remove_all(), 0);
    add(device, "at_four");
    EXPECT_NE(device.counts().at(0).id, first) << "a reader may still hold the other's schema";

    // The same probe gets the same id again, and its counts start at zero.
    call_functions("burst", 7);
    const std::uint32_t second = device.counts().at(0).id;
    ASSERT_EQ(device.remove_all(), 0);
    add(device, "at_four");
    EXPECT_EQ(device.counts().at(0).id, second);
    EXPECT_EQ(hits(device.counts().at(0)), 0u);
    call_functions("burst", 5);
    EXPECT_EQ(hits(device.counts().at(0)), 5u);
}

TEST_F(Hostile, a_traced_module_goes_and_comes_back) {
    RawDevice device;
    attach(device);
    add(device, "at_four");
    add(device, "vfs_statfs");
    ASSERT_EQ(device.counts().size(), 2u);

    ASSERT_EQ(unload_module("argtrace_test"), 0);
    EXPECT_EQ(device.counts().size(), 1u) << "its probe has gone with it";
    EXPECT_TRUE(is_armed("vfs_statfs"));

    need_test_module();
    EXPECT_FALSE(is_armed("at_four"));
    call_functions("burst", 10);
    EXPECT_EQ(hits(device.counts().at(0)), 0u);

    ASSERT_EQ(device.remove_all(), 0);
    add(device, "at_four");
    ASSERT_EQ(unload_module("argtrace_test"), 0);
    // The last function is gone: no empty filter may be left, which would mean every function.
    EXPECT_EQ(read_file("/sys/kernel/tracing/enabled_functions"), "");
    EXPECT_TRUE(device.counts().empty());
    need_test_module();
}

TEST_F(Hostile, a_refused_add_changes_no_counts) {
    RawDevice device;
    attach(device);
    add(device, "at_four");
    call_functions("burst", 2);
    ASSERT_EQ(device.remove_all(), 0);
    const auto probes = RawProbe::words(address_of("at_four"), 4, "at_four").bytes() +
                        RawProbe::words(0xffffffff00000000, 1).bytes();
    ASSERT_EQ(device.add(probes, 2), EINVAL);
    EXPECT_TRUE(device.counts().empty());
    EXPECT_EQ(hits(device.counts(ARGTRACE_LIST_REMOVED).at(0)), 2u);
}

TEST_F(Hostile, one_function_is_not_added_under_two_addresses) {
    // Where ftrace's address is after the symbol, it is accepted as well, but not together with the
    // symbol; on other kernels no function begins there.
    RawDevice device;
    attach(device);
    const std::uint64_t symbol = address_of("vfs_read");
    ASSERT_EQ(device.add(RawProbe::words(symbol, 4).bytes(), 1), 0);
    const int beside = device.add(RawProbe::words(symbol + 4, 4).bytes(), 1);
    ASSERT_EQ(device.remove({symbol}), 0);
    if (device.add(RawProbe::words(symbol + 4, 4).bytes(), 1) == 0) {
        EXPECT_EQ(beside, EEXIST);
        EXPECT_EQ(device.add(RawProbe::words(symbol, 4).bytes(), 1), EEXIST);
    } else {
        EXPECT_EQ(beside, EINVAL);
    }
}

TEST_F(Hostile, preempt_depth_does_not_count_tracers) {
    // Two sessions on one function: ftrace calls its list function, which adds a preemption
    // level of its own.
    RawDevice one, two;
    for (RawDevice *device : {&one, &two}) {
        ASSERT_EQ(device->session("", packet_size, nr_packets), 0);
        add(*device, "at_four");
    }
    ASSERT_EQ(one.reader(), 0);
    pin_to_cpu(0);
    RawRing ring(one, 0, packet_size, nr_packets);
    call_functions("burst", 3);
    ASSERT_EQ(two.remove_all(), 0);
    call_functions("burst", 3);
    const std::vector<RawRecord> records = ring.records();
    unpin();
    ASSERT_EQ(records.size(), 6u);
    for (const argtrace_record &record : records)
        EXPECT_EQ(record.preempt, 0u);
}

TEST_F(Hostile, edges_are_told_by_epoll) {
    RawDevice device;
    attach(device);
    add(device, "at_four");
    ASSERT_EQ(device.reader(), 0);
    const Rings rings = map_rings(device);
    const int poller = epoll_create1(EPOLL_CLOEXEC);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    ASSERT_EQ(epoll_ctl(poller, EPOLL_CTL_ADD, device.fd(), &event), 0);
    for (int round = 0; round < 4; round++) {
        call_functions("burst", 1);
        EXPECT_EQ(epoll_wait(poller, &event, 1, 5000), 1) << "round " << round;
        EXPECT_EQ(drain(rings), 1u);
    }
    close(poller);
}

TEST_F(Hostile, two_sessions_do_not_see_each_other) {
    RawDevice one, two;
    ASSERT_EQ(one.session(), 0);
    ASSERT_EQ(two.session("", 0, 0, ARGTRACE_FORMAT_NAMED), 0);
    add(one, "at_four");
    call_functions("burst", 30);
    add(two, "at_four");
    call_functions("burst", 50);
    EXPECT_EQ(hits(one.counts().at(0)), 80u);
    EXPECT_EQ(hits(two.counts().at(0)), 50u);
    ASSERT_EQ(one.remove_all(), 0);
    call_functions("burst", 5);
    EXPECT_EQ(hits(two.counts().at(0)), 55u);
}

TEST_F(Hostile, nothing_is_left_behind) {
    remove_session(session_name);
    expect_nothing_left();
}

} // namespace
} // namespace vmtest
