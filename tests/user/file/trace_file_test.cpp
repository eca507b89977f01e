// SPDX-License-Identifier: GPL-2.0-only
// The trace file from the writer to the reader, whole, cut short and changed.
#include <algorithm>
#include <csignal>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>

#include "support/thrown.h"
#include "support/trace_builder.h"

namespace argtrace {
namespace {

using test::FileBytes;
using test::make_trace;
using test::read_trace;
using testing::Eq;
using testing::HasSubstr;

class TraceFile : public testing::Test {
protected:
    WorkerPool workers_{2};
};

struct Place {
    ChunkHeader header;
    std::size_t offset;
};

std::vector<Place> chunks_of(const FileBytes &bytes) {
    std::vector<Place> places;
    std::size_t at = sizeof(FileHeader);
    while (at < bytes.size()) {
        ChunkHeader header;
        std::memcpy(&header, &bytes[at], sizeof(header));
        places.push_back({header, at});
        at += sizeof(header) + header.length;
    }
    EXPECT_EQ(at, bytes.size());
    return places;
}

std::size_t first_of(const FileBytes &bytes, ChunkType type) {
    for (const Place &place : chunks_of(bytes)) {
        if (place.header.type == static_cast<std::uint32_t>(type))
            return place.offset;
    }
    ADD_FAILURE() << "there is no such chunk";
    return 0;
}

/// Makes the sums of that chunk right again.
void seal(FileBytes &bytes, std::size_t at) {
    ChunkHeader header;
    std::memcpy(&header, &bytes[at], sizeof(header));
    header.payload_sum =
        file_checksum(std::span(bytes).subspan(at + sizeof(header), header.length));
    header.header_sum = header_checksum(header);
    std::memcpy(&bytes[at], &header, sizeof(header));
}

/// Another chunk in the place of one, or with `replaced` false before it; END is made to fit.
FileBytes with_chunk(const FileBytes &bytes, std::size_t at, std::uint32_t type,
                     std::uint32_t flags, const FileBytes &payload, bool replaced = true) {
    ChunkHeader old;
    std::memcpy(&old, &bytes[at], sizeof(old));
    ChunkHeader header{};
    header.type = type;
    header.flags = flags;
    header.length = payload.size();
    FileBytes made(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    const auto raw = std::as_bytes(std::span(&header, 1));
    made.insert(made.end(), raw.begin(), raw.end());
    made.insert(made.end(), payload.begin(), payload.end());
    const std::size_t rest = at + (replaced ? sizeof(old) + old.length : 0);
    made.insert(made.end(), bytes.begin() + static_cast<std::ptrdiff_t>(rest), bytes.end());
    seal(made, at);
    const std::size_t end = made.size() - sizeof(EndOfFile) - sizeof(ChunkHeader);
    if (at < end) {
        const std::uint64_t before = end;
        std::memcpy(&made[end + sizeof(ChunkHeader) + offsetof(EndOfFile, bytes)], &before,
                    sizeof(before));
        seal(made, end);
    }
    return made;
}

FileBytes bytes_of(std::string_view text) {
    const auto raw = std::as_bytes(std::span(text));
    return {raw.begin(), raw.end()};
}

TEST_F(TraceFile, ComesBackAsItWasWritten) {
    const auto read = read_trace(make_trace(), workers_);
    EXPECT_TRUE(read.clean());
    ASSERT_EQ(read.times.size(), 48u);
    for (std::size_t i = 0; i < read.times.size(); ++i)
        EXPECT_EQ(read.times[i], 1000 + 10 * i) << "in the order of time over both CPUs";
    EXPECT_EQ(read.text.substr(0, read.text.find('\n')),
              R"({"ts":1000,"cpu":0,"pid":100,"tid":100,"comm":"dd","flags":"....",)"
              R"("func":"vfs_read","caller":"ksys_read+0x10","args":{"file":"0xff1e1afafffb5e40",)"
              R"("buf":"0x161738f0","count":0,"pos":"0x0"}})");
    EXPECT_EQ(read.info, test::some_info());
    ASSERT_EQ(read.counts.size(), 1u);
    EXPECT_EQ(read.counts[0].records, 48u);
    EXPECT_EQ(read.loss, (std::map<std::uint32_t, std::uint64_t>{{1, 2}}));
    ASSERT_TRUE(read.span);
    EXPECT_EQ(read.span->begin, 900u);
    EXPECT_EQ(read.span->end, 2500u);
}

TEST_F(TraceFile, CompressedIsTheSame) {
    const auto plain = read_trace(make_trace(), workers_);
    for (int level : {1, 19}) {
        const FileBytes bytes = make_trace(3, level);
        EXPECT_LT(bytes.size(), make_trace().size());
        const auto read = read_trace(bytes, workers_);
        EXPECT_TRUE(read.clean());
        EXPECT_EQ(read.text, plain.text);
    }
}

TEST_F(TraceFile, HoweverManyWorkers) {
    const FileBytes bytes = make_trace(40);
    WorkerPool one(1);
    WorkerPool many(7);
    EXPECT_EQ(read_trace(bytes, one).text, read_trace(bytes, many).text);
}

TEST_F(TraceFile, StreamsThroughAPipe) {
    const FileBytes bytes = make_trace(40);
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    std::thread writer([&] {
        for (std::size_t at = 0; at < bytes.size();) {
            const std::size_t size = std::min<std::size_t>(bytes.size() - at, 37);
            at += static_cast<std::size_t>(::write(ends[1], &bytes[at], size));
        }
        ::close(ends[1]);
    });
    const auto read = read_trace(ends[0], workers_);
    writer.join();
    ::close(ends[0]);
    EXPECT_TRUE(read.clean());
    EXPECT_EQ(read.times.size(), 640u);
}

TEST_F(TraceFile, FilterChooses) {
    const FileBytes bytes = make_trace();
    EventFilter filter;
    filter.from = 1030; // both bounds are times of events
    filter.to = 1090;
    filter.cpus = {{1, 1}};
    EXPECT_EQ(read_trace(bytes, workers_, filter).times,
              (std::vector<std::uint64_t>{1030, 1050, 1070, 1090}));
    filter = {};
    filter.comms = {"d*"};
    EXPECT_EQ(read_trace(bytes, workers_, filter).times.size(), 24u);
    filter = {};
    filter.tids = {101};
    EXPECT_EQ(read_trace(bytes, workers_, filter).times.size(), 24u);
    filter = {};
    filter.excluded = {parse_spec("vfs_*", PatternSyntax::glob)};
    EXPECT_EQ(read_trace(bytes, workers_, filter).times.size(), 0u);
}

// The beginning is read up to the last whole packet, and what is missing is said.
TEST_F(TraceFile, CutShortAtEveryByte) {
    WorkerPool none(0);
    for (const auto level : {std::optional<int>(), std::optional<int>(1)}) {
        const FileBytes bytes = make_trace(2, level);
        const auto whole = read_trace(bytes, workers_);
        ASSERT_TRUE(whole.clean());
        std::vector<std::size_t> packet_ends;
        for (const Place &place : chunks_of(bytes)) {
            if (place.header.type == static_cast<std::uint32_t>(ChunkType::packet))
                packet_ends.push_back(place.offset + sizeof(ChunkHeader) + place.header.length);
        }
        const std::size_t calls[] = {0, 8, 16, 20, 24, 28, 32};
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            const FileBytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
            if (size < sizeof(FileHeader)) {
                EXPECT_THAT(thrown([&] { read_trace(cut, workers_); }),
                            HasSubstr(size == 0 ? "it is empty" : "it is cut short"));
                continue;
            }
            const auto read = read_trace(cut, none, {}, false);
            ASSERT_EQ(read.fault_count, 1u) << size;
            ASSERT_EQ(read.faults[0].status, FileStatus::cut_short) << size;
            const auto packets = std::count_if(packet_ends.begin(), packet_ends.end(),
                                               [size](std::size_t end) { return end <= size; });
            ASSERT_EQ(read.times.size(), calls[packets]) << size;
            ASSERT_TRUE(std::is_sorted(read.times.begin(), read.times.end())) << size;
        }
    }
}

TEST_F(TraceFile, UnknownChunksAreSkipped) {
    const FileBytes bytes = make_trace();
    const std::size_t at = first_of(bytes, ChunkType::packet);
    const auto read = read_trace(
        with_chunk(bytes, at, 77, 0xffff, bytes_of("of a later version"), false), workers_);
    EXPECT_TRUE(read.clean());
    EXPECT_EQ(read.times.size(), 48u);
}

TEST_F(TraceFile, OfAnotherKind) {
    EXPECT_THAT(thrown([&] { read_trace(bytes_of("#!/bin/sh\necho hello\n"), workers_); }),
                HasSubstr("memory: it is no trace of argtrace"));
    FileBytes bytes = make_trace();
    bytes[8] = std::byte{2};
    EXPECT_THAT(thrown([&] { read_trace(bytes, workers_); }),
                HasSubstr("the file has version 2 of the format, this argtrace reads version 1"));
    bytes = make_trace();
    bytes[12] = std::byte{1};
    EXPECT_THAT(thrown([&] { read_trace(bytes, workers_); }), HasSubstr("its header is damaged"));
}

// Each chunk, well-sealed, with nonsense in it: passed over by name, the rest is read.
TEST_F(TraceFile, MalformedChunksAreNamed) {
    const FileBytes bytes = make_trace();
    const std::uint64_t packets = 2 * 3 + 2; // of the last two each in two parts
    const std::uint64_t end = first_of(bytes, ChunkType::end);
    const auto end_chunk = [](EndOfFile value) {
        const auto raw = std::as_bytes(std::span(&value, 1));
        return FileBytes(raw.begin(), raw.end());
    };
    EXPECT_TRUE(read_trace(with_chunk(bytes, end, static_cast<std::uint32_t>(ChunkType::end), 0,
                                      end_chunk({packets, end})),
                           workers_)
                    .clean());
    const struct {
        ChunkType type;
        FileBytes payload;
        std::uint32_t flags;
        FileStatus status;
    } cases[] = {
        {ChunkType::info, bytes_of("[]"), 0, FileStatus::bad_info},
        {ChunkType::info, bytes_of("{\"cpus\":-1}"), 0, FileStatus::bad_info},
        {ChunkType::info, bytes_of("{"), 0, FileStatus::bad_info},
        {ChunkType::symbols, bytes_of("ksys_read\n"), 0, FileStatus::bad_symbols},
        {ChunkType::probes, bytes_of("too short"), 0, FileStatus::bad_probes},
        {ChunkType::mark, bytes_of("1234567"), 0, FileStatus::bad_mark},
        {ChunkType::counts, bytes_of("1234567"), 0, FileStatus::bad_counts},
        {ChunkType::loss, bytes_of("1234567"), 0, FileStatus::bad_loss},
        {ChunkType::loss, FileBytes(16, std::byte{0xff}), 0, FileStatus::bad_loss},
        {ChunkType::span, bytes_of("1234567"), 0, FileStatus::bad_span},
        {ChunkType::span, bytes_of(std::string("\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16)), 0,
         FileStatus::bad_span}, // ends before it begins
        {ChunkType::packet, bytes_of("1234567"), 0, FileStatus::bad_packet_prefix},
        {ChunkType::packet, FileBytes(24, std::byte{0xff}), 0, FileStatus::bad_packet_prefix},
        {ChunkType::packet, FileBytes(100), chunk_zstd, FileStatus::bad_compression},
        {ChunkType::packet, FileBytes(100), 1u << 31, FileStatus::unknown_flags},
        {ChunkType::counts, FileBytes(88), 1u << 30, FileStatus::unknown_flags},
        {ChunkType::end, bytes_of("1234567"), 0, FileStatus::bad_end},
        {ChunkType::end, FileBytes(16), 0, FileStatus::packets_missing},
        {ChunkType::end, end_chunk({packets - 1, end}), 0, FileStatus::packets_missing},
        {ChunkType::end, end_chunk({packets, end - 8}), 0, FileStatus::packets_missing},
    };
    for (const auto &one : cases) {
        const FileBytes made =
            with_chunk(bytes, first_of(bytes, one.type), static_cast<std::uint32_t>(one.type),
                       one.flags, one.payload);
        const auto read = read_trace(made, workers_);
        ASSERT_GE(read.faults.size(), 1u) << describe(one.status);
        EXPECT_EQ(read.faults[0].status, one.status) << describe(read.faults[0].status);
        EXPECT_EQ(read.faults[0].offset, first_of(bytes, one.type));
        EXPECT_TRUE(read.complete);
        if (one.type == ChunkType::packet) {
            EXPECT_EQ(read.times.size(), 40u);
        }
    }
}

// A payload that is not compressed is held to the same size as one that is.
TEST_F(TraceFile, PayloadsHaveALimit) {
    const auto unpacked = [](std::size_t size, std::size_t limit) {
        Chunk chunk;
        chunk.payload.assign(size, std::byte{});
        chunk.header.payload_sum = file_checksum(chunk.payload);
        return unpack(chunk, 24, limit).status;
    };
    EXPECT_EQ(unpacked(24 + 100, 100), FileStatus::ok);
    EXPECT_EQ(unpacked(24 + 101, 100), FileStatus::payload_too_large);
}

// In a ring the newest packet does not say how much of it is used; in a file it does.
TEST_F(TraceFile, PacketsSayHowMuchOfThemIsUsed) {
    const FileBytes packet = test::packet_of(0, 5, 1000, 10, 0, 8);
    Fd file = test::memory_file();
    const Fd copy(::dup(file.get()));
    TraceWriter writer(std::move(file), "memory");
    writer.packet(test::packet_bytes(packet));
    writer.flush();
    const FileBytes bytes = test::contents(copy.get());
    argtrace_packet header;
    std::memcpy(
        &header,
        &bytes.at(first_of(bytes, ChunkType::packet) + sizeof(ChunkHeader) + sizeof(PacketPrefix)),
        sizeof(header));
    EXPECT_EQ(header.used, packet.size());
}

TEST_F(TraceFile, PacketsThatAreNotThereAreCounted) {
    Fd file = test::memory_file();
    const Fd copy(::dup(file.get()));
    TraceWriter writer(std::move(file), "memory");
    writer.info(test::some_info());
    writer.probes(std::vector{test::vfs_read()});
    const FileBytes packets[] = {test::packet_of(0, 5, 1000, 10, 0, 8),
                                 test::packet_of(0, 6, 2000, 10, 8, 8),
                                 test::packet_of(0, 9, 3000, 10, 16, 8)};
    for (const FileBytes &packet : packets)
        writer.packet(test::packet_bytes(packet));
    writer.end();
    writer.flush();
    const auto read = read_trace(test::contents(copy.get()), workers_);
    EXPECT_TRUE(read.clean());
    EXPECT_EQ(read.missing, (std::map<std::uint32_t, std::uint64_t>{{0, 2}}));
}

TEST_F(TraceFile, PartsBelongTogether) {
    FileBytes bytes = make_trace(1);
    // CPU 0's second part comes first.
    const auto chunks = chunks_of(bytes);
    std::vector<Place> packets;
    std::copy_if(chunks.begin(), chunks.end(), std::back_inserter(packets), [](const Place &place) {
        return place.header.type == static_cast<std::uint32_t>(ChunkType::packet);
    });
    ASSERT_EQ(packets.size(), 4u);
    PacketPrefix prefix;
    std::memcpy(&prefix, &bytes[packets[1].offset + sizeof(ChunkHeader)], sizeof(prefix));
    prefix.start += 8;
    std::memcpy(&bytes[packets[1].offset + sizeof(ChunkHeader)], &prefix, sizeof(prefix));
    seal(bytes, packets[1].offset);
    const auto read = read_trace(bytes, workers_);
    ASSERT_EQ(read.fault_count, 1u);
    EXPECT_EQ(read.faults[0].status, FileStatus::packet_out_of_place);
    EXPECT_EQ(read.times.size(), 12u);
}

TEST_F(TraceFile, RecordsOfAnEarlierReaderAreNotShown) {
    const FileBytes packet = test::packet_of(0, 5, 1000, 10, 0, 8);
    Fd file = test::memory_file();
    const Fd copy(::dup(file.get()));
    TraceWriter writer(std::move(file), "memory");
    writer.info(test::some_info());
    writer.probes(std::vector{test::vfs_read()});
    PacketBytes bytes = test::packet_bytes(packet);
    bytes.first = static_cast<std::uint32_t>(packet.size() - 3 * 56);
    writer.packet(bytes);
    writer.end();
    writer.flush();
    const auto read = read_trace(test::contents(copy.get()), workers_);
    EXPECT_TRUE(read.clean());
    EXPECT_EQ(read.times, (std::vector<std::uint64_t>{1050, 1060, 1070}));
}

TEST_F(TraceFile, SomethingBehindTheEnd) {
    FileBytes bytes = make_trace();
    bytes.push_back(std::byte{1});
    auto read = read_trace(bytes, workers_);
    ASSERT_EQ(read.fault_count, 1u);
    EXPECT_EQ(read.faults[0].status, FileStatus::data_behind_end);
    EXPECT_EQ(read.times.size(), 48u);
}

TEST_F(TraceFile, ADamagedChunkCostsItsOwnAlone) {
    FileBytes bytes = make_trace();
    const std::size_t at = first_of(bytes, ChunkType::packet);
    bytes[at + sizeof(ChunkHeader) + 100] ^= std::byte{1};
    const auto read = read_trace(bytes, workers_);
    ASSERT_EQ(read.fault_count, 1u);
    EXPECT_EQ(read.faults[0].status, FileStatus::bad_checksum);
    EXPECT_EQ(read.faults[0].offset, at);
    EXPECT_EQ(read.times.size(), 40u);
}

TEST_F(TraceFile, NoSpaceLeft) {
    const auto full = [] {
        TraceWriter writer(Fd(::open("/dev/full", O_WRONLY | O_CLOEXEC)), "/dev/full");
        writer.info(test::some_info());
        writer.flush();
    };
    EXPECT_THAT(thrown(full), Eq("/dev/full: no space left to write to: nothing has been written"));
}

TEST_F(TraceFile, NobodyReads) {
    std::signal(SIGPIPE, SIG_IGN);
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    ::close(ends[0]);
    TraceWriter writer{Fd(ends[1]), "standard output"};
    EXPECT_THAT(thrown([&] { writer.flush(); }),
                Eq("standard output: nobody reads it any more: nothing has been written"));
}

TEST_F(TraceFile, WhatCannotBeOpened) {
    EXPECT_THAT(thrown([] { TraceTarget("/nowhere/trace.dat"); }),
                HasSubstr("/nowhere/trace.dat: cannot be written: No such file or directory"));
}

} // namespace
} // namespace argtrace
