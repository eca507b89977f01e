// SPDX-License-Identifier: GPL-2.0-only
// The tables of this machine's libraries say of each instruction what libdw says.
#include <algorithm>
#include <random>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <ucontext.h>

#include "elf/unwind_table.h"
#include "support/libdw_frames.h"

namespace argtrace::elf {
namespace {

using test::CallersFrame;
using test::LibdwFrames;
using test::MadeUpRegisters;
using test::made_up_memory;
using Kind = CallersFrame::Register::Kind;

constexpr std::size_t saved_numbers[] = {3, 6, 12, 13, 14, 15};

const argtrace_unwind_rule *rule_at(const UnwindTable &table, std::uint64_t offset) {
    const auto behind = std::upper_bound(table.rows.begin(), table.rows.end(), offset,
                                         [](std::uint64_t at, const argtrace_unwind_row &row) { return at < row.offset; });
    if (behind == table.rows.begin() || (behind - 1)->rule == ARGTRACE_UNWIND_NONE)
        return nullptr;
    return &table.rules.at((behind - 1)->rule);
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
void expect_same(const argtrace_unwind_rule &rule, const CallersFrame &caller, const MadeUpRegisters &registers) {
    const CallersFrame::Register &ra = caller.registers[16];
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
    const bool by_register = rule.ra == ARGTRACE_RA_REGISTER;
    EXPECT_EQ(ra, (by_register ? CallersFrame::Register{Kind::value, registers.at(static_cast<std::size_t>(rule.ra_at))}
                               : CallersFrame::Register{Kind::at, cfa + words(rule.ra_at)}));
    for (std::size_t n = 0; n < ARGTRACE_UNWIND_SAVED_COUNT; n++) {
        const CallersFrame::Register &saved = caller.registers[saved_numbers[n]];
        if (rule.saved & 1u << n) {
            const std::uint64_t base = rule.by_frame & 1u << n ? registers[6] : cfa;
            EXPECT_EQ(saved, (CallersFrame::Register{Kind::at, base + words(rule.at[n])})) << "register " << saved_numbers[n];
        } else {
            EXPECT_TRUE(saved.kind == Kind::same || saved.kind == Kind::undefined) << "register " << saved_numbers[n];
        }
    }
}

struct Compared {
    std::size_t places = 0, not_expressed = 0;
};

/// At the beginning of rows, where mistakes are likely, and at any place.
Compared compare_at_random(const Object &object, const UnwindTable &table, std::size_t count) {
    const LibdwFrames libdw(object.fd());
    std::mt19937_64 random(1);
    Compared compared;
    for (std::size_t i = 0; i < count; i++) {
        const std::size_t row = random() % (table.rows.size() - 1);
        const std::uint64_t start = table.rows[row].offset, size = table.rows[row + 1].offset - start;
        const std::uint64_t offset = i % 3 == 0 ? start : i % 3 == 1 ? start + size - 1 : start + random() % size;
        MadeUpRegisters registers;
        for (std::uint64_t &number : registers)
            number = random();
        registers[16] = object.address_of(offset).value_or(0);
        const auto caller = libdw.at(registers[16], registers);
        const argtrace_unwind_rule *rule = rule_at(table, offset);
        SCOPED_TRACE(testing::Message() << object.path() << " at 0x" << std::hex << offset);
        if (!caller) {
            EXPECT_EQ(rule, nullptr);
        } else if (!rule) {
            compared.not_expressed++;
        } else {
            expect_same(*rule, *caller, registers);
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

} // namespace
} // namespace argtrace::elf
