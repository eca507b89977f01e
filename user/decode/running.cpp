// SPDX-License-Identifier: GPL-2.0-only
#include "decode/running.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "decode/values.h"
#include "model/unfinished.h"

namespace argtrace {

namespace {

void append(RunningCalls &running, const argtrace_in_flight_call &call, const Probe &probe) {
    Event event;
    // A call may have begun after the clock was read.
    const auto before = static_cast<std::int64_t>(running.clock - call.clock);
    __extension__ using Wide = __int128;
    event.ts = running.ns - static_cast<std::uint64_t>(Wide{before} * running.mult >> ARGTRACE_MULT_SHIFT);
    event.clock = call.clock;
    event.caller = call.caller;
    event.probe = &probe;
    event.cpu = unknown_cpu;
    event.tid = call.tid;
    event.tgid = call.tgid;
    event.context = call.context;
    event.preempt = call.preempt;
    static_assert(sizeof(event.comm) == sizeof(call.comm));
    std::memcpy(event.comm.data(), call.comm, sizeof(call.comm));
    event.first_value = static_cast<std::uint32_t>(running.batch.values.size());
    const std::span<const __u64> regs = std::span(call.regs).first(std::min<std::size_t>(call.nr_regs, std::size(call.regs)));
    for (const Argument &argument : probe.args)
        running.batch.values.push_back(read_register(argument, regs));
    running.batch.events.push_back(event);
}

} // namespace

RunningCalls decode_running(const argtrace_in_flight &head, std::span<const argtrace_in_flight_call> calls, const Schema &schema) {
    RunningCalls running;
    running.clock = head.clock;
    running.ns = head.ns;
    running.mult = head.mult;
    for (std::size_t first = 0; first < calls.size();) {
        std::size_t end = first + 1;
        while (end < calls.size() && calls[end].tid == calls[first].tid)
            ++end;
        for (std::size_t i = end; i-- > first;)
            if (const Probe *probe = schema.find(calls[i].id))
                append(running, calls[i], *probe);
        first = end;
    }
    return running;
}

} // namespace argtrace
