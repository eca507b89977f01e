// SPDX-License-Identifier: GPL-2.0-only
// Trees that look like kernels in some state, and what is found there.
#include "doctor/checks.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "symbols/enabled.h"

namespace argtrace {
namespace {

class Doctor : public testing::Test {
protected:
    /// A machine on which all is well.
    Doctor() {
        machine.root = testing::TempDir() + "argtrace_doctor_" + std::to_string(::getpid());
        std::filesystem::remove_all(machine.root);
        machine.release = "6.12.1-test";
        machine.architecture = "x86_64";
        machine.cpus = 4;
        argtrace_info info{};
        info.api_version = ARGTRACE_API_VERSION;
        info.record_version = ARGTRACE_RECORD_VERSION;
        info.features = ~std::uint64_t{0};
        info.memory_limit = std::uint64_t{1} << 30;
        info.authority = ARGTRACE_MAY_TRACE | ARGTRACE_MAY_READ_MEMORY;
        std::copy_n("1.2", 4, info.module_version);
        machine.module = info;
        write("/proc/sys/kernel/tainted", "0\n");
        write("/proc/sys/kernel/ftrace_enabled", "1\n");
        write("/proc/modules", "ext4 100 1 - Live 0x0\nargtrace 10 0 - Live 0x0\n");
        write("/proc/kallsyms", "0000000000000000 A fixed_percpu_data\n"
                                "ffffffff81000010 T register_ftrace_function\n"
                                "ffffffff81000020 T for_each_kernel_tracepoint\n"
                                "ffffffff81000030 T __x64_sys_read\n"
                                "ffffffff81000040 T __ia32_compat_sys_openat\n"
                                "ffffffff81000050 T register_fprobe\n"
                                "ffffffff81000060 T register_kretprobe\n"
                                "ffffffff81000070 T perf_event_create_kernel_counter\n"
                                "ffffffff81000080 T blkcg_maybe_throttle_current\n"
                                "ffffffffc0000000 t ext4_read\t[ext4]\n");
        write("/proc/sys/kernel/kptr_restrict", "0\n");
        write("/proc/sys/kernel/perf_event_max_sample_rate", "100000\n");
        write("/sys/kernel/tracing/events/syscalls/sys_enter_read/format", "");
        write("/sys/kernel/tracing/events/syscalls/sys_enter_write/format", "");
        write("/sys/kernel/tracing/events/syscalls/sys_exit_write/format", "");
        write("/proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n");
        write("/proc/self/cgroup", "0::/user.slice/one\n");
        write("/sys/kernel/btf/vmlinux", std::string(2048, 'x'));
        write("/sys/kernel/btf/ext4", "x");
        write("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
        write("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
        write("/sys/kernel/tracing/available_filter_functions", "vfs_read\nvfs_write\n");
        write("/sys/kernel/tracing/available_events", "sched:sched_switch\nsyscalls:sys_enter_read\n");
        write("/sys/kernel/tracing/enabled_functions", "vfs_read (1)             \ttramp: 0xffffffffc0000000\n");
        write("/sys/bus/event_source/devices/cpu/type", "4\n");
        write("/sys/module/argtrace/version", "1.2\n");
    }
    ~Doctor() override { std::filesystem::remove_all(machine.root); }

    void write(const std::string &path, const std::string &text) {
        const std::filesystem::path whole = machine.root + path;
        std::filesystem::create_directories(whole.parent_path());
        std::ofstream(whole) << text;
    }
    void remove(const std::string &path) { std::filesystem::remove_all(machine.root + path); }

    Finding found(const std::string &check) {
        for (const Finding &finding : examine(machine))
            if (finding.check == check)
                return finding;
        ADD_FAILURE() << "nothing is said of " << check;
        return {};
    }
    void expect(const std::string &check, Health health, const std::string &part, const std::string &remedy = "") {
        const Finding finding = found(check);
        EXPECT_EQ(health_name(finding.health), health_name(health)) << finding.says;
        EXPECT_NE(finding.says.find(part), std::string::npos) << finding.says;
        EXPECT_NE(finding.remedy.find(remedy), std::string::npos) << finding.remedy;
        EXPECT_EQ(tracing_works(examine(machine)), health != Health::missing);
        if (health == Health::limited || health == Health::missing) {
            EXPECT_FALSE(finding.remedy.empty() && finding.says.find(": ") == std::string::npos) << finding.says;
        }
    }

    Machine machine;
};

TEST_F(Doctor, AllIsWell) {
    for (const Finding &finding : examine(machine)) {
        EXPECT_EQ(health_name(finding.health), "ok") << finding.check << ": " << finding.says;
        EXPECT_FALSE(finding.says.empty());
        EXPECT_EQ(finding.remedy, "") << finding.check;
    }
    EXPECT_EQ(found("functions").says, "ftrace can trace 2");
    EXPECT_EQ(found("tracepoints").says, "1 with an event, and those without");
    EXPECT_EQ(found("kernel").says, "Linux 6.12.1-test on x86_64");
}

TEST_F(Doctor, Kernels) {
    machine.release = "6.0.12";
    expect("kernel", Health::missing, "Linux 6.0.12", "6.1 or later");
    machine.release = "5.15";
    expect("kernel", Health::missing, "Linux 5.15", "6.1 or later");
    machine.release = "7.3.4+deb13";
    expect("kernel", Health::ok, "Linux 7.3.4");
    machine.architecture = "riscv64";
    expect("kernel", Health::missing, "riscv64", "x86-64 and arm64 kernels");
    machine.architecture = "aarch64";
    expect("kernel", Health::ok, "aarch64");
    expect("user-stacks", Health::ok, "completed");
    write("/proc/kallsyms", "ffffffff81000010 T register_ftrace_function\n"
                            "ffffffff81000030 T __arm64_sys_read\n");
    expect("syscalls", Health::ok, "2; those of 32-bit programs have no names on arm64");
    machine.architecture = "x86_64";
    write("/sys/kernel/realtime", "1\n");
    expect("kernel", Health::limited, "PREEMPT_RT", "not tested");
}

TEST_F(Doctor, FaultsThatTheKernelHasHad) {
    write("/proc/sys/kernel/tainted", "12288\n"); // modules from outside, unsigned
    expect("tainted", Health::ok, "12288");
    write("/proc/sys/kernel/tainted", "128\n");
    expect("tainted", Health::limited, "an oops (D)", "restart");
}

TEST_F(Doctor, Types) {
    write("/proc/modules", "ext4 1 1 -\nfoo 1 1 -\nbar 1 1 -\nbaz 1 1 -\nqux 1 1 -\n");
    expect("module-types", Health::limited, "4 of 5 modules that are loaded have no BTF: foo, bar, baz ...", "--btf");
    remove("/sys/kernel/btf/vmlinux");
    expect("types", Health::missing, "no BTF", "CONFIG_DEBUG_INFO_BTF");
}

TEST_F(Doctor, Lockdown) {
    write("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    expect("lockdown", Health::limited, "integrity", "boot without");
    write("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
    expect("lockdown", Health::missing, "confidentiality", "boot without");
    remove("/sys/kernel/security");
    expect("lockdown", Health::unseen, "securityfs", "mount");
}

TEST_F(Doctor, Clock) {
    machine.module->features = ~std::uint64_t{ARGTRACE_FEATURE_TSC};
    write("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
    expect("clock", Health::limited, "CLOCK_MONOTONIC", "invariant TSC");
}

TEST_F(Doctor, Ftrace) {
    write("/proc/sys/kernel/ftrace_enabled", "0\n");
    expect("ftrace", Health::missing, "switched off", "sysctl kernel.ftrace_enabled=1");
    remove("/proc/sys/kernel/ftrace_enabled");
    expect("ftrace", Health::ok, "does not let it be switched off");
    write("/proc/kallsyms", "ffffffff81000000 T for_each_kernel_tracepoint\n");
    expect("functions", Health::missing, "no ftrace", "CONFIG_DYNAMIC_FTRACE_WITH_ARGS");
}

TEST_F(Doctor, WithoutTracefs) {
    remove("/sys/kernel/tracing");
    expect("functions", Health::limited, "tracefs", "mount -t tracefs");
    expect("tracepoints", Health::limited, "without tracefs", "mount -t tracefs");
    expect("syscalls", Health::limited, "tracefs is not there", "mount -t tracefs");
    expect("others", Health::unseen, "tracefs", "mount -t tracefs");
}

TEST_F(Doctor, SymbolsThatAreHidden) {
    const std::string hidden = "0000000000000000 A fixed_percpu_data\n"
                               "0000000000000000 T register_ftrace_function\n";
    write("/proc/kallsyms", hidden);
    expect("symbols", Health::missing, "hides from this process", "CAP_SYSLOG");
    write("/proc/sys/kernel/kptr_restrict", "2\n");
    expect("symbols", Health::missing, "hides from everybody", "sysctl kernel.kptr_restrict=1");
    // It does not matter to a user who sees them all the same.
    write("/proc/kallsyms", hidden + "ffffffff81000000 T vfs_read\n");
    expect("symbols", Health::ok, "shows");
    write("/proc/kallsyms", "");
    expect("symbols", Health::missing, "/proc/kallsyms has none", "CONFIG_KALLSYMS");
    remove("/proc/kallsyms");
    expect("symbols", Health::missing, "/proc/kallsyms has none", "CONFIG_KALLSYMS");
}

TEST_F(Doctor, SystemCalls) {
    expect("syscalls", Health::ok, "2, and those of 32-bit programs");
    write("/proc/kallsyms", "ffffffff81000010 T register_ftrace_function\n"
                            "ffffffff81000030 T __x64_sys_read\n");
    expect("syscalls", Health::ok, "2; this kernel runs no 32-bit programs");
    remove("/sys/kernel/tracing/events/syscalls");
    expect("syscalls", Health::limited, "does not describe their arguments", "CONFIG_FTRACE_SYSCALLS");
    write("/proc/kallsyms", "ffffffff81000010 T register_ftrace_function\n");
    expect("syscalls", Health::limited, "not those of x86-64", "CONFIG_ARCH_HAS_SYSCALL_WRAPPER");
    machine.module->features &= ~std::uint64_t{ARGTRACE_FEATURE_SYSCALL};
    expect("syscalls", Health::limited, "the module cannot", "load the module of this version");
}

TEST_F(Doctor, WhoFollowsReturnsBesideUs) {
    expect("fprobe", Health::ok, "there: fprobes");
    machine.module->features &= ~std::uint64_t{ARGTRACE_FEATURE_FPROBE};
    expect("fprobe", Health::ok, "none that would do in this kernel: kretprobes");
    machine.module->features &= ~std::uint64_t{ARGTRACE_FEATURE_KRETPROBE};
    expect("fprobe", Health::limited, "neither fprobes nor kretprobes", "CONFIG_FPROBE or CONFIG_KRETPROBES");
}

TEST_F(Doctor, FprobesOnTheFunctionGraphDoNotDo) {
    expect("fprobe", Health::ok, "there: fprobes");
    write("/proc/kallsyms", "ffffffff81000010 T register_ftrace_function\n"
                            "ffffffff81000020 T register_kretprobe\n"
                            "ffffffff81000030 T register_fprobe\n"
                            "ffffffff81000040 t fprobe_return\n");
    expect("fprobe", Health::ok, "none that would do in this kernel: kretprobes");
}

TEST_F(Doctor, StacksWhoseMemoryIsAbsent) {
    expect("user-stacks", Health::ok, "they are completed");
    write("/proc/kallsyms", "ffffffff81000010 T register_ftrace_function\n");
    expect("user-stacks", Health::limited, "they remain incomplete", "CONFIG_BLK_CGROUP");
    machine.module->features &= ~std::uint64_t{ARGTRACE_FEATURE_USER_STACK};
    expect("user-stacks", Health::limited, "cannot be recorded", "CONFIG_UPROBES");
    machine.module.reset();
    remove("/proc/kallsyms");
    EXPECT_EQ(found("user-stacks").health, Health::unseen);
}

TEST_F(Doctor, Ticks) {
    expect("ticks", Health::ok, "up to 10000 a second");
    write("/proc/sys/kernel/perf_event_max_sample_rate", "1000\n");
    expect("ticks", Health::ok, "up to 1000 a second");
    write("/proc/sys/kernel/perf_event_max_sample_rate", "98\n");
    expect("ticks", Health::limited, "more than 98 times a second", "sysctl kernel.perf_event_max_sample_rate=");
    remove("/proc/sys/kernel/perf_event_max_sample_rate");
    expect("ticks", Health::unseen, "cannot be read");
    machine.module->features &= ~std::uint64_t{ARGTRACE_FEATURE_TIMER};
    expect("ticks", Health::limited, "no timers", "load the module of this version");
}

TEST_F(Doctor, WhatTheKernelLacks) {
    write("/proc/kallsyms", "ffffffff81000010 T register_ftrace_function\n"
                            "ffffffff81000020 T register_kretprobe\n");
    expect("fprobe", Health::ok, "none that would do in this kernel: kretprobes");
    expect("perf", Health::limited, "no perf events", "CONFIG_PERF_EVENTS");
    expect("tracepoints", Health::limited, "cannot be traced", "CONFIG_TRACEPOINTS");
    write("/proc/kallsyms", "ffffffff81000010 T register_ftrace_function\n");
    expect("fprobe", Health::limited, "neither fprobes nor kretprobes", "CONFIG_FPROBE or CONFIG_KRETPROBES");
    write("/proc/kallsyms", "ffffffff81000010 T register_ftrace_function\n"
                            "ffffffff81000020 T perf_event_create_kernel_counter\n");
    remove("/sys/bus/event_source/devices/cpu");
    expect("perf", Health::limited, "cpu-clock", "hypervisor");
    machine.module->features = 0;
    expect("returns", Health::limited, "return values", "ftrace");
    expect("stacks", Health::limited, "stacks", "CONFIG_UNWINDER_ORC");
}

TEST_F(Doctor, OthersThatTraceFunctions) {
    write("/sys/kernel/tracing/enabled_functions",
          "a (1) R I     \ttramp: 0xffffffffc0000000 (klp_ftrace_handler)\n"
          "b (1)     D   \tdirect(jmp)-->bpf_trampoline_1\n"
          "\tdirect-->bpf_trampoline_1+0x0\n"
          "c [ext4] (2) R     \t->ftrace_ops_list_func\n");
    expect("others", Health::limited, "of 3 functions in use: 1 with a user that sends calls elsewhere", "bpftool");
    expect("others", Health::limited, "1 called through BPF trampolines");
    write("/sys/kernel/tracing/enabled_functions", "");
    write("/sys/kernel/livepatch/fix_one/enabled", "1\n");
    expect("others", Health::limited, "live patches: fix_one");
}

TEST_F(Doctor, TheModule) {
    machine.module->api_version++;
    expect("module", Health::missing, "do not fit together: install both from the same version");
    machine.module.reset();
    machine.refusal = "no permission to open /dev/argtrace: run as root";
    expect("device", Health::missing, "no permission to open /dev/argtrace: run as root");
    EXPECT_EQ(found("module").health, Health::unseen) << "it is loaded, and does not say more";
}

TEST_F(Doctor, WithoutTheModule) {
    machine.module.reset();
    remove("/sys/module/argtrace");
    expect("module", Health::missing, "not installed for this kernel", "argtrace-dkms");
    write("/lib/modules/6.12.1-test/modules.dep", "kernel/a.ko:\nupdates/dkms/argtrace.ko.xz:\n");
    expect("module", Health::missing, "not loaded", "modprobe argtrace");
    EXPECT_EQ(found("clock").health, Health::ok);
    write("/sys/devices/system/clocksource/clocksource0/current_clocksource", "acpi_pm\n");
    EXPECT_EQ(found("clock").health, Health::unseen);
    EXPECT_EQ(found("authority").health, Health::ok);
    EXPECT_EQ(found("device").health, Health::unseen);
    remove("/proc/kallsyms");
    EXPECT_EQ(found("fprobe").health, Health::unseen);
}

TEST_F(Doctor, Authority) {
    machine.module->authority = ARGTRACE_MAY_TRACE;
    write("/proc/self/status", "CapEff:\t0000004000000000\n");
    expect("authority", Health::limited, "CAP_PERFMON alone", "CAP_BPF");
    machine.module->authority |= ARGTRACE_MAY_READ_MEMORY;
    write("/proc/self/status", "CapEff:\t000000c000000000\n");
    expect("authority", Health::limited, "returns are not followed", "CAP_SYS_ADMIN");
    machine.module->authority = 0; // whatever a container says
    write("/proc/self/status", "CapEff:\t000001ffffffffff\n");
    expect("authority", Health::missing, "neither", "as root");
    machine.module.reset();
    write("/proc/self/status", "CapEff:\t0000000000000000\n");
    EXPECT_EQ(found("authority").health, Health::missing);
}

TEST_F(Doctor, Memory) {
    write("/sys/fs/cgroup/user.slice/one/memory.max", "max\n");
    write("/sys/fs/cgroup/user.slice/one/memory.current", "1000\n");
    expect("memory", Health::ok, "16M");
    write("/sys/fs/cgroup/user.slice/memory.max", "20000000\n");
    write("/sys/fs/cgroup/user.slice/memory.current", "10000000\n");
    expect("memory", Health::limited, "the memory cgroup leaves 9765 KiB, and the rings of a session take 16M", "memory.max");
    machine.module->memory_limit = 1 << 20;
    expect("memory", Health::limited, "the module's limit leaves 1024 KiB", "memory_limit_mb");
}

TEST(FunctionUsers, AreCountedByTheirFlags) {
    const FunctionUsers users = FunctionUsers::parse("a (1) R I D   \ttramp: x\n"
                                                     "b [m] (2)       \t->y\n"
                                                     "\tdirect-->z\n"
                                                     "no line of that form\n");
    EXPECT_EQ(users.functions, 2u);
    EXPECT_EQ(users.modified, 1u);
    EXPECT_EQ(users.direct, 1u);
}

} // namespace
} // namespace argtrace
