// SPDX-License-Identifier: GPL-2.0-only
// The kernel's encoder, compiled here, beside the decoder that must read what it writes.
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

#include "decode/decode.h"
#include "support/encoder_environment.h"
#include "support/packet_builder.h"

namespace {

struct argtrace_regs {
    u64 argument[ARGTRACE_REG_COUNT];
    u8 stack[64]; // from the stack pointer on
};

u64 argtrace_regs_argument(const struct argtrace_regs *regs, unsigned int index) {
    return regs->argument[index];
}

unsigned int argtrace_fetch_stack(const struct argtrace_regs *regs, unsigned int offset, u8 *to,
                                  unsigned int size) {
    EXPECT_LE(offset + size, sizeof(regs->stack));
    std::memcpy(to, regs->stack + offset, size);
    return size;
}

bool stack_may_fault = false;

constexpr s32 ARGTRACE_STACK_PAGE = sizeof(argtrace_regs::stack);

const u8 *argtrace_stack(const struct argtrace_regs *regs) {
    return regs->stack;
}

s32 argtrace_stack_place(const struct argtrace_regs *) {
    return stack_may_fault ? ARGTRACE_STACK_PAGE : 0;
}

#define noinline __attribute__((noinline))
#include "../../../kmod/sink/encode.h"
#undef noinline

} // namespace

