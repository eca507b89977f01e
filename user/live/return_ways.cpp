// SPDX-License-Identifier: GPL-2.0-only
#include "live/return_ways.h"

#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "live/unloaded_modules.h"
#include "model/return_way.h"
#include "util/error.h"
#include "util/message.h"

namespace argtrace {

namespace {

bool was_chosen(const Probe &probe) {
    return by_reason(probe) == ARGTRACE_BY_CHOICE;
}

void by_kretprobe(const argtrace_info &info, Probe &probe) {
    if (!(info.features & ARGTRACE_FEATURE_KRETPROBE))
        throw Error(fmt::format("{}: its return cannot be followed ({}), and this kernel has no kretprobes (CONFIG_KRETPROBES): "
                                "leave it out",
                                probe.function, reason_of(probe).words));
    probe.flags = (probe.flags & ~ARGTRACE_PROBE_BY_KERNEL) | ARGTRACE_PROBE_BY_KRETPROBE;
}

} // namespace

void choose_return_ways(const argtrace_info &info, std::vector<Probe> &probes) {
    for (Probe &probe : probes) {
        if (probe.flags & ARGTRACE_PROBE_BY_FPROBE && !(info.features & ARGTRACE_FEATURE_FPROBE)) {
            if (was_chosen(probe))
                throw Error("--return-by fprobe: this kernel has no suitable fprobes (Linux 6.6 to 6.13 with CONFIG_FPROBE has): "
                            "use --return-by kretprobe");
            by_kretprobe(info, probe);
        } else if (probe.flags & ARGTRACE_PROBE_BY_KRETPROBE && !(info.features & ARGTRACE_FEATURE_KRETPROBE)) {
            throw Error("--return-by kretprobe: this kernel is built without CONFIG_KRETPROBES: leave it out");
        }
    }
}

void tell_return_ways(const std::vector<Probe> &probes) {
    std::map<std::pair<std::string_view, std::string_view>, std::vector<std::string>> ways;
    for (const Probe &probe : probes)
        if (is_by_kernel(probe) && !was_chosen(probe))
            ways[{return_way(probe), reason_of(probe).words}].push_back(probe.function);
    for (const auto &[way, names] : ways)
        message("returns of {} are followed by {}{} of the kernel: {}", list_names(names),
                names.size() == 1 ? (way.first == "fprobe" ? "an " : "a ") : "", names.size() == 1 ? std::string(way.first) : fmt::format("{}s", way.first),
                way.second);
}

} // namespace argtrace
