// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "doctor/checks.h"
#include "model/module_version.h"
#include "session/device.h"
#include "util/capabilities.h"
#include "util/error.h"
#include "util/lines.h"
#include "util/units.h"

namespace argtrace {

namespace {

constexpr std::uint64_t ring_bytes = 4 << 20;       // of each CPU, if --buffer is not given
constexpr std::uint64_t all_rings_bytes = 128 << 20; // of all CPUs at most

bool is_loaded(const Machine &machine) {
    return machine.module || machine.exists("/sys/module/argtrace");
}

Finding check_loaded(const Machine &machine) {
    if (!is_loaded(machine)) {
        const Machine::Text known = machine.read("/lib/modules/" + machine.release + "/modules.dep");
        const bool installed = known.text.find("/argtrace.ko") != known.text.npos;
        return {"module", Health::missing, installed ? "not loaded" : "not loaded, and not installed for this kernel",
                installed ? "modprobe argtrace"
                          : "install argtrace-dkms and the kernel's headers, or build it: `make && sudo make install`"};
    }
    if (!machine.module)
        return {"module", Health::unseen, "loaded; its version is not seen, since it does not answer"};
    try {
        check_versions(*machine.module);
    } catch (const Error &error) {
        return {"module", Health::missing, error.what()};
    }
    return {"module", Health::ok,
            fmt::format("argtrace {}, which fits this tool ({})", module_version(*machine.module), ARGTRACE_VERSION)};
}

Finding check_device(const Machine &machine) {
    if (machine.module)
        return {"device", Health::ok, fmt::format("{} is open to this user", ARGTRACE_DEVICE)};
    // Which says the way out itself.
    if (is_loaded(machine))
        return {"device", Health::missing, machine.refusal};
    return {"device", Health::unseen, fmt::format("{} comes with the module", ARGTRACE_DEVICE)};
}

Finding check_authority(const Machine &machine) {
    const std::uint64_t set = effective_capabilities(machine.read("/proc/self/status").text);
    const auto has = [set](unsigned capability) { return has_capability(set, capability); };
    bool trace = has(CAP_SYS_ADMIN) || has(CAP_PERFMON);
    bool memory = has(CAP_SYS_ADMIN) || (has(CAP_PERFMON) && has(CAP_BPF));
    if (machine.module) { // which knows better: these may be those of a container
        trace = machine.module->authority & ARGTRACE_MAY_TRACE;
        memory = machine.module->authority & ARGTRACE_MAY_READ_MEMORY;
    }
    if (!trace)
        return {"authority", Health::missing, "this process has neither CAP_SYS_ADMIN nor CAP_PERFMON on this machine",
                "run argtrace as root; ACCESS in argtrace(1) says how a group of users gets access"};
    if (!memory)
        return {"authority", Health::limited, "CAP_PERFMON alone: registers are recorded, memory is not read",
                "give it CAP_BPF as well, or CAP_SYS_ADMIN"};
    if (!has(CAP_SYS_ADMIN))
        return {"authority", Health::limited, "CAP_PERFMON and CAP_BPF: returns are not followed (-r)",
                "that takes CAP_SYS_ADMIN"};
    return {"authority", Health::ok, "everything is allowed"};
}

/// What the memory cgroups of this process let it have; nothing: they set no limit.
std::optional<std::uint64_t> cgroup_room(const Machine &machine) {
    std::string path;
    for_each_line(machine.read("/proc/self/cgroup").text, [&path](std::string_view line) {
        if (line.starts_with("0::"))
            path = line.substr(3);
    });
    std::optional<std::uint64_t> room;
    for (; path.size() > 1; path.resize(path.rfind('/'))) {
        const std::string folder = "/sys/fs/cgroup" + path;
        const Machine::Text limit = machine.read(folder + "/memory.max");
        const Machine::Text used = machine.read(folder + "/memory.current");
        if (!limit.there() || !used.there() || limit.text.starts_with("max"))
            continue;
        const std::uint64_t most = std::strtoull(limit.text.c_str(), nullptr, 10);
        const std::uint64_t now = std::strtoull(used.text.c_str(), nullptr, 10);
        room = std::min(room.value_or(~std::uint64_t{0}), most - std::min(most, now));
    }
    return room;
}

Finding check_memory(const Machine &machine) {
    const std::uint64_t wanted = std::min<std::uint64_t>(ring_bytes * machine.cpus, all_rings_bytes);
    const auto too_little = [wanted](const std::string &whose, std::uint64_t room, const std::string &more) {
        return Finding{"memory", Health::limited,
                       fmt::format("{} leaves {} KiB, and the rings of a session take {}", whose, room / 1024,
                                   format_size(wanted)),
                       "take a smaller --buffer, or raise " + more};
    };
    if (machine.module) {
        const std::uint64_t limit = machine.module->memory_limit, used = machine.module->memory_used;
        const std::uint64_t room = limit - std::min(limit, used);
        if (room < wanted)
            return too_little("the module's limit", room, "/sys/module/argtrace/parameters/memory_limit_mb");
    }
    const auto room = cgroup_room(machine);
    if (room && *room < wanted)
        return too_little("the memory cgroup", *room, "its memory.max");
    return {"memory", Health::ok, fmt::format("there is room for the rings of a session, {}", format_size(wanted))};
}

} // namespace

void check_module(const Machine &machine, std::vector<Finding> &findings) {
    for (const auto check : {check_loaded, check_device, check_authority, check_memory})
        findings.push_back(check(machine));
}

} // namespace argtrace
