// SPDX-License-Identifier: GPL-2.0-only
//
// viewer_samples FOLDER: writes the same calls in each format that `export` has, and a small fleet,
// for the readers of tests/viewers/run, and what these should find into expected.json.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "export/formats.h"
#include "file/info.h"
#include "file/writer.h"
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
    std::optional<Stack> stack(std::uint64_t id, StackRoom & /*room*/) const override {
        return id == 10 ? Stack{std::span(addresses).last(1), false} : Stack{addresses, false};
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
        batch.values.push_back({i % 3 ? std::uint64_t{20} : 10, 0, ARGTRACE_TYPE_STACK, true, false});
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

/// A recording of calls that were recorded when they returned, nested at random, and of some of which only the entry was: a thread on
/// each of four CPUs, then two calls that had not returned.
class Recording {
public:
    explicit Recording(std::mt19937 &random) : random_(random) {
        for (const char *name : {"vfs_read", "ext4_file_read_iter", "filemap_read", "copy_page_to_iter", "do_wait"})
            add_probe(name, ARGTRACE_PROBE_RETURN);
        add_probe("mark_page_accessed", 0);
        for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
            std::uint64_t at = 2000 + cpu;
            for (unsigned i = 0; i < 3000; ++i)
                nest(cpu, at, 5);
            std::sort(calls_[cpu].begin(), calls_[cpu].end(), [](const Call &a, const Call &b) { return a.end < b.end; });
        }
    }

    void write(const std::string &path) const {
        TraceWriter writer((TraceTarget(path)));
        writer.info(some_machine);
        writer.probes(probes_);
        std::vector<std::vector<std::byte>> packets;
        for (std::uint32_t cpu = 0; cpu < cpus; ++cpu)
            fill(cpu, packets);
        const auto clock = [](const auto &packet) { return reinterpret_cast<const argtrace_packet *>(packet.data())->clock; };
        std::sort(packets.begin(), packets.end(), [&](const auto &a, const auto &b) { return clock(a) < clock(b); });
        for (const auto &packet : packets) {
            const auto &header = *reinterpret_cast<const argtrace_packet *>(packet.data());
            writer.mark(header.clock);
            PacketBytes bytes;
            bytes.cpu = header.cpu;
            bytes.seq = header.seq;
            bytes.bytes = packet;
            writer.packet(bytes);
            writer.flush();
        }
        argtrace_in_flight_call outer{}, inner{};
        outer.id = 5;
        inner.id = 1;
        outer.tid = inner.tid = 900;
        outer.tgid = inner.tgid = 900;
        outer.clock = 3000;
        inner.clock = 3010;
        const std::array running{inner, outer};
        argtrace_in_flight moment{};
        moment.clock = moment.ns = 1000000;
        moment.mult = 1u << ARGTRACE_MULT_SHIFT;
        writer.running(moment, running);
        writer.end();
        writer.flush();
        writer.target().keep();
    }

private:
    static constexpr std::uint32_t cpus = 4, packet_size = 64 * 1024;

    struct Call {
        std::uint32_t id;
        std::uint64_t begin, end;
    };

    void add_probe(const char *name, std::uint32_t flags) {
        Probe probe;
        probe.id = static_cast<std::uint32_t>(probes_.size() + 1);
        probe.function = name;
        probe.flags = flags;
        probe.args = {test::argument("n", ARGTRACE_TYPE_U64, "size_t")};
        probes_.push_back(std::move(probe));
    }

    /// A call from `at` on, no moment of which another has; `at` is then behind it.
    void nest(std::uint32_t cpu, std::uint64_t &at, int depth) {
        if (random_() % 6 == 0) {
            at += 2 + random_() % 20;
            calls_[cpu].push_back({6, at, at});
            return;
        }
        Call call{1 + static_cast<std::uint32_t>(random_() % 5), at += 2 + random_() % 20, 0};
        if (depth > 1)
            for (unsigned inner = static_cast<unsigned>(random_() % 4); inner > 0; --inner)
                nest(cpu, at, depth - 1);
        call.end = at += 2 + random_() % 50;
        calls_[cpu].push_back(call);
    }

    void fill(std::uint32_t cpu, std::vector<std::vector<std::byte>> &packets) const {
        constexpr std::size_t record_max = 128;
        std::optional<test::PacketBuilder> packet;
        std::uint64_t seq = 0;
        const auto end = [&] {
            if (!packet)
                return;
            packets.push_back(packet->bytes());
            packets.back().resize(packet->end());
        };
        for (const Call &call : calls_[cpu]) {
            if (!packet || packet->end() + record_max > packet_size) {
                end();
                packet.emplace(packet_size, call.end);
                packet->header().cpu = cpu;
                packet->header().seq = seq++;
                packet->task(100 + cpu, 100, "cat", call.end);
            }
            test::Data data;
            data.put(std::uint64_t{0xffffffff81000010});
            if (probes_[call.id - 1].flags & ARGTRACE_PROBE_RETURN)
                data.put(call.end - call.begin);
            data.put(call.begin % 4096);
            packet->record(call.id, call.end, data, 100 + cpu);
        }
        end();
    }

    std::mt19937 &random_;
    std::vector<Probe> probes_;
    std::array<std::vector<Call>, cpus> calls_;
};

/// A call with a pointer that returns, in a thread whose process is known, and idle tasks on CPUs.
void write_details(const std::string &path) {
    Probe probe;
    probe.id = 1;
    probe.function = "vfs_read";
    probe.args = {test::argument("file", ARGTRACE_TYPE_PTR, "struct file *"), test::argument("count", ARGTRACE_TYPE_U64, "size_t"),
                  test::returned(ARGTRACE_TYPE_S64)};
    EventBatch batch;
    const auto add = [&](std::uint64_t ts, std::uint32_t tid, std::uint32_t tgid, std::uint32_t cpu, std::string_view comm) {
        Event event;
        event.probe = &probe;
        event.ts = ts;
        event.duration = 50;
        event.caller = 0xffffffff81000010;
        event.tid = tid;
        event.tgid = tgid;
        event.cpu = cpu;
        std::copy(comm.begin(), comm.end(), event.comm.begin());
        event.first_value = static_cast<std::uint32_t>(batch.values.size());
        batch.values.push_back({0xffff888000001000, 0, ARGTRACE_TYPE_PTR, true, false});
        batch.values.push_back({4096, 0, ARGTRACE_TYPE_U64, true, false});
        batch.values.push_back({0 - std::uint64_t{5}, 0, ARGTRACE_TYPE_S64, true, false});
        batch.events.push_back(event);
    };
    add(2000, 100, 100, 1, "make");
    add(2100, 101, 100, 1, "cc1");
    for (const std::uint32_t cpu : {10u, 2u, 0u})
        add(2200, 0, 0, cpu, "swapper");
    std::vector<const Event *> events;
    for (const Event &event : batch.events)
        events.push_back(&event);
    write_file(path, some_machine, batch, events);
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
    write_details(folder + "/details.pftrace");
    Recording(random).write(folder + "/large.dat");
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
