// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decode/decode.h"
#include "support/minus.h"
#include "support/packet_builder.h"

namespace argtrace::test {

constexpr std::uint64_t caller = 0xffffffff81000010;

class DecodeTest : public ::testing::Test {
protected:
    DecodeTest() { schema.add(vfs_read(1)); }

    /// Decodes all of it from the start; events and values are in `batch`.
    DecodeStatus decode(const PacketBuilder &packet, std::size_t first = 0, SharedArguments *shared = nullptr) {
        batch.clear();
        DecodeStatus status = decoder.open(packet.bytes());
        if (status != DecodeStatus::ok)
            return status;
        return decoder.decode(packet.end(), first, schema, batch, shared);
    }

    Value value(std::size_t event, std::size_t index) const {
        return batch.values_of(batch.events.at(event))[index];
    }

    std::vector<std::uint64_t> times() const {
        std::vector<std::uint64_t> times;
        for (const Event &event : batch.events)
            times.push_back(event.ts);
        return times;
    }

    Schema schema;
    Decoder decoder;
    EventBatch batch;
};

/// A probe with one argument of each type that is recorded, and one that is not.
inline Probe all_types(std::uint32_t id) {
    Probe probe;
    probe.id = id;
    probe.function = "all_types";
    probe.args = {argument("u8", ARGTRACE_TYPE_U8),
                  argument("s8", ARGTRACE_TYPE_S8),
                  argument("u16", ARGTRACE_TYPE_U16),
                  argument("s16", ARGTRACE_TYPE_S16),
                  not_captured("hidden"),
                  argument("u32", ARGTRACE_TYPE_U32),
                  argument("s32", ARGTRACE_TYPE_S32),
                  argument("u64", ARGTRACE_TYPE_U64),
                  argument("s64", ARGTRACE_TYPE_S64),
                  argument("flag", ARGTRACE_TYPE_BOOL),
                  argument("c", ARGTRACE_TYPE_CHAR),
                  argument("uc", ARGTRACE_TYPE_UCHAR),
                  argument("p", ARGTRACE_TYPE_PTR),
                  argument("u128", ARGTRACE_TYPE_U128),
                  argument("s128", ARGTRACE_TYPE_S128)};
    return probe;
}

inline Values all_values() {
    return {{200, 0, ARGTRACE_TYPE_U8, true},
            {minus(-100), 0, ARGTRACE_TYPE_S8, true},
            {60000, 0, ARGTRACE_TYPE_U16, true},
            {minus(-30000), 0, ARGTRACE_TYPE_S16, true},
            {0, 0, ARGTRACE_TYPE_END, false},
            {4000000000, 0, ARGTRACE_TYPE_U32, true},
            {minus(-2000000000), 0, ARGTRACE_TYPE_S32, true},
            {0xfedcba9876543210, 0, ARGTRACE_TYPE_U64, true},
            {minus(-5), 0, ARGTRACE_TYPE_S64, true},
            {1, 0, ARGTRACE_TYPE_BOOL, true},
            {minus(-1), 0, ARGTRACE_TYPE_CHAR, true},
            {255, 0, ARGTRACE_TYPE_UCHAR, true},
            {0xffff888000000000, 0, ARGTRACE_TYPE_PTR, true},
            {1, 2, ARGTRACE_TYPE_U128, true},
            {3, 0x8000000000000000, ARGTRACE_TYPE_S128, true}};
}

inline Data all_compact() {
    return Data()
        .put(caller)
        .put(std::uint8_t{200})
        .put(std::int8_t{-100})
        .put(std::uint16_t{60000})
        .put(std::int16_t{-30000})
        .put(std::uint32_t{4000000000})
        .put(std::int32_t{-2000000000})
        .put(std::uint64_t{0xfedcba9876543210})
        .put(std::int64_t{-5})
        .put(std::uint8_t{1})
        .put(std::int8_t{-1})
        .put(std::uint8_t{255})
        .put(std::uint64_t{0xffff888000000000})
        .put(std::uint64_t{1})
        .put(std::uint64_t{2})
        .put(std::uint64_t{3})
        .put(std::uint64_t{0x8000000000000000});
}

inline Data all_named() {
    struct Wide {
        std::uint64_t low, high;
    };
    return Data()
        .put(caller)
        .named("u8", ARGTRACE_TYPE_U8, std::uint8_t{200})
        .named("s8", ARGTRACE_TYPE_S8, std::int8_t{-100})
        .named("u16", ARGTRACE_TYPE_U16, std::uint16_t{60000})
        .named("s16", ARGTRACE_TYPE_S16, std::int16_t{-30000})
        .named("u32", ARGTRACE_TYPE_U32, std::uint32_t{4000000000})
        .named("s32", ARGTRACE_TYPE_S32, std::int32_t{-2000000000})
        .named("u64", ARGTRACE_TYPE_U64, std::uint64_t{0xfedcba9876543210})
        .named("s64", ARGTRACE_TYPE_S64, std::int64_t{-5})
        .named("flag", ARGTRACE_TYPE_BOOL, std::uint8_t{1})
        .named("c", ARGTRACE_TYPE_CHAR, std::int8_t{-1})
        .named("uc", ARGTRACE_TYPE_UCHAR, std::uint8_t{255})
        .named("p", ARGTRACE_TYPE_PTR, std::uint64_t{0xffff888000000000})
        .named("u128", ARGTRACE_TYPE_U128, Wide{1, 2})
        .named("s128", ARGTRACE_TYPE_S128, Wide{3, 0x8000000000000000})
        .end_of_names();
}

inline Argument bytes_argument(std::string name, std::uint32_t size) {
    Argument made = argument(std::move(name), ARGTRACE_TYPE_BYTES, "struct s");
    made.size = size;
    return made;
}

/// f(struct s first, int n, struct s second)
inline Probe with_structs(std::uint32_t id) {
    Probe probe;
    probe.id = id;
    probe.function = "with_structs";
    probe.args = {bytes_argument("first", 3), argument("n", ARGTRACE_TYPE_S32),
                  bytes_argument("second", 12)};
    return probe;
}

inline Data structs_compact(std::uint8_t tag) {
    return Data()
        .put(caller)
        .put(std::uint16_t{3})
        .put(tag)
        .put(std::uint16_t{0x0b0a})
        .put(std::int32_t{-7})
        .put(std::uint16_t{12})
        .put(std::uint64_t{0x1122334455667788})
        .put(std::uint32_t{0x99aabbcc});
}

inline Data structs_named(std::uint8_t tag) {
    return Data()
        .put(caller)
        .named("first", ARGTRACE_TYPE_BYTES, std::uint16_t{3})
        .put(tag)
        .put(std::uint16_t{0x0b0a})
        .named("n", ARGTRACE_TYPE_S32, std::int32_t{-7})
        .named("second", ARGTRACE_TYPE_BYTES, std::uint16_t{12})
        .put(std::uint64_t{0x1122334455667788})
        .put(std::uint32_t{0x99aabbcc})
        .end_of_names();
}

/// f(char *name as text, int n, struct s *p as bytes, u16 *narrow, void *ptr, s128 wide on two
/// registers): the text, the bytes, and two numbers are computed, in between the others.
inline Probe with_outputs(std::uint32_t id) {
    Probe probe;
    probe.id = id;
    probe.function = "with_outputs";
    probe.args = {output("name", ARGTRACE_TYPE_STR, 8),
                  argument("n", ARGTRACE_TYPE_S32),
                  output("data", ARGTRACE_TYPE_BYTES, 6),
                  output("narrow", ARGTRACE_TYPE_S16),
                  bytes_argument("pair", 3),
                  not_captured("gone"),
                  output("ptr", ARGTRACE_TYPE_PTR)};
    return probe;
}

/// Its record, up to the outputs.
inline Data before_outputs(std::uint64_t unreadable) {
    return Data()
        .put(caller)
        .put(std::int32_t{-7})
        .put(std::uint16_t{3})
        .put('a')
        .put(std::uint16_t{0x6362})
        .put(unreadable);
}

inline Data outputs(std::string_view text = "sda1", unsigned flags = 0,
                    std::string_view bytes = "xy") {
    return before_outputs(0)
        .counted(text, flags)
        .counted(bytes)
        .put(std::int16_t{-2})
        .put(std::uint64_t{0xffff888000000000});
}

} // namespace argtrace::test
