// SPDX-License-Identifier: GPL-2.0-only
//
// viewer_samples FOLDER: writes the same calls in each format that `export` has, and a small fleet,
// for the readers of tests/viewers/run, and what these should find into expected.json.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "export/formats.h"
#include "file/info.h"
#include "support/some_calls.h"
#include "util/fd.h"

namespace {

using namespace argtrace;
using json = nlohmann::ordered_json;

constexpr std::uint64_t lost = 7;
constexpr std::uint64_t day = 86400000000000;
constexpr std::uint64_t new_year = 1767225600000000000; // 2026

TraceInfo info_of(const std::string &host, const std::string &kernel, std::uint64_t realtime) {
    TraceInfo info;
    info.kernel = kernel;
    info.machine = "x86_64";
    info.host = host;
    info.begin_monotonic = 1000;
    info.begin_boottime = 5000;
    info.begin_realtime = realtime;
    return info;
}

const TraceInfo some_machine = info_of("guest", "6.12.0", new_year);

void give(Exporter &exporter, const EventBatch &batch, std::vector<const Event *> events) {
    exporter.lost(0, events.front()->ts, lost - 1);
    for (const Event *event : events)
        test::give_event(exporter, batch, *event);
    exporter.lost(1, events.back()->ts, 1);
    exporter.finish();
}

void write_file(const std::string &path, const TraceInfo &info, const EventBatch &batch,
                const std::vector<const Event *> &events) {
    const ExportFormat format = export_format_of(path);
    const Fd fd(::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644));
    WorkerPool workers(2);
    ExportFile file(fd.get(), path, workers, export_compression(format, path));
    const test::NoSymbols symbols;
    give(*make_exporter(format, path, file, workers, {info, symbols}, ExportFrames::duration), batch,
         events);
}

void write_folder(ExportFormat format, const std::string &path, const test::SomeCalls &calls) {
    std::filesystem::create_directory(path);
    WorkerPool workers(2);
    const test::NoSymbols symbols;
    give(*make_folder_exporter(format, path, workers, {some_machine, symbols}), calls.batch(),
         calls.in_order());
}

/// ksys_read and a function of a module have called vfs_read.
struct Stacks : Symbols {
    std::optional<Symbol> at(std::uint64_t addr) const override {
        return addr < 0x2000 ? Symbol{0x1000, "ksys_read", "", 0}
                             : Symbol{0x2000, "ext4_read", "ext4", 0};
    }
    std::optional<Stack> stack(std::uint64_t id) const override {
        return id == 1 ? Stack{std::span(addresses).last(1), false} : Stack{addresses, false};
    }
    std::vector<std::uint64_t> addresses{0x2010, 0x1010};
};

/// Nine calls, of which each third has the first of two stacks, the others the second.
void write_stacks(const std::string &path) {
    Probe probe;
    probe.id = 1;
    probe.addr = 0x1000;
    probe.function = "vfs_read";
    probe.args = {test::output("stack", ARGTRACE_TYPE_STACK)};
    EventBatch batch;
    std::vector<const Event *> events;
    for (std::uint32_t i = 0; i < 9; ++i) {
        Event event;
        event.probe = &probe;
        event.ts = 2000 + 10 * i;
        event.duration = 5;
        event.tid = event.tgid = 7;
        event.first_value = i;
        batch.values.push_back({i % 3 ? std::uint64_t{2} : 1, 0, ARGTRACE_TYPE_STACK, true, false});
        batch.events.push_back(event);
    }
    for (const Event &event : batch.events)
        events.push_back(&event);
    const Fd fd(::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644));
    WorkerPool workers(2);
    ExportFile file(fd.get(), path, workers);
    const Stacks symbols;
    give(*make_exporter(ExportFormat::perfetto, path, file, workers, {some_machine, symbols},
                        ExportFrames::stack),
         batch, events);
}

