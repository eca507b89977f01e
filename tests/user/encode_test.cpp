// SPDX-License-Identifier: GPL-2.0-only
// The kernel's encoder, compiled here, beside the decoder that must read what it writes.
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>

#include "decode/decode.h"
#include "packet_builder.h"

namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct ftrace_regs {
    u64 argument[ARGTRACE_REG_COUNT];
    u8 stack[64]; // from the stack pointer on
};

u64 argtrace_fetch_reg(const struct ftrace_regs *regs, unsigned int index) {
    return regs->argument[index];
}

void argtrace_fetch_stack(const struct ftrace_regs *regs, unsigned int offset, u8 *to,
                          unsigned int size) {
    ASSERT_LE(offset + size, sizeof(regs->stack));
    std::memcpy(to, regs->stack + offset, size);
}

#define noinline __attribute__((noinline))
#include "../../kmod/encode.h"
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

/// A record as the callback writes it.
Values through_the_kernel(bool named) {
    const ftrace_regs regs = {{0xdeadbeefdeadbe80, 0xffffffffffffffff, 0x1234567880000000,
                               0xffffff00ffffff01, 0xffff888012345678, 0x8000000000000001},
                              {}};
    std::string strings;
    std::vector<argtrace_step> steps;
    Probe probe = six();
    for (const Argument &argument : probe.args) {
        if (argument.loc == ARGTRACE_LOC_NONE)
            continue;
        argtrace_step step{};
        step.is_word = 1;
        step.index = argument.index;
        step.size = static_cast<u16>(argument.size);
        step.type = argument.type;
        step.name_length = static_cast<u8>(argument.name.size() + 1);
        step.name = static_cast<u16>(strings.size());
        strings.append(argument.name).push_back('\0');
        steps.push_back(step);
    }
    auto count = static_cast<unsigned>(steps.size());
    std::vector<u8> bytes(argtrace_encoded_size(steps.data(), count, named));
    u8 *end = named
                  ? argtrace_encode_named(bytes.data(), steps.data(), count, strings.data(), &regs)
                  : argtrace_encode_compact(bytes.data(), steps.data(), count, &regs);
    EXPECT_EQ(end, bytes.data() + bytes.size());

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

argtrace_step other(u8 loc, u8 index, u8 type, u16 size, u16 offset = 0) {
    argtrace_step step{};
    step.loc = loc;
    step.index = index;
    step.type = type;
    step.size = size;
    step.offset = offset;
    step.name_length = 2;
    return step;
}

// What is no word in one register: the bytes as the header of the ABI says.
TEST(Encode, PairsStackAndBytes) {
    ftrace_regs regs{{0x0807060504030201, 0x100f0e0d0c0b0a09, 0x1817161514131211, 0, 0, 0}, {}};
    for (unsigned i = 0; i < sizeof(regs.stack); ++i)
        regs.stack[i] = static_cast<u8>(0x80 + i);
    const argtrace_step steps[] = {
        other(ARGTRACE_LOC_REG, 0, ARGTRACE_TYPE_BYTES, 3),
        other(ARGTRACE_LOC_REG_PAIR, 1, ARGTRACE_TYPE_U128, 16),
        other(ARGTRACE_LOC_REG_PAIR, 0, ARGTRACE_TYPE_BYTES, 9),
        other(ARGTRACE_LOC_STACK, 0, ARGTRACE_TYPE_U16, 2, 8),
        other(ARGTRACE_LOC_STACK, 0, ARGTRACE_TYPE_BYTES, 5, 16),
    };
    const std::vector<u8> values = {
        3, 0, 1, 2, 3,                                                  // bytes in a register
        0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10,                 // the lower half
        0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,                 // and the upper
        9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,                                // bytes in two
        0x88, 0x89,                                                     // a word on the stack
        5, 0, 0x90, 0x91, 0x92, 0x93, 0x94,                             // bytes there
    };
    std::vector<u8> bytes(argtrace_encoded_size(steps, 5, false));
    EXPECT_EQ(argtrace_encode_compact(bytes.data(), steps, 5, &regs), bytes.data() + bytes.size());
    EXPECT_EQ(bytes, values);

    // Named has "n", its NUL and the type before each, and two zeros at the end.
    std::vector<u8> named(argtrace_encoded_size(steps, 5, true));
    EXPECT_EQ(named.size(), values.size() + 5 * 3 + 2);
    EXPECT_EQ(argtrace_encode_named(named.data(), steps, 5, "n", &regs),
              named.data() + named.size());
    EXPECT_EQ(std::vector<u8>(named.begin(), named.begin() + 8),
              (std::vector<u8>{'n', 0, ARGTRACE_TYPE_BYTES, 3, 0, 1, 2, 3}));
}

TEST(Encode, NamedIsReadBack) {
    EXPECT_EQ(through_the_kernel(true), expected());
}

} // namespace
} // namespace argtrace
