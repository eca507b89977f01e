// SPDX-License-Identifier: GPL-2.0-only
// What the code of functions does to the stack, against what compilers say of the same functions in .eh_frame.
#include "elf/code_rows.h"

#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "elf/function_list.h"
#include "elf/unwind_rule.h"
#include "elf/unwind_table.h"
#include "support/described_program.h"

namespace argtrace::elf {
namespace {

std::optional<Object> open_object(const std::string &path) {
    return Object::open(Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
}

/// glibc's arithmetic is written in assembly, which is described as if it pushed nothing. Nothing calls the entry of a program. A new thread begins
/// behind the system call in clone(), with another stack.
bool is_left_out(const Object &object, const NamedFunction &function) {
    const std::string &name = function.symbol;
    return name.starts_with("__mpn_") || name.find("clone") != name.npos || function.address == object.entry();
}

std::vector<CodeRange> ranges_of(const Object &object) {
    std::vector<CodeRange> ranges;
    for (const NamedFunction &function : list_functions(object))
        if (function.size > 0 && (ranges.empty() || ranges.back().start != function.address))
            ranges.push_back({function.address, function.address + function.size, !function.symbol.ends_with(".cold") && !is_left_out(object, function)});
    return ranges;
}

/// In bytes of code.
struct Agreement {
    std::uint64_t same = 0, different = 0, unknown = 0;
    std::string first;
};

/// What is said of the caller's frame and of the registers that both have found saved. Where one has CFA by the stack pointer and the other one by the
/// frame pointer, only the latter.
bool agree(const argtrace_unwind_rule &ours, const argtrace_unwind_rule &described) {
    if (described.cfa == ARGTRACE_CFA_REGISTER && ours.reg == described.reg && ours.offset != described.offset)
        return false;
    const bool is_comparable = described.cfa == ARGTRACE_CFA_REGISTER && described.by_frame == 0 && described.ra == ARGTRACE_RA_MEMORY;
    for (std::size_t n = 0; n < ARGTRACE_UNWIND_SAVED_X86_64 && is_comparable; n++)
        if ((ours.saved & described.saved) >> n & 1 && ours.at[n] != described.at[n])
            return false;
    return true;
}

Agreement compare(const std::string &path) {
    Agreement agreement;
    const auto object = open_object(path);
    if (!object) {
        ADD_FAILURE() << path;
        return agreement;
    }
    const FrameRegisters &registers = *frame_registers(object->machine());
    const UnwindTable table = unwind_table(*object);
    const std::vector<CodeRange> ranges = ranges_of(*object);
    for (const CodeRange &range : ranges)
        agreement.unknown += range.end - range.start;
    visit_code_rows(*object, registers, ranges, [&](std::uint64_t start, std::uint64_t end, const FrameState &state) {
        const auto rule = unwind_rule(registers, state, false);
        const argtrace_unwind_rule *const described = rule_at(table, start);
        if (!rule || !described)
            return;
        const bool is_same = agree(*rule, *described);
        (is_same ? agreement.same : agreement.different) += end - start;
        agreement.unknown -= std::min(agreement.unknown, end - start);
        if (!is_same && agreement.first.empty())
            agreement.first = fmt::format("{}+{:#x}: {}+{} and {}+{}", path, start, rule->reg, rule->offset, described->reg, described->offset);
    });
    std::cout << fmt::format("{}: {} bytes of code are as described, {} are not, {} are not known\n", path, agreement.same, agreement.different, agreement.unknown);
    return agreement;
}

// The same code with a description and without one.
TEST(UndescribedCode, IsUnwoundByItsSymbols) {
    constexpr const char *source = "extern int f(int *, int); __attribute__((noinline)) int g(int n) { int x[9] = {n}; f(x, n); return f(x, 2) + x[3] + n; }\n"
                                   "int f(int *p, int n) { return n > 2 ? g(n - 2) : *p; }\n"
                                   "int main(int argc, char **argv) { return g(argc); }\n";
    const DescribedProgram described(source, ".c", "gcc -O2 -fasynchronous-unwind-tables"), other(source, ".c", "gcc -O2 -fno-asynchronous-unwind-tables");
    const auto with = open_object(described.path()), without = open_object(other.path());
    ASSERT_TRUE(with && without);
    const UnwindTable table = unwind_table(*with), by_code = unwind_table(*without);
    unsigned compared = 0, unknown = 0; // between the pieces of a function it has padding, which nothing leads to
    for (const NamedFunction &function : list_functions(*with)) {
        if (function.symbol != "f" && function.symbol != "g" && function.symbol != "main")
            continue;
        const auto functions = list_functions(*without);
        const auto same = std::ranges::find(functions, function.symbol, &NamedFunction::symbol);
        ASSERT_NE(same, functions.end());
        ASSERT_EQ(same->size, function.size);
        for (std::uint64_t at = 0; at < function.size; at++, compared++) {
            const argtrace_unwind_rule *const rule = rule_at(table, function.offset + at), *const ours = rule_at(by_code, same->offset + at);
            ASSERT_TRUE(rule) << function.symbol << '+' << at;
            unknown += !ours;
            EXPECT_TRUE(!ours || agree(*ours, *rule)) << function.symbol << '+' << at;
        }
    }
    EXPECT_GT(compared, 50u);
    EXPECT_LT(unknown, compared / 4);
}

/// Offsets of the instructions behind system calls that create a child: "mov $NUMBER, %eax; syscall".
std::vector<std::uint64_t> behind_calls_of(const Object &object, std::uint32_t number) {
    std::vector<std::uint64_t> found;
    std::string code("\xb8....\x0f\x05", 7);
    std::memcpy(&code[1], &number, sizeof(number));
    const CodeSegment segment = object.code_segments().front();
    const Text bytes = object.read(segment.offset, segment.size);
    for (std::size_t at = 0; (at = view(bytes).find(code, at)) != std::string_view::npos; at += code.size())
        found.push_back(segment.offset + at + code.size());
    return found;
}

// glibc's description of clone() and clone3() ends at the system call; the stack of the parent there is as at the beginning.
TEST(UndescribedCode, OfParentsBehindTheirSystemCallIsUnwound) {
    const auto libc = open_object("/lib/x86_64-linux-gnu/libc.so.6");
    ASSERT_TRUE(libc);
    const UnwindTable table = unwind_table(*libc);
    const argtrace_unwind_rule as_called = stack_rule(*frame_registers(libc->machine()), 8);
    for (const std::uint32_t number : {std::uint32_t{SYS_clone}, std::uint32_t{SYS_clone3}}) {
        const std::vector<std::uint64_t> places = behind_calls_of(*libc, number);
        ASSERT_FALSE(places.empty()) << number;
        for (const std::uint64_t place : places) {
            const argtrace_unwind_rule *const rule = rule_at(table, place);
            ASSERT_TRUE(rule) << number << " at " << place;
            const bool is_as_called = rule->cfa == as_called.cfa && rule->reg == as_called.reg && rule->offset == as_called.offset;
            EXPECT_TRUE(is_as_called || number == SYS_clone) << place << ", and functions that make the other call may have a frame";
        }
    }
}

class CodeRows : public testing::TestWithParam<const char *> {};

TEST_P(CodeRows, AreThoseOfTheCompiler) {
    const Agreement agreement = compare(GetParam());
    EXPECT_EQ(agreement.different, 0u) << agreement.first;
    EXPECT_GT(agreement.same, 2 * agreement.unknown);
}

INSTANTIATE_TEST_SUITE_P(Libraries, CodeRows,
                         testing::Values("/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libstdc++.so.6", "/lib/x86_64-linux-gnu/libcrypto.so.3",
                                         "/usr/lib/x86_64-linux-gnu/libdw.so.1", "/usr/bin/python3", "/usr/bin/perl", "/bin/bash"));

} // namespace
} // namespace argtrace::elf
