// SPDX-License-Identifier: GPL-2.0-only
// The kernel's encoder, compiled here, beside the decoder that must read what it writes.
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>

#include "decode/decode.h"
#include "packet_builder.h"

namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct ftrace_regs {
    u64 argument[ARGTRACE_REG_COUNT];
};

u64 argtrace_fetch_reg(const struct ftrace_regs *regs, unsigned int index) {
    return regs->argument[index];
}

#include "../../kmod/encode.h"

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
std::vector<Value> through_the_kernel(bool named) {
    const ftrace_regs regs = {{0xdeadbeefdeadbe80, 0xffffffffffffffff, 0x1234567880000000,
                               0xffffff00ffffff01, 0xffff888012345678, 0x8000000000000001}};
    std::string strings;
    std::vector<argtrace_step> steps;
    Probe probe = six();
    for (const Argument &argument : probe.args) {
        if (argument.loc == ARGTRACE_LOC_NONE)
            continue;
        argtrace_step step{};
        step.index = argument.index;
        step.size = static_cast<u8>(argument.size);
        step.type = argument.type;
        step.name_length = static_cast<u8>(argument.name.size() + 1);
        step.name = static_cast<u32>(strings.size());
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

std::vector<Value> expected() {
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

TEST(Encode, NamedIsReadBack) {
    EXPECT_EQ(through_the_kernel(true), expected());
}

} // namespace
} // namespace argtrace
