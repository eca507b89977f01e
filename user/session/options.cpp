// SPDX-License-Identifier: GPL-2.0-only
#include "session/options.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "model/clock.h"
#include "util/error.h"
#include "util/units.h"

namespace argtrace {

namespace {

constexpr std::uint64_t usual_packet_size = 64 * 1024;
constexpr std::uint32_t nr_packets_min = 2;

// A flight recorder loses a packet at a time, and goes through it to count what is in it.
constexpr std::uint64_t flight_buffer = 4 << 20;
constexpr std::uint64_t flight_packet_size = 16 * 1024;
constexpr std::uint32_t flight_packets = 16;

const char *encoding_name(bool named) {
    return named ? "named" : "compact";
}

[[noreturn]] void differs(const std::string &is, const std::string &option) {
    throw Error(fmt::format("there is a session already, {}: end it with `argtrace clear` before "
                            "you use {}",
                            is, option));
}

} // namespace

argtrace_session_attr session_attributes(const SessionOptions &wished, const argtrace_info &info) {
    argtrace_session_attr attr{};
    attr.size = sizeof(attr);
    attr.clock = wished.clock.value_or(ARGTRACE_CLOCK_BEST);
    if (attr.clock == ARGTRACE_CLOCK_TSC && !(info.features & ARGTRACE_FEATURE_TSC))
        throw Error("the time stamp counter cannot be trusted on this machine, or the loaded "
                    "module cannot read it: use --clock mono");
    if (wished.named.value_or(false)) {
        if (!(info.features & ARGTRACE_FEATURE_NAMED))
            throw Error("the loaded module does not write the named encoding: use "
                        "--encoding compact");
        attr.format |= ARGTRACE_FORMAT_NAMED;
    }
    if (wished.no_caller)
        attr.format |= ARGTRACE_FORMAT_NO_CALLER;
    if (wished.flight) {
        if (!(info.features & ARGTRACE_FEATURE_FLIGHT))
            throw Error("the loaded module has no flight recorder: leave out --flight");
        attr.flags |= ARGTRACE_SESSION_FLIGHT;
    }
    if (!wished.buffer && !wished.flight)
        return attr;

    std::uint64_t buffer = wished.buffer.value_or(flight_buffer);
    std::uint64_t least = std::uint64_t{info.packet_size_min} * nr_packets_min;
    std::uint64_t most = std::uint64_t{info.packet_size_max} * info.nr_packets_max;
    if (buffer < least || buffer > most)
        throw Error(fmt::format("a buffer of {} per CPU is not possible: give {} to {}",
                                format_size(buffer), format_size(least), format_size(most)));

    // The usual packets; smaller ones where there would be less than two, larger ones where
    // there would be too many.
    std::uint64_t bytes = std::bit_ceil(buffer);
    std::uint64_t packet = wished.flight ? std::min(flight_packet_size, bytes / flight_packets)
                                         : std::min(usual_packet_size, bytes / nr_packets_min);
    packet = std::clamp<std::uint64_t>(packet, info.packet_size_min, info.packet_size_max);
    packet = std::max(packet, bytes / info.nr_packets_max);
    attr.packet_size = static_cast<std::uint32_t>(packet);
    attr.nr_packets = static_cast<std::uint32_t>(bytes / packet);
    return attr;
}

void check_attributes(const argtrace_session_attr &session, const SessionOptions &wished,
                      const argtrace_info &info) {
    if (wished.buffer && ring_size(session_attributes(wished, info)) != ring_size(session))
        differs(fmt::format("with a buffer of {} per CPU", format_size(ring_size(session))),
                fmt::format("--buffer {}", format_size(*wished.buffer)));
    bool named = session.format & ARGTRACE_FORMAT_NAMED;
    if (wished.named && *wished.named != named)
        differs(fmt::format("with the {} encoding", encoding_name(named)),
                fmt::format("--encoding {}", encoding_name(*wished.named)));
    if (wished.clock && *wished.clock != session.clock)
        differs(fmt::format("with the clock {}", clock_name(session.clock)),
                fmt::format("--clock {}", clock_name(*wished.clock)));
    if (wished.no_caller && !(session.format & ARGTRACE_FORMAT_NO_CALLER))
        differs("which records callers", "--no-caller");
    if (wished.flight && !(session.flags & ARGTRACE_SESSION_FLIGHT))
        differs("which is no flight recorder", "--flight");
}

} // namespace argtrace
