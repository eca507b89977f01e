// SPDX-License-Identifier: GPL-2.0-only
#include "session/in_flight.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "decode/values.h"

namespace argtrace {

namespace {

struct Listed {
    argtrace_in_flight head{};
    std::vector<argtrace_in_flight_call> calls;
};

/// Nothing if the module knows no such request.
std::optional<Listed> list(const Session &session) {
    constexpr std::size_t first_room = 256, room_max = (1 << 20) / sizeof(argtrace_in_flight_call);
    Listed listed;
    for (std::size_t room = first_room;; room = std::min(room * 4, room_max)) {
        listed.calls.resize(room);
        listed.head = {};
        listed.head.size = sizeof(listed.head);
        listed.head.buffer = user_address(listed.calls.data());
        listed.head.length = room * sizeof(listed.calls[0]);
        const int error = session.device().request(ARGTRACE_IOC_IN_FLIGHT, &listed.head);
        if (error == ENOTTY)
            return std::nullopt;
        if (error != 0)
            throw explain_request("list the calls in flight", error, session.info());
        if (listed.head.found <= listed.head.count || room == room_max)
            break;
    }
    listed.calls.resize(std::min<std::size_t>(listed.head.count, listed.calls.size()));
    return listed;
}

void append(RunningCalls &running, const argtrace_in_flight &head, const argtrace_in_flight_call &call, const Probe &probe) {
    Event event;
    // A call may have begun after the clock was read.
    const auto before = static_cast<std::int64_t>(head.clock - call.clock);
    __extension__ using Wide = __int128;
    event.ts = head.ns - static_cast<std::uint64_t>(Wide{before} * head.mult >> ARGTRACE_MULT_SHIFT);
    event.clock = call.clock;
    event.caller = call.caller;
    event.probe = &probe;
    event.tid = call.tid;
    event.tgid = call.tgid;
    event.context = call.context;
    event.preempt = call.preempt;
    static_assert(sizeof(event.comm) == sizeof(call.comm));
    std::memcpy(event.comm.data(), call.comm, sizeof(call.comm));
    event.first_value = static_cast<std::uint32_t>(running.batch.values.size());
    for (const Argument &argument : probe.args)
        running.batch.values.push_back(read_register(argument, call.regs));
    running.batch.events.push_back(event);
}

} // namespace

std::optional<RunningCalls> read_in_flight(const Session &session, const Schema &schema) {
    auto listed = list(session);
    if (!listed)
        return std::nullopt;
    RunningCalls running;
    running.clock = listed->head.clock;
    running.ns = listed->head.ns;
    running.mult = listed->head.mult;
    // The innermost comes first there.
    std::vector<argtrace_in_flight_call> &calls = listed->calls;
    for (auto task = calls.begin(); task != calls.end();) {
        const auto next = std::find_if(task, calls.end(), [&](const auto &call) { return call.tid != task->tid; });
        std::reverse(task, next);
        task = next;
    }
    for (const argtrace_in_flight_call &call : calls)
        if (const Probe *probe = schema.find(call.id))
            append(running, listed->head, call, *probe);
    return running;
}

std::vector<InFlightFunction> functions_in_flight(const Session &session) {
    std::vector<InFlightFunction> functions;
    for (const argtrace_return_counts &counts : session.return_counts())
        if (counts.in_flight > 0)
            functions.push_back({counts.counts.id, "", counts.in_flight});
    if (functions.empty())
        return functions;
    Schema schema([&session] { return session.probes(true); });
    schema.reload();
    for (InFlightFunction &function : functions)
        if (const Probe *probe = schema.find(function.id))
            function.name = probe->function;
    const std::optional<RunningCalls> running = read_in_flight(session, schema);
    if (!running)
        return functions;
    for (const Event &event : running->batch.events)
        for (InFlightFunction &function : functions)
            if (function.id == event.probe->id)
                function.tasks.push_back(fmt::format("{} {}", event.comm_view(), event.tid));
    for (InFlightFunction &function : functions) {
        std::sort(function.tasks.begin(), function.tasks.end());
        function.tasks.erase(std::unique(function.tasks.begin(), function.tasks.end()), function.tasks.end());
    }
    return functions;
}

} // namespace argtrace
