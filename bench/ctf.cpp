// SPDX-License-Identifier: GPL-2.0-only
//
// https://diamon.org/ctf/ describes the format.
#include "ctf.h"

#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include "report/trace_reader.h"
#include "util/fd.h"

namespace argtrace::bench {

namespace {

constexpr std::uint32_t packet_magic = 0xc1fc1fc1;

constexpr std::string_view metadata_head = R"(/* CTF 1.8 */
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = false; base = 16; } := address_t;

trace {
	major = 1;
	minor = 8;
	byte_order = le;
	packet.header := struct { uint32_t magic; uint32_t stream_id; };
};

clock { name = monotonic; freq = 1000000000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := time_t;

stream {
	id = 0;
	packet.context := struct { uint32_t cpu_id; };
	event.header := struct { uint16_t id; time_t timestamp; };
	event.context := struct { uint32_t tid; string procname; };
};
)";

class Stream {
public:
    Stream(const std::string &path, std::uint32_t cpu) : file_(path, std::ios::binary) {
        put(packet_magic);
        put(std::uint32_t{0}); // the stream's class
        put(cpu);
    }

    void event(const EventView &view) {
        const Event &event = *view.event;
        put(static_cast<std::uint16_t>(event.probe->id));
        put(event.ts);
        put(event.tid);
        const std::string_view comm = event.comm_view();
        file_.write(comm.data(), static_cast<std::streamsize>(comm.size()));
        file_.put('\0');
        put(event.caller);
        for (const Value &value : view.values)
            put(value.low);
    }

    bool good() { return static_cast<bool>(file_.flush()); }

private:
    template<typename T>
    void put(T value) {
        file_.write(reinterpret_cast<const char *>(&value), sizeof(value));
    }

    std::ofstream file_;
};

void write_metadata(const std::string &path, const std::map<std::uint32_t, const Probe *> &probes) {
    std::ofstream file(path);
    file << metadata_head;
    for (const auto &[id, probe] : probes) {
        file << fmt::format("\nevent {{\n\tname = \"{}\";\n\tid = {};\n\tstream_id = 0;\n"
                            "\tfields := struct {{ address_t caller;",
                            probe->function, id);
        for (const Argument &argument : probe->args)
            file << fmt::format(" {} _{};",
                                argument.type == ARGTRACE_TYPE_PTR ? "address_t" : "uint64_t",
                                argument.name);
        file << " };\n};\n";
    }
    if (!file.flush())
        throw std::runtime_error(path + ": cannot be written");
}

} // namespace

std::uint64_t write_ctf(const std::string &trace, const std::string &directory) {
    const Fd file(::open(trace.c_str(), O_RDONLY | O_CLOEXEC));
    WorkerPool workers(0);
    const EventFilter filter;
    DecodeJob job;
    job.filter = &filter;
    TraceReader reader(file.get(), trace, workers, job);
    std::map<std::uint32_t, Stream> streams;
    std::map<std::uint32_t, const Probe *> probes;
    std::uint64_t events = 0;
    while (const auto item = reader.next()) {
        if (!item->packet)
            continue;
        const std::uint32_t cpu = item->packet->cpu;
        auto stream = streams.find(cpu);
        if (stream == streams.end())
            stream = streams.try_emplace(cpu, fmt::format("{}/cpu{}", directory, cpu), cpu).first;
        for (const Event &event : item->packet->batch.events) {
            stream->second.event(item->packet->batch.view(event));
            probes.emplace(event.probe->id, event.probe);
            ++events;
        }
    }
    write_metadata(directory + "/metadata", probes);
    for (auto &[cpu, stream] : streams) {
        if (!stream.good())
            throw std::runtime_error(directory + ": cannot be written");
    }
    return events;
}

} // namespace argtrace::bench