/// What there is to find.
json expected_of(const test::SomeCalls &calls) {
    std::map<std::string, json> functions;
    std::uint64_t outermost = 0;
    std::size_t depth = 0;
    // Threads, and interrupts: by who and until when.
    std::map<std::uint64_t, std::vector<std::uint64_t>> open;
    for (const Event *event : calls.in_order()) {
        json &function = functions[event->probe->function];
        if (function.is_null())
            function = {{"calls", 0u}, {"time", 0u}, {"numbers", 0u}};
        const auto add = [&function](const char *name, std::uint64_t number) {
            function[name] = function[name].get<std::uint64_t>() + number;
        };
        add("calls", 1);
        add("numbers", calls.number_of(*event));
        auto &around = open[event->context ? 1000 : event->tid];
        while (!around.empty() && around.back() <= event->ts)
            around.pop_back();
        depth = std::max(depth, around.size());
        if (!event->has_duration())
            continue;
        add("time", event->duration);
        outermost += around.empty() ? event->duration : 0;
        around.push_back(event->ts + event->duration);
    }
    return {{"functions", functions}, {"depth", depth}, {"outermost", outermost}, {"lost", lost}};
}

/// Two machines, on two days: host=HOST/date=DATE/calls.parquet.
class Fleet {
public:
    explicit Fleet(std::string folder) : folder_(std::move(folder)) {
        for (const char *name : {"vfs_read", "vfs_write", "tcp_sendmsg"}) {
            Probe probe;
            probe.id = static_cast<std::uint32_t>(probes_.size() + 1);
            probe.function = name;
            probe.args = {test::argument("file", ARGTRACE_TYPE_PTR, "struct file *"),
                          test::argument("count", ARGTRACE_TYPE_U64, "size_t"),
                          test::returned(ARGTRACE_TYPE_S64)};
            probes_.push_back(probe);
        }
    }

    void write(const std::string &host, const std::string &kernel, unsigned date,
               std::uint64_t slow) {
        EventBatch batch;
        std::vector<const Event *> events;
        for (unsigned i = 0; i < 600; ++i) {
            Event event;
            event.probe = &probes_[i % 3];
            event.ts = 1000 + i * std::uint64_t{1000000};
            event.duration = (1 + i % 10) * 1000 * (i % 3 == 2 ? slow : 1);
            event.tid = event.tgid = 100 + i % 4;
            event.cpu = i % 2;
            const std::string_view comm = i % 4 ? "postgres" : "backup";
            std::copy(comm.begin(), comm.end(), event.comm.begin());
            event.first_value = static_cast<std::uint32_t>(batch.values.size());
            const std::uint64_t count = i % 4 || i % 3 ? 4096 * (1 + i % 5) : 0;
            const bool fails = i % 50 == 49;
            batch.values.push_back({0xff1e1afafffb5e40, 0, ARGTRACE_TYPE_PTR, true, false});
            batch.values.push_back({count, 0, ARGTRACE_TYPE_U64, true, false});
            batch.values.push_back(
                {fails ? 0 - std::uint64_t{5} : count, 0, ARGTRACE_TYPE_S64, true, false});
            batch.events.push_back(event);
        }
        for (const Event &event : batch.events)
            events.push_back(&event);
        const std::string path = fmt::format("{}/host={}/date=2026-01-{:02}", folder_, host, date);
        std::filesystem::create_directories(path);
        write_file(path + "/calls.parquet", info_of(host, kernel, new_year + (date - 1) * day),
                   batch, events);
    }

private:
    std::string folder_;
    std::vector<Probe> probes_;
};

} // namespace

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    const std::string folder = argv[1];
    std::mt19937 random(7);
    test::SomeCalls calls;
    for (std::uint32_t tid = 1; tid <= 12; ++tid)
        calls.nest(random, {tid, tid / 2 + 1, tid % 3, 0, tid % 2 ? "cat" : "make"}, 2000, 4000, 5);
    calls.nest(random, {1, 1, 0, ARGTRACE_CTX_HARDIRQ, "cat"}, 2100, 2200, 3);
    for (const char *name : {"calls.pftrace", "calls.pftrace.gz", "calls.svg", "calls.html",
                             "calls.folded", "calls.parquet", "calls.trace.dat"})
        write_file(folder + "/" + name, some_machine, calls.batch(), calls.in_order());
    write_stacks(folder + "/stacks.pftrace");
    write_folder(ExportFormat::ctf, folder + "/calls.ctf", calls);
    write_folder(ExportFormat::parquet, folder + "/functions", calls);
    std::ofstream(folder + "/expected.json") << expected_of(calls).dump(1) << '\n';

    Fleet fleet(folder + "/fleet");
    fleet.write("db1", "6.12.0", 1, 1);
    fleet.write("db1", "6.12.0", 2, 3); // something is slower since then
    fleet.write("db2", "6.1.0", 1, 1);
    fleet.write("db2", "6.1.0", 2, 1);
    return 0;
}
