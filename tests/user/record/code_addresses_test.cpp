// SPDX-License-Identifier: GPL-2.0-only
#include <gmock/gmock.h>

#include "record/code_addresses.h"
#include "support/all_display_types.h"
#include "support/btf_builder.h"
#include "support/packet_builder.h"

namespace argtrace {
namespace {

using test::PacketBuilder;
using test::vfs_read_data;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t here = 0xffffffff81000010, there = 0xffffffff81000020,
                        elsewhere = 0xffffffff81000030;

std::span<const std::byte> records(const PacketBuilder &packet) {
    return std::span(packet.bytes()).first(packet.end()).subspan(sizeof(argtrace_packet));
}

/// A function of one parameter, which is a pointer to a function, beside another one.
Probe with_callback(std::uint32_t id) {
    BtfBuilder b;
    const int callback = b.proto(0, {}), number = b.integer("long", 8);
    const int proto = b.proto(0, {{"number", number}, {"call", b.pointer(callback)}});
    Probe probe;
    probe.id = id;
    probe.args = {test::argument("number", ARGTRACE_TYPE_S64, "long", 0),
                  test::argument("call", ARGTRACE_TYPE_PTR, "void (*)(void)", 1)};
    probe.types = test::all_display_types(b.get(), static_cast<std::uint32_t>(proto));
    return probe;
}

TEST(CodeAddresses, OfCallersOnceEach) {
    CodeAddresses addresses(0);
    addresses.add(test::vfs_read(1));
    addresses.add(test::vfs_read(2));
    PacketBuilder packet;
    for (const std::uint64_t caller : {here, here, there, here, here})
        packet.record(1, 1000, vfs_read_data(1, caller));
    // Records that interrupt a run of the same caller: another function, an interrupt, a task, a
    // clock.
    packet.record(2, 1000, vfs_read_data(1, here));
    packet.record(1, 1000, vfs_read_data(1, here), 100, ARGTRACE_CTX_HARDIRQ);
    packet.task(101, 101, "cat", 1000);
    packet.clock(2000);
    packet.record(1, 1000, vfs_read_data(1, here), 101);
    packet.record(1, 1000, vfs_read_data(1, elsewhere), 101);
    EXPECT_TRUE(addresses.scan(records(packet)));
    EXPECT_THAT(addresses.take_new(), ElementsAre(here, there, elsewhere));
    EXPECT_TRUE(addresses.scan(records(packet)));
    EXPECT_THAT(addresses.take_new(), IsEmpty());
}

TEST(CodeAddresses, OfFunctionsThatArePassed) {
    CodeAddresses addresses(0);
    addresses.add(with_callback(1));
    PacketBuilder packet;
    for (const std::uint64_t function : {there, elsewhere, there})
        packet.record(1, 1000, test::Data().put(here).put(std::uint64_t{7}).put(function));
    EXPECT_TRUE(addresses.scan(records(packet)));
    EXPECT_THAT(addresses.take_new(), ElementsAre(here, there, elsewhere));
}

/// f(char *name, handler_t first, struct { long n; handler_t call; } ops, handler_t last), as a program computes them.
Probe with_outputs() {
    BtfBuilder b;
    const int handler = b.pointer(b.proto(0, {})), number = b.integer("long", 8);
    const int ops = b.structure("ops", 16, {{"n", number, 0}, {"call", handler, 64}});
    const int name = b.pointer(b.integer("char", 1, BTF_INT_SIGNED));
    const int proto = b.proto(
        0, {{"name", name}, {"number", number}, {"first", handler}, {"ops", ops}, {"last", handler}, {"end", name}});
    Probe probe;
    probe.id = 1;
    probe.args = {test::output("name", ARGTRACE_TYPE_STR, 16),
                  test::argument("number", ARGTRACE_TYPE_S64, "long", 0),
                  test::output("first", ARGTRACE_TYPE_PTR), test::output("ops", ARGTRACE_TYPE_BYTES, 16),
                  test::output("last", ARGTRACE_TYPE_PTR), test::output("end", ARGTRACE_TYPE_STR, 16)};
    probe.types = test::all_display_types(b.get(), static_cast<std::uint32_t>(proto));
    return probe;
}

TEST(CodeAddresses, OfFunctionsBehindTextOfAnyLength) {
    for (const std::string_view text : {"", "x", "sixteen letters!"}) {
        CodeAddresses addresses(0);
        addresses.add(with_outputs());
        test::Data data;
        data.put(here).put(std::uint64_t{7}).put(std::uint64_t{0});
        data.counted(text, text.size() == 16 ? ARGTRACE_TEXT_CUT : 0).put(there);
        data.put(std::uint16_t{16}).put(std::uint64_t{5}).put(elsewhere).put(here + 1).counted("end");
        PacketBuilder packet;
        packet.record(1, 1000, data);
        EXPECT_TRUE(addresses.scan(records(packet)));
        EXPECT_THAT(addresses.take_new(), ElementsAre(here, there, elsewhere, here + 1)) << text;
        // Whatever the lengths say, nothing after the record is read.
        packet.record_at(sizeof(argtrace_packet)).size = 48;
        EXPECT_TRUE(addresses.scan(records(packet).first(48)));
    }
}

TEST(CodeAddresses, NoneWithoutCallers) {
    CodeAddresses addresses(ARGTRACE_FORMAT_NO_CALLER);
    addresses.add(test::vfs_read(1));
    PacketBuilder packet;
    packet.record(1, 1000, test::Data().put(here).put(here));
    EXPECT_TRUE(addresses.scan(records(packet)));
    EXPECT_THAT(addresses.take_new(), IsEmpty());
}

TEST(CodeAddresses, StopAtAProbeThatIsNew) {
    CodeAddresses addresses(0);
    addresses.add(test::vfs_read(1));
    PacketBuilder packet;
    packet.record(1, 1000, vfs_read_data(1, here));
    packet.record(2, 1000, vfs_read_data(1, there));
    EXPECT_FALSE(addresses.scan(records(packet)));
    addresses.add(test::vfs_read(2));
    EXPECT_TRUE(addresses.scan(records(packet)));
    EXPECT_THAT(addresses.take_new(), ElementsAre(here, there));
}

TEST(CodeAddresses, EndWhereRecordsAreDamaged) {
    CodeAddresses addresses(0);
    addresses.add(test::vfs_read(1));
    PacketBuilder packet;
    for (const std::uint64_t caller : {here, here, there})
        packet.record(1, 1000, vfs_read_data(1, caller));
    // Cut off anywhere, in memory of its own, so that a sanitizer notices a read past the end.
    const auto whole = records(packet);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<long>(size));
        EXPECT_TRUE(addresses.scan(part));
    }
    EXPECT_THAT(addresses.take_new(), ElementsAre(here));

