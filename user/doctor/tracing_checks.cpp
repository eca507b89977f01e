// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>


#include <fmt/format.h>

#include "abi/architecture.h"
#include "doctor/checks.h"
#include "symbols/enabled.h"
#include "symbols/traceable.h"
#include "util/lines.h"

namespace argtrace {

namespace {

// Symbols of the kernel by which a part of it is known to be there.
constexpr const char *of_ftrace = "register_ftrace_function";
constexpr const char *of_tracepoints = "for_each_kernel_tracepoint";
constexpr const char *of_fprobe = "register_fprobe";
constexpr const char *of_fprobe_on_graph = "fprobe_return"; // since Linux 6.14: kmod/base/compat.h says why those do not do
constexpr const char *of_kretprobe = "register_kretprobe";
constexpr const char *of_way_back = "blkcg_maybe_throttle_current"; // kmod/stack/late.c says why
constexpr const char *of_perf = "perf_event_create_kernel_counter";

using KernelSymbols = std::optional<Machine::Symbols>;

const Architecture &architecture_of(const Machine &machine) {
    const Architecture *known = find_architecture(machine.architecture);
    return known ? *known : native_architecture();
}

std::string of_syscalls(const Machine &machine) {
    return std::string(architecture_of(machine).syscalls.front().prefix) + "read";
}

/// A function of the calls of 32-bit programs; empty: they have no names here on this architecture.
std::string of_32_bit(const Machine &machine) {
    const std::string_view prefix = architecture_of(machine).syscalls.back().compat_prefix;
    return prefix.empty() ? std::string() : std::string(prefix) + "openat";
}

bool lacks(const KernelSymbols &symbols, const std::string &name) {
    return symbols && !symbols->names.contains(name);
}

/// Where tracefs is, or is to be.
Machine::Text read_tracefs(const Machine &machine, const std::string &name) {
    Machine::Text file;
    for (const std::string &folder : Traceable::tracefs_directories()) {
        file = machine.read(folder + '/' + name);
        if (file.there())
            return file;
        if (file.refused())
            return file;
    }
    return file;
}

constexpr const char *mount_tracefs = "mount -t tracefs tracefs /sys/kernel/tracing";

/// Without them there is nothing that could be traced.
Finding check_symbols(const Machine &machine, const KernelSymbols &symbols) {
    if (!symbols)
        return {"symbols", Health::missing, "the kernel does not list its symbols: /proc/kallsyms has none",
                "boot one with CONFIG_KALLSYMS"};
    if (symbols->addresses_shown)
        return {"symbols", Health::ok, "the kernel shows where its functions are"};
    if (without_newline(machine.read("/proc/sys/kernel/kptr_restrict").text) == "2")
        return {"symbols", Health::missing, "the kernel hides from everybody where its functions are (kernel.kptr_restrict is 2)",
                "sysctl kernel.kptr_restrict=1"};
    return {"symbols", Health::missing, "the kernel hides from this process where its functions are",
            "run argtrace as root, or give it CAP_SYSLOG"};
}

Finding check_functions(const Machine &machine, const KernelSymbols &symbols) {
    if (lacks(symbols, of_ftrace))
        return {"functions", Health::missing, "this kernel has no ftrace for modules",
                "boot one with CONFIG_DYNAMIC_FTRACE_WITH_ARGS"};
    const Machine::Text file = read_tracefs(machine, "available_filter_functions");
    if (file.there())
        return {"functions", Health::ok,
                fmt::format("ftrace can trace {}", std::count(file.text.begin(), file.text.end(), '\n'))};
    if (file.refused())
        return {"functions", Health::unseen, "tracefs, which lists them, is not open to this user", "run this as root"};
    return {"functions", Health::limited,
            "tracefs is not there, which lists them: names can be traced, and patterns may take what ftrace cannot",
            mount_tracefs};
}

Finding check_switch(const Machine &machine) {
    const Machine::Text file = machine.read("/proc/sys/kernel/ftrace_enabled");
    if (file.refused())
        return {"ftrace", Health::unseen, "/proc/sys/kernel/ftrace_enabled cannot be read by this user"};
    if (!file.there())
        return {"ftrace", Health::ok, "on; this kernel does not let it be switched off"};
    if (without_newline(file.text) == "0")
        return {"ftrace", Health::missing, "switched off: no call of a function is seen",
                "sysctl kernel.ftrace_enabled=1"};
    return {"ftrace", Health::ok, "on"};
}

/// Events of system calls have no tracepoints of their own.
std::size_t count_events(std::string_view lines) {
    std::size_t events = 0;
    for_each_line(lines, [&events](std::string_view line) { events += !line.starts_with("syscalls:"); });
    return events;
}

Finding check_tracepoints(const Machine &machine, const KernelSymbols &symbols) {
    if (lacks(symbols, of_tracepoints) || (machine.module && !machine.has_feature(ARGTRACE_FEATURE_TRACEPOINT)))
        return {"tracepoints", Health::limited, "cannot be traced on this kernel",
                "boot one with CONFIG_TRACEPOINTS and without CONFIG_CFI_CLANG"};
    const Machine::Text any = read_tracefs(machine, "available_events");
    if (any.there())
        return {"tracepoints", Health::ok, fmt::format("{} with an event, and those without", count_events(any.text))};
    if (any.refused())
        return {"tracepoints", Health::unseen, "tracefs, which knows their groups, is not open to this user",
                "run this as root"};
    return {"tracepoints", Health::limited, "their groups are not known without tracefs: t:NAME works", mount_tracefs};
}

std::string describe_32_bit(const Machine &machine, const KernelSymbols &symbols) {
    const std::string name = of_32_bit(machine);
    if (name.empty())
        return fmt::format("; those of 32-bit programs have no names on {}", architecture_of(machine).name);
    return lacks(symbols, name) ? "; this kernel runs no 32-bit programs" : ", and those of 32-bit programs";
}

std::size_t count_entries(const std::vector<std::string> &events) {
    return static_cast<std::size_t>(
        std::count_if(events.begin(), events.end(), [](const std::string &name) { return name.starts_with("sys_enter_"); }));
}

Finding check_syscalls(const Machine &machine, const KernelSymbols &symbols) {
    if (machine.module && !machine.has_feature(ARGTRACE_FEATURE_SYSCALL))
        return {"syscalls", Health::limited, "the module cannot trace system calls", "load the module of this version"};
    if (lacks(symbols, of_syscalls(machine)))
        return {"syscalls", Health::limited, fmt::format("the kernel's functions of system calls are not those of {}", architecture_of(machine).name),
                "boot one with CONFIG_ARCH_HAS_SYSCALL_WRAPPER"};
    bool mounted = false;
    for (const std::string &folder : Traceable::tracefs_directories()) {
        const Machine::Names events = machine.list(folder + "/events/syscalls");
        if (events.there())
            return {"syscalls", Health::ok,
                    fmt::format("{}{}", count_entries(events.names), describe_32_bit(machine, symbols))};
        if (events.refused())
            return {"syscalls", Health::unseen, "tracefs, which describes them, is not open to this user", "run this as root"};
        mounted = mounted || machine.exists(folder + "/events");
    }
    if (!mounted)
        return {"syscalls", Health::limited, "tracefs is not there, which names their arguments: BTF does for many", mount_tracefs};
    return {"syscalls", Health::limited, "this kernel does not describe their arguments to tracers: BTF does for many",
            "boot one with CONFIG_FTRACE_SYSCALLS"};
}

/// What follows returns where argtrace's trampoline cannot. The module knows best.
Finding check_fprobe(const Machine &machine, const KernelSymbols &symbols) {
    if (!symbols && !machine.module)
        return {"fprobe", Health::unseen, "the kernel does not list its symbols"};
    const auto has = [&](const char *symbol, std::uint64_t feature) {
        return !lacks(symbols, symbol) && (!machine.module || machine.has_feature(feature));
    };
    const bool on_graph = symbols && !lacks(symbols, of_fprobe_on_graph);
    if (has(of_fprobe, ARGTRACE_FEATURE_FPROBE) && !on_graph)
        return {"fprobe", Health::ok, "there: fprobes follow returns where argtrace's trampoline cannot"};
    if (has(of_kretprobe, ARGTRACE_FEATURE_KRETPROBE))
        return {"fprobe", Health::ok, "none that would do in this kernel: kretprobes follow returns where argtrace's trampoline cannot"};
    return {"fprobe", Health::limited, "neither fprobes nor kretprobes follow returns where argtrace's trampoline cannot",
            "boot a kernel with CONFIG_FPROBE or CONFIG_KRETPROBES"};
}

void check_features(const Machine &machine, std::vector<Finding> &findings) {
    if (!machine.module)
        return;
    findings.push_back(machine.has_feature(ARGTRACE_FEATURE_RETURN)
                           ? Finding{"returns", Health::ok, "return values can be recorded"}
                           : Finding{"returns", Health::limited, "return values cannot be recorded on this kernel (-r)",
                                     "boot one whose ftrace lets modules redirect calls"});
    findings.push_back(machine.has_feature(ARGTRACE_FEATURE_STACK)
                           ? Finding{"stacks", Health::ok, "kernel stacks can be recorded"}
                           : Finding{"stacks", Health::limited, "kernel stacks cannot be recorded on this kernel",
                                     "boot one with CONFIG_UNWINDER_ORC"});
}

Finding check_user_stacks(const Machine &machine, const KernelSymbols &symbols) {
    if (machine.module && !machine.has_feature(ARGTRACE_FEATURE_USER_STACK))
        return {"user-stacks", Health::limited, "stacks of user code cannot be recorded on this kernel", "boot one with CONFIG_UPROBES"};
    if (!symbols)
        return {"user-stacks", Health::unseen, "the kernel does not list its symbols"};
    if (lacks(symbols, of_way_back))
        return {"user-stacks", Health::limited, "they remain incomplete where their memory is absent, as ftrace does not tell of the way back to user mode",
                "boot a kernel with CONFIG_BLK_CGROUP"};
    return {"user-stacks", Health::ok, "they are completed where their memory is absent"};
}

Finding check_perf(const Machine &machine, const KernelSymbols &symbols) {
    if (lacks(symbols, of_perf))
        return {"perf", Health::limited, "this kernel has no perf events, by which processors are sampled",
                "boot one with CONFIG_PERF_EVENTS"};
    for (const char *name : {"cpu", "cpu_core"})
        if (machine.exists(std::string("/sys/bus/event_source/devices/") + name))
            return {"perf", Health::ok, "the processor counts cycles"};
    if (!machine.exists("/sys/bus/event_source/devices"))
        return {"perf", Health::unseen, "/sys/bus/event_source cannot be seen"};
    return {"perf", Health::limited, "the processor counts no cycles, as in most virtual machines: the timer of cpu-clock takes "
                                     "their place",
            "have the hypervisor pass on the performance counters"};
}

Finding check_ticks(const Machine &machine) {
    constexpr std::uint64_t usual = 99; // of `profile`, if -F is not given
    constexpr const char *name = "kernel.perf_event_max_sample_rate";
    if (machine.module && !machine.has_feature(ARGTRACE_FEATURE_TIMER))
        return {"ticks", Health::limited, "the module has no timers, which profile takes", "load the module of this version"};
    const Machine::Text file = machine.read("/proc/sys/kernel/perf_event_max_sample_rate");
    if (!file.there())
        return {"ticks", Health::unseen, fmt::format("{} cannot be read", name)};
    const std::uint64_t most = std::strtoull(file.text.c_str(), nullptr, 10);
    if (most < usual)
        return {"ticks", Health::limited,
                fmt::format("perf pauses a profile that ticks more than {} times a second, and {} are usual", most, usual),
                fmt::format("sysctl {}=100000", name)};
    return {"ticks", Health::ok, fmt::format("up to {} a second ({})", std::min<std::uint64_t>(most, ARGTRACE_TIMER_FREQUENCY_MAX), name)};
}

Finding check_users(const Machine &machine) {
    const Machine::Text file = read_tracefs(machine, "enabled_functions");
    if (file.refused())
        return {"others", Health::unseen, "who else traces functions is seen by root alone", "run this as root"};
    if (!file.there())
        return {"others", Health::unseen, "who else traces functions is in tracefs, which is not there", mount_tracefs};
    const FunctionUsers users = FunctionUsers::parse(file.text);
    const Machine::Names patches = machine.list("/sys/kernel/livepatch");
    if (users.modified == 0 && users.direct == 0 && patches.names.empty())
        return {"others", Health::ok,
                fmt::format("{} function{} in use by tracers, none of which changes where calls go", users.functions,
                            users.functions == 1 ? " is" : "s are")};
    std::vector<std::string> parts;
    if (!patches.names.empty())
        parts.push_back(fmt::format("live patches: {}", fmt::join(patches.names, ", ")));
    if (users.modified > 0)
        parts.push_back(fmt::format("{} with a user that sends calls elsewhere (live patches, kprobes)", users.modified));
    if (users.direct > 0)
        parts.push_back(fmt::format("{} called through BPF trampolines or other direct callers", users.direct));
    return {"others", Health::limited,
            fmt::format("of {} functions in use: {}; returns of these cannot always be followed", users.functions,
                        fmt::join(parts, "; ")),
            "`argtrace list` marks functions that are in use, `bpftool link` shows BPF programs"};
}

} // namespace

void check_tracing(const Machine &machine, std::vector<Finding> &findings) {
    const KernelSymbols symbols = machine.symbols({of_ftrace, of_tracepoints, of_syscalls(machine), of_32_bit(machine), of_fprobe, of_fprobe_on_graph,
                                                    of_kretprobe, of_way_back, of_perf});
    findings.push_back(check_symbols(machine, symbols));
    findings.push_back(check_functions(machine, symbols));
    findings.push_back(check_switch(machine));
    findings.push_back(check_tracepoints(machine, symbols));
    findings.push_back(check_syscalls(machine, symbols));
    check_features(machine, findings);
    findings.push_back(check_fprobe(machine, symbols));
    findings.push_back(check_user_stacks(machine, symbols));
    findings.push_back(check_perf(machine, symbols));
    findings.push_back(check_ticks(machine));
    findings.push_back(check_users(machine));
}

} // namespace argtrace
