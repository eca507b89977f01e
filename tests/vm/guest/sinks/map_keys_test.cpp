// SPDX-License-Identifier: GPL-2.0-only
// The keys of maps: of every source and width, and texts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <thread>

#include "sinks/maps.h"

namespace vmtest {
namespace {

TEST_F(Maps, the_name_of_the_task_is_a_key) {
    const RawMap map(device_, RawMap::counts(64, 2));
    add("al_writer", SinkProgram(ARGTRACE_SINK_MAP, 0).comm());
    const char *const names[] = {"a", "eight_ch", "fifteen_letters"};
    std::map<std::string, std::uint64_t> expected;
    for (const char *name : names) {
        std::thread([name] {
            pthread_setname_np(pthread_self(), name);
            call_from_here(100 + strlen(name));
        }).join();
        expected[name] = 100 + strlen(name);
    }
    std::map<std::string, std::uint64_t> found;
    for (const auto &[key, sum] : map.read()) {
        char text[ARGTRACE_COMM_LEN];
        memcpy(text, key.data(), sizeof(text));
        const std::size_t length = strnlen(text, sizeof(text));
        for (std::size_t i = length; i < sizeof(text); i++)
            EXPECT_EQ(text[i], 0);
        found[std::string(text, length)] += sum.count;
    }
    EXPECT_EQ(found, expected);
}

// Keys that take more than a register: memory, constants, the caller, narrow values.
TEST_F(Maps, keys_of_all_kinds) {
    const RawMap map(device_, RawMap::values(64, 5, ARGTRACE_BUCKETS_NONE, true));
    argtrace_insn narrow{};
    narrow.source = ARGTRACE_SOURCE_REG;
    narrow.index = complement_arg;
    narrow.mask = every_bit;
    narrow.action = ARGTRACE_DO_OUT;
    narrow.arg = 2;
    argtrace_insn half{}; // (s32)complement / 2
    half.source = ARGTRACE_SOURCE_REG;
    half.index = complement_arg;
    half.shl = 32;
    half.shr = 33;
    half.flags = ARGTRACE_INSN_SIGNED;
    half.mask = every_bit;
    half.action = ARGTRACE_DO_OUT;
    half.arg = 8;
    add("al_writer", SinkProgram(ARGTRACE_SINK_MAP, 0)
                         .constant(77)
                         .output(narrow)
                         .source(ARGTRACE_SOURCE_CPU)
                         .source(ARGTRACE_SOURCE_CALLER)
                         .behind(number_arg, 0, 8)
                         .output(half));
    pin_to_cpu(1);
    call_from_here(3);
    unpin();
    const auto keys = map.read();
    ASSERT_EQ(keys.size(), 3u);
    std::uint64_t number = 3;
    for (const auto &[key, sum] : keys) {
        number--;
        EXPECT_EQ(key[0], 77u);
        EXPECT_EQ(key[1], 0xffffu - number);
        EXPECT_EQ(key[2], 1u);
        EXPECT_EQ(key[3] >> 63, 1u);
        EXPECT_EQ(key[4], 0u) << "unreadable";
        EXPECT_EQ(sum.count, 1u);
        EXPECT_EQ(static_cast<std::int64_t>(sum.sum), ~static_cast<std::int64_t>(number) >> 1);
        EXPECT_EQ(sum.min, sum.sum);
        EXPECT_EQ(sum.max, sum.sum);
    }
    EXPECT_EQ(counts().faults, 3u);
}

// The upper bits of the register are not part of a narrow output, however quickly its key is found.
TEST_F(Maps, narrow_keys_have_no_upper_bits) {
    const RawMap map(device_, RawMap::counts(1024, 1));
    argtrace_insn narrow{};
    narrow.source = ARGTRACE_SOURCE_REG;
    narrow.index = complement_arg;
    narrow.mask = every_bit;
    narrow.action = ARGTRACE_DO_OUT;
    narrow.arg = 1;
    add("al_writer", SinkProgram(ARGTRACE_SINK_MAP, 0).output(narrow));
    pin_to_cpu(0);
    call_from_here(300);
    unpin();
    const auto keys = map.read();
    ASSERT_EQ(keys.size(), 256u);
    for (const auto &[key, sum] : keys) {
        EXPECT_LE(key[0], 255u);
        EXPECT_EQ(sum.count, key[0] > 255 - 44 ? 2u : 1u) << key[0];
    }
}

// A signed number of four bytes is extended, as the tool does it with all that are.
argtrace_insn int_of(std::uint8_t source, std::uint8_t index) {
    argtrace_insn insn{};
    insn.source = source;
    insn.index = index;
    insn.shl = insn.shr = 32;
    insn.flags = ARGTRACE_INSN_SIGNED;
    insn.mask = every_bit;
    insn.action = ARGTRACE_DO_OUT;
    insn.arg = 8;
    if (source == ARGTRACE_SOURCE_TASK) {
        insn.loads = 1;
        insn.width = 4;
        insn.offset[0] = task_offset("tgid");
    }
    return insn;
}

TEST_F(Maps, numbers_of_four_bytes_keep_their_sign) {
    const RawMap by_process(device_, RawMap::counts(64, 1));
    const RawMap by_both(device_, RawMap::values(64, 2, ARGTRACE_BUCKETS_NONE, true));
    RawDevice other;
    ASSERT_EQ(other.session("", packet_size, nr_packets), 0);
    const RawMap by_register(other, RawMap::counts(256, 1));
    add("al_writer", SinkProgram(ARGTRACE_SINK_MAP, 0).output(int_of(ARGTRACE_SOURCE_TASK, 0)));
    ASSERT_EQ(other.add(SinkProgram(ARGTRACE_SINK_MAP, 0)
                            .output(int_of(ARGTRACE_SOURCE_REG, complement_arg))
                            .probe(address_of("al_writer"))
                            .bytes(),
                        1),
              0);
    pin_to_cpu(0);
    call_from_here(20);
    const auto process = by_process.read();
    ASSERT_EQ(process.size(), 1u);
    EXPECT_EQ(process.begin()->first[0], static_cast<std::uint64_t>(getpid()));
    EXPECT_EQ(process.begin()->second.count, 20u);
    const auto complements = by_register.read();
    ASSERT_EQ(complements.size(), 20u);
    std::uint64_t number = 20;
    for (const auto &[key, sum] : complements)
        EXPECT_EQ(key[0], ~--number);

    ASSERT_EQ(device_.remove_all(), 0);
    add("al_writer", SinkProgram(ARGTRACE_SINK_MAP, 1)
                         .output(int_of(ARGTRACE_SOURCE_TASK, 0))
                         .constant(9)
                         .output(int_of(ARGTRACE_SOURCE_REG, complement_arg)));
    call_from_here(10);
    unpin();
    const auto both = by_both.read();
    ASSERT_EQ(both.size(), 1u);
    EXPECT_EQ(both.begin()->first, (RawMap::Key{static_cast<std::uint64_t>(getpid()), 9}));
    const SlotSum &sum = both.begin()->second;
    EXPECT_EQ(sum.max, ~std::uint64_t{20});
    EXPECT_EQ(sum.min, ~std::uint64_t{29});
    EXPECT_EQ(static_cast<std::int64_t>(sum.sum), -255);
}

} // namespace
} // namespace vmtest
