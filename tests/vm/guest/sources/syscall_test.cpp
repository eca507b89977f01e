// SPDX-License-Identifier: GPL-2.0-only
// System calls with arguments that are known, made by this process, against what the tool shows of them; and what is no system call.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

constexpr const char *nowhere = "/nonexistent-of-syscall-test";

/// A call, and what is to be shown of it.
struct Known {
    std::string func; ///< without "s:"
    long number;
    unsigned long passed[6];
    json args, result;
};

std::string hex(unsigned long value) {
    char text[32];
    std::snprintf(text, sizeof(text), "0x%lx", value);
    return text;
}

// Every width, signs, six arguments, and bits above those of the types, which the kernel ignores. All fail, but getppid.
std::vector<Known> known_calls() {
    const auto path = reinterpret_cast<unsigned long>(nowhere);
    return {
        {"getppid", SYS_getppid, {1, 2, 3, 4, 5, 6}, json::object(), getppid()},
        {"kill", SYS_kill, {0xffffffff00000000 | 1, 0x12345678fffffff9}, {{"pid", 1}, {"sig", -7}}, "-EINVAL"},
        {"lseek", SYS_lseek, {0xfffffff000000fff, 0xfffffffffffffffb, 2},
         {{"fd", 0xfff}, {"offset", -5}, {"whence", 2}}, "-EBADF"},
        {"fchmodat", SYS_fchmodat, {0xffffff9c, path, 0xabcd1777},
         {{"dfd", -100}, {"filename", hex(path)}, {"mode", 0x1777}}, "-ENOENT"},
        {"pread64", SYS_pread64, {0x7fffffff, 0x123456789abcdef0, 0xfedcba9876543210, 0x8000000000000001},
         {{"fd", 0x7fffffff}, {"buf", "0x123456789abcdef0"}, {"count", 0xfedcba9876543210}, {"pos", -0x7fffffffffffffff}}, "-EINVAL"},
        {"copy_file_range", SYS_copy_file_range,
         {0xffffffff0000fff1, 0x1111111111111111, 0xfffffffe, 0x2222222222222222, 0x3333333333333333, 0x4444444455555555},
         {{"fd_in", 0xfff1}, {"off_in", "0x1111111111111111"}, {"fd_out", -2}, {"off_out", "0x2222222222222222"},
          {"len", 0x3333333333333333}, {"flags", 0x55555555}}, "-EBADF"},
        {"mmap", SYS_mmap, {0x1111222233334444, 0, 0x5555666677778888, 0x9999aaaabbbbcccc, 0xdddd, 0xfffffffffffff123},
         {{"addr", 0x1111222233334444}, {"len", 0}, {"prot", 0x5555666677778888}, {"flags", 0x9999aaaabbbbcccc},
          {"fd", 0xdddd}, {"off", 0xfffffffffffff123}}, "-EINVAL"},
    };
}

