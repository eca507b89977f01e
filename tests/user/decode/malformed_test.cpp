// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include "support/decoded_packets.h"

namespace argtrace {
namespace {

using test::argument;
using test::before_outputs;
using test::caller;
using test::Data;
using test::DecodeTest;
using test::output;
using test::outputs;
using test::PacketBuilder;
using test::vfs_read;
using test::vfs_read_data;
using test::with_outputs;
using test::with_structs;

TEST_F(DecodeTest, MalformedPackets) {
    auto open = [](auto change) {
        PacketBuilder packet;
        change(packet.header());
        return Decoder().open(packet.bytes());
    };
    using P = argtrace_packet;
    EXPECT_EQ(open([](P &) {}), DecodeStatus::ok);
    EXPECT_EQ(open([](P &p) { p.magic = 0; }), DecodeStatus::bad_magic);
    EXPECT_EQ(open([](P &p) { p.version = 2; }), DecodeStatus::bad_version);
    EXPECT_EQ(open([](P &p) { p.size = 8192; }), DecodeStatus::bad_packet_size);
    EXPECT_EQ(open([](P &p) { p.header = 56; }), DecodeStatus::bad_header_size);
    EXPECT_EQ(open([](P &p) { p.header = 68; }), DecodeStatus::bad_header_size);
    EXPECT_EQ(open([](P &p) { p.header = 8192; }), DecodeStatus::bad_header_size);
    EXPECT_EQ(open([](P &p) { p.format = 4; }), DecodeStatus::unknown_format);
    EXPECT_EQ(open([](P &p) { p.clock_id = 2; }), DecodeStatus::unknown_clock);
    std::vector<std::byte> bytes(sizeof(P) - 1);
    EXPECT_EQ(Decoder().open(bytes), DecodeStatus::packet_too_short);
    EXPECT_EQ(Decoder().open({}), DecodeStatus::packet_too_short);
}

TEST_F(DecodeTest, TheBeginningOfAPacketIsNotLongerThanThePacket) {
    PacketBuilder packet(4096);
    packet.header().size = 4096 - 8;
    EXPECT_EQ(Decoder().open_cut(packet.bytes()), DecodeStatus::bad_packet_size);
    packet.header().size = 4096 + 8;
    EXPECT_EQ(Decoder().open_cut(packet.bytes()), DecodeStatus::ok);
}

TEST_F(DecodeTest, RecordSizesThatCannotBe) {
    PacketBuilder packet;
    std::size_t at = packet.record(1, 1000, vfs_read_data(1));
    for (unsigned size : {0u, 8u, 15u, 20u, 64u, 0xfff8u}) {
        packet.record_at(at).size = static_cast<std::uint16_t>(size);
        EXPECT_EQ(decode(packet), DecodeStatus::bad_record_size) << size;
        EXPECT_FALSE(decoder.skip(packet.end())) << size;
        EXPECT_TRUE(batch.events.empty());
    }
    ASSERT_EQ(decoder.open(packet.bytes()), DecodeStatus::ok);
    EXPECT_EQ(decoder.decode(at + 8, 0, schema, batch), DecodeStatus::record_too_short);
    EXPECT_FALSE(decoder.skip(at + 8));
}

/// A record with this data, between two good ones: what is said about it, and that the good
/// ones are not harmed.
class MalformedRecord : public DecodeTest {
protected:
    DecodeStatus status(const Data &data, std::uint32_t id = 1, std::uint32_t format = 0) {
        PacketBuilder packet;
        packet.header().format = format;
        Data good = format & ARGTRACE_FORMAT_NAMED ? named() : vfs_read_data(1);
        packet.record(1, 1000, good);
        packet.record(id, 1001, data);
        packet.record(1, 1002, good);

        DecodeStatus status = decode(packet);
        EXPECT_EQ(batch.values.size(), 4u);
        EXPECT_TRUE(decoder.skip(packet.end()));
        EXPECT_EQ(decoder.decode(packet.end(), 0, schema, batch), DecodeStatus::ok);
        EXPECT_EQ(times(), (std::vector<std::uint64_t>{1000, 1002}));
        EXPECT_EQ(batch.values.size(), 8u);
        return status;
    }

    DecodeStatus named_status(const Data &data) { return status(data, 1, ARGTRACE_FORMAT_NAMED); }

    static Data file(Data data = Data()) {
        return data.put(caller).named("file", ARGTRACE_TYPE_PTR, std::uint64_t{1});
    }

