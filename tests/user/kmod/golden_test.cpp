// SPDX-License-Identifier: GPL-2.0-only
// The golden records: the kernel's encoder, compiled here, writes them, and what the decoder reads
// in them is printed as they say. tests/kunit/encode_test.c has the encoder write them in a kernel.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>

#include "decode/decode.h"
#include "render/value_writer.h"
#include "report/symbol_table.h"
#include "support/encoder_environment.h"
#include "support/packet_builder.h"

#include "../../data/golden_records.h"

namespace {

struct argtrace_regs {};

u64 argtrace_regs_argument(const struct argtrace_regs *, unsigned int index) {
    return golden_registers[index];
}

/// So much of it can be read.
std::size_t stack_size = sizeof(golden_stack);

unsigned int argtrace_fetch_stack(const struct argtrace_regs *, unsigned int offset, u8 *to,
                                  unsigned int size) {
    EXPECT_LE(offset + size, sizeof(golden_stack));
    const std::size_t left = offset < stack_size ? stack_size - offset : 0;
    const auto read = static_cast<unsigned int>(std::min<std::size_t>(size, left));
    std::memset(to, 0, size);
    std::memcpy(to, golden_stack + offset, read);
    return read;
}

constexpr s32 ARGTRACE_STACK_PAGE = sizeof(golden_stack);

const u8 *argtrace_stack(const struct argtrace_regs *) {
    return golden_stack;
}

s32 argtrace_stack_place(const struct argtrace_regs *) {
    return static_cast<s32>(sizeof(golden_stack) - stack_size);
}

#define noinline __attribute__((noinline))
#include "../../../kmod/sink/encode.h"
#undef noinline

} // namespace

namespace argtrace {
namespace {

using Bytes = std::vector<unsigned char>;

class Golden : public testing::TestWithParam<golden_record> {
protected:
    static Bytes compact() {
        return {GetParam().compact, GetParam().compact + GetParam().compact_size};
    }
    static Bytes named() { return {GetParam().named, GetParam().named + GetParam().named_size}; }

    /// What the module prepares of the descriptors.
    static std::vector<argtrace_step> steps(std::string &strings) {
        std::vector<argtrace_step> steps;
        for (unsigned i = 0; i < GetParam().nr_args; i++) {
            const golden_arg &arg = GetParam().args[i];
            if (arg.loc == ARGTRACE_LOC_NONE)
                continue;
            argtrace_step step{};
            step.is_word = arg.loc == ARGTRACE_LOC_REG && arg.type != ARGTRACE_TYPE_BYTES;
            step.loc = arg.loc;
            step.index = arg.index;
            step.type = arg.type;
            step.size = arg.size;
            step.offset = arg.offset;
            step.name = static_cast<u16>(strings.size());
            step.name_length = static_cast<u8>(std::strlen(arg.name) + 1);
            strings.append(arg.name).push_back('\0');
            steps.push_back(step);
        }
        return steps;
    }

    /// The values in `data`, as text.
    static std::vector<std::string> decoded(const Bytes &data, std::uint32_t format) {
        Probe probe;
        probe.id = 1;
        probe.function = "f";
        for (unsigned i = 0; i < GetParam().nr_args; i++) {
            const golden_arg &golden = GetParam().args[i];
            Argument argument;
            argument.loc = golden.loc;
            argument.index = golden.index;
            argument.type = golden.type;
            argument.size = golden.size;
            argument.offset = golden.offset;
            argument.name = golden.name;
            probe.args.push_back(argument);
        }
        test::Data record;
        for (unsigned char byte : data)
            record.put(byte);
        test::PacketBuilder packet;
        packet.header().format = format | ARGTRACE_FORMAT_NO_CALLER;
        packet.record(GetParam().stack_words ? ARGTRACE_ID_UNREADABLE + 1 : 1, 1000, record);

        Schema schema;
        schema.add(probe);
        Decoder decoder;
        EventBatch batch;
        EXPECT_EQ(decoder.open(packet.bytes()), DecodeStatus::ok);
        EXPECT_EQ(decoder.decode(packet.end(), 0, schema, batch), DecodeStatus::ok);
        std::vector<std::string> texts;
        if (batch.events.empty())
            return texts;
        const SymbolTable no_symbols;
        CallerNames names(no_symbols);
        ValueWriter writer(names, ValueWriter::Style::text);
        const EventView view = batch.view(batch.events[0]);
        const ProbeFormats &formats = writer.formats(*view.event->probe);
        for (unsigned i = 0; i < GetParam().nr_args; i++) {
            Line line;
            writer.append(line, view, view.values[i], formats.argument(i));
            texts.emplace_back(line.view());
        }
        return texts;
    }