namespace argtrace {
namespace {

using test::argument;

constexpr std::uint64_t caller = 0xffffffff81000010;

Probe six() {
    Probe probe;
    probe.id = 1;
    probe.function = "six";
    probe.args = {argument("a", ARGTRACE_TYPE_S8, "s8", 0),
                  argument("second", ARGTRACE_TYPE_U16, "u16", 1),
                  test::not_captured("hidden"),
                  argument("c", ARGTRACE_TYPE_S32, "int", 2),
                  argument("d", ARGTRACE_TYPE_BOOL, "bool", 3),
                  argument("e", ARGTRACE_TYPE_PTR, "void *", 4),
                  argument("f", ARGTRACE_TYPE_U64, "u64", 5)};
    return probe;
}

argtrace_step step_of(u8 loc, u8 index, u8 type, u16 size, u16 offset = 0) {
    argtrace_step step{};
    step.is_word = loc == ARGTRACE_LOC_REG && type != ARGTRACE_TYPE_BYTES;
    step.loc = loc;
    step.index = index;
    step.type = type;
    step.size = size;
    step.offset = offset;
    step.name_length = 2;
    return step;
}

/// The data of a compact record, as the callback writes it, header and caller left out.
/// Fails if anything is written outside the record, the order of the parts spoils a value, or anything
/// is left in the padding.
std::vector<u8> compact(std::vector<argtrace_step> steps, const argtrace_regs &regs) {
    constexpr std::size_t header = sizeof(argtrace_record), guard = 32;
    constexpr u8 untouched = 0xa5;
    auto count = static_cast<unsigned>(steps.size());
    u32 end = argtrace_place_steps(steps.data(), count, false, header);
    u32 size = (end + 7) / 8 * 8;
    std::vector<argtrace_stack_word> stack(steps.size());
    argtrace_layout layout{};
    argtrace_plan_layout(&layout, steps.data(), count, stack.data(), end, size);

    std::vector<u8> bytes(guard + size + guard, untouched);
    u8 *record = bytes.data() + guard;
    argtrace_encode_registers(record, &layout, &regs);
    EXPECT_EQ(layout.has_rest,
              layout.at[ARGTRACE_REG_COUNT] || layout.many_stack || layout.steps_end > layout.steps);
    EXPECT_EQ(layout.many_stack, layout.stack_end > layout.stack);
    const bool straight = layout.has_rest && argtrace_encode_stack(record, &layout, &regs);
    std::memset(record, 0, header);
    if (layout.has_rest && !straight) {
        const std::vector<u8> before = bytes;
        argtrace_encode_rest(record, &layout, &regs);
        if (layout.rest_is_words) {
            const std::vector<u8> rest = std::exchange(bytes, before);
            record = bytes.data() + guard;
            argtrace_encode_words(record, &layout, &regs);
            EXPECT_EQ(bytes, rest);
        }
    }
    argtrace_encode_end(record, &layout);
    EXPECT_EQ(std::vector<u8>(record + end, record + size), std::vector<u8>(size - end, 0)) << "padding";
    EXPECT_EQ(std::vector<u8>(bytes.begin(), bytes.begin() + guard),
              std::vector<u8>(guard, untouched));
    EXPECT_EQ(std::vector<u8>(bytes.end() - guard, bytes.end()), std::vector<u8>(guard, untouched));
    EXPECT_EQ(std::vector<u8>(record, record + header), std::vector<u8>(header, 0));
    return {record + header, record + end};
}

/// The same, byte by byte, from what the ABI says.
std::vector<u8> by_the_book(const std::vector<argtrace_step> &steps, const argtrace_regs &regs) {
    std::vector<u8> bytes;
    for (const argtrace_step &step : steps) {
        const u8 *from = step.loc == ARGTRACE_LOC_STACK
                             ? regs.stack + step.offset
                             : reinterpret_cast<const u8 *>(&regs.argument[step.index]);
        if (step.type == ARGTRACE_TYPE_BYTES) {
            bytes.push_back(static_cast<u8>(step.size));
            bytes.push_back(static_cast<u8>(step.size >> 8));
        }
        bytes.insert(bytes.end(), from, from + step.size);
    }
    return bytes;
}

argtrace_regs numbered() {
    argtrace_regs regs{};
    for (unsigned i = 0; i < ARGTRACE_REG_COUNT; ++i)
        regs.argument[i] = 0x0101010101010101 * (i + 1) + 0x7060504030201000;
    for (unsigned i = 0; i < sizeof(regs.stack); ++i)
        regs.stack[i] = static_cast<u8>(0x80 + i);
    return regs;
}

/// A record as the callback writes it.
Values through_the_kernel(bool named) {
    const argtrace_regs regs = {{0xdeadbeefdeadbe80, 0xffffffffffffffff, 0x1234567880000000,
                               0xffffff00ffffff01, 0xffff888012345678, 0x8000000000000001},
                              {}};
    std::string strings;
    std::vector<argtrace_step> steps;
    Probe probe = six();
    for (const Argument &argument : probe.args) {
        if (argument.loc == ARGTRACE_LOC_NONE)
            continue;
        argtrace_step step = step_of(ARGTRACE_LOC_REG, argument.index, argument.type,
                                     static_cast<u16>(argument.size));
        step.name_length = static_cast<u8>(argument.name.size() + 1);
        step.name = static_cast<u16>(strings.size());
        strings.append(argument.name).push_back('\0');
        steps.push_back(step);
    }
    std::vector<u8> bytes;
    if (named) {
        auto count = static_cast<unsigned>(steps.size());
        bytes.resize(argtrace_place_steps(steps.data(), count, true, 0));
        unsigned readable = ARGTRACE_STACK_WORDS;
        EXPECT_EQ(argtrace_encode_named(bytes.data(), steps.data(), count, strings.data(), &regs,
                                        &readable),
                  bytes.data() + bytes.size());
    } else {
        bytes = compact(steps, regs);
    }

    test::Data data;
    data.put(caller);
    for (u8 byte : bytes)
        data.put(byte);
    test::PacketBuilder packet;
    packet.header().format = named ? ARGTRACE_FORMAT_NAMED : 0;
    packet.record(1, 1000, data);

    Schema schema;
    schema.add(probe);
    Decoder decoder;
    EventBatch batch;
    EXPECT_EQ(decoder.open(packet.bytes()), DecodeStatus::ok);
    EXPECT_EQ(decoder.decode(packet.end(), 0, schema, batch), DecodeStatus::ok);
    return batch.values;
}

Values expected() {
    return {{static_cast<std::uint64_t>(-128), 0, ARGTRACE_TYPE_S8, true},
            {0xffff, 0, ARGTRACE_TYPE_U16, true},
            {0, 0, ARGTRACE_TYPE_END, false},
            {static_cast<std::uint64_t>(std::int64_t{INT32_MIN}), 0, ARGTRACE_TYPE_S32, true},
            {1, 0, ARGTRACE_TYPE_BOOL, true},
            {0xffff888012345678, 0, ARGTRACE_TYPE_PTR, true},
            {0x8000000000000001, 0, ARGTRACE_TYPE_U64, true}};
}

TEST(Encode, CompactIsReadBack) {
    EXPECT_EQ(through_the_kernel(false), expected());
}

// What is no word in one register: the bytes as the header of the ABI says.
TEST(Encode, PairsStackAndBytes) {
    argtrace_regs regs{{0x0807060504030201, 0x100f0e0d0c0b0a09, 0x1817161514131211, 0, 0, 0}, {}};
    for (unsigned i = 0; i < sizeof(regs.stack); ++i)
        regs.stack[i] = static_cast<u8>(0x80 + i);
    std::vector<argtrace_step> steps = {
        step_of(ARGTRACE_LOC_REG, 0, ARGTRACE_TYPE_BYTES, 3),
        step_of(ARGTRACE_LOC_REG_PAIR, 1, ARGTRACE_TYPE_U128, 16),
        step_of(ARGTRACE_LOC_REG_PAIR, 0, ARGTRACE_TYPE_BYTES, 9),
        step_of(ARGTRACE_LOC_STACK, 0, ARGTRACE_TYPE_U16, 2, 8),
        step_of(ARGTRACE_LOC_STACK, 0, ARGTRACE_TYPE_BYTES, 5, 16),
    };
    const std::vector<u8> values = {
        3,    0,    1,    2,    3,                               // bytes in a register
        0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10,          // the lower half
        0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,          // and the upper
        9,    0,    1,    2,    3,    4,    5,    6,    7, 8, 9, // bytes in two
        0x88, 0x89,                                              // a word on the stack
        5,    0,    0x90, 0x91, 0x92, 0x93, 0x94,                // bytes there
    };
    EXPECT_EQ(compact(steps, regs), values);

    // Named has "n", its NUL and the type before each, and two zeros at the end.
    std::vector<u8> named(argtrace_place_steps(steps.data(), 5, true, 0));
    EXPECT_EQ(named.size(), values.size() + 5 * 3 + 2);
    unsigned readable = ARGTRACE_STACK_WORDS;
    EXPECT_EQ(argtrace_encode_named(named.data(), steps.data(), 5, "n", &regs, &readable),
              named.data() + named.size());
    EXPECT_EQ(std::vector<u8>(named.begin(), named.begin() + 8),
              (std::vector<u8>{'n', 0, ARGTRACE_TYPE_BYTES, 3, 0, 1, 2, 3}));
}

// Every order of places and sizes: what is stored whole must not spoil its neighbours.
TEST(Encode, AnyLayoutIsWrittenToTheByte) {
    std::mt19937 random(20261121);
    auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
    const argtrace_regs regs = numbered();
    unsigned with_steps = 0, without = 0;
    for (int round = 0; round < 50000; ++round) {
        std::vector<argtrace_step> steps;
        for (unsigned count = below(9); count > 0; --count) {
            auto size = static_cast<u16>(1u << below(4));
            auto index = static_cast<u8>(below(ARGTRACE_REG_COUNT));
            auto pair = static_cast<u8>(below(ARGTRACE_REG_COUNT - 1));
            auto offset = static_cast<u16>(8 + 8 * below(5));
            switch (below(8)) {
            case 0:
                steps.push_back(step_of(ARGTRACE_LOC_REG_PAIR, pair, ARGTRACE_TYPE_U128, 16));
                break;
            case 1:
                steps.push_back(step_of(ARGTRACE_LOC_STACK, 0, ARGTRACE_TYPE_U64, size, offset));
                break;
            case 2:
                steps.push_back(step_of(ARGTRACE_LOC_STACK, 0, ARGTRACE_TYPE_BYTES, 13, offset));
                break;
            case 3:
                steps.push_back(step_of(ARGTRACE_LOC_REG, index, ARGTRACE_TYPE_BYTES, 5));
                break;
            default:
                steps.push_back(step_of(ARGTRACE_LOC_REG, index, ARGTRACE_TYPE_U64, size));
                break;
            }
        }
        stack_may_fault = below(2);
        ASSERT_EQ(compact(steps, regs), by_the_book(steps, regs)) << "round " << round;
        stack_may_fault = false;

        argtrace_layout layout{};
        std::vector<argtrace_stack_word> stack(steps.size());
        auto count = static_cast<unsigned>(steps.size());
        u32 end = argtrace_place_steps(steps.data(), count, false, 16);
        argtrace_plan_layout(&layout, steps.data(), count, stack.data(), end, (end + 7) / 8 * 8);
        ++(layout.steps_end > layout.steps ? with_steps : without);
    }
    EXPECT_GT(with_steps, 1000u);
    EXPECT_GT(without, 1000u);
}

// What functions commonly have is written without a look at each argument.
TEST(Encode, CommonFunctionsNeedNoSteps) {
    auto steps_left = [](std::vector<argtrace_step> steps) {
        argtrace_layout layout{};
        std::vector<argtrace_stack_word> stack(steps.size());
        auto count = static_cast<unsigned>(steps.size());
        u32 end = argtrace_place_steps(steps.data(), count, false, 24);
        argtrace_plan_layout(&layout, steps.data(), count, stack.data(), end, (end + 7) / 8 * 8);
        return layout.steps_end - layout.steps;
    };
    auto reg = [](u8 index, u16 size) {
        return step_of(ARGTRACE_LOC_REG, index, ARGTRACE_TYPE_U64, size);
    };
    EXPECT_EQ(steps_left({reg(0, 8), reg(1, 8), reg(2, 8), reg(3, 8)}), 0);
    EXPECT_EQ(steps_left({reg(0, 8), reg(1, 4)}), 0);
    EXPECT_EQ(steps_left({reg(0, 4), reg(1, 8), reg(2, 2), reg(3, 8), reg(4, 1), reg(5, 8)}), 0);
    EXPECT_EQ(steps_left({reg(0, 8), reg(1, 8), reg(2, 8), reg(3, 8), reg(4, 8), reg(5, 8),
                          step_of(ARGTRACE_LOC_STACK, 0, ARGTRACE_TYPE_U64, 8, 8),
                          step_of(ARGTRACE_LOC_STACK, 0, ARGTRACE_TYPE_U32, 4, 16)}),
              0);
    EXPECT_EQ(steps_left({reg(0, 8), reg(1, 4), reg(2, 4)}), 1) << "the last would pass the end";
}

TEST(Encode, NamedIsReadBack) {
    EXPECT_EQ(through_the_kernel(true), expected());
}

} // namespace
} // namespace argtrace
