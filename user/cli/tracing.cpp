// SPDX-License-Identifier: GPL-2.0-only
#include "cli/tracing.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include <fmt/format.h>

#include "file/compression.h"
#include "render/status.h"
#include "util/error.h"
#include "util/units.h"

namespace argtrace {

void attach_default(Session &session, const char *command) {
    if (!session.attach(default_session) ||
        (session.probes(false).empty() && session.on_load_orders().empty()))
        throw Error(fmt::format("no functions are traced: add some with `argtrace add FUNC`, or "
                                "name them here: `argtrace {} FUNC`",
                                command));
    if (session.is_flight())
        throw Error(fmt::format("the session is a flight recorder, which cannot be read while it "
                                "records: save its content with `argtrace snapshot`, or name the "
                                "functions here: `argtrace {} FUNC`",
                                command));
}

const Kallsyms *symbols_of(Kernel &kernel) {
    try {
        return &kernel.symbols();
    } catch (const Error &) {
        return nullptr;
    }
}

void print_remedies(const Session &session, const argtrace_counts &total, bool own) {
    const std::string larger = format_size(ring_size(session.attributes()) * 4);
    for (const std::string &remedy : loss_remedies(total, session.is_flight(), own, larger))
        fmt::print(stderr, "argtrace: {}\n", remedy);
}

TraceInfo describe_session(const Session &session) {
    const argtrace_session_attr &attributes = session.attributes();
    TraceInfo info = info_of_this_machine();
    info.cpus = attributes.nr_cpus;
    info.format = attributes.format;
    info.clock = attributes.clock;
    info.packet_size = attributes.packet_size;
    info.packets_per_cpu = attributes.nr_packets;
    info.mode = session.is_flight() ? "flight" : "stream";
    return info;
}

std::optional<int> parse_compression(const std::string &text) {
    if (text.empty())
        return std::nullopt;
    std::uint64_t level = 0;
    try {
        level = parse_count("--compress", text);
    } catch (const Error &error) {
        throw CLI::ValidationError(std::string(error.what()));
    }
    if (level > compression_level_max)
        throw CLI::ValidationError(fmt::format("--compress takes a level from 1 to {}, not '{}'",
                                               compression_level_max, text));
    return static_cast<int>(level);
}

} // namespace argtrace
