// SPDX-License-Identifier: GPL-2.0-only
// Arguments that are elsewhere than in one register, taken by descriptors written by hand: what
// the module records of each place, without the tool's calling convention in between.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "calls.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"

namespace vmtest {
namespace {

constexpr std::uint64_t calls_each = 3;

class Places : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_test_module();
    }

    struct Calls {
        std::uint32_t id; ///< the probe's
        std::vector<RawRecord> records;
    };

    /// calls_each calls of the probe's function.
    static Calls calls_of(RawProbe &probe) {
        RawDevice device;
        EXPECT_EQ(device.session("", 4096, 16), 0);
        EXPECT_EQ(device.add(probe.seal().bytes(), 1), 0);
        EXPECT_EQ(device.reader(), 0);

        pin_to_cpu(0);
        RawRing ring(device, 0, 4096, 16);
        call_functions("awkward", calls_each);
        std::vector<RawRecord> records = ring.records();
        unpin();
        EXPECT_EQ(records.size(), calls_each);
        return {device.counts().at(0).id, std::move(records)};
    }

    /// One argument `arg` of that function, of each of calls_each calls: the data after the caller.
    static std::vector<std::vector<std::byte>> recorded(const std::string &function,
                                                        argtrace_arg arg) {
        RawProbe probe;
        probe.header.addr = address_of(function);
        probe.strings = function + '\0';
        arg.name = static_cast<std::uint16_t>(probe.strings.size());
        probe.strings += std::string("a") + '\0';
        probe.args.push_back(arg);
        std::vector<std::vector<std::byte>> all;
        for (const RawRecord &record : calls_of(probe).records)
            all.emplace_back(record.data.begin() + 8, record.data.end());
        return all;
    }

    static argtrace_arg place(std::uint8_t loc, std::uint8_t index, std::uint8_t type,
                              std::uint32_t size, std::uint32_t offset = 0) {
        argtrace_arg arg{};
        arg.loc = loc;
        arg.index = index;
        arg.type = type;
        arg.size = size;
        arg.offset = offset;
        return arg;
    }

    /// The record's data begins with `length` if it is BYTES, then the first `size` bytes of
    /// the words of that call from `word` on.
    static void expect_words(const std::vector<std::vector<std::byte>> &calls, unsigned word,
                             std::size_t size, bool is_bytes) {
        for (std::uint64_t call = 0; call < calls.size(); call++) {
            std::vector<std::byte> expected(is_bytes ? 2 : 0);
            if (is_bytes)
                expected[0] = static_cast<std::byte>(size);
            for (std::size_t i = 0; i < size; i++)
                expected.push_back(
                    static_cast<std::byte>(at_value(call, word + i / 8) >> i % 8 * 8));
            ASSERT_GE(calls[call].size(), expected.size());
            EXPECT_EQ(std::vector<std::byte>(calls[call].begin(),
                                             calls[call].begin() +
                                                 static_cast<std::ptrdiff_t>(expected.size())),
                      expected)
                << "call " << call;
        }
    }
};

TEST_F(Places, words_on_the_stack) {
    const auto of_twelve = [](std::uint8_t type, std::uint32_t size, unsigned behind_first) {
        return recorded("at_twelve", place(ARGTRACE_LOC_STACK, 0, type, size, stack_arguments + 8 * behind_first));
    };
    expect_words(of_twelve(ARGTRACE_TYPE_U8, 1, 0), argument_registers, 1, false);
    expect_words(of_twelve(ARGTRACE_TYPE_S32, 4, 1), argument_registers + 1, 4, false);
    expect_words(of_twelve(ARGTRACE_TYPE_PTR, 8, 3), argument_registers + 3, 8, false);
}

TEST_F(Places, a_struct_in_one_register) {
    expect_words(recorded("at_small", place(ARGTRACE_LOC_REG, 0, ARGTRACE_TYPE_BYTES, 8)), 0, 8,
                 true);
    expect_words(recorded("at_small", place(ARGTRACE_LOC_REG, 0, ARGTRACE_TYPE_BYTES, 5)), 0, 5,
                 true);
}

TEST_F(Places, two_registers) {
    expect_words(recorded("at_pair", place(ARGTRACE_LOC_REG_PAIR, 1, ARGTRACE_TYPE_BYTES, 16)), 1,
                 16, true);
    expect_words(
        recorded("at_huge_int", place(ARGTRACE_LOC_REG_PAIR, 1, ARGTRACE_TYPE_S128, 16)), 1, 16,
        false);
}

TEST_F(Places, structs_on_the_stack) {
    if (is_arm64)
        GTEST_SKIP() << "large structs are passed by their address on arm64, and small ones have room in registers";
    expect_words(recorded("at_squeezed", place(ARGTRACE_LOC_STACK, 0, ARGTRACE_TYPE_BYTES, 16, 8)),
                 6, 16, true);
    expect_words(recorded("at_large", place(ARGTRACE_LOC_STACK, 0, ARGTRACE_TYPE_BYTES, 24, 8)),
                 6, 24, true);
    expect_words(recorded("at_large", place(ARGTRACE_LOC_STACK, 0, ARGTRACE_TYPE_BYTES, 21, 8)),
                 6, 21, true);
}

