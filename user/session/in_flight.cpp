// SPDX-License-Identifier: GPL-2.0-only
#include "session/in_flight.h"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <fmt/format.h>

#include "decode/running.h"
#include "util/visible.h"

namespace argtrace {

std::optional<InFlightList> list_in_flight(const Session &session) {
    constexpr std::size_t first_room = 256, room_max = (1 << 20) / sizeof(argtrace_in_flight_call);
    InFlightList listed;
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

std::optional<RunningCalls> read_in_flight(const Session &session, const Schema &schema) {
    const auto listed = list_in_flight(session);
    if (!listed)
        return std::nullopt;
    return decode_running(listed->head, listed->calls, schema);
}

bool has_calls_in_flight(const Session &session) {
    const auto counts = session.return_counts();
    return std::any_of(counts.begin(), counts.end(), [](const argtrace_return_counts &one) { return one.in_flight > 0; });
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
                function.tasks.push_back(fmt::format("{} {}", visible_text(event.comm_view()), event.tid));
    for (InFlightFunction &function : functions) {
        std::sort(function.tasks.begin(), function.tasks.end());
        function.tasks.erase(std::unique(function.tasks.begin(), function.tasks.end()), function.tasks.end());
    }
    return functions;
}

} // namespace argtrace