void make(const Known &call) {
    const auto &a = call.passed;
    syscall(call.number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

// What 32-bit programs do, from a program of 64 bits. Only the lower halves count.
long make_by_int80(long number, const unsigned long (&a)[6]) {
    long result = -ENOSYS;
#ifdef __x86_64__
    asm volatile("push %%rbp\n\t"
                 "mov %8, %%rbp\n\t"
                 "int $0x80\n\t"
                 "pop %%rbp"
                 : "=a"(result)
                 : "0"(number), "b"(a[0]), "c"(a[1]), "d"(a[2]), "S"(a[3]), "D"(a[4]), "m"(a[5]), "r"(a[5])
                 : "memory", "r8", "r9", "r10", "r11");
#else
    (void)number, (void)a;
#endif
    return result;
}

// Its numbers are those of i386 (arch/x86/entry/syscalls/syscall_32.tbl).
std::vector<Known> known_calls_of_ia32() {
    const auto path = 0x10000ul;
    return {
        {"ia32:kill", 37, {1, 0xfffffff9}, {{"pid", 1}, {"sig", -7}}, "-EINVAL"},
        {"ia32:fchmodat", 306, {0xffffff9c, path, 0xabcd1777},
         {{"dfd", -100}, {"filename", hex(path)}, {"mode", 0x1777}}, "-EFAULT"},
        {"ia32:copy_file_range", 377, {0xfff1, 0x1111111a, 0xfffffffe, 0x9222222b, 0xb333333c, 0x55555555},
         {{"fd_in", 0xfff1}, {"off_in", "0x1111111a"}, {"fd_out", -2}, {"off_out", "0x9222222b"},
          {"len", 0xb333333c}, {"flags", 0x55555555}}, "-EBADF"},
    };
}

std::vector<std::string> specs_of(const std::vector<Known> &calls) {
    std::vector<std::string> specs;
    for (const Known &call : calls)
        specs.push_back("s:" + call.func);
    return specs;
}

/// The events of this process while `body` runs, but for the signal that ends the tool.
std::vector<json> traced(const std::vector<std::string> &words, const std::string &armed,
                         const std::function<void()> &body) {
    std::vector<std::string> command{"argtrace", "trace", "--json", "-p", std::to_string(getpid())};
    command.insert(command.end(), words.begin(), words.end());
    Background trace(command);
    EXPECT_TRUE(eventually([&] { return is_armed(armed) || !trace.is_running(); }));
    body();
    const Outcome outcome = trace.end(SIGINT);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    const json summary = json_summary(outcome.out);
    EXPECT_EQ(summary["lost"]["full"], 0);
    std::vector<json> events = json_lines(outcome.out);
    std::erase_if(events, [](const json &event) { return event["args"].contains("sig") && event["args"]["sig"] == SIGINT; });
    return events;
}

void expect_shown(const std::vector<Known> &calls, const std::vector<json> &events, bool returns) {
    std::size_t at = 0;
    // This process may make others meanwhile: these must be there, in this order.
    for (const Known &call : calls) {
        while (at < events.size() && (events[at]["func"] != "s:" + call.func || events[at]["args"] != call.args))
            ++at;
        ASSERT_LT(at, events.size()) << call.func << ' ' << call.args.dump();
        EXPECT_EQ(events[at]["pid"], getpid());
        if (returns) {
            EXPECT_EQ(events[at]["ret"], call.result) << call.func;
        }
        ++at;
    }
}

bool has_ia32() {
    return kallsyms_text().find(" __ia32_sys_kill") != std::string::npos;
}

class Syscalls : public testing::TestWithParam<bool> {
protected:
    void SetUp() override { need_argtrace(); }

    std::vector<std::string> with_option(std::vector<std::string> specs) const {
        if (GetParam())
            specs.insert(specs.begin(), "-r");
        return specs;
    }
};

TEST_P(Syscalls, are_shown_with_what_was_passed) {
    const std::vector<Known> calls = known_calls();
    const std::vector<json> events = traced(with_option(specs_of(calls)), SYSCALL_PREFIX "mmap", [&] {
        for (const Known &call : calls)
            make(call);
    });
    expect_shown(calls, events, GetParam());
}

TEST_P(Syscalls, of_32_bits_are_others) {
    if (!has_ia32())
        GTEST_SKIP() << "built without CONFIG_IA32_EMULATION";
    const std::vector<Known> calls = known_calls_of_ia32();
    std::vector<std::string> specs = specs_of(calls);
    for (const char *also : {"s:kill", "s:fchmodat", "s:copy_file_range"})
        specs.push_back(also);
    const std::vector<json> events = traced(with_option(specs), "__ia32_sys_kill", [&] {
        for (const Known &call : calls)
            make_by_int80(call.number, call.passed);
        make(known_calls().at(1));
    });
    ASSERT_EQ(events.size(), calls.size() + 1) << "each is seen once";
    expect_shown(calls, events, GetParam());
    EXPECT_EQ(events.back()["func"], "s:kill");
    EXPECT_EQ(events.back()["args"], known_calls().at(1).args);
}

// A call of 32-bit programs that has a function of its own: only the arguments of the 64-bit call are known.
TEST_P(Syscalls, of_32_bits_with_functions_of_their_own) {
    if (!has_ia32())
        GTEST_SKIP() << "built without CONFIG_IA32_EMULATION";
    const std::vector<Known> calls{
        {"ia32:openat", 295, {0xffffff9c, 0x10000, 0x8241, 0xabcd01a4},
         {{"dfd", -100}, {"filename", "0x10000"}, {"flags", 0x8241}, {"mode", 0x1a4}}, "-EFAULT"}};
    const std::vector<json> events = traced(with_option({"--force", "s:ia32:openat"}), "__ia32_compat_sys_openat", [&] {
        make_by_int80(calls[0].number, calls[0].passed);
        syscall(SYS_openat, AT_FDCWD, nowhere, 0);
    });
    ASSERT_EQ(events.size(), 1u);
    expect_shown(calls, events, GetParam());
}

// Without arguments both have one function.
TEST_P(Syscalls, of_32_bits_without_arguments_are_no_others) {
    if (!has_ia32())
        GTEST_SKIP() << "built without CONFIG_IA32_EMULATION";
    const std::vector<json> events = traced(with_option({"s:getppid"}), "__do_sys_getppid", [] {
        make_by_int80(64, {1, 2, 3, 4, 5, 6});
        syscall(SYS_getppid);
    });
    ASSERT_EQ(events.size(), 2u);
    for (const json &event : events) {
        EXPECT_EQ(event["func"], "s:getppid");
        EXPECT_EQ(event["args"], json::object());
    }
}

// Text and conditions are read of what user space has passed, at the entry: execve() replaces it.
TEST_P(Syscalls, expressions_see_what_was_passed) {
    const auto words = with_option({std::string("s:fchmodat(str(filename) as name, mode + 1 as more) if mode == 0x1777 && dfd < 0")});
    const std::vector<json> events = traced(words, SYSCALL_PREFIX "fchmodat", [] {
        syscall(SYS_fchmodat, AT_FDCWD, nowhere, 0777);
        syscall(SYS_fchmodat, AT_FDCWD, nowhere, 0x1777);
        syscall(SYS_fchmodat, 5, nowhere, 0x1777);
    });
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0]["args"], (json{{"name", nowhere}, {"more", 0x1778}}));
}