TEST_F(Places, words_of_the_callers) {
    // Their variables, and what KASAN leaves free between them. What these words are only the
    // callers know; taken one by one and in one piece they are the same.
    constexpr unsigned nr_words = 60;
    constexpr std::size_t words_size = 8 * nr_words;
    unsigned whole = 0, others_than_zero = 0;
    for (unsigned first = 1; first + nr_words < ARGTRACE_STACK_MAX / 8; first += nr_words) {
        RawProbe probe = RawProbe::words(address_of("at_eight"), nr_words + 1, "at_eight");
        for (unsigned i = 0; i < nr_words; i++)
            probe.args[i].loc = ARGTRACE_LOC_STACK, probe.args[i].index = 0,
            probe.args[i].offset = 8 * (first + i);
        argtrace_arg &piece = probe.args[nr_words];
        piece.loc = ARGTRACE_LOC_STACK;
        piece.index = 0;
        piece.type = ARGTRACE_TYPE_BYTES;
        piece.size = words_size;
        piece.offset = 8 * first;
        const auto [id, records] = calls_of(probe);
        for (const RawRecord &record : records) {
            ASSERT_EQ(record.data.size(), 8 + words_size + 8 + words_size);
            const auto words = record.data.begin() + 8, words_end = words + words_size;
            if (record.id == ARGTRACE_ID_UNREADABLE + id) {
                // The stack ends within these words, or before them.
                EXPECT_LT(std::to_integer<unsigned>(words_end[-8]), first + nr_words);
                continue;
            }
            EXPECT_EQ(record.id, id);
            EXPECT_TRUE(std::equal(words, words_end, words_end + 2)) << "from word " << first;
            whole++;
            others_than_zero += std::count(words, words_end, std::byte{}) < words_end - words;
        }
    }
    EXPECT_GE(whole, calls_each);
    EXPECT_GE(others_than_zero, calls_each);
}

TEST_F(Places, far_above_the_stack) {
    // It may end beyond the stack's end. Whatever could be read is the same in one piece and word by word, here every other one.
    constexpr unsigned nr_words = 63, first = ARGTRACE_STACK_MAX / 16, last = ARGTRACE_STACK_MAX / 8 - 1;
    const auto word_of = [](unsigned i) { return i == nr_words - 1 ? last : first + 2 * i; };
    constexpr std::size_t piece_size = ARGTRACE_STACK_MAX - 8 * first;
    RawProbe probe = RawProbe::words(address_of("at_eight"), nr_words + 1, "at_eight");
    for (argtrace_arg &arg : probe.args)
        arg.loc = ARGTRACE_LOC_STACK, arg.index = 0;
    for (unsigned i = 0; i < nr_words; i++)
        probe.args[i].offset = 8 * word_of(i);
    argtrace_arg &piece = probe.args[nr_words];
    piece.type = ARGTRACE_TYPE_BYTES;
    piece.size = piece_size;
    piece.offset = 8 * first;
    const auto [id, records] = calls_of(probe);
    for (const RawRecord &record : records) {
        // The caller, the words, a length, the piece, and what pads it to 8 bytes.
        ASSERT_EQ(record.data.size(), 8 + 8 * nr_words + 2 + piece_size + 6);
        const auto words = record.data.begin() + 8;
        const auto bytes = words + 8 * nr_words + 2;
        unsigned readable = last + 1;
        if (record.id == ARGTRACE_ID_UNREADABLE + id) {
            // How many, from the stack pointer on, is said in the first argument that ends highest. It has its caller's at least.
            readable = std::to_integer<unsigned>(words[8 * (nr_words - 1)]);
            EXPECT_GE(readable, 3u);
            EXPECT_LE(readable, last);
        } else {
            EXPECT_EQ(record.id, id);
        }
        for (unsigned i = 0; i < nr_words && word_of(i) < readable; i++)
            EXPECT_TRUE(std::equal(words + 8 * i, words + 8 * i + 8, bytes + 8 * (word_of(i) - first))) << "word " << word_of(i);
    }
}

TEST_F(Places, beyond_the_end_of_the_stack) {
    // A system call's function is entered within the last 2 KiB of the stack, after which nothing is mapped.
    const std::string function = SYSCALL_PREFIX "getppid";
    RawProbe probe = RawProbe::words(address_of(function), 3, function);
    for (const unsigned offset : {8u, ARGTRACE_STACK_MAX - 8u}) {
        argtrace_arg &arg = probe.args[offset == 8 ? 1 : 2];
        arg.loc = ARGTRACE_LOC_STACK;
        arg.index = 0;
        arg.offset = offset;
    }
    for (const std::uint32_t format : {0u, ARGTRACE_FORMAT_NAMED}) {
        RawDevice device;
        ASSERT_EQ(device.session("", 4096, 16, format), 0);
        ASSERT_EQ(device.add(probe.seal().bytes(), 1), 0);
        ASSERT_EQ(device.reader(), 0);
        pin_to_cpu(0);
        RawRing ring(device, 0, 4096, 16);
        for (std::uint64_t i = 0; i < calls_each; i++)
            syscall(SYS_getppid);
        const std::vector<RawRecord> records = ring.records();
        unpin();

        // The caller, and in the named encoding a name of two letters, its end and a type before each value.
        const std::size_t heading = format ? 4 : 0;
        const std::size_t at = 8 + 2 * 8 + 3 * heading;
        ASSERT_GE(records.size(), calls_each);
        EXPECT_EQ(device.counts().at(0).records, records.size());
        for (const RawRecord &record : records) {
            EXPECT_EQ(record.id, ARGTRACE_ID_UNREADABLE + device.counts().at(0).id);
            ASSERT_GE(record.data.size(), at + 8);
            // The words that could be read: the first argument's among them, the last one's not.
            const auto words = std::to_integer<unsigned>(record.data[at]);
            EXPECT_GE(words, 2u);
            EXPECT_LT(words, ARGTRACE_STACK_MAX / 8);
        }
    }
}

} // namespace
} // namespace vmtest
