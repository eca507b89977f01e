// SPDX-License-Identifier: GPL-2.0-only
//
// The same few calls in each format, as a reader that shares no code with the writer finds them, and as they stand in
// tests/data/exported. ARGTRACE_TEST_WRITE_DATA=1 writes these files anew.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "export/formats.h"
#include "support/ctf_reader.h"
#include "support/parquet_reader.h"
#include "support/perfetto_reader.h"
#include "support/some_calls.h"
#include "support/trace_builder.h"
#include "support/trace_dat_reader.h"

namespace argtrace {
namespace {

void give_golden_calls(Exporter &exporter) {
    test::SomeCalls calls;
    calls.call("vfs_read", 2000, 100, {101, 100, 3, ARGTRACE_CTX_IRQS_OFF, "cat"});
    calls.call("ext4_read", 2010, 90, {101, 100, 3, 0, "cat"});
    calls.call("copy", 2010, 20, {101, 100, 3, 0, "cat"});
    calls.call("timer", 2015, 10, {101, 100, 3, ARGTRACE_CTX_HARDIRQ, "cat"});
    calls.instant("vfs_open", 2040, {12, 0, 1, 0, "x\xff"});
    calls.instant("idle", 2050, {0, 0, 0, 0, "swapper/0"});
    calls.unfinished("do_wait", 2060, {12, 0, 1, 0, "x\xff"});
    exporter.lost(1, 1990, 4);
    calls.give(exporter);
}

std::string golden_bytes(ExportFormat format, ExportFrames frames = ExportFrames::duration) {
    const Fd fd = test::memory_file();
    WorkerPool workers(2);
    ExportFile file(fd.get(), "memory", workers);
    const TraceInfo info = test::some_info();
    const test::NoSymbols symbols;
    const auto exporter = make_exporter(format, "x", file, workers, {info, symbols}, frames);
    give_golden_calls(*exporter);
    const test::FileBytes bytes = test::contents(fd.get());
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

void expect_golden(const std::string &name, const std::string &found) {
    const std::string path = ARGTRACE_TEST_DATA "/exported/" + name;
    if (std::getenv("ARGTRACE_TEST_WRITE_DATA"))
        std::ofstream(path, std::ios::binary) << found;
    std::ifstream file(path, std::ios::binary);
    ASSERT_TRUE(file) << path;
    const std::string expected{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(found, expected) << path;
}

TEST(Golden, Perfetto) {
    const test::PerfettoTrace trace(golden_bytes(ExportFormat::perfetto));
    std::string text;
    for (const auto &[id, track] : trace.tracks)
        text += fmt::format("track {} below {}: '{}' pid {} tid {} rank {}{}\n", id, track.parent,
                            track.name, track.pid, track.tid, track.rank,
                            track.is_process ? ", a process" : "");
    for (const auto &[id, time] : trace.clocks)
        text += fmt::format("clock {}: {}\n", id, time);
    constexpr const char *types[] = {"", "begin", "end", "instant", "counter"};
    for (const auto &item : trace.items) {
        text += fmt::format("{} {} on {}", item.ts, types[item.type], item.track);
        if (item.type == 4)
            text += fmt::format(": {}", item.counter);
        if (!item.name.empty())
            text += fmt::format(" {} ({})", item.name, item.category);
        for (const std::string &note : item.notes)
            text += ' ' + note;
        text += '\n';
    }
    expect_golden("perfetto.txt", text);
}

TEST(Golden, Parquet) {
    const test::ParquetTable table(golden_bytes(ExportFormat::parquet));
    std::string text;
    for (const auto &[name, values] : table.columns) {
        text += name + ':';
        for (const std::string &value : values)
            text += ' ' + value;
        text += '\n';
    }
    for (const auto &[name, value] : table.notes)
        text += fmt::format("{} = {}\n", name, value);
    expect_golden("parquet.txt", text);
}

TEST(Golden, TraceDat) {
    const std::string bytes = golden_bytes(ExportFormat::trace_dat);
    const test::TraceDat file(bytes);
    std::string text;
    for (const std::string &format : file.formats)
        text += format + '\n';
    text += file.tasks;
    for (const auto &record : file.records)
        text += fmt::format("cpu {} ts {} type {} flags {:#x} pid {} caller {:#x} duration {} "
                            "unreadable {} n {}\n",
                            record.cpu, record.ts, record.at<std::uint16_t>(0),
                            record.at<std::uint16_t>(2), record.at<std::uint32_t>(4),
                            record.at<std::uint64_t>(8), record.at<std::int64_t>(16),
                            record.at<std::uint64_t>(24), record.at<std::uint64_t>(32));
    for (const auto &[cpu, calls] : file.lost)
        text += fmt::format("cpu {} lost {}\n", cpu, calls);
    expect_golden("trace_dat.txt", text);
}

TEST(Golden, Ctf) {
    const std::string folder = fmt::format("{}argtrace_golden_{}", testing::TempDir(), ::getpid());
    std::filesystem::create_directory(folder);
    WorkerPool workers(0);
    const TraceInfo info = test::some_info();
    const test::NoSymbols symbols;
    give_golden_calls(
        *make_folder_exporter(ExportFormat::ctf, folder, workers, {info, symbols}));
    const auto read = [&folder](const std::string &name) {
        std::ifstream file(folder + "/" + name, std::ios::binary);
        return std::string{std::istreambuf_iterator<char>(file), {}};
    };
    std::string text = read("metadata");
    for (const std::string name : {"cpu0", "cpu1", "cpu2", "cpu3", "running"}) {
        const std::string bytes = read(name);
        const test::CtfStream stream(bytes);
        for (const std::uint64_t calls : stream.discarded)
            text += fmt::format("{} discarded {}\n", name, calls);
        for (const auto &call : stream.calls)
            text += fmt::format("{} {} id {} pid {} tid {} comm {} flags {} duration {} caller {} n {}\n",
                                name, call.ts, call.id, call.pid, call.tid, call.comm, call.flags,
                                static_cast<std::int64_t>(call.duration), call.caller, call.number);
    }
    std::filesystem::remove_all(folder);
    expect_golden("ctf.txt", text);
}

TEST(Golden, Folded) {
    expect_golden("folded.txt", golden_bytes(ExportFormat::folded));
}

TEST(Golden, Flame) {
    std::istringstream svg(golden_bytes(ExportFormat::flame));
    std::string frames;
    for (std::string line; std::getline(svg, line);) {
        if (line.find("class=\"frame\"") != line.npos)
            frames += line + '\n';
    }
    expect_golden("flame.txt", frames);
}

} // namespace
} // namespace argtrace
