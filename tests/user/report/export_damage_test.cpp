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
#include "util/error.h"

namespace argtrace {
namespace {

using test::FileBytes;

/// Exports a recording to memory, or to the folder; what was written, and how many calls. Nothing where the
/// recording cannot be read at all.
std::optional<std::pair<std::string, std::size_t>>
exported_recording(const FileBytes &bytes, ExportFormat format, const std::string &folder) {
    const Fd input = test::memory_file(bytes), output = test::memory_file();
    WorkerPool workers(0);
    const EventFilter filter;
    DecodeJob job;
    job.filter = &filter;
    std::optional<TraceReader> reader;
    try {
        reader.emplace(input.get(), "memory", workers, job);
    } catch (const Error &) {
        return std::nullopt;
    }
    const ExportSource source{reader->info(), reader->symbols()};
    ExportFile file(output.get(), "memory", workers);
    const auto exporter =
        format == ExportFormat::ctf
            ? make_folder_exporter(format, folder, workers, source)
            : make_exporter(format, "x", file, workers, source, ExportFrames::duration);
    ExportFeed feed(*exporter);
    std::size_t events = 0;
    read_in_time_order(
        *reader, [&](const DecodedPacket &packet) { feed.packet(packet); },
        [&](const TimeOrder::Packet &packet, const Event &event) {
            ++events;
            feed.event(packet, event);
            return true;
        },
        [] { return true; });
    feed.finish(reader->loss());
    const FileBytes written = test::contents(output.get());
    return std::pair(std::string(reinterpret_cast<const char *>(written.data()), written.size()),
                     events);
}

/// How many calls a reader finds.
std::size_t calls_in(const std::string &bytes, ExportFormat format, const std::string &folder) {
    std::size_t calls = 0;
    switch (format) {
    case ExportFormat::perfetto:
        for (const auto &item : test::PerfettoTrace(bytes).items)
            calls += item.type == 3; // an instant
        return calls;
    case ExportFormat::parquet:
        return test::ParquetTable(bytes).columns.at("ts").size();
    case ExportFormat::trace_dat:
        return test::TraceDat(bytes).records.size();
    default:
        break;
    }
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().filename() == "metadata")
            continue;
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string stream{std::istreambuf_iterator<char>(file), {}};
        constexpr unsigned arguments = 4; // of vfs_read
        calls += test::CtfStream(stream, arguments).calls.size();
    }
    return calls;
}

TEST(ExportDamage, OfACutRecordingWhatIsThere) {
    const FileBytes whole = test::make_trace(6);
    const std::string folder =
        fmt::format("{}argtrace_export_damage_{}", testing::TempDir(), ::getpid());
    for (const ExportFormat format : {ExportFormat::perfetto, ExportFormat::parquet,
                                      ExportFormat::trace_dat, ExportFormat::ctf}) {
        std::set<std::size_t> found;
        for (std::size_t size = 0; size <= whole.size(); size += size + 61 < whole.size() ? 61 : 1) {
            const FileBytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
            std::filesystem::remove_all(folder);
            std::filesystem::create_directory(folder);
            const auto exported = exported_recording(cut, format, folder);
            if (!exported)
                continue;
            ASSERT_EQ(calls_in(exported->first, format, folder), exported->second)
                << export_name(format) << " of the first " << size << " bytes";
            found.insert(exported->second);
        }
        EXPECT_EQ(*found.begin(), 0u) << export_name(format);
        EXPECT_EQ(*found.rbegin(), 96u) << export_name(format);
        EXPECT_GT(found.size(), 10u) << export_name(format);
    }
    std::filesystem::remove_all(folder);
}

} // namespace
} // namespace argtrace
