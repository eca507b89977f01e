// SPDX-License-Identifier: GPL-2.0-only
// A trace file in the hands of chance: whatever has become of it, reading it ends, with a fault
// that has a name. ARGTRACE_TEST_SEED repeats a run.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/trace_builder.h"
#include "util/error.h"

namespace argtrace {
namespace {

using test::FileBytes;

FileBytes real_file(const std::string &name) {
    std::ifstream in(std::string(ARGTRACE_TEST_DATA) + "/" + name, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

class TraceDamage : public testing::Test {
protected:
    void SetUp() override {
        for (const char *name : {"known_calls.dat", "known_calls_zstd.dat"}) {
            files_.push_back(real_file(name));
            ASSERT_FALSE(files_.back().empty()) << name;
        }
        const char *wanted = std::getenv("ARGTRACE_TEST_SEED");
        seed_ = wanted ? std::strtoul(wanted, nullptr, 0) : std::random_device{}();
        random_.seed(seed_);
        fmt::print("seed {}\n", seed_);
    }

    std::size_t below(std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
    }

    /// Whether a fault was named.
    bool is_named(const FileBytes &bytes) {
        events_ = 0;
        write_file(bytes);
        try {
            const test::Read read = test::read_trace(file_.get(), workers_, {}, false);
            events_ = read.times.size();
            if (read.fault_count > 0)
                return !describe(read.faults.at(0).status).empty();
            return read.unreadable.records + read.unreadable.packets > 0;
        } catch (const Error &error) {
            return std::strlen(error.what()) > 0;
        }
    }

    /// How many events file number `file` has without the chunk at that offset.
    std::size_t events_without(std::size_t file, std::size_t at) {
        const auto [known, added] = without_.try_emplace({file, at});
        if (added) {
            FileBytes bytes = files_[file];
            ChunkHeader header;
            std::memcpy(&header, &bytes[at], sizeof(header));
            header.type = 77; // of a later version: passed over
            header.header_sum = header_checksum(header);
            std::memcpy(&bytes[at], &header, sizeof(header));
            is_named(bytes);
            known->second = events_;
        }
        return known->second;
    }

    void write_file(const FileBytes &bytes) {
        ASSERT_EQ(::ftruncate(file_.get(), static_cast<off_t>(bytes.size())), 0);
        ASSERT_EQ(::pwrite(file_.get(), bytes.data(), bytes.size(), 0),
                  static_cast<ssize_t>(bytes.size()));
        ASSERT_EQ(::lseek(file_.get(), 0, SEEK_SET), 0);
    }

    /// Changes a few bytes, each to something else; false when nothing is changed in the end.
    bool damage(FileBytes &bytes, std::size_t from, std::size_t to) {
        const FileBytes before = bytes;
        for (std::size_t i = 0, count = 1 + below(4); i < count; ++i)
            bytes[from + below(to - from)] ^= static_cast<std::byte>(1 + below(255));
        return bytes != before;
    }

    std::vector<FileBytes> files_;
    std::uint64_t seed_ = 0;
    std::mt19937_64 random_;
    WorkerPool workers_{0};
    Fd file_ = test::memory_file();
    std::size_t events_ = 0; // that is_named() has read
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> without_;
};

/// A sound file with a record of a probe that the file does not describe, between two others.
FileBytes with_unreadable_record() {
    test::PacketBuilder packet(4096, 1000);
    packet.record(1, 1000, test::vfs_read_data(1));
    packet.record(9, 1010, test::vfs_read_data(2));
    packet.record(1, 1020, test::vfs_read_data(3));
    FileBytes bytes = packet.bytes();
    bytes.resize(packet.end());

    Fd file = test::memory_file();
    const Fd copy(::dup(file.get()));
    TraceWriter writer(std::move(file), "memory");
    writer.info(test::some_info());
    writer.probes(std::vector{test::vfs_read()});
    writer.packet(test::packet_bytes(bytes));
    writer.end();
    writer.flush();
    return test::contents(copy.get());
}

// For the tests of the tool, which cannot make one. With ARGTRACE_TEST_WRITE_DATA set it is written
// anew, as is needed when the format changes.
TEST(TraceData, OfAnUnreadableRecordIsWhatThisMakes) {
    const std::string name = "unreadable_record.dat";
    const FileBytes bytes = with_unreadable_record();
    if (std::getenv("ARGTRACE_TEST_WRITE_DATA")) {
        std::ofstream out(std::string(ARGTRACE_TEST_DATA) + "/" + name, std::ios::binary);
        out.write(reinterpret_cast<const char *>(bytes.data()),
                  static_cast<std::streamsize>(bytes.size()));
    }
    EXPECT_TRUE(bytes == real_file(name)) << "ARGTRACE_TEST_WRITE_DATA=1 writes it anew";
    WorkerPool workers(0);
    const test::Read read = test::read_trace(bytes, workers);
    EXPECT_EQ(read.fault_count, 0u);
    EXPECT_EQ(read.unreadable.records, 1u);
    EXPECT_EQ(read.times, (std::vector<std::uint64_t>{1000, 1020}));
}

TEST_F(TraceDamage, TheFilesThemselvesAreSound) {
    for (const FileBytes &bytes : files_) {
        const test::Read read = test::read_trace(bytes, workers_, {}, false);
        EXPECT_TRUE(read.clean());
        EXPECT_GT(read.times.size(), 100u);
    }
}

TEST_F(TraceDamage, CutShort) {
    for (int i = 0; i < 1000; ++i) {
        const FileBytes &whole = files_[below(files_.size())];
        const std::size_t size = below(whole.size());
        const FileBytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        ASSERT_TRUE(is_named(cut)) << "seed " << seed_ << ", cut to " << size;
    }
}

TEST_F(TraceDamage, Changed) {
    for (int i = 0; i < 100000; ++i) {
        FileBytes bytes = files_[below(files_.size())];
        if (damage(bytes, 0, bytes.size())) {
            ASSERT_TRUE(is_named(bytes)) << "seed " << seed_ << ", change " << i;
        }
    }
}

// Damage with checksums that are right again, so that it reaches the code after them.
TEST_F(TraceDamage, ChangedAndSealed) {
    for (int i = 0; i < 20000; ++i) {
        const std::size_t file = below(files_.size());
        FileBytes bytes = files_[file];
        std::vector<std::size_t> chunks;
        for (std::size_t at = sizeof(FileHeader); at < bytes.size();) {
            ChunkHeader header;
            std::memcpy(&header, &bytes[at], sizeof(header));
            chunks.push_back(at);
            at += sizeof(header) + header.length;
        }
        const std::size_t at = chunks[below(chunks.size())];
        ChunkHeader header;
        std::memcpy(&header, &bytes[at], sizeof(header));
        // A packet may be damaged after the fields that say which it is: then the fault is this
        // packet's alone.
        const bool is_packet = header.type == static_cast<std::uint32_t>(ChunkType::packet) &&
                               header.length > sizeof(PacketPrefix) && below(2);
        damage(bytes, at + sizeof(header) + (is_packet ? sizeof(PacketPrefix) : 0),
               at + sizeof(header) + header.length);
        header.payload_sum =
            file_checksum(std::span(bytes).subspan(at + sizeof(header), header.length));
        if (!is_packet && below(8) == 0)
            header.flags ^= static_cast<std::uint32_t>(1 + below(3));
        if (!is_packet && below(8) == 0)
            header.type = static_cast<std::uint32_t>(1 + below(9));
        header.header_sum = header_checksum(header);
        std::memcpy(&bytes[at], &header, sizeof(header));
        is_named(bytes); // it may as well be sound: another value, another name
        if (is_packet) {
            const std::size_t read = events_;
            ASSERT_GE(read, events_without(file, at)) << "seed " << seed_ << ", change " << i;
        }
    }
}

} // namespace
} // namespace argtrace
