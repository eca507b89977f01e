// SPDX-License-Identifier: GPL-2.0-only
// Maps that are read while they grow, and whose readers, session or module go.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <map>
#include <memory>
#include <thread>

#include "sinks/maps.h"

namespace vmtest {
namespace {

// Nothing is ever taken back: what has been read once is there later, with no smaller numbers.
TEST_F(Maps, it_is_read_while_it_grows) {
    const RawMap map(device_, RawMap::values(512, 2, ARGTRACE_BUCKETS_NONE));
    for (const char *function : {"al_process", "al_interrupt", "al_nmi", "al_writer"})
        add(function, SinkProgram(ARGTRACE_SINK_MAP, 0)
                          .reg(number_arg, 0x3f)
                          .reg(cpu_arg)
                          .reg(number_arg, 0x3f));
    std::atomic<bool> done = false;
    std::atomic<std::uint64_t> rounds = 0;
    std::thread reader([&] {
        std::map<RawMap::Key, SlotSum> before;
        while (!done) {
            const auto now = map.read();
            for (const auto &[key, sum] : now) {
                ASSERT_LT(key[0], 64u);
                ASSERT_LT(key[1], cpu_count());
                // The count is the last to be changed and the first to be read.
                ASSERT_GE(sum.sum, sum.count * key[0]);
                if (sum.count) {
                    ASSERT_EQ(sum.min, key[0]);
                    ASSERT_EQ(sum.max, key[0]);
                }
            }
            for (const auto &[key, sum] : before) {
                const auto found = now.find(key);
                ASSERT_NE(found, now.end());
                ASSERT_GE(found->second.count, sum.count);
                ASSERT_GE(found->second.sum, sum.sum);
            }
            before = now;
            rounds++;
        }
    });
    run_load(some_load());
    // Processes of the load leave a reader hardly any time; this one has as much as we.
    EXPECT_TRUE(eventually([&] {
        call_from_here(200);
        return rounds >= 3;
    }));
    done = true;
    reader.join();
    EXPECT_EQ(map.count(), all_calls() + load_calls().writer);
    for (const auto &[key, sum] : map.read())
        ASSERT_EQ(sum.sum, sum.count * key[0]);
}

TEST_F(Maps, a_reader_that_dies_and_a_session_that_goes) {
    const std::uint64_t used = device_.info().memory_used;
    {
        RawDevice device;
        ASSERT_EQ(device.session("", packet_size, nr_packets), 0);
        const RawMap map(device, RawMap::counts(1024, 1));
        EXPECT_GE(device.info().memory_used, used + cpu_count() * map.size());
        ASSERT_EQ(device.add(
                      SinkProgram(ARGTRACE_SINK_MAP, 0).reg(number_arg).probe(address_of("al_process")).bytes(),
                      1),
                  0);
        int reading[2];
        ASSERT_EQ(pipe(reading), 0);
        Child child([&] {
            const RawMap own(device, map);
            own.read();
            if (::write(reading[1], "r", 1) != 1)
                return;
            for (;;)
                own.read();
        });
        run_load(some_load());
        char byte;
        EXPECT_EQ(::read(reading[0], &byte, 1), 1);
        child.kill_and_wait();
        close(reading[0]);
        close(reading[1]);
        run_load(some_load());
        EXPECT_EQ(hits(device.counts().at(0)), load_calls().process);
    }
    EXPECT_EQ(device_.info().memory_used, used);
}

TEST_F(Maps, the_module_goes_while_maps_are_filled) {
    auto device = std::make_unique<RawDevice>();
    ASSERT_EQ(remove_session("maps"), ENOENT);
    ASSERT_EQ(device->session("maps", packet_size, nr_packets, 0, ARGTRACE_SESSION_CREATE), 0);
    std::atomic<bool> done = false;
    std::thread load([&] {
        while (!done)
            run_load(some_load());
    });
    {
        const RawMap map(*device, RawMap::values(64, 1, ARGTRACE_BUCKETS_LOG2));
        for (const char *function : load_functions)
            ASSERT_EQ(device->add(SinkProgram(ARGTRACE_SINK_MAP, 0)
                                      .reg(number_arg)
                                      .reg(number_arg)
                                      .probe(address_of(function))
                                      .bytes(),
                                  1),
                      0);
        EXPECT_TRUE(eventually([&] { return map.count() > 0; }));
    }
    device.reset();
    // The fixture's own file would keep it.
    device_.close();
    EXPECT_EQ(unload_module("argtrace"), 0);
    done = true;
    load.join();
    need_argtrace();
    expect_nothing_left();
}

} // namespace
} // namespace vmtest