INSTANTIATE_TEST_SUITE_P(AtEntryAndReturn, Syscalls, testing::Bool(),
                         [](const auto &info) { return info.param ? "with_returns" : "at_entry"; });

// Every call of every task is counted as something.
TEST(SyscallCounts, are_those_of_the_calls) {
    need_argtrace();
    RawDevice device;
    ASSERT_EQ(device.session("", 1 << 16, 4), 0);
    RawProbe probe = RawProbe::words(address_of(SYSCALL_PREFIX "kill"), 6, "s:kill");
    probe.header.kind = ARGTRACE_KIND_SYSCALL;
    ASSERT_EQ(device.add(probe.seal().bytes(), 1), 0);
    for (int i = 0; i < 5000; i++)
        syscall(SYS_kill, 7, -7);
    const std::vector<argtrace_counts> counts = device.counts();
    ASSERT_EQ(counts.size(), 1u);
    EXPECT_GE(hits(counts[0]), 5000u);
    EXPECT_LT(hits(counts[0]), 5100u);
    EXPECT_GT(counts[0].records, 0u);
}

/// Probes of this kind that must be refused, and leave everything as it was.
class SyscallRefusals : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_test_module();
        ASSERT_EQ(device_.session(), 0);
    }

    static RawProbe probe_at(std::uint64_t addr) {
        RawProbe probe = RawProbe::words(addr, 2, "s:x");
        probe.header.kind = ARGTRACE_KIND_SYSCALL;
        return probe.seal();
    }

    void refuse(const RawProbe &probe, int error) {
        const std::string before = device_.fingerprint();
        EXPECT_EQ(device_.add(probe.bytes(), 1), error);
        EXPECT_EQ(device_.fingerprint(), before);
    }

    RawDevice device_;
};

