// SPDX-License-Identifier: GPL-2.0-only
// Maps, without the tool: what the calls of functions in all contexts on all CPUs come to is known, and
// so is what must be in the slots then, to the last call.
#include <gtest/gtest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sinks/maps.h"

namespace vmtest {
namespace {

TEST_F(Maps, a_probe_that_only_counts_counts_every_call) {
    for (const char *function : load_functions)
        add(function, SinkProgram());
    run_load(some_load());
    EXPECT_EQ(counts().records, all_calls());
    EXPECT_EQ(hits(counts()), all_calls());
    EXPECT_EQ(load_calls().nmi > 0, has_nmis);
}

TEST_F(Maps, a_count_of_what_the_filter_accepts) {
    add("al_process", SinkProgram().only(number_arg, 3, 1));
    run_load(some_load());
    EXPECT_EQ(counts().records, load_calls().process / 4);
    EXPECT_EQ(counts().filtered, load_calls().process / 4 * 3);
}

TEST_F(Maps, sampled_and_capped_calls_are_not_counted) {
    SinkProgram sampled, capped;
    sampled.head.sample = 10;
    capped.head.max_rate = 7;
    add("al_process", sampled);
    add("al_writer", capped);
    run_load(some_load());
    call_from_here(500);
    const argtrace_counts sum = counts();
    EXPECT_EQ(sum.sampled, load_calls().process / 10 * 9);
    EXPECT_GE(sum.records, load_calls().process / 10 + 7);
    EXPECT_GT(sum.capped, 0u);
    EXPECT_EQ(hits(sum), load_calls().process + 500);
}

// The calls of a function on a CPU have the numbers from 0 on, and say which CPU it is.
void expect_known_counts(const RawMap &map, unsigned residues) {
    std::map<std::uint64_t, std::uint64_t> of_cpu;
    const auto keys = map.read();
    for (const auto &[key, sum] : keys)
        of_cpu[key[1]] += sum.count;
    // A busy host may keep the interrupts from a CPU, but not what processes do there.
    ASSERT_GE(of_cpu.size(), 1u);
    std::size_t expected = 0;
    for (const auto &[cpu, count] : of_cpu)
        expected += std::min<std::uint64_t>(count, residues);
    for (const auto &[key, sum] : keys)
        ASSERT_EQ(sum.count, (of_cpu[key[1]] + residues - 1 - key[0]) / residues)
            << key[0] << " of CPU " << key[1];
    EXPECT_EQ(keys.size(), expected);
}

TEST_F(Maps, counts_by_two_words_in_all_contexts) {
    std::vector<std::unique_ptr<RawMap>> maps;
    for (const char *function : load_functions) {
        maps.push_back(std::make_unique<RawMap>(device_, RawMap::counts(64, 2)));
        const std::uint32_t id = maps.back()->description().id;
        ASSERT_EQ(id, maps.size() - 1);
        add(function, SinkProgram(ARGTRACE_SINK_MAP, id).reg(number_arg, 15).reg(cpu_arg));
    }
    run_load(some_load());
    for (std::size_t i = 0; i < maps.size(); i++) {
        if (load_functions[i] == std::string("al_nmi") && !has_nmis)
            EXPECT_TRUE(maps[i]->read().empty());
        else
            expect_known_counts(*maps[i], 16);
    }
    EXPECT_EQ(counts().records, all_calls());
    EXPECT_EQ(hits(counts()), all_calls());
    EXPECT_EQ(counts().faults, 0u);
}

// One map for all of them: an NMI comes while an interrupt or a process claims or finds the same slots.
TEST_F(Maps, all_contexts_share_a_map) {
    const RawMap map(device_, RawMap::values(256, 1, ARGTRACE_BUCKETS_NONE));
    for (const char *function : load_functions)
        add(function, SinkProgram(ARGTRACE_SINK_MAP, 0).reg(number_arg, 7).reg(complement_arg));
    for (int i = 0; i < 3; i++)
        run_load(some_load());
    const auto keys = map.read();
    EXPECT_EQ(keys.size(), 8u);
    std::uint64_t calls = 0, sum = 0;
    for (const auto &[key, slot] : keys) {
        EXPECT_EQ(slot.max, ~key[0]) << key[0];
        EXPECT_LT(slot.min, slot.max);
        calls += slot.count;
        sum += slot.sum;
    }
    EXPECT_EQ(calls, all_calls());
    EXPECT_EQ(counts().records, calls);
    // Only the calls of processes are as many on each CPU.
    const std::uint64_t n = load_calls().process / cpu_count();
    EXPECT_NE(sum, 0u);
    EXPECT_GE(n, 3u * calls_of_process);
}

// What functions return, and how long they take.
TEST_F(Maps, calls_are_added_when_they_return) {
    constexpr std::size_t size = 777; // of no other read
    const RawMap map(device_, RawMap::values(64, 1, ARGTRACE_BUCKETS_LOG2));
    RawProbe probe = SinkProgram(ARGTRACE_SINK_MAP, 0)
                         .only(2, every_bit, size)
                         .source(ARGTRACE_SOURCE_RETURN)
                         .source(ARGTRACE_SOURCE_DURATION)
                         .probe(address_of("vfs_read"));
    probe.header.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0);
    ASSERT_EQ(device_.add(probe.seal().bytes(), 1), 0);
    SinkProgram counted;
    counted.only(2, every_bit, size);
    RawDevice other;
    ASSERT_EQ(other.session("", packet_size, nr_packets), 0);
    if (follows_beside_others) {
        ASSERT_EQ(other.add(counted.probe(address_of("vfs_read")).bytes(), 1), 0);
    }

