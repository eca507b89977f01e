// SPDX-License-Identifier: GPL-2.0-only
// The tables of libraries, this machine's and arm64's, say of each instruction what libdw says.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <ucontext.h>

#include "elf/function_list.h"
#include "elf/unwind_table.h"
#include "support/libdw_frames.h"

namespace argtrace::elf {
namespace {

using test::CallersFrame;
using test::LibdwFrames;
using test::MadeUpRegisters;
using test::made_up_memory;
using Kind = CallersFrame::Register::Kind;

/// The registers of a machine, by the numbers of DWARF.
struct Numbers {
    std::size_t frame_pointer, return_address, instruction;
    std::vector<std::size_t> saved;
};

const Numbers &numbers_of(const Object &object) {
    static const Numbers x86_64 = {6, 16, 16, {3, 6, 12, 13, 14, 15}}; // psABI, figure 3.36 and 3.2.1
    static const Numbers arm64 = {29, 30, 32, {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29}}; // AADWARF64, 4.1; AAPCS64, 6.1.1
    return object.machine() == EM_AARCH64 ? arm64 : x86_64;
}

std::uint64_t cfa_by(const argtrace_unwind_rule &rule, const MadeUpRegisters &registers) {
    const std::uint64_t at = registers.at(rule.reg) + static_cast<std::uint64_t>(std::int64_t(rule.offset));
    const auto add = static_cast<std::uint64_t>(std::int64_t(rule.add));
    switch (rule.cfa) {
    case ARGTRACE_CFA_REGISTER:
        return at;
    case ARGTRACE_CFA_MEMORY:
        return made_up_memory(at) + add;
    case ARGTRACE_CFA_PLT:
        return at + ((registers[16] & 15) >= add ? 8 : 0);
    default: // ARGTRACE_CFA_SIGNAL
        return made_up_memory(at + offsetof(ucontext_t, uc_mcontext.gregs[REG_RSP]));
    }
}

/// Where libdw has what a rule says, but for registers that nobody needs.
void expect_same(const Numbers &numbers, const argtrace_unwind_rule &rule, const CallersFrame &caller, const MadeUpRegisters &registers) {
    const CallersFrame::Register &ra = caller.registers[numbers.return_address];
    if (rule.ra == ARGTRACE_RA_END) {
        EXPECT_EQ(ra.kind, Kind::undefined);
        return;
    }
    const std::uint64_t cfa = cfa_by(rule, registers);
    EXPECT_EQ(cfa, caller.cfa);
    if (rule.cfa == ARGTRACE_CFA_SIGNAL) {
        EXPECT_TRUE(caller.is_signal_frame);
        const std::uint64_t ucontext = registers[rule.reg] + static_cast<std::uint64_t>(std::int64_t(rule.offset));
        EXPECT_EQ(ra, (CallersFrame::Register{Kind::at, ucontext + offsetof(ucontext_t, uc_mcontext.gregs[REG_RIP])}));
        EXPECT_EQ(caller.registers[6], (CallersFrame::Register{Kind::at, ucontext + offsetof(ucontext_t, uc_mcontext.gregs[REG_RBP])}));
        return;
    }
    EXPECT_FALSE(caller.is_signal_frame);
    const auto words = [](std::int16_t number) { return static_cast<std::uint64_t>(8 * std::int64_t(number)); };
    if (rule.ra == ARGTRACE_RA_MEMORY)
        EXPECT_EQ(ra, (CallersFrame::Register{Kind::at, cfa + words(rule.ra_at)}));
    else if (static_cast<std::size_t>(rule.ra_at) == numbers.return_address)
        EXPECT_EQ(ra.kind, Kind::same);
    else
        EXPECT_EQ(ra, (CallersFrame::Register{Kind::value, registers.at(static_cast<std::size_t>(rule.ra_at))}));
    EXPECT_EQ(rule.saved >> numbers.saved.size(), 0);
    for (std::size_t n = 0; n < numbers.saved.size(); n++) {
        const CallersFrame::Register &saved = caller.registers[numbers.saved[n]];
        if (rule.saved & 1u << n) {
            const std::uint64_t base = rule.by_frame & 1u << n ? registers[numbers.frame_pointer] : cfa;
            EXPECT_EQ(saved, (CallersFrame::Register{Kind::at, base + words(rule.at[n])})) << "register " << numbers.saved[n];
        } else {
            EXPECT_TRUE(saved.kind == Kind::same || saved.kind == Kind::undefined) << "register " << numbers.saved[n];
        }
    }
}

struct Compared {
    std::size_t places = 0, not_expressed = 0;
};

/// Whether it is in a linkage table, which the linkers of arm64 do not describe: LinkageRows has these.
bool is_in_linkage_table(const Object &object, std::uint64_t offset) {
    const Object::Section *section = object.section(".plt");
    return section && offset - section->header.sh_offset < section->header.sh_size;
}

/// Whether it is in a function that has a symbol: where nothing describes its code, that is read.
bool is_in_function(const std::vector<NamedFunction> &functions, std::uint64_t offset) {
    return std::ranges::any_of(functions, [offset](const NamedFunction &function) { return offset - function.offset < function.size; });
}

/// At the beginning of rows, where mistakes are likely, and at any place.
Compared compare_at_random(const Object &object, const UnwindTable &table, std::size_t count) {
    const LibdwFrames libdw(object.fd());
    const Numbers &numbers = numbers_of(object);
    std::mt19937_64 random(1);
    const std::vector<NamedFunction> functions = list_functions(object);
    Compared compared;
    for (std::size_t i = 0; i < count; i++) {
        const std::size_t row = random() % (table.rows.size() - 1);
        const std::uint64_t start = table.rows[row].offset, size = table.rows[row + 1].offset - start;
        const std::uint64_t offset = i % 3 == 0 ? start : i % 3 == 1 ? start + size - 1 : start + random() % size;
        MadeUpRegisters registers;
        for (std::uint64_t &number : registers)
            number = random();
        const std::uint64_t address = registers[numbers.instruction] = object.address_of(offset).value_or(0);
        const auto caller = libdw.at(address, registers);
        const argtrace_unwind_rule *rule = rule_at(table, offset);
        SCOPED_TRACE(testing::Message() << object.path() << " at 0x" << std::hex << offset);
        if (!caller) {
            EXPECT_TRUE(!rule || is_in_linkage_table(object, offset) || is_in_function(functions, offset));
        } else if (!rule) {
            compared.not_expressed++;
        } else {
            expect_same(numbers, *rule, *caller, registers);
            compared.places++;
        }
        if (testing::Test::HasFailure())
            break;
    }
    return compared;
}

/// What ioctl(ARGTRACE_IOC_UNWIND) would check.
void expect_valid(const UnwindTable &table) {
    ASSERT_FALSE(table.rows.empty());
    ASSERT_LE(table.rows.size(), ARGTRACE_UNWIND_ROWS_MAX);
    for (std::size_t i = 0; i < table.rows.size(); i++) {
        const argtrace_unwind_row &row = table.rows[i];
        ASSERT_TRUE(row.rule < table.rules.size() || row.rule == ARGTRACE_UNWIND_NONE);
        if (i > 0) {
            ASSERT_GT(row.offset, table.rows[i - 1].offset);
            ASSERT_NE(row.rule, table.rows[i - 1].rule) << "two rows for one";
        }
    }
    EXPECT_EQ(table.rows.back().rule, ARGTRACE_UNWIND_NONE) << "the last range has no end";
}

class UnwindTableOf : public testing::TestWithParam<const char *> {};

TEST_P(UnwindTableOf, LibrarySaysWhatLibdwSays) {
    const auto object = Object::open(Fd(::open(GetParam(), O_RDONLY | O_CLOEXEC)), GetParam());
    ASSERT_TRUE(object) << "this machine has no " << GetParam();
    const UnwindTable table = unwind_table(*object);
    expect_valid(table);
    const Compared compared = compare_at_random(*object, table, 20000);
    EXPECT_GT(compared.places, 10000u);
    // The rest is code that no rule describes: in the assembly of cryptographic libraries.
    EXPECT_LT(compared.not_expressed, compared.places / 500);
}

INSTANTIATE_TEST_SUITE_P(ThisMachine, UnwindTableOf,
                         testing::Values("/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2",
                                         "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
                                         "/usr/lib/x86_64-linux-gnu/libm.so.6", "/usr/bin/python3", "/proc/self/exe"));

/// Those that the cross compiler brings along.
INSTANTIATE_TEST_SUITE_P(Arm64, UnwindTableOf,
                         testing::Values("/usr/aarch64-linux-gnu/lib/libc.so.6", "/usr/aarch64-linux-gnu/lib/libm.so.6",
                                         "/usr/aarch64-linux-gnu/lib/libstdc++.so.6"));

/// Frames of every shape, as the cross compiler makes them with these options.
class UnwindTableOnArm64 : public testing::TestWithParam<const char *> {};

TEST_P(UnwindTableOnArm64, SaysWhatLibdwSays) {
    std::string folder = testing::TempDir() + "argtrace_arm64_XXXXXX";
    ASSERT_TRUE(::mkdtemp(folder.data()));
    const std::string path = folder + "/shapes.so";
    const std::string command = std::string("aarch64-linux-gnu-gcc -std=gnu11 -g1 -fPIC -shared ") + GetParam() + " -o " + path + " " ARGTRACE_TEST_SHAPES_SOURCE;
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    const auto object = Object::open(Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
    std::filesystem::remove_all(folder);
    ASSERT_TRUE(object);
    const UnwindTable table = unwind_table(*object);
    expect_valid(table);
    const Compared compared = compare_at_random(*object, table, 3000);
    EXPECT_GT(compared.places, 2000u);
    EXPECT_EQ(compared.not_expressed, 0u);
}

INSTANTIATE_TEST_SUITE_P(Compiled, UnwindTableOnArm64,
                         testing::Values("-O0", "-O2 -fomit-frame-pointer", "-O2 -mbranch-protection=standard", "-O3 -fno-omit-frame-pointer",
                                         "-Os -fstack-clash-protection", "-O2 -mbranch-protection=pac-ret+leaf+b-key"));

} // namespace
} // namespace argtrace::elf
