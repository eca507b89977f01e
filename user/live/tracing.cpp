// SPDX-License-Identifier: GPL-2.0-only
#include "live/tracing.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "live/pid_namespace.h"
#include "live/return_ways.h"
#include "live/unfollowed.h"
#include "model/counts.h"
#include "render/status.h"
#include "session/authority.h"
#include "session/in_flight.h"
#include "spec/resolve.h"
#include "util/error.h"
#include "util/message.h"
#include "util/units.h"

namespace argtrace {

Wanted resolve_wanted(Kernel &kernel, const FunctionOptions &options, const Request &request) {
    if (!options.on_load.empty()) {
        OnLoad on_load = resolve_on_load(options, request);
        write_messages(on_load.left);
        return {{}, std::move(on_load)};
    }
    use_btf(kernel, options);
    Resolved resolved = resolve(kernel, request);
    write_messages(resolved.left);
    return {std::move(resolved.probes), std::nullopt};
}

namespace {

std::string count_of(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// User functions that the kernel sets no breakpoint in.
class WithoutBreakpoint {
public:
    /// Takes a probe that the module has refused out of the others. Throws Error where it is no user function, or the only one.
    void take(Kernel &kernel, std::vector<Probe> &probes, std::size_t index) {
        const Error reason = explain_refusal(kernel, probes[index]);
        if (probes[index].kind != user_kind.number || probes.size() == 1)
            throw reason;
        kind_ = &kind_of(probes[index]);
        names_.push_back(probes[index].function);
        probes.erase(probes.begin() + static_cast<std::ptrdiff_t>(index));
    }

    void tell() const {
        if (!names_.empty())
            message("{} {} left out, as {}: {}", count_of(names_.size(), kind_->noun), names_.size() == 1 ? "is" : "are", kind_->refused,
                    list_names(names_));
    }

private:
    std::vector<std::string> names_;
    const ProbeKind *kind_ = &user_kind; // of the last
};

} // namespace

void add_followed(Session &session, Kernel &kernel, std::vector<Probe> &probes) {
    choose_return_ways(session.info(), probes);
    Unfollowed unfollowed;
    unfollowed.take_refused(probes);
    WithoutBreakpoint without_breakpoint;
    while (const auto refused = session.add(probes)) {
        if (refused->unfollowed)
            unfollowed.take(probes, refused->index);
        else
            without_breakpoint.take(kernel, probes, refused->index);
    }
    without_breakpoint.tell();
    unfollowed.tell();
    tell_return_ways(probes);
}

void add_wanted(Session &session, Kernel &kernel, Wanted &wanted) {
    if (auto left = leave_out_memory(wanted.on_load ? wanted.on_load->probes : wanted.probes,
                                     session.info()))
        write_messages({*left});
    add_followed(session, kernel, wanted.probes);
    if (wanted.on_load)
        wanted.on_load->order(session);
}

namespace {

std::string count_functions(std::size_t count) {
    return count_of(count, "function");
}

/// Those that stand alone, not in a pattern, and have not been called.
std::vector<std::string> uncalled(const Session &session, const FunctionOptions &functions) {
    std::map<std::string, std::uint64_t> calls;
    const Session::Snapshot snapshot = session.snapshot(true);
    const ReturnsById returns = session.returns_by_id();
    for (std::size_t i = 0; i < snapshot.probes.size(); ++i)
        calls[snapshot.probes[i].function] += hits(snapshot.counts[i]) + beside_counts(returns, snapshot.probes[i].id);
    std::vector<std::string> names;
    for (const Spec &spec : make_request(functions).specs) {
        const auto known = calls.find(spec.pattern.text());
        if (!spec.exclude && spec.pattern.kind() == Pattern::Kind::name && known != calls.end() &&
            known->second == 0)
            names.push_back(known->first);
    }
    return names;
}

} // namespace

std::string describe_traced(const Session &session, const Wanted &wanted) {
    const std::vector<Probe> probes = session.probes(true);
    const auto unloaded = std::count_if(probes.begin(), probes.end(), is_unloaded);
    const auto live = [&probes](const ProbeKind &kind) {
        return static_cast<std::size_t>(
            std::count_if(probes.begin(), probes.end(), [&kind](const Probe &probe) {
                return kind_of(probe) == kind && !(probe.flags & ARGTRACE_PROBE_REMOVED);
            }));
    };
    std::vector<std::string> parts;
    for (const ProbeKind &kind : probe_kinds)
        if (const std::size_t count = kind.has_specs ? live(kind) : 0)
            parts.push_back(count_of(count, kind.noun));
    if (wanted.on_load)
        parts.push_back(fmt::format("{} of {} when it is loaded",
                                    count_functions(wanted.on_load->probes.size()),
                                    wanted.on_load->module));
    else
        for (const argtrace_on_load_order &order : session.on_load_orders())
            parts.push_back(fmt::format("{} of {} when it is loaded", count_functions(order.count),
                                        order.module));
    if (parts.empty())
        parts.push_back(fmt::format("earlier calls of {} whose module was unloaded",
                                    count_functions(static_cast<std::size_t>(unloaded))));
    const std::string last = std::move(parts.back());
    parts.pop_back();
    return parts.empty() ? last : fmt::format("{} and {}", fmt::join(parts, ", "), last);
}

void note_silence(const Session &session, const TracingOptions &options,
                  const UnloadedModules &modules) {
    if (!options.functions.on_load.empty()) // the module comes and goes
        return;
    modules.tell_earlier();
    if (!options.own_session())
        return;
    const std::vector<std::string> names = uncalled(session, options.functions);
    if (!names.empty())
        message("no calls of {} were seen: a caller into which the compiler has inlined a function "
                "does not call it",
                list_names(names));
}

void print_remedies(const Session &session, const argtrace_counts &total, bool own) {
    const std::string larger = format_size(ring_size(session.attributes()) * 4);
    for (const std::string &remedy : loss_remedies(total, session.is_flight(), own, larger))
        write_message(remedy);
    if (const std::string remedy = taken_remedy(session.returns()); !remedy.empty())
        write_message(remedy);
    if (const auto loss = session.stack_loss())
        if (const std::string sentence = stack_loss_sentence(*loss); !sentence.empty())
            write_message(sentence);
    if (const auto loss = session.user_stack_loss())
        write_messages(stack_loss_sentences(*loss));
    print_stack_remedy(session, own);
    if (const std::string functions = describe_in_flight(functions_in_flight(session)); !functions.empty())
        write_message("in flight: " + functions);
}

void print_stack_remedy(const Session &session, bool own) {
    const auto room = session.stack_table();
    if (!room)
        return;
    StackLoss loss = session.stack_loss().value_or(StackLoss());
    if (const auto of_user = session.user_stack_loss())
        loss[ARGTRACE_STACK_LOST_FULL] += of_user->lost[ARGTRACE_STACK_LOST_FULL];
    if (const std::string remedy = stack_loss_remedy(loss, *room, own); !remedy.empty())
        write_message(remedy);
}

InFlightList list_calls_in_flight(const Session &session) {
    InFlightList listed;
    if (has_calls_in_flight(session))
        listed = list_in_flight(session).value_or(InFlightList());
    std::erase_if(listed.calls, [](const auto &call) { return call.tgid == own_pid_in_events(); });
    return listed;
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
    info.recorder = own_pid_in_events();
    const ProcessFilter filter = session.processes_in_events();
    if (!filter.excludes) {
        info.processes = filter.pids;
        info.children = filter.children;
    }
    return info;
}

} // namespace argtrace
