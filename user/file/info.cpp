// SPDX-License-Identifier: GPL-2.0-only
#include "file/info.h"

#include <limits>
#include <sys/utsname.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "uapi/argtrace.h"
#include "util/clock.h"

namespace argtrace {

namespace {

using json = nlohmann::ordered_json;

/// Both directions go through this one list of names.
template<typename Visitor, typename Info>
void visit(Info &info, Visitor &&visitor) {
    visitor("argtrace", info.argtrace);
    visitor("kernel", info.kernel);
    visitor("machine", info.machine);
    visitor("host", info.host);
    visitor("cpus", info.cpus);
    visitor("record_version", info.record_version);
    visitor("format", info.format);
    visitor("clock", info.clock);
    visitor("packet_size", info.packet_size);
    visitor("packets_per_cpu", info.packets_per_cpu);
    visitor("mode", info.mode);
    visitor("begin_realtime", info.begin_realtime);
    visitor("begin_monotonic", info.begin_monotonic);
    visitor("begin_boottime", info.begin_boottime);
    visitor("command", info.command);
    visitor("processes", info.processes);
    visitor("children", info.children);
    visitor("recorder", info.recorder);
}

bool read(const json &from, std::string &to) {
    if (!from.is_string())
        return false;
    to = from.get<std::string>();
    return true;
}

template<typename Number>
bool read(const json &from, Number &to) {
    if (!from.is_number_unsigned() ||
        from.get<std::uint64_t>() > std::numeric_limits<Number>::max())
        return false;
    to = from.get<Number>();
    return true;
}

bool read(const json &from, bool &to) {
    if (!from.is_boolean())
        return false;
    to = from.get<bool>();
    return true;
}

template<typename Element>
bool read(const json &from, std::vector<Element> &to) {
    if (!from.is_array())
        return false;
    for (const json &element : from) {
        if (!read(element, to.emplace_back()))
            return false;
    }
    return true;
}

} // namespace

TraceInfo info_of_this_machine() {
    utsname system{};
    ::uname(&system);
    TraceInfo info;
    info.argtrace = ARGTRACE_VERSION;
    info.kernel = system.release;
    info.machine = system.machine;
    info.host = system.nodename;
    info.cpus = static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_CONF));
    info.record_version = ARGTRACE_RECORD_VERSION;
    info.begin_realtime = realtime_now();
    info.begin_monotonic = monotonic_now();
    info.begin_boottime = boottime_now();
    info.recorder = static_cast<std::uint32_t>(::getpid());
    return info;
}

std::string to_json(const TraceInfo &info, int indent) {
    json object;
    visit(info, [&object](const char *name, const auto &value) { object[name] = value; });
    return object.dump(indent, ' ', false, json::error_handler_t::replace);
}

std::optional<TraceInfo> info_from_json(std::string_view text) {
    const json object = json::parse(text, nullptr, false);
    if (!object.is_object())
        return std::nullopt;
    TraceInfo info;
    bool good = true;
    visit(info, [&](const char *name, auto &value) {
        const auto found = object.find(name);
        if (found != object.end() && !read(*found, value))
            good = false;
    });
    if (!good)
        return std::nullopt;
    return info;
}

} // namespace argtrace
