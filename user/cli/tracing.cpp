// SPDX-License-Identifier: GPL-2.0-only
#include "cli/tracing.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include <fmt/format.h>

#include "file/compression.h"
#include "render/status.h"
#include "session/authority.h"
#include "spec/resolve.h"
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

Wanted resolve_wanted(Kernel &kernel, const FunctionOptions &options, const Request &request) {
    if (!options.on_load.empty()) {
        OnLoad on_load = resolve_on_load(options, request);
        print_left(on_load.left);
        return {{}, std::move(on_load)};
    }
    use_btf(kernel, options);
    Resolved resolved = resolve(kernel, request);
    print_left(resolved.left);
    return {std::move(resolved.probes), std::nullopt};
}

void add_wanted(Session &session, Kernel &kernel, Wanted &wanted) {
    if (auto left = leave_out_memory(wanted.on_load ? wanted.on_load->probes : wanted.probes,
                                     session.info()))
        print_left({*left});
    if (auto refused = session.add(wanted.probes))
        throw explain_refusal(kernel, wanted.probes[*refused]);
    if (wanted.on_load)
        wanted.on_load->order(session);
}

void print_ended(const std::vector<std::uint32_t> &pids) {
    fmt::print(stderr, "argtrace: {} {} ended\n", describe(ProcessFilter{pids, false}),
               pids.size() == 1 ? "has" : "have");
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
    const ProcessFilter filter = session.processes();
    info.processes = filter.pids;
    info.children = filter.children;
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
