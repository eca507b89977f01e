// SPDX-License-Identifier: GPL-2.0-only
// Wherever a recording is cut off, each format has the calls that are left.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "export/formats.h"
#include "report/export_feed.h"
#include "support/ctf_reader.h"
#include "support/parquet_reader.h"
#include "support/perfetto_reader.h"
#include "support/trace_builder.h"
#include "support/trace_dat_reader.h"
#include "support/unzip.h"
#include "util/error.h"

namespace argtrace {
namespace {

using test::FileBytes;

struct Tried {
    const char *name;
    ExportFormat format;
    bool in_folder = false;
    bool zipped = false;
};

constexpr Tried all_tried[] = {{"perfetto", ExportFormat::perfetto},
                               {"perfetto.gz", ExportFormat::perfetto, false, true},
                               {"flame", ExportFormat::flame},
                               {"folded", ExportFormat::folded},
                               {"pprof", ExportFormat::pprof},
                               {"parquet", ExportFormat::parquet},
                               {"per-function", ExportFormat::parquet, true},
                               {"trace.dat", ExportFormat::trace_dat},
                               {"ctf", ExportFormat::ctf, true}};

struct Exported {
    std::string bytes, left_out;
    std::size_t events = 0; ///< that the exporter was given
};

/// Exports a recording to memory, or to the folder. Nothing where the recording cannot be read at all.
std::optional<Exported> exported_recording(const FileBytes &bytes, const Tried &tried, const std::string &folder) {
    const Fd input = test::memory_file(bytes), output = test::memory_file();
    WorkerPool workers(0);
    const EventFilter filter;
    DecodeJob job;
    job.filter = &filter;
    job.shared = true;
    std::optional<TraceReader> reader;
    try {
        reader.emplace(input.get(), "memory", workers, job);
    } catch (const Error &) {
        return std::nullopt;
    }
    const ExportSource source{reader->info(), reader->symbols()};
    ExportFile file(output.get(), "memory", workers, tried.zipped ? ExportFile::Compression::gzip : ExportFile::Compression::none);
    const auto exporter =
        tried.in_folder
            ? make_folder_exporter(tried.format, folder, workers, source)
            : make_exporter(tried.format, testing::TempDir() + "x", file, workers, source, ExportFrames::duration);
    ExportFeed feed(*exporter);
    Exported exported;
    read_in_time_order(
        *reader, [&](const DecodedPacket &packet) { feed.packet(packet); },
        [&](const TimeOrder::Packet &packet, const Event &event) {
            ++exported.events;
            feed.event(packet, event);
            return true;
        },
        [] { return true; });
    feed.finish(reader->loss());
    const FileBytes written = test::contents(output.get());
    exported.bytes.assign(reinterpret_cast<const char *>(written.data()), written.size());
    exported.left_out = exporter->left_out();
    return exported;
}

std::string contents_of(const std::filesystem::path &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// How many calls a reader finds.
std::size_t calls_in(const Exported &exported, const Tried &tried, const std::string &folder) {
    std::size_t calls = 0;
    switch (tried.format) {
    case ExportFormat::perfetto:
        for (const auto &item : test::PerfettoTrace(tried.zipped ? test::unzip(exported.bytes, 1 << 20) : exported.bytes).items)
            calls += item.type == 3; // an instant
        return calls;
    case ExportFormat::parquet:
        if (!tried.in_folder)
            return test::ParquetTable(exported.bytes).columns.at("ts").size();
        for (const auto &entry : std::filesystem::recursive_directory_iterator(folder)) {
            if (entry.is_regular_file())
                calls += test::ParquetTable(contents_of(entry)).columns.at("ts").size();
        }
        return calls;
    case ExportFormat::trace_dat:
        return test::TraceDat(exported.bytes).records.size();
    case ExportFormat::pprof: // these calls have no duration, and it says how many
        EXPECT_FALSE(test::unzip(exported.bytes, 1 << 20).empty());
        return exported.left_out.empty() ? 0 : std::stoul(exported.left_out);
    case ExportFormat::flame: // likewise
        EXPECT_TRUE(exported.bytes.ends_with("</svg>\n"));
        [[fallthrough]];
    case ExportFormat::folded:
        return exported.left_out.empty() ? 0 : std::stoul(exported.left_out);
    case ExportFormat::ctf:
        break;
    }
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().filename() == "metadata")
            continue;
        const std::string stream = contents_of(entry);
        constexpr unsigned arguments = 4; // of vfs_read
        calls += test::CtfStream(stream, arguments).calls.size();
    }
    return calls;
}

TEST(ExportDamage, OfACutRecordingWhatIsThere) {
    const FileBytes whole = test::make_trace(6);
    const std::string folder =
        fmt::format("{}argtrace_export_damage_{}", testing::TempDir(), ::getpid());
    for (const Tried &tried : all_tried) {
        std::set<std::size_t> found;
        for (std::size_t size = 0; size <= whole.size(); size += size + 61 < whole.size() ? 61 : 1) {
            const FileBytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
            std::filesystem::remove_all(folder);
            std::filesystem::create_directory(folder);
            const auto exported = exported_recording(cut, tried, folder);
            if (!exported)
                continue;
            ASSERT_EQ(calls_in(*exported, tried, folder), exported->events)
                << tried.name << " of the first " << size << " bytes";
            found.insert(exported->events);
        }
        EXPECT_EQ(*found.begin(), 0u) << tried.name;
        EXPECT_EQ(*found.rbegin(), 96u) << tried.name;
        EXPECT_GT(found.size(), 10u) << tried.name;
    }
    std::filesystem::remove_all(folder);
}

} // namespace
} // namespace argtrace