    char buffer[size];
    for (const auto &[path, times] : {std::pair("/dev/zero", 50), std::pair("/dev/null", 30)}) {
        const int file = open(path, O_RDONLY | O_CLOEXEC);
        for (int i = 0; i < times; i++)
            ASSERT_GE(read(file, buffer, size), 0);
        close(file);
    }
    std::map<std::uint64_t, SlotSum> returned;
    for (const auto &[key, sum] : map.read()) {
        EXPECT_EQ(static_cast<std::int64_t>(key[1]), log2_bucket(sum.min, false));
        EXPECT_EQ(static_cast<std::int64_t>(key[1]), log2_bucket(sum.max, false));
        EXPECT_LE(sum.min, sum.max);
        EXPECT_GE(sum.sum, sum.count * sum.min);
        EXPECT_LE(sum.sum, sum.count * sum.max);
        returned[key[0]].count += sum.count;
        returned[key[0]].sum += sum.sum;
    }
    ASSERT_EQ(returned.size(), 2u);
    EXPECT_EQ(returned[size].count, 50u);
    EXPECT_EQ(returned[0].count, 30u);
    EXPECT_GT(returned[size].sum, 0u);
    EXPECT_EQ(counts().records, 80u);
    if (follows_beside_others) {
        EXPECT_EQ(other.counts().at(0).records, 80u);
    }
}

TEST_F(Maps, a_value_that_cannot_be_read_is_counted_apart) {
    const RawMap map(device_, RawMap::values(64, 1, ARGTRACE_BUCKETS_LOG2));
    // The complement of a small number is no address; a number is one of user space that is not there.
    add("al_writer", SinkProgram(ARGTRACE_SINK_MAP, 0).reg(number_arg, 1).behind(number_arg, 0, 8));
    call_from_here(50);
    const auto keys = map.read();
    ASSERT_EQ(keys.size(), 2u);
    for (const auto &[key, sum] : keys) {
        EXPECT_EQ(key[1], 0u) << "the bucket of 0";
        EXPECT_EQ(sum.count, 25u);
        EXPECT_EQ(sum.faults, 25u);
        EXPECT_EQ(sum.sum, 0u);
    }
    EXPECT_EQ(counts().faults, 50u);
    EXPECT_EQ(counts().records, 50u);
}

// As long as there is room for a key it is counted, and from then on every call of another one is lost.
TEST_F(Maps, too_small_a_map_counts_what_it_loses) {
    const RawMap map(device_, RawMap::values(64, 1, ARGTRACE_BUCKETS_NONE));
    for (const char *function : load_functions)
        add(function, SinkProgram(ARGTRACE_SINK_MAP, 0).reg(number_arg, 255).reg(number_arg));
    for (int i = 0; i < 3; i++)
        run_load(some_load());
    const argtrace_counts sum = counts();
    EXPECT_EQ(map.count(), sum.records);
    EXPECT_EQ(sum.records + sum.lost[ARGTRACE_LOST_FULL], all_calls());
    EXPECT_EQ(hits(sum), all_calls());
    EXPECT_GT(sum.lost[ARGTRACE_LOST_FULL], 0u);
    std::uint64_t slots = 0;
    for (const auto &[key, slot] : map.read()) {
        EXPECT_LE(key[0], 255u);
        EXPECT_EQ(slot.min % 256, key[0]);
        EXPECT_EQ(slot.max % 256, key[0]);
        slots += slot.slots;
    }
    EXPECT_LE(slots, 64 * cpu_count());
    EXPECT_GT(slots, 48 * cpu_count()) << "slots were free";
}

TEST_F(Maps, calls_of_other_processes_are_filtered) {
    std::uint32_t pid = static_cast<std::uint32_t>(getpid());
    argtrace_process_filter filter{};
    filter.size = sizeof(filter);
    filter.pids = reinterpret_cast<std::uintptr_t>(&pid);
    filter.count = 1;
    ASSERT_EQ(device_.call(ARGTRACE_IOC_PROCESSES, &filter), 0);
    const RawMap map(device_, RawMap::counts(64, 1));
    add("al_writer", SinkProgram(ARGTRACE_SINK_MAP, 0).reg(cpu_arg));
    call_from_here(30);
    {
        Child child([] {
            for (;;)
                call_from_here(100);
        });
        EXPECT_TRUE(eventually([] { return load_calls().writer > 30; }));
    }
    const std::uint64_t of_child = load_calls().writer - 30;
    EXPECT_EQ(map.count(), 30u);
    EXPECT_EQ(counts().filtered, of_child);
}

TEST_F(Maps, the_named_encoding_is_no_obstacle) {
    RawDevice device;
    ASSERT_EQ(device.session("", packet_size, nr_packets, ARGTRACE_FORMAT_NAMED), 0);
    const RawMap map(device, RawMap::counts(64, 1));
    const RawProbe probe = SinkProgram(ARGTRACE_SINK_MAP, 0).reg(number_arg, 1).probe(address_of("al_writer"));
    ASSERT_EQ(device.add(probe.bytes(), 1), 0);
    call_from_here(20);
    EXPECT_EQ(map.count(), 20u);
}

// Beside probes that record: each call goes where its probe says.
TEST_F(Maps, records_and_maps_in_one_session) {
    ASSERT_EQ(device_.reader(), 0);
    const RawMap map(device_, RawMap::counts(64, 1));
    add("al_process", SinkProgram(ARGTRACE_SINK_MAP, 0).reg(cpu_arg));
    ASSERT_EQ(device_.add(RawProbe::words(address_of("al_writer"), 3).bytes(), 1), 0);
    call_from_here(10);
    run_load(some_load());
    EXPECT_EQ(map.count(), load_calls().process);
    std::uint64_t records = 0;
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
        records += RawRing(device_, cpu, packet_size, nr_packets).drain();
    EXPECT_EQ(records, 10u);
}

} // namespace
} // namespace vmtest
