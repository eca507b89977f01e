// SPDX-License-Identifier: GPL-2.0-only
#include "render/info.h"

#include <array>
#include <bit>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "model/module_version.h"
#include "render/json.h"
#include "util/units.h"

namespace argtrace {

namespace {

struct Feature {
    std::uint64_t bit;
    std::string_view name;
};

constexpr std::array<Feature, 14> known_features{{{ARGTRACE_FEATURE_NAMED, "named"},
                                                 {ARGTRACE_FEATURE_FLIGHT, "flight"},
                                                 {ARGTRACE_FEATURE_PROGRAM, "program"},
                                                 {ARGTRACE_FEATURE_RETURN, "return"},
                                                 {ARGTRACE_FEATURE_MAP, "map"},
                                                 {ARGTRACE_FEATURE_STACK, "stack"},
                                                 {ARGTRACE_FEATURE_TRACEPOINT, "tracepoint"},
                                                 {ARGTRACE_FEATURE_SYSCALL, "syscall"},
                                                 {ARGTRACE_FEATURE_TSC, "tsc"},
                                                 {ARGTRACE_FEATURE_FPROBE, "fprobe"},
                                                 {ARGTRACE_FEATURE_KRETPROBE, "kretprobe"},
                                                 {ARGTRACE_FEATURE_TIMER, "timer"},
                                                 {ARGTRACE_FEATURE_USER_STACK, "user stack"},
                                                 {ARGTRACE_FEATURE_USER, "user function"}}};

std::vector<std::string> authority(const argtrace_info &info) {
    std::vector<std::string> names;
    if (info.authority & ARGTRACE_MAY_TRACE)
        names.push_back("trace");
    if (info.authority & ARGTRACE_MAY_READ_MEMORY)
        names.push_back("memory");
    return names;
}

void append_names(std::string &out, const std::vector<std::string> &names) {
    std::string_view separator;
    for (const std::string &name : names) {
        out += separator;
        append_json_string(out, name);
        separator = ",";
    }
}

/// Those of a module that knows more than we do by their numbers.
std::vector<std::string> features(const argtrace_info &info) {
    std::vector<std::string> names;
    std::uint64_t unknown = info.features;
    for (const Feature &feature : known_features) {
        if (info.features & feature.bit)
            names.emplace_back(feature.name);
        unknown &= ~feature.bit;
    }
    for (; unknown != 0; unknown &= unknown - 1)
        names.push_back(fmt::format("bit {}", std::countr_zero(unknown)));
    return names;
}

} // namespace

void append_info_text(std::string &out, std::string_view kernel, const argtrace_info *info) {
    auto line = [&](std::string_view what, const std::string &value) {
        fmt::format_to(std::back_inserter(out), "{:<24}{}\n", what, value);
    };
    line("tool", fmt::format("{}, API {}, records {}", ARGTRACE_VERSION, ARGTRACE_API_VERSION,
                             ARGTRACE_RECORD_VERSION));
    line("kernel", std::string(kernel));
    if (!info)
        return;
    line("module", fmt::format("{}, API {}, records {}", module_version(*info), info->api_version,
                               info->record_version));
    line("features", fmt::format("{}", fmt::join(features(*info), ", ")));
    line("authority", info->authority ? fmt::format("{}", fmt::join(authority(*info), ", "))
                                      : std::string("none"));
    line("CPUs", fmt::format("{}", info->nr_cpus));
    line("sessions", fmt::format("{}", info->nr_sessions));
    line("memory", fmt::format("{} of {} in use", format_size(info->memory_used),
                               format_size(info->memory_limit)));
    line("functions per session", fmt::format("at most {}", info->max_probes));
    line("arguments", fmt::format("at most {} per function", info->max_args));
    line("packets", fmt::format("{} to {}, at most {} per CPU", format_size(info->packet_size_min),
                                format_size(info->packet_size_max), info->nr_packets_max));
}

void append_info_json(std::string &out, std::string_view kernel, const argtrace_info *info) {
    auto to = std::back_inserter(out);
    fmt::format_to(to, "{{\"tool\":{{\"version\":\"{}\",\"api\":{},\"records\":{}}},\"kernel\":",
                   ARGTRACE_VERSION, ARGTRACE_API_VERSION, ARGTRACE_RECORD_VERSION);
    append_json_string(out, kernel);
    out += ",\"module\":";
    if (!info) {
        out += "null}\n";
        return;
    }
    out += "{\"version\":";
    append_json_string(out, module_version(*info));
    fmt::format_to(to, ",\"api\":{},\"records\":{},\"features\":[", info->api_version,
                   info->record_version);
    append_names(out, features(*info));
    out += "],\"authority\":[";
    append_names(out, authority(*info));
    fmt::format_to(to,
                   "],\"cpus\":{},\"sessions\":{},\"memory_used\":{},\"memory_limit\":{},"
                   "\"max_probes\":{},\"max_args\":{},\"packet_size_min\":{},"
                   "\"packet_size_max\":{},\"packets_max\":{}}}}}\n",
                   info->nr_cpus, info->nr_sessions, std::uint64_t{info->memory_used},
                   std::uint64_t{info->memory_limit}, info->max_probes, info->max_args,
                   info->packet_size_min, info->packet_size_max, info->nr_packets_max);
}

} // namespace argtrace