    static std::vector<std::string> expected() {
        std::vector<std::string> texts;
        for (unsigned i = 0; i < GetParam().nr_args; i++)
            texts.emplace_back(GetParam().args[i].text);
        return texts;
    }
};

/// Marks a record as the callback does if it could not read all of it.
void mark(u8 *record, const argtrace_layout &layout, unsigned readable) {
    if (readable < ARGTRACE_STACK_WORDS)
        record[layout.mark_at] = static_cast<u8>(readable);
}

/// The arguments of a compact record, as the callback writes it; `straight`: as it does where the
/// stack can be read without care.
Bytes encoded_compact(std::vector<argtrace_step> steps, bool straight) {
    constexpr std::size_t header = sizeof(argtrace_record);
    const auto count = static_cast<unsigned>(steps.size());
    const argtrace_regs regs;
    const u32 end = argtrace_place_steps(steps.data(), count, false, header);
    std::vector<argtrace_stack_word> stack(count);
    argtrace_layout layout{};
    argtrace_plan_layout(&layout, steps.data(), count, stack.data(), end, (end + 7) / 8 * 8);

    Bytes record((end + 7) / 8 * 8);
    argtrace_encode_registers(record.data(), &layout, &regs);
    if (!straight || !argtrace_encode_stack(record.data(), &layout, &regs))
        mark(record.data(), layout, argtrace_encode_rest(record.data(), &layout, &regs));
    return {record.begin() + header, record.begin() + end};
}

TEST_P(Golden, IsWrittenByTheEncoder) {
    stack_size = GetParam().stack_words ? 8 * GetParam().stack_words : sizeof(golden_stack);
    std::string strings;
    std::vector<argtrace_step> prepared = steps(strings);
    EXPECT_EQ(encoded_compact(prepared, true), compact());
    EXPECT_EQ(encoded_compact(prepared, false), compact());

    const auto count = static_cast<unsigned>(prepared.size());
    const argtrace_regs regs;
    Bytes bytes(argtrace_place_steps(prepared.data(), count, true, 0));
    unsigned readable = ARGTRACE_STACK_WORDS;
    EXPECT_EQ(argtrace_encode_named(bytes.data(), prepared.data(), count, strings.data(), &regs,
                                    &readable),
              bytes.data() + bytes.size());
    EXPECT_EQ(readable, GetParam().stack_words ? GetParam().stack_words : ARGTRACE_STACK_WORDS);
    argtrace_layout layout{};
    argtrace_plan_named(&layout, prepared.data(), count);
    mark(bytes.data(), layout, readable);
    EXPECT_EQ(bytes, named());
}

TEST_P(Golden, IsReadByTheDecoder) {
    EXPECT_EQ(decoded(compact(), 0), expected());
    EXPECT_EQ(decoded(named(), ARGTRACE_FORMAT_NAMED), expected());
}

INSTANTIATE_TEST_SUITE_P(Records, Golden, testing::ValuesIn(golden_records),
                         [](const testing::TestParamInfo<golden_record> &info) {
                             std::string name = info.param.name;
                             for (char &character : name) {
                                 if (!isalnum(static_cast<unsigned char>(character)))
                                     character = '_';
                             }
                             return name;
                         });

} // namespace
} // namespace argtrace
