// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "elf/unwind_table.h"

namespace argtrace::test {

/// Unwinds this process by the tables of what it has mapped, as the module does: what is not
/// preserved over calls is not known of a caller.
class SelfUnwinder {
public:
    /// Reads what is mapped now.
    SelfUnwinder() {
        std::ifstream maps("/proc/self/maps");
        for (std::string line; std::getline(maps, line);)
            add_mapping(line);
    }

    /// The places of the context and its callers, as backtrace() has them. Allocates nothing. May be
    /// called by handlers of signals.
    std::size_t walk(const ucontext_t &context, void **places, std::size_t max) const {
        Frame frame = frame_of(context);
        bool exact = true;
        std::size_t count = 0;
        while (count < max && frame.pc != 0) {
            places[count++] = reinterpret_cast<void *>(frame.pc);
            const argtrace_unwind_rule *rule = rule_at(frame.pc - !exact);
            if (!rule || rule->ra == ARGTRACE_RA_END || !apply(*rule, frame, exact))
                break;
        }
        return count;
    }

    const argtrace_unwind_rule *rule_at(std::uint64_t address) const {
        const auto mapping = std::upper_bound(mappings_.begin(), mappings_.end(), address,
                                              [](std::uint64_t at, const Mapping &other) { return at < other.start; });
        if (mapping == mappings_.begin() || address >= (mapping - 1)->end)
            return nullptr;
        const elf::UnwindTable &table = *(mapping - 1)->table;
        const std::uint64_t offset = address - (mapping - 1)->start + (mapping - 1)->offset;
        const auto row = std::upper_bound(table.rows.begin(), table.rows.end(), offset,
                                          [](std::uint64_t at, const argtrace_unwind_row &other) { return at < other.offset; });
        return row == table.rows.begin() || (row - 1)->rule == ARGTRACE_UNWIND_NONE ? nullptr : &table.rules[(row - 1)->rule];
    }

private:
    struct Mapping {
        std::uint64_t start, end, offset;
        const elf::UnwindTable *table;
    };

    struct Frame {
        std::uint64_t pc = 0;
        std::array<std::uint64_t, 16> registers = {};
        std::uint32_t known = 0xffff; ///< by bit
    };

    void add_mapping(const std::string &line) {
        Mapping mapping = {};
        char access[5] = {};
        int path_at = 0;
        unsigned long start, end, offset;
        if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx %*s %*s %n", &start, &end, access, &offset, &path_at) < 4 || access[2] != 'x')
            return;
        mapping.start = start;
        mapping.end = end;
        mapping.offset = offset;
        const std::string path = line.substr(static_cast<std::size_t>(path_at));
        if (!tables_.contains(path)) {
            std::optional<elf::Object> object;
            if (path == "[vdso]")
                object = elf::Object::from_memory({reinterpret_cast<const std::byte *>(::getauxval(AT_SYSINFO_EHDR)), end - start});
            else
                object = elf::Object::open(Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
            tables_[path] = object ? elf::unwind_table(*object) : elf::UnwindTable{};
        }
        mapping.table = &tables_[path];
        mappings_.push_back(mapping);
    }

    static Frame frame_of(const ucontext_t &context) {
        static constexpr std::array<int, 16> places = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                                       REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
        Frame frame;
        for (std::size_t i = 0; i < places.size(); i++)
            frame.registers[i] = static_cast<std::uint64_t>(context.uc_mcontext.gregs[places[i]]);
        frame.pc = static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
        return frame;
    }

    /// By a system call, which reports what cannot be read.
    template<typename T>
    static bool read(std::uint64_t address, T &value) {
        const iovec local = {&value, sizeof(value)}, remote = {reinterpret_cast<void *>(address), sizeof(value)};
        return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(sizeof(value));
    }

    static bool apply(const argtrace_unwind_rule &rule, Frame &frame, bool &exact) {
        if (!(frame.known & 1u << rule.reg))
            return false;
        const std::uint64_t base = frame.registers[rule.reg] + static_cast<std::uint64_t>(std::int64_t(rule.offset));
        if (rule.cfa == ARGTRACE_CFA_SIGNAL) {
            ucontext_t context;
            // The kernel's ends where the signal mask does.
            const iovec local = {&context, offsetof(ucontext_t, uc_sigmask)}, remote = {reinterpret_cast<void *>(base), local.iov_len};
            if (::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) != static_cast<ssize_t>(local.iov_len))
                return false;
            frame = frame_of(context);
            exact = true;
            return true;
        }
        std::uint64_t cfa = base;
        if (rule.cfa == ARGTRACE_CFA_MEMORY) {
            if (!read(base, cfa))
                return false;
            cfa += static_cast<std::uint64_t>(std::int64_t(rule.add));
        } else if (rule.cfa == ARGTRACE_CFA_PLT && (frame.pc & 15) >= static_cast<std::uint64_t>(rule.add)) {
            cfa += 8;
        }
        const auto at = [](std::uint64_t from, std::int16_t words) { return from + static_cast<std::uint64_t>(8 * std::int64_t(words)); };
        Frame caller = frame;
        if (rule.ra == ARGTRACE_RA_REGISTER) {
            if (!(frame.known & 1u << rule.ra_at))
                return false;
            caller.pc = frame.registers[static_cast<std::size_t>(rule.ra_at)];
        } else if (!read(at(cfa, rule.ra_at), caller.pc)) {
            return false;
        }
        static constexpr std::array<std::size_t, ARGTRACE_UNWIND_SAVED_X86_64> saved = {3, 6, 12, 13, 14, 15};
        for (std::size_t n = 0; n < saved.size(); n++)
            if ((rule.saved & 1u << n) && !read(at(rule.by_frame & 1u << n ? frame.registers[6] : cfa, rule.at[n]), caller.registers[saved[n]]))
                return false;
        caller.registers[7] = cfa;
        caller.known = 1u << 7;
        for (const std::size_t reg : saved)
            caller.known |= frame.known & 1u << reg;
        frame = caller;
        exact = false;
        return true;
    }

    std::map<std::string, elf::UnwindTable> tables_;
    std::vector<Mapping> mappings_; ///< ascending, as /proc has them
};

} // namespace argtrace::test
