// SPDX-License-Identifier: GPL-2.0-only
#include "record/metadata_writer.h"

#include <cstring>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "model/user_frame.h"
#include "support/packet_builder.h"
#include "support/trace_builder.h"

namespace argtrace {
namespace {

constexpr std::uint64_t kernel_stack_id = 7, user_stack_id = 8, kernel_address = 0xffffffff81000010;
constexpr std::uint64_t in_main = UserFrame(16, 0x1234, false).word(), in_library = UserFrame(17, 0x99, true).word(),
                        the_end = UserFrame(ARGTRACE_OBJECT_END, ARGTRACE_END_NO_CALL, false).word();

class MetadataSymbols : public Symbols {
public:
    std::optional<Symbol> find(CodePlace place) const override {
        if (place.space == CodeSpace::kernel)
            return Symbol{0xffffffff81000000, "caller", "", 0x1000};
        if (place.address == in_main)
            return Symbol{in_main - 0x34, "operator new(int)", "", 0};
        return Symbol{in_library - 0x99, "two\nlines", "", 0}; // the object alone is known
    }

    std::vector<SourceFrame> source(CodePlace place) const override {
        if (place.address != in_main)
            return {};
        return {{"in\tline", "/a b/x\n.h", 12}, {"", "", 0}, {"operator new(int)", "x.c", 34}};
    }

    std::optional<Stack> stack(std::uint64_t id, StackRoom & /*room*/) const override {
        if (id == kernel_stack_id)
            return Stack{kernel_, false};
        return id == user_stack_id ? std::optional(Stack{user_, false, CodeSpace::user}) : std::nullopt;
    }

    std::optional<CodeObject> object(std::uint32_t number) const override {
        return number == 16 ? CodeObject{"/usr/bin/a program", "abcd", {{0x1000, 0x401000, 0x2345}}} : CodeObject{"/tmp/two\nlines", ""};
    }

private:
    std::vector<std::uint64_t> kernel_{kernel_address}, user_{in_library, in_main, the_end};
};

/// The payloads of the chunks of each type, one behind the other.
std::map<ChunkType, std::string> chunks_of(const test::FileBytes &bytes) {
    std::map<ChunkType, std::string> chunks;
    for (std::size_t at = sizeof(FileHeader); at + sizeof(ChunkHeader) <= bytes.size();) {
        ChunkHeader chunk;
        std::memcpy(&chunk, &bytes[at], sizeof(chunk));
        at += sizeof(chunk);
        chunks[static_cast<ChunkType>(chunk.type)].append(reinterpret_cast<const char *>(bytes.data()) + at, chunk.length);
        at += chunk.length;
    }
    return chunks;
}

TEST(MetadataWriter, NamesUserCodeBeforeItsStacks) {
    Probe probe;
    probe.id = 1;
    probe.args = {test::output("stack", ARGTRACE_TYPE_STACK), test::output("user_stack", ARGTRACE_TYPE_STACK)};
    probe.args[1].type_name = user_stack_name;
    test::PacketBuilder packet;
    for (int i = 0; i < 2; ++i)
        packet.record(1, 1000, test::Data().put(kernel_address).put(std::uint64_t{0}).put(kernel_stack_id).put(user_stack_id));

    const MetadataSymbols symbols;
    const Fd file = test::memory_file();
    TraceWriter writer(Fd(::dup(file.get())), "memory");
    writer.info(test::some_info());
    MetadataWriter metadata(0, [&probe] { return std::vector{probe}; }, symbols, writer);
    metadata.precede(std::span(packet.bytes()).first(packet.end()).subspan(sizeof(argtrace_packet)));
    writer.flush();

    std::map<ChunkType, std::string> chunks = chunks_of(test::contents(file.get()));
    EXPECT_EQ(chunks[ChunkType::objects], "11 - /tmp/two?lines\n10 abcd /usr/bin/a program\n\t1000\t401000\t2345\n");
    EXPECT_EQ(chunks[ChunkType::places], "4008000000001234 34 operator new(int)\n"
                                             "\t12\tin?line\t/a b/x?.h\n\t0\t\t\n\t34\toperator new(int)\tx.c\n");
    EXPECT_EQ(chunks[ChunkType::stacks].size(), (2 + 1 + 2 + 3) * sizeof(std::uint64_t));
    EXPECT_EQ(chunks[ChunkType::symbols], "ffffffff81000000 0000000000001000 t caller\n");
}

/// A stack that is incomplete at first.
class PendingSymbols : public MetadataSymbols {
public:
    std::optional<Stack> stack(std::uint64_t id, StackRoom &room) const override {
        auto found = MetadataSymbols::stack(id, room);
        if (id == user_stack_id && !is_complete)
            found = Stack{unreadable_, false, CodeSpace::user, {}, 1, true};
        return found;
    }

    bool is_complete = false;

private:
    std::vector<std::uint64_t> unreadable_{in_library, UserFrame(ARGTRACE_OBJECT_END, ARGTRACE_END_UNREADABLE, false).word()};
};

TEST(MetadataWriter, WritesStacksThatAreCompletedOnceMore) {
    Probe probe;
    probe.id = 1;
    probe.args = {test::output("user_stack", ARGTRACE_TYPE_STACK)};
    probe.args[0].type_name = user_stack_name;
    test::PacketBuilder packet;
    packet.record(1, 1000, test::Data().put(kernel_address).put(std::uint64_t{0}).put(user_stack_id));
    const auto records = std::span(packet.bytes()).first(packet.end()).subspan(sizeof(argtrace_packet));

    PendingSymbols symbols;
    const Fd file = test::memory_file();
    TraceWriter writer(Fd(::dup(file.get())), "memory");
    writer.info(test::some_info());
    MetadataWriter metadata(0, [&probe] { return std::vector{probe}; }, symbols, writer);
    const auto stacks = [&] {
        writer.flush();
        return chunks_of(test::contents(file.get()))[ChunkType::stacks].size() / sizeof(std::uint64_t);
    };
    metadata.precede(records);
    EXPECT_EQ(stacks(), 2u + 2);
    metadata.precede(records);
    EXPECT_EQ(stacks(), 2u + 2);
    symbols.is_complete = true;
    metadata.finish();
    EXPECT_EQ(stacks(), 2u + 2 + 2 + 3);
    EXPECT_NE(chunks_of(test::contents(file.get()))[ChunkType::places].find("operator new(int)"), std::string::npos);
    metadata.finish();
    EXPECT_EQ(stacks(), 2u + 2 + 2 + 3);
}

} // namespace
} // namespace argtrace
