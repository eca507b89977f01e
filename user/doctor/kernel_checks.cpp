// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "abi/architecture.h"
#include "doctor/checks.h"
#include "util/lines.h"
#include "util/units.h"

namespace argtrace {

namespace {

constexpr unsigned oldest_major = 6, oldest_minor = 1;

std::vector<std::string_view> traced_architectures() {
    std::vector<std::string_view> names;
    for (const Architecture &architecture : all_architectures())
        if (architecture.is_traced)
            names.push_back(architecture.name);
    return names;
}

Finding check_version(const Machine &machine) {
    Finding finding{"kernel", Health::ok, fmt::format("Linux {} on {}", machine.release, machine.architecture)};
    char *rest = nullptr;
    const unsigned long major = std::strtoul(machine.release.c_str(), &rest, 10);
    const unsigned long minor = *rest == '.' ? std::strtoul(rest + 1, nullptr, 10) : 0;
    if (const Architecture *known = find_architecture(machine.architecture); !known || !known->is_traced) {
        finding.health = Health::missing;
        finding.remedy = fmt::format("argtrace traces {} kernels alone", fmt::join(traced_architectures(), " and "));
    } else if (major < oldest_major || (major == oldest_major && minor < oldest_minor)) {
        finding.health = Health::missing;
        finding.remedy = fmt::format("argtrace needs Linux {}.{} or later", oldest_major, oldest_minor);
    } else if (without_newline(machine.read("/sys/kernel/realtime").text) == "1") {
        finding.health = Health::limited;
        finding.says += ", a PREEMPT_RT kernel";
        finding.remedy = "argtrace is not tested on these: try it on a machine that may fail";
    }
    return finding;
}

struct Taint {
    unsigned bit;
    char letter;
    std::string_view words;
};

// Those after which a kernel may say anything (Documentation/admin-guide/tainted-kernels.rst).
constexpr Taint faults[]{
    {4, 'M', "a machine check"}, {5, 'B', "a bad page"}, {7, 'D', "an oops"}, {14, 'L', "a soft lockup"}};

Finding check_taint(const Machine &machine) {
    const Machine::Text file = machine.read("/proc/sys/kernel/tainted");
    if (!file.there())
        return {"tainted", Health::unseen, "/proc/sys/kernel/tainted cannot be read"};
    const std::uint64_t bits = std::strtoull(file.text.c_str(), nullptr, 10);
    std::string had;
    for (const Taint &fault : faults)
        if (bits >> fault.bit & 1)
            had += fmt::format("{}{} ({})", had.empty() ? "" : ", ", fault.words, fault.letter);
    if (!had.empty())
        return {"tainted", Health::limited, fmt::format("this kernel has had {}", had),
                "restart the machine before you trust what it does"};
    return {"tainted", Health::ok,
            bits == 0 ? "no" : fmt::format("yes ({}), by nothing that matters to argtrace", bits)};
}

Finding check_types(const Machine &machine) {
    const Machine::Text file = machine.read("/sys/kernel/btf/vmlinux");
    if (file.there() && !file.text.empty())
        return {"types", Health::ok, fmt::format("the kernel has BTF, {} KiB", file.text.size() / 1024)};
    if (file.refused())
        return {"types", Health::unseen, "/sys/kernel/btf/vmlinux cannot be read by this user"};
    return {"types", Health::missing, "the kernel has no BTF: /sys/kernel/btf/vmlinux is not there",
            "boot a kernel with CONFIG_DEBUG_INFO_BTF, as distributions build them"};
}

Finding check_module_types(const Machine &machine) {
    constexpr std::size_t listed = 3;
    const Machine::Text modules = machine.read("/proc/modules");
    const Machine::Names types = machine.list("/sys/kernel/btf");
    if (!modules.there() || !types.there())
        return {"module-types", modules.refused() || types.refused() ? Health::unseen : Health::ok,
                modules.there() ? "no module has types" : "modules are not listed here"};
    std::size_t all = 0;
    std::vector<std::string> without;
    for_each_line(modules.text, [&](std::string_view line) {
        const std::string name(next_word(line));
        if (name.empty() || name.starts_with("argtrace"))
            return;
        ++all;
        if (!std::binary_search(types.names.begin(), types.names.end(), name))
            without.push_back(name);
    });
    if (all == 0)
        return {"module-types", Health::ok, "no module is loaded that could lack them"};
    if (without.empty())
        return {"module-types", Health::ok, fmt::format("all {} modules that are loaded have BTF", all)};
    const bool more = without.size() > listed;
    const std::size_t count = without.size();
    without.resize(std::min(count, listed));
    return {"module-types", Health::limited,
            fmt::format("{} of {} modules that are loaded have no BTF: {}{}", count, all, fmt::join(without, ", "),
                        more ? " ..." : ""),
            "--btf FILE gives a module its types, --raw shows registers"};
}

Finding check_lockdown(const Machine &machine) {
    const Machine::Text file = machine.read("/sys/kernel/security/lockdown");
    if (file.refused())
        return {"lockdown", Health::unseen, "/sys/kernel/security/lockdown cannot be read by this user"};
    if (!file.there()) {
        if (machine.list("/sys/kernel/security").names.empty())
            return {"lockdown", Health::unseen, "securityfs is not mounted on /sys/kernel/security",
                    "mount -t securityfs securityfs /sys/kernel/security"};
        return {"lockdown", Health::ok, "this kernel knows none"};
    }
    if (file.text.find("[integrity]") != file.text.npos)
        return {"lockdown", Health::limited, "integrity: return values cannot be recorded (-r)",
                "boot without lockdown=integrity, or without secure boot"};
    if (file.text.find("[confidentiality]") != file.text.npos)
        return {"lockdown", Health::missing, "confidentiality: this kernel must not be traced",
                "boot without lockdown=confidentiality"};
    return {"lockdown", Health::ok, "none"};
}

Finding check_clock(const Machine &machine) {
    const Machine::Text file = machine.read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    const std::string source(file.there() ? without_newline(file.text) : "not known");
    if (machine.has_feature(ARGTRACE_FEATURE_TSC) || (!machine.module && source == "tsc"))
        return {"clock", Health::ok, fmt::format("calls are timed by the processor's counter (clock source: {})", source)};
    if (!machine.module)
        return {"clock", Health::unseen,
                fmt::format("the clock source is {}; whether the processor's counter can be trusted is for the module to say",
                            source)};
    return {"clock", Health::limited,
            fmt::format("calls are timed by CLOCK_MONOTONIC, which costs about 90 instructions more: the processor's counter "
                        "cannot be trusted (clock source: {})",
                        source),
            "in a virtual machine, let the processor have an invariant TSC"};
}

} // namespace

void check_kernel(const Machine &machine, std::vector<Finding> &findings) {
    for (const auto check : {check_version, check_taint, check_types, check_module_types, check_lockdown, check_clock})
        findings.push_back(check(machine));
}

std::vector<Finding> examine(const Machine &machine) {
    std::vector<Finding> findings;
    check_kernel(machine, findings);
    check_module(machine, findings);
    check_tracing(machine, findings);
    return findings;
}

std::string_view health_name(Health health) {
    switch (health) {
    case Health::ok:
        return "ok";
    case Health::limited:
        return "limited";
    case Health::missing:
        return "missing";
    case Health::unseen:
        break;
    }
    return "unseen";
}

bool tracing_works(const std::vector<Finding> &findings) {
    return std::none_of(findings.begin(), findings.end(),
                        [](const Finding &finding) { return finding.health == Health::missing; });
}

} // namespace argtrace