    packet.record_at(sizeof(argtrace_packet)).size = 8;
    EXPECT_TRUE(addresses.scan(records(packet)));
    EXPECT_THAT(addresses.take_new(), IsEmpty());
}

TEST(CodeAddresses, OfStacksTheNumbers) {
    Probe probe;
    probe.id = 1;
    probe.args = {test::argument("count", ARGTRACE_TYPE_U32, "int", 0), test::output("name", ARGTRACE_TYPE_STR, 16),
                  test::output("stack", ARGTRACE_TYPE_STACK)};
    CodeAddresses addresses(0);
    addresses.add(probe);
    PacketBuilder packet;
    for (const std::uint64_t stack : {7, 8, 7, 0})
        packet.record(1, 1000,
                      test::Data().put(here).put(std::uint32_t{3}).put(std::uint64_t{0}).counted("abc").put(stack));
    EXPECT_TRUE(addresses.scan(records(packet)));
    EXPECT_THAT(addresses.take_new_stacks(), ElementsAre(7, 8));
    EXPECT_THAT(addresses.take_new(), ElementsAre(here));
    EXPECT_TRUE(addresses.scan(records(packet)));
    EXPECT_THAT(addresses.take_new_stacks(), IsEmpty());
    addresses.note(there);
    EXPECT_THAT(addresses.take_new(), ElementsAre(there));
}

} // namespace
} // namespace argtrace
