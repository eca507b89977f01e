// SPDX-License-Identifier: GPL-2.0-only
#include "references/stopped_process.h"

#include <gtest/gtest.h>
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include "support/architecture.h"
#include "util/file.h"

namespace vmtest {

struct StoppedProcess::Unwinder {
    Dwfl *dwfl;

    Unwinder() {
        static char no_debug_files[] = "", *path = no_debug_files;
        static const Dwfl_Callbacks callbacks = {dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo, nullptr, &path};
        dwfl = dwfl_begin(&callbacks);
    }
    ~Unwinder() { dwfl_end(dwfl); }
};

StoppedProcess::StoppedProcess(pid_t pid, pid_t tid) : pid_(pid), tid_(tid ? tid : pid) {
    int status;
    EXPECT_EQ(ptrace(PTRACE_SEIZE, tid_, nullptr, PTRACE_O_TRACESYSGOOD), 0) << strerror(errno);
    EXPECT_EQ(ptrace(PTRACE_INTERRUPT, tid_, nullptr, nullptr), 0);
    EXPECT_EQ(waitpid(tid_, &status, __WALL), tid_);
    EXPECT_TRUE(WIFSTOPPED(status));
}

StoppedProcess::~StoppedProcess() {
    if (!ended_)
        ptrace(PTRACE_DETACH, tid_, nullptr, reinterpret_cast<void *>(std::intptr_t(signal_)));
}

StoppedProcess::Stop StoppedProcess::go(int request) {
    int status;
    if (ended_)
        return Stop::ended;
    EXPECT_EQ(ptrace(static_cast<enum __ptrace_request>(request), tid_, nullptr, reinterpret_cast<void *>(std::intptr_t(signal_))), 0) << strerror(errno);
    signal_ = 0;
    if (waitpid(tid_, &status, __WALL) != tid_ || !WIFSTOPPED(status)) {
        ended_ = true;
        return Stop::ended;
    }
    const int signal = WSTOPSIG(status);
    if (status >> 16 == PTRACE_EVENT_STOP)
        return Stop::other;
    if (signal == (SIGTRAP | 0x80))
        return Stop::syscall;
    siginfo_t info{};
    ptrace(PTRACE_GETSIGINFO, tid_, nullptr, &info);
    // At the beginning of a handler the kernel calls ptrace_notify(SIGTRAP).
    if (signal == SIGTRAP)
        return info.si_code == SIGTRAP ? Stop::other : Stop::stepped;
    signal_ = signal;
    return Stop::other;
}

bool StoppedProcess::run_on(unsigned microseconds) {
    if (ended_)
        return false;
    EXPECT_EQ(ptrace(PTRACE_CONT, tid_, nullptr, reinterpret_cast<void *>(std::intptr_t(signal_))), 0);
    signal_ = 0;
    usleep(microseconds);
    ptrace(PTRACE_INTERRUPT, tid_, nullptr, nullptr);
    int status;
    for (;;) {
        if (waitpid(tid_, &status, __WALL) != tid_ || !WIFSTOPPED(status)) {
            ended_ = true;
            return false;
        }
        if (status >> 16 == PTRACE_EVENT_STOP)
            return true;
        EXPECT_EQ(ptrace(PTRACE_CONT, tid_, nullptr, reinterpret_cast<void *>(std::intptr_t(WSTOPSIG(status)))), 0);
    }
}

bool StoppedProcess::step() {
    for (;;) {
        const Stop stop = go(PTRACE_SINGLESTEP);
        if (stop == Stop::stepped || stop == Stop::ended)
            return stop == Stop::stepped;
    }
}

bool StoppedProcess::to_syscall() {
    for (;;) {
        const Stop stop = go(PTRACE_SYSCALL);
        if (stop == Stop::syscall || stop == Stop::ended)
            return stop == Stop::syscall;
    }
}

void StoppedProcess::read_maps() {
    const argtrace::Text text = argtrace::read_file(fmt::format("/proc/{}/maps", pid_));
    std::string maps(text.begin(), text.end());
    if (maps == maps_)
        return;
    maps_ = std::move(maps);
    mappings_.clear();
    std::istringstream lines(maps_);
    for (std::string line; std::getline(lines, line);) {
        Mapping mapping;
        char mode[8], path[512] = "";
        if (std::sscanf(line.c_str(), "%lx-%lx %7s %lx %*s %*s %511[^\n]", &mapping.begin, &mapping.end, mode, &mapping.offset, path) < 4)
            continue;
        mapping.name = path;
        mapping.name.erase(0, mapping.name.rfind('/') + 1);
        if (mapping.name.empty() || mode[2] != 'x' || (mapping.name[0] == '[' && mapping.name != "[vdso]"))
            continue;
        mappings_.push_back(mapping);
    }
    unwinder_ = std::make_unique<Unwinder>();
    dwfl_report_begin(unwinder_->dwfl);
    EXPECT_EQ(dwfl_linux_proc_report(unwinder_->dwfl, pid_), 0);
    dwfl_report_end(unwinder_->dwfl, nullptr, nullptr);
    EXPECT_EQ(dwfl_linux_proc_attach(unwinder_->dwfl, pid_, true), 0) << dwfl_errmsg(-1);
}

std::string StoppedProcess::place_of(std::uint64_t address) const {
    for (const Mapping &mapping : mappings_)
        if (address >= mapping.begin && address < mapping.end)
            return fmt::format("{}+0x{:x}", mapping.name, address - mapping.begin + mapping.offset);
    return fmt::format("?+0x{:x}", address);
}

/// What a signal's handler returns to calls sigreturn: mov $15, %rax; syscall.
bool StoppedProcess::is_signal_return(std::uint64_t address) const {
    static constexpr std::string_view code("\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 9);
    std::array<char, 2 * code.size()> bytes;
    iovec to = {bytes.data(), bytes.size()}, from = {reinterpret_cast<void *>(address - code.size()), bytes.size()};
    return process_vm_readv(pid_, &to, 1, &from, 1, 0) == ssize_t(bytes.size()) && std::string_view(bytes.data(), bytes.size()).find(code) != std::string_view::npos;
}

#ifdef __aarch64__
constexpr auto program_counter = &user_regs_struct::pc;
constexpr std::uint64_t syscall_size = 4;

/// The kernel keeps the number of the call, which is -1 where there is none.
bool StoppedProcess::is_in_syscall() const {
    int number = -1;
    iovec to = {&number, sizeof(number)};
    ptrace(PTRACE_GETREGSET, tid_, NT_ARM_SYSTEM_CALL, &to);
    return number >= 0;
}
#else
constexpr auto program_counter = &user_regs_struct::rip;
constexpr std::uint64_t syscall_size = 2;

/// The kernel's instruction for system calls leaves the address behind it in rcx.
bool StoppedProcess::is_in_syscall() const {
    user_regs_struct registers{};
    ptrace(PTRACE_GETREGS, tid_, nullptr, &registers);
    return registers.rcx == registers.rip && static_cast<std::int64_t>(registers.orig_rax) >= 0;
}
#endif

/// For as long as it lives, a thread that returns from a signal is at that system call's instruction. Nothing describes what is behind it, since
/// nothing returns there: elfutils would take the frame pointer for that of a frame, whatever it is.
class StoppedProcess::AtSignalReturn {
public:
    explicit AtSignalReturn(const StoppedProcess &process) : tid_(process.tid_) {
        const std::uint64_t address = transfer(PTRACE_GETREGSET).*program_counter;
        if (process.is_in_syscall() && process.is_signal_return(address)) {
            behind_ = address;
            move_to(address - syscall_size);
        }
    }
    ~AtSignalReturn() {
        if (behind_ != 0)
            move_to(behind_);
    }
    AtSignalReturn(const AtSignalReturn &) = delete;
    AtSignalReturn &operator=(const AtSignalReturn &) = delete;

    /// Where a thread is that seems to be at `address`.
    std::uint64_t place_of(std::uint64_t address) const { return behind_ != 0 ? behind_ : address; }

private:
    user_regs_struct transfer(int request, user_regs_struct registers = {}) const {
        iovec all = {&registers, sizeof(registers)};
        EXPECT_EQ(ptrace(static_cast<enum __ptrace_request>(request), tid_, NT_PRSTATUS, &all), 0) << strerror(errno);
        return registers;
    }

    void move_to(std::uint64_t address) const {
        user_regs_struct registers = transfer(PTRACE_GETREGSET);
        registers.*program_counter = address;
        transfer(PTRACE_SETREGSET, registers);
    }

    pid_t tid_;
    std::uint64_t behind_ = 0;
};

/// Whether the program's description has the stack pointer in another register, as at the end of longjmp(): by that the caller is where this jumps
/// to, and by the stack, which is still there, who has called it.
bool StoppedProcess::leaves_stack(std::uint64_t address) const {
    Dwarf_Addr bias = 0;
    Dwfl_Module *module = dwfl_addrmodule(unwinder_->dwfl, address);
    Dwarf_CFI *rules = module ? dwfl_module_eh_cfi(module, &bias) : nullptr;
    Dwarf_Frame *frame = nullptr;
    if (!rules || dwarf_cfi_addrframe(rules, address - bias, &frame) != 0)
        return false;
    Dwarf_Op memory[3], *rule = nullptr;
    std::size_t count = 0;
    const bool leaves = dwarf_frame_register(frame, stack_pointer, memory, &rule, &count) == 0 && count == 1 && rule[0].atom == DW_OP_regx;
    free(frame);
    return leaves;
}

std::vector<std::string> StoppedProcess::stack(std::size_t limit) {
    read_maps();
    const bool in_syscall = is_in_syscall();
    const AtSignalReturn at_signal_return(*this);
    struct Frames {
        const StoppedProcess *process;
        const AtSignalReturn *at;
        std::size_t limit;
        bool is_exact;
        std::vector<std::string> names;
    } frames{this, &at_signal_return, limit, !in_syscall, {}};
    const int result = dwfl_getthread_frames(
        unwinder_->dwfl, tid_,
        [](Dwfl_Frame *frame, void *arg) {
            auto &into = *static_cast<Frames *>(arg);
            Dwarf_Addr pc;
            bool is_activation;
            if (!dwfl_frame_pc(frame, &pc, &is_activation))
                return static_cast<int>(DWARF_CB_ABORT);
            if (into.names.empty())
                pc = into.at->place_of(pc);
            into.names.push_back((into.is_exact ? "[exact]" : "") + into.process->place_of(pc));
            if (into.names.size() == 1 && into.process->leaves_stack(pc))
                return static_cast<int>(DWARF_CB_ABORT);
            into.is_exact = is_activation && into.process->is_signal_return(pc);
            return static_cast<int>(into.names.size() == into.limit ? DWARF_CB_ABORT : DWARF_CB_OK);
        },
        &frames);
    if (result != 0 && frames.names.size() != limit)
        frames.names.push_back("END");
    return frames.names;
}

} // namespace vmtest
