// SPDX-License-Identifier: GPL-2.0-only
// What export needs does not grow with the file, and is little.
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "export/formats.h"
#include "report/export_feed.h"
#include "support/peak_memory.h"
#include "support/trace_builder.h"

namespace argtrace {
namespace {

constexpr unsigned exported_cpus = 4;
constexpr unsigned exported_calls = 1100; // of a packet

/// Writes packets as large as the module's, whose calls have arguments of their own.
void write_calls(Fd pipe, unsigned packets) {
    constexpr std::uint64_t step = 1000;
    TraceWriter writer(std::move(pipe), "a pipe");
    writer.info(test::some_info());
    writer.probes(std::vector{test::vfs_read()});
    std::uint64_t clock = 1000, count = 0;
    for (unsigned seq = 0; seq < packets; ++seq, clock += exported_calls * step) {
        for (unsigned cpu = 0; cpu < exported_cpus; ++cpu) {
            test::PacketBuilder packet(64 * 1024, clock + cpu);
            packet.header().cpu = cpu;
            packet.header().seq = seq;
            packet.task(100 + cpu, 100, "dd", clock);
            for (unsigned i = 0; i < exported_calls; ++i)
                packet.record(1, clock + cpu + i * step, test::vfs_read_data(++count), 100 + cpu);
            test::FileBytes bytes = packet.bytes();
            bytes.resize(packet.end());
            writer.packet(test::packet_bytes(bytes));
            writer.flush();
        }
        writer.mark(clock + exported_calls * step);
    }
    writer.end();
    writer.flush();
}

/// From a pipe to a file, or to a folder.
void export_calls(const std::string &name, unsigned packets, unsigned threads) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const Fd from(ends[0]);
    std::thread writer(
        [to = Fd(ends[1]), packets]() mutable { write_calls(std::move(to), packets); });
    const std::string folder = fmt::format("{}argtrace_export_memory_{}", testing::TempDir(), ::getpid());
    const Fd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    WorkerPool workers(threads);
    const EventFilter filter;
    DecodeJob job;
    job.filter = &filter;
    job.shared = true;
    TraceReader reader(from.get(), "a pipe", workers, job);
    const ExportSource source{reader.info(), reader.symbols()};
    const bool zipped = name == "perfetto.gz";
    const ExportFormat format = parse_export_format(zipped ? "perfetto" : name == "per-function" ? "parquet" : name);
    ExportFile file(null.get(), "null", workers, zipped ? ExportFile::Compression::gzip : ExportFile::Compression::none);
    std::unique_ptr<Exporter> exporter;
    if (format == ExportFormat::ctf || name == "per-function") {
        std::filesystem::create_directory(folder);
        exporter = make_folder_exporter(format, folder, workers, source);
    } else {
        exporter = make_exporter(format, "x", file, workers, source, ExportFrames::duration);
    }
    ExportFeed feed(*exporter);
    unsigned events = 0;
    read_in_time_order(
        reader, [&](const DecodedPacket &packet) { feed.packet(packet); },
        [&](const TimeOrder::Packet &packet, const Event &event) {
            ++events;
            feed.event(packet, event);
            return true;
        },
        [] { return true; });
    feed.finish({});
    writer.join();
    EXPECT_EQ(events, packets * exported_cpus * exported_calls);
    EXPECT_EQ(reader.fault_count(), 0u);
    std::filesystem::remove_all(folder);
}

constexpr const char *exporting = "ARGTRACE_TEST_EXPORTING"; // "FORMAT PACKETS THREADS"

TEST(ExportMemory, IsLittleHoweverLargeTheFile) {
    if (const char *what = std::getenv(exporting)) {
        char name[16];
        unsigned packets = 0, threads = 0;
        ASSERT_EQ(std::sscanf(what, "%15s %u %u", name, &packets, &threads), 3);
        export_calls(name, packets, threads);
        return test::tell_peak();
    }
    if (!test::counts_own_memory)
        GTEST_SKIP() << "a sanitizer keeps what was freed";
    constexpr unsigned some = 60; // several groups of rows for each worker
    constexpr unsigned many = 5 * some;
    constexpr long most = 64 * 1024;
    for (const char *format : {"parquet", "per-function", "perfetto", "perfetto.gz", "flame", "folded", "trace.dat", "ctf"}) {
        const auto peak = [format](unsigned packets) {
            return test::peak_of_child("ExportMemory.IsLittle*", exporting,
                                       fmt::format("{} {} 2", format, packets));
        };
        const long of_some = peak(some);
        const long of_many = test::least_peak(std::min(most, of_some * 3 / 2), [&] { return peak(many); });
        fmt::print("{}: at most {} KiB, {} KiB for five times as much\n", format, of_some, of_many);
        EXPECT_LT(of_many, most) << format;
        EXPECT_LT(of_many, of_some * 3 / 2) << format;
    }
}

/// Each has something of its own, but what waits for them does not grow with them.
TEST(ExportMemory, GrowsLittleWithTheWorkers) {
    if (!test::counts_own_memory)
        GTEST_SKIP() << "a sanitizer keeps what was freed";
    for (const char *format : {"parquet", "perfetto", "perfetto.gz"}) {
        const long peak = test::peak_of_child("ExportMemory.IsLittle*", exporting, fmt::format("{} 200 24", format));
        fmt::print("{}: at most {} KiB with 24 workers\n", format, peak);
        EXPECT_LT(peak, 200 * 1024) << format;
    }
}

} // namespace
} // namespace argtrace
