// SPDX-License-Identifier: GPL-2.0-only
//
// A trace file, exported to each format, as `argtrace export` does it: what is written holds together, whatever the file
// says. The files are those that the fuzzer of trace files makes (trace_mutator.h).

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include "export/formats.h"
#include "fuzzer.h"
#include "report/export_feed.h"
#include "report/in_time_order.h"
#include "support/varint.h"
#include "trace_mutator.h"
#include "util/error.h"
#include "util/fd.h"

using namespace argtrace;

namespace {

void require(bool condition) {
    if (!condition)
        std::abort();
}

std::string contents(int fd) {
    std::string bytes(static_cast<std::size_t>(::lseek(fd, 0, SEEK_END)), '\0');
    require(::pread(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    return bytes;
}

/// The messages of a message that is known to consist of nothing else, and the numbers among them, have lengths that add up.
std::size_t count_packets(std::string_view bytes) {
    std::size_t packets = 0;
    for (; !bytes.empty(); ++packets) {
        require(test::take_varint(bytes) == (1 << 3 | 2));
        const std::uint64_t size = test::take_varint(bytes);
        require(size <= bytes.size());
        bytes.remove_prefix(size);
    }
    return packets;
}

/// What can be said of a file without a reader of the format.
void check(const std::string &bytes, ExportFormat format, std::size_t calls) {
    switch (format) {
    case ExportFormat::perfetto:
        require(count_packets(bytes) >= calls);
        return;
    case ExportFormat::parquet:
        require(bytes.starts_with("PAR1") && bytes.ends_with("PAR1"));
        return;
    case ExportFormat::trace_dat:
        require(bytes.size() % 4096 == 0);
        return;
    case ExportFormat::flame:
        require(bytes.ends_with("</svg>\n"));
        return;
    default:
        return;
    }
}

constexpr ExportFormat fuzzed_formats[] = {ExportFormat::perfetto, ExportFormat::parquet,
                                           ExportFormat::trace_dat, ExportFormat::folded,
                                           ExportFormat::flame, ExportFormat::ctf};

/// As a number of the input says: a format, and what goes with it.
void export_to(int fd, unsigned choice) {
    static WorkerPool workers(0);
    static const std::string folder =
        fmt::format("{}/argtrace_fuzz_{}", std::filesystem::temp_directory_path().string(), ::getpid());
    const unsigned formats = sizeof(fuzzed_formats) / sizeof(fuzzed_formats[0]);
    const ExportFormat format = fuzzed_formats[choice % formats];
    const bool per_function = format == ExportFormat::parquet && choice / formats % 4 == 3;
    const bool in_folder = per_function || format == ExportFormat::ctf;
    const EventFilter filter;
    DecodeJob job;
    job.filter = &filter;
    job.shared = true;
    TraceReader reader(fd, "fuzzed", workers, job);
    const ExportSource source{reader.info(), reader.symbols()};
    const Fd output(::memfd_create("exported", MFD_CLOEXEC));
    ExportFile file(output.get(), "exported", workers);
    std::filesystem::remove_all(folder);
    if (in_folder)
        std::filesystem::create_directory(folder);
    const auto exporter =
        in_folder ? make_folder_exporter(format, folder, workers, source)
                  : make_exporter(format, "x", file, workers, source,
                                  choice / formats % 2 ? ExportFrames::stack : ExportFrames::duration);
    ExportFeed feed(*exporter, 1 + choice % 64);
    std::size_t calls = 0;
    read_in_time_order(
        reader, [&](const DecodedPacket &packet) { feed.packet(packet); },
        [&](const TimeOrder::Packet &packet, const Event &event) {
            ++calls;
            feed.event(packet, event);
            return true;
        },
        [] { return true; });
    feed.finish(reader.loss());
    if (in_folder)
        std::filesystem::remove_all(folder);
    else
        check(contents(output.get()), format, calls);
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    const Fd file(::memfd_create("trace", MFD_CLOEXEC));
    require(file && ::write(file.get(), data, size) == static_cast<ssize_t>(size));
    ::lseek(file.get(), 0, SEEK_SET);
    unsigned choice = 0;
    for (std::size_t i = 0; i < size; ++i)
        choice = choice * 31 + data[i];
    try {
        export_to(file.get(), choice);
    } catch (const Error &) {
    }
    return 0;
}