    static Data named() {
        return file()
            .named("buf", ARGTRACE_TYPE_PTR, std::uint64_t{2})
            .named("count", ARGTRACE_TYPE_U64, std::uint64_t{3})
            .named("pos", ARGTRACE_TYPE_PTR, std::uint64_t{4})
            .end_of_names();
    }
};

TEST_F(MalformedRecord, Compact) {
    EXPECT_EQ(status(vfs_read_data(1), 77), DecodeStatus::unknown_probe);
    EXPECT_EQ(status(Data()), DecodeStatus::caller_cut_off);
    EXPECT_EQ(status(Data().put(caller).put(std::uint64_t{1})), DecodeStatus::data_cut_off);
    EXPECT_EQ(status(vfs_read_data(1).put(std::uint64_t{0})), DecodeStatus::excess_data);

    for (std::uint8_t type : {ARGTRACE_TYPE_STR, ARGTRACE_TYPE_END}) {
        Probe probe;
        probe.id = 50u + type;
        probe.args = {argument("s", type)};
        schema.add(probe);
        EXPECT_EQ(status(Data().put(caller).put(std::uint64_t{0}), probe.id),
                  DecodeStatus::unsupported_type);
    }
}

TEST_F(MalformedRecord, Bytes) {
    schema.add(with_structs(2));
    auto start = [] { return Data().put(caller).put(std::uint16_t{3}).put('a').put('b').put('c'); };
    auto second = [&](std::uint16_t length) { return start().put(std::int32_t{1}).put(length); };
    for (std::uint16_t length : {0, 2, 4, 0xffff})
        EXPECT_EQ(status(Data().put(caller).put(length).put(std::uint64_t{0}), 2),
                  DecodeStatus::bad_length);
    EXPECT_EQ(status(second(12).put(std::uint32_t{0}), 2), DecodeStatus::data_cut_off);
    EXPECT_EQ(status(second(13).put(std::uint64_t{0}).put(std::uint64_t{0}), 2),
              DecodeStatus::bad_length);
    EXPECT_EQ(status(Data().put(caller), 2), DecodeStatus::data_cut_off);
    EXPECT_TRUE(batch.bytes.empty()); // nothing of a bad record stays

    EXPECT_EQ(status(Data().put(caller).named("first", ARGTRACE_TYPE_BYTES, std::uint16_t{4}), 2,
                     ARGTRACE_FORMAT_NAMED),
              DecodeStatus::bad_length);
    EXPECT_EQ(status(Data().put(caller).named("first", ARGTRACE_TYPE_U64, std::uint64_t{4}), 2,
                     ARGTRACE_FORMAT_NAMED),
              DecodeStatus::type_mismatch);
}

TEST_F(MalformedRecord, Outputs) {
    schema.add(with_outputs(2));
    const auto good = outputs().bytes();
    // The padding may be as long as what is missing: cut off by so many bytes that it is not.
    for (std::size_t size = 0; size + 7 < good.size(); size += 8) {
        Data part;
        for (std::size_t i = 0; i < size; ++i)
            part.put(good[i]);
        EXPECT_EQ(status(part, 2),
                  size < 8 ? DecodeStatus::caller_cut_off : DecodeStatus::data_cut_off)
            << size;
    }
    EXPECT_EQ(status(outputs().put(std::uint64_t{0}).put(std::uint64_t{0}), 2),
              DecodeStatus::excess_data);
    EXPECT_EQ(status(outputs("nine char"), 2), DecodeStatus::bad_length);
    EXPECT_EQ(status(outputs("nine char", ARGTRACE_TEXT_CUT), 2), DecodeStatus::bad_length);
    EXPECT_EQ(status(outputs("", 0, "sevense"), 2), DecodeStatus::bad_length);
    // The flag is none of paths, which have their own.
    Probe path;
    path.id = 4;
    path.args = {output("file", ARGTRACE_TYPE_PATH, ARGTRACE_PATH_MAX)};
    schema.add(path);
    EXPECT_EQ(status(Data().put(caller).put(std::uint64_t{0}).counted(std::string("\0\0x/", 4), ARGTRACE_TEXT_CUT), 4),
              DecodeStatus::bad_length);
    EXPECT_EQ(status(before_outputs(0).counted("sda1").put(std::uint16_t{6}), 2),
              DecodeStatus::data_cut_off);
    for (const unsigned bit : {4u, 5u, 63u})
        EXPECT_EQ(status(before_outputs(std::uint64_t{1} << bit)
                             .counted("")
                             .counted("")
                             .put(std::int16_t{0})
                             .put(std::uint64_t{0}),
                         2),
                  DecodeStatus::bad_unreadable_bits);
    EXPECT_TRUE(batch.bytes.empty()); // nothing of a bad record stays

    Probe many;
    many.id = 3;
    many.args.assign(ARGTRACE_VALUES_MAX + 1, output("x", ARGTRACE_TYPE_U8));
    schema.add(many);
    Data data = Data().put(caller);
    for (int i = 0; i < 10; ++i)
        data.put(std::uint64_t{0});
    EXPECT_EQ(status(data, 3), DecodeStatus::too_many_outputs);

    for (const std::uint8_t type : {std::uint8_t{21}, std::uint8_t{ARGTRACE_TYPE_END}}) {
        Probe probe;
        probe.id = 60u + type;
        probe.args = {output("x", type, 8)};
        schema.add(probe);
        EXPECT_EQ(status(Data().put(caller).put(std::uint64_t{0}).put(std::uint64_t{0}), probe.id),
                  DecodeStatus::unsupported_type);
    }

    Probe named_one;
    named_one.id = 4;
    named_one.args = {output("x", ARGTRACE_TYPE_U8)};
    schema.add(named_one);
    EXPECT_EQ(status(Data().put(caller).named("x", ARGTRACE_TYPE_U8, '1').end_of_names(), 4,
                     ARGTRACE_FORMAT_NAMED),
              DecodeStatus::named_outputs);
}

TEST_F(MalformedRecord, Paths) {
    Probe probe;
    probe.id = 2;
    probe.args = {output("file", ARGTRACE_TYPE_PATH, ARGTRACE_PATH_MAX)};
    schema.add(probe);
    const auto status_of = [&](std::string_view path) {
        return status(Data().put(caller).put(std::uint64_t{0}).counted(path), probe.id);
    };
    const std::string flags(2, '\0');
    EXPECT_EQ(status_of(""), DecodeStatus::bad_path);
    EXPECT_EQ(status_of(flags + "no end"), DecodeStatus::bad_path);
    EXPECT_EQ(status_of(flags + std::string(ARGTRACE_PATH_MAX - 1, '/')), DecodeStatus::bad_length);
}

TEST_F(MalformedRecord, Special) {
    EXPECT_EQ(status(Data(), ARGTRACE_ID_CLOCK), DecodeStatus::bad_clock_record);
    EXPECT_EQ(status(Data().put(std::uint64_t{1000}), ARGTRACE_ID_CLOCK),
              DecodeStatus::bad_clock_record);
    EXPECT_EQ(status(Data().put(std::uint64_t{0}).put(std::uint64_t{0}), ARGTRACE_ID_TASK),
              DecodeStatus::bad_task_record);
    EXPECT_EQ(status(vfs_read_data(1), ARGTRACE_ID_UNREADABLE + 1),
              DecodeStatus::bad_unreadable_record);
    EXPECT_EQ(status(vfs_read_data(1), ARGTRACE_ID_UNREADABLE + 77), DecodeStatus::unknown_probe);
}

TEST_F(MalformedRecord, Named) {
    EXPECT_EQ(named_status(Data()), DecodeStatus::caller_cut_off);
    EXPECT_EQ(named_status(Data().put(caller)), DecodeStatus::unterminated_name);
    EXPECT_EQ(named_status(Data().put(caller).put(std::uint64_t{0x6161616161616161})),
              DecodeStatus::unterminated_name);
    EXPECT_EQ(named_status(Data().put(caller).text("abcdefg")), DecodeStatus::data_cut_off);
    EXPECT_EQ(named_status(Data().put(caller).named("file", ARGTRACE_TYPE_PTR, std::uint16_t{0})),
              DecodeStatus::data_cut_off);
    EXPECT_EQ(named_status(Data().put(caller).named("fill", ARGTRACE_TYPE_PTR, std::uint64_t{0})),
              DecodeStatus::name_mismatch);
    EXPECT_EQ(named_status(Data().put(caller).named("file", ARGTRACE_TYPE_U64, std::uint64_t{0})),
              DecodeStatus::type_mismatch);
    EXPECT_EQ(named_status(file().end_of_names()), DecodeStatus::missing_argument);
    EXPECT_EQ(named_status(named().put(std::uint64_t{0}).put(std::uint64_t{0})),
              DecodeStatus::excess_data);

    Probe short_one = vfs_read(2);
    short_one.args.resize(1);
    schema.add(short_one);
    EXPECT_EQ(status(named(), 2, ARGTRACE_FORMAT_NAMED), DecodeStatus::unclosed_list);
}

TEST(DecodeStatusTest, EachHasItsSentence) {
    EXPECT_EQ(describe(DecodeStatus::bad_magic), "a packet does not begin as one");
    for (int status = 0; status <= static_cast<int>(DecodeStatus::bad_unreadable_bits); ++status) {
        for (int other = 0; other < status; ++other)
            EXPECT_NE(describe(static_cast<DecodeStatus>(status)),
                      describe(static_cast<DecodeStatus>(other)));
    }
}

} // namespace
} // namespace argtrace