TEST_F(SyscallRefusals, functions_that_are_none) {
    const std::uint64_t kill = address_of(SYSCALL_PREFIX "kill");
    for (const char *function : {"vfs_read", "ksys_read", "at_four"})
        refuse(probe_at(address_of(function)), EINVAL);
    for (const std::uint64_t addr : {kill + 1, kill + 9, std::uint64_t{8}, ~std::uint64_t{0}, std::uint64_t{0xffffc90000000000}})
        refuse(probe_at(addr), EINVAL);
}

TEST_F(SyscallRefusals, what_no_system_call_has) {
    const std::uint64_t kill = address_of(SYSCALL_PREFIX "kill");
    RawProbe on_stack = probe_at(kill);
    on_stack.args[1].loc = ARGTRACE_LOC_STACK;
    on_stack.args[1].index = 0;
    on_stack.args[1].offset = 8;
    refuse(on_stack, EINVAL);
    RawProbe words = probe_at(kill);
    words.header.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(1);
    refuse(words, EINVAL);
    refuse(probe_at(0), EINVAL);
    RawProbe waits = probe_at(kill);
    waits.header.flags = ARGTRACE_PROBE_WAITS; // for nothing, as it has no program
    refuse(waits, EINVAL);
    ASSERT_EQ(device_.add(probe_at(kill).bytes(), 1), 0);
    refuse(probe_at(kill), EEXIST);
    // It is at the address of a function, and none.
    EXPECT_EQ(device_.remove({kill}), ENOENT);
    argtrace_probe_remove remove{};
    remove.size = sizeof(remove);
    remove.addrs = reinterpret_cast<std::uintptr_t>(&kill);
    remove.count = 1;
    for (const std::uint16_t kind : {ARGTRACE_KIND_ENTRY, ARGTRACE_KIND_TRACEPOINT, ARGTRACE_KIND_TIMER}) {
        remove.kind = kind;
        EXPECT_EQ(device_.call(ARGTRACE_IOC_PROBE_REMOVE, &remove), ENOENT);
    }
    remove.kind = ARGTRACE_KIND_SYSCALL;
    EXPECT_EQ(device_.call(ARGTRACE_IOC_PROBE_REMOVE, &remove), 0);
}

// Calls in flight, at every moment, while probes come and go, and the module goes.
TEST(SyscallHostile, unloading_under_load) {
    std::vector<std::unique_ptr<Child>> callers;
    for (unsigned i = 0; i < 2; i++)
        callers.push_back(std::make_unique<Child>([] {
            const std::vector<Known> calls = known_calls(), others = known_calls_of_ia32();
            for (;;) {
                for (const Known &call : calls)
                    make(call);
                for (const Known &call : others)
                    if (has_ia32())
                        make_by_int80(call.number, call.passed);
            }
        }));
    for (int round = 0; round < 2; round++) {
        need_argtrace();
        for (int i = 0; i < 2; i++) {
            std::vector<std::string> add{"argtrace", "add", "s:kill", "s:lseek", "s:copy_file_range", "s:mmap", "s:getppid",
                                         "s:fchmodat(str(filename)) if mode > 0"};
            if (i % 2)
                add.insert(add.begin() + 2, "-r");
            const Outcome added = run(add);
            ASSERT_EQ(added.status, 0) << added.err;
            EXPECT_TRUE(eventually([] {
                return json_lines(run({"argtrace", "status", "--json"}).out).back()["hits"].get<std::uint64_t>() > 1000;
            }));
            ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
        }
        unload_argtrace();
        EXPECT_FALSE(is_armed(SYSCALL_PREFIX "kill"));
    }
    need_argtrace();
}

} // namespace
} // namespace vmtest
