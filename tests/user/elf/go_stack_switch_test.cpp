// SPDX-License-Identifier: GPL-2.0-only
// What the code of Go's runtime says about the stacks that it changes to, against what debug information says about the runtime's types.
#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <span>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>
#include <gtest/gtest.h>

#include "abi/calling_convention.h"
#include "dwarf/functions.h"
#include "elf/call_frames.h"
#include "elf/go_functions.h"
#include "elf/unwind_table.h"

namespace argtrace::elf {
namespace {

/// Where one architecture has what the tests look for.
struct Machine {
    std::uint8_t stack_pointer, kept_stack_pointer; ///< the latter: in the register that runtime.nanotime1 keeps it in
    std::optional<std::int32_t> goroutine;          ///< where a rule by the thread finds it; nothing: in a register
    std::size_t words;                              ///< how many numbers that rule has in at[]
    std::int32_t systemstack;                       ///< bytes of that function's frame on the goroutine's stack
    std::int16_t return_address;                    ///< where it has its own, in words from their end
    std::int32_t in_frame_of_call;                  ///< of runtime.asmcgocall
};
constexpr Machine x86_64 = {7, 12, -8, 3, 8, -1, 8}, arm64 = {31, 20, std::nullopt, 2, 16, -2, 16};
constexpr std::int16_t stack_pointer = 56, end_of_stack = 8; // g.sched.sp and g.stack.hi of Go's runtime/runtime2.go, since long

Object program(const std::string &name) {
    const std::string path = ARGTRACE_TEST_PROGRAMS "/" + name;
    auto object = Object::open(path);
    if (!object)
        throw std::runtime_error("cannot read " + path);
    return std::move(*object);
}

/// The functions of that name: where Go calls one of assembly, there is a second one, which calls it.
std::vector<GoFunctions::Function> functions_of(const Object &object, const std::string &name) {
    const auto functions = GoFunctions::read(object);
    std::vector<GoFunctions::Function> found;
    for (std::size_t i = 0; functions && i < functions->count(); i++) {
        const auto function = functions->at(i);
        if (function && functions->names().data() + function->name == name && function->is_assembly)
            found.push_back(*function);
    }
    return found;
}

/// The rules of a function's instructions, from the first to the last.
std::vector<const argtrace_unwind_rule *> rules_of(const Object &object, const UnwindTable &table, const std::string &name) {
    std::vector<const argtrace_unwind_rule *> rules;
    for (const auto &function : functions_of(object, name))
        for (std::uint64_t address = function.start; address < function.end; address++)
            rules.push_back(rule_at(table, *object.offset_of(address)));
    return rules;
}

/// Each kind once.
std::set<std::uint8_t> kinds_of(const std::vector<const argtrace_unwind_rule *> &rules) {
    std::set<std::uint8_t> kinds;
    for (const argtrace_unwind_rule *rule : rules)
        if (rule)
            kinds.insert(rule->cfa);
    return kinds;
}

const argtrace_unwind_rule *last_of(const std::vector<const argtrace_unwind_rule *> &rules, std::uint8_t kind) {
    const argtrace_unwind_rule *last = nullptr;
    for (const argtrace_unwind_rule *rule : rules)
        if (rule && rule->cfa == kind)
            last = rule;
    return last;
}

class GoStackSwitches : public testing::TestWithParam<const char *> {
protected:
    GoStackSwitches() : object_(program(GetParam())), table_(unwind_table(object_)) {
        // Stripping takes debug information away, but changes no offset.
        const Object described = program(is_arm64() ? "go_stacks_arm64" : "user_stacks_go");
        types_ = dwarf::Functions::open(described, is_arm64() ? dwarf_registers_aapcs64 : dwarf_registers_x86_64)->go_types();
    }

    bool is_arm64() const { return object_.machine() == EM_AARCH64; }
    const Machine &machine() const { return is_arm64() ? arm64 : x86_64; }

    void expect_thread(const argtrace_unwind_rule &rule) const {
        std::vector<std::int32_t> numbers = {rule.offset};
        numbers.insert(numbers.end(), std::begin(rule.at), std::begin(rule.at) + static_cast<std::ptrdiff_t>(machine().words));
        std::vector<std::int32_t> expected = {static_cast<std::int32_t>(*types_.m), static_cast<std::int32_t>(*types_.curg), stack_pointer};
        if (machine().goroutine)
            expected.insert(expected.begin(), *machine().goroutine);
        EXPECT_EQ(numbers, expected);
        EXPECT_FALSE(rule.saved);
        if (is_arm64()) {
            EXPECT_EQ(rule.reg, 28);
        }
    }

    Object object_;
    UnwindTable table_;
    dwarf::GoTypes types_;
};

TEST_P(GoStackSwitches, LeadBackToTheGoroutine) {
    const auto rules = rules_of(object_, table_, "runtime.systemstack");
    ASSERT_FALSE(rules.empty());
    // On the goroutine's stack when it is called and when it returns.
    ASSERT_TRUE(rules.front());
    EXPECT_EQ(rules.front()->cfa, ARGTRACE_CFA_REGISTER);
    EXPECT_EQ(rules.front()->reg, machine().stack_pointer);
    EXPECT_EQ(rules.front()->offset, is_arm64() ? 0 : 8);
    EXPECT_EQ(rules.front()->ra, is_arm64() ? ARGTRACE_RA_REGISTER : ARGTRACE_RA_MEMORY);
    const argtrace_unwind_rule *rule = last_of(rules, ARGTRACE_CFA_THREAD);
    ASSERT_TRUE(rule);
    expect_thread(*rule);
    EXPECT_EQ(rule->add, machine().systemstack);
    EXPECT_EQ(rule->ra, ARGTRACE_RA_MEMORY);
    EXPECT_EQ(rule->ra_at, machine().return_address);
}

/// From one instruction to the next.
TEST_P(GoStackSwitches, BeginBehindTheInstructionThatChangesTheStack) {
    const auto functions = functions_of(object_, "runtime.systemstack");
    ASSERT_EQ(functions.size(), 1u);
    const Text code = object_.read(*object_.offset_of(functions[0].start), functions[0].end - functions[0].start);
    // mov %rbx, %rsp; since Go 1.21 mov 0x38(%rdx), %rsp; on arm64 mov sp, x3
    std::size_t behind = 0;
    for (const std::string_view bytes : {std::string_view("\x48\x89\xdc"), std::string_view("\x48\x8b\x62\x38"), std::string_view("\x7f\0\0\x91", 4)})
        if (const std::size_t at = view(code).find(bytes); at != std::string_view::npos && behind == 0)
            behind = at + bytes.size();
    ASSERT_NE(behind, 0u);
    const auto rules = rules_of(object_, table_, "runtime.systemstack");
    for (std::size_t at = 0; at < behind; at++)
        EXPECT_TRUE(rules[at] && rules[at]->cfa == ARGTRACE_CFA_REGISTER) << at;
    ASSERT_TRUE(rules[behind]);
    EXPECT_EQ(rules[behind]->cfa, ARGTRACE_CFA_THREAD);
}

/// The caller of what a signal's handler lets a goroutine call.
TEST_P(GoStackSwitches, TellInterruptionsFromCalls) {
    for (const char *name : {"runtime.sigpanic", "runtime.asyncPreempt", "runtime.gopanic"}) {
        const auto functions = GoFunctions::read(object_);
        for (std::size_t i = 0; i < functions->count(); i++) {
            const auto function = functions->at(i);
            if (!function || functions->names().data() + function->name != std::string_view(name))
                continue;
            // Where it has its frame: before, a register of arm64 has the address of the interruption, which no rule says.
            const argtrace_unwind_rule *rule = nullptr;
            std::int64_t bytes = 0;
            functions->visit_sizes(*function, [&](std::uint64_t start, std::uint64_t, std::int64_t size) {
                if (rule || (is_arm64() && size == 0))
                    return;
                rule = rule_at(table_, *object_.offset_of(start));
                bytes = size;
            });
            ASSERT_TRUE(rule) << name;
            const bool is_called = std::string_view(name) == "runtime.gopanic";
            EXPECT_EQ(rule->ra, is_called ? ARGTRACE_RA_MEMORY : ARGTRACE_RA_INTERRUPTED) << name;
            if (is_arm64()) { // at the stack pointer; below the frame of what was interrupted the handler has put 16 bytes
                EXPECT_EQ(rule->ra_at * 8, -rule->offset) << name;
                EXPECT_EQ(rule->offset, bytes + (is_called ? 0 : 16)) << name;
            }
        }
    }
}

/// The new thread's part of runtime.clone() never returns, and is at the end of its stack.
TEST_P(GoStackSwitches, EndWhereThreadsBegin) {
    const auto rules = rules_of(object_, table_, "runtime.clone");
    ASSERT_FALSE(rules.empty());
    ASSERT_TRUE(rules.front());
    EXPECT_EQ(rules.front()->ra, is_arm64() ? ARGTRACE_RA_REGISTER : ARGTRACE_RA_MEMORY);
    const argtrace_unwind_rule *last = last_of(rules, ARGTRACE_CFA_REGISTER); // behind it is nothing but padding
    EXPECT_EQ(last->ra, ARGTRACE_RA_END);
}

TEST_P(GoStackSwitches, LeadToTheFunctionWhoseStackGrows) {
    const auto rules = rules_of(object_, table_, "runtime.morestack");
    ASSERT_FALSE(rules.empty());
    ASSERT_TRUE(rules.back());
    expect_thread(*rules.back());
    EXPECT_EQ(rules.back()->cfa, ARGTRACE_CFA_THREAD);
    EXPECT_EQ(rules.back()->add, 0);
    EXPECT_EQ(rules.back()->ra, ARGTRACE_RA_BESIDE);
    EXPECT_EQ(rules.back()->ra_at, 0);
    if (is_arm64()) { // g.sched.lr, from g.sched.sp: since Go 1.25 a word less is between
        EXPECT_EQ(rules.back()->at[2], 40);
    }
    ASSERT_TRUE(rules.front());
    EXPECT_EQ(rules.front()->cfa, ARGTRACE_CFA_REGISTER);
}

/// The vdso's functions, which may make a system call, preserve the register.
TEST_P(GoStackSwitches, LeadToTheRegisterThatKeepsTheStackPointer) {
    const auto rules = rules_of(object_, table_, "runtime.nanotime1");
    ASSERT_FALSE(rules.empty());
    std::set<std::uint8_t> registers;
    for (const argtrace_unwind_rule *rule : rules)
        if (rule)
            registers.insert(rule->reg);
    EXPECT_EQ(registers, (std::set<std::uint8_t>{machine().stack_pointer, machine().kept_stack_pointer}));
    EXPECT_EQ(kinds_of(rules), std::set<std::uint8_t>{ARGTRACE_CFA_REGISTER});
}

TEST_P(GoStackSwitches, LeadFromCBackToTheGoroutineThatMayHaveBeenMoved) {
    const auto rules = rules_of(object_, table_, "runtime.asmcgocall");
    ASSERT_FALSE(rules.empty());
    const argtrace_unwind_rule *rule = last_of(rules, ARGTRACE_CFA_DEPTH);
    ASSERT_TRUE(rule);
    EXPECT_EQ(rule->reg, machine().stack_pointer);
    EXPECT_EQ(rule->at[0], end_of_stack);
    EXPECT_EQ(rule->add, machine().in_frame_of_call);
    // Where it is called on the thread's stack, the pointer is kept as it was.
    rule = last_of(rules, ARGTRACE_CFA_MEMORY);
    ASSERT_TRUE(rule);
    EXPECT_EQ(rule->reg, machine().stack_pointer);
    EXPECT_EQ(rule->add, machine().in_frame_of_call);
}

TEST_P(GoStackSwitches, DoNotTakeMuch) {
    std::size_t many = 0;
    for (const argtrace_unwind_rule &rule : table_.rules)
        many += rule.cfa > ARGTRACE_CFA_SIGNAL;
    EXPECT_GE(many, 2u);
    EXPECT_LT(many, 20u);
}

/// Whether the module would take it: it refuses a table with one rule that it does not.
bool is_valid(const argtrace_unwind_rule &rule, const FrameRegisters &registers) {
    const std::size_t words = registers.is_linked ? 2 : 3;
    const bool has_link = registers.is_linked && rule.ra == ARGTRACE_RA_BESIDE;
    const std::size_t offsets = rule.cfa == ARGTRACE_CFA_THREAD     ? words + has_link
                                : rule.cfa == ARGTRACE_CFA_CALLBACK ? words + 1
                                : rule.cfa == ARGTRACE_CFA_DEPTH    ? 2
                                                                    : 0;
    for (std::size_t i = offsets; i < std::size(rule.at); i++)
        if (rule.at[i] != 0 && !(rule.saved >> i & 1))
            return false;
    return rule.reg < registers.limit && rule.saved < 1u << registers.saved.size() && (offsets == 0 || rule.saved == 0) && (rule.cfa != ARGTRACE_CFA_REGISTER || rule.add == 0) &&
           (rule.ra != ARGTRACE_RA_BESIDE || (rule.cfa == ARGTRACE_CFA_THREAD && rule.ra_at == 0)) &&
           (rule.ra != ARGTRACE_RA_REGISTER || std::uint64_t(rule.ra_at) < registers.limit);
}

/// Code that is damaged says what it likes, in rules that are such.
class GoStackSwitchIn : public testing::TestWithParam<const char *> {};

TEST_P(GoStackSwitchIn, DamagedCode) {
    const Object object = program(GetParam());
    const Text file = object.read(0, object.size());
    std::mt19937_64 random(43);
    for (int round = 0; round < 60; round++) {
        Text damaged = file;
        for (const char *name : {"runtime.systemstack", "runtime.morestack", "runtime.asmcgocall", "runtime.nanotime1", "runtime.clone"}) {
            for (const auto &function : functions_of(object, name))
                for (int i = 0; i < 3; i++)
                    damaged[*object.offset_of(function.start) + random() % (function.end - function.start)] = static_cast<char>(random());
        }
        const auto opened = Object::from_memory(std::as_bytes(std::span(damaged.data(), damaged.size())));
        ASSERT_TRUE(opened);
        for (const argtrace_unwind_rule &rule : unwind_table(*opened).rules)
            ASSERT_TRUE(is_valid(rule, *frame_registers(object.machine()))) << int(rule.cfa) << ' ' << int(rule.ra);
    }
}

constexpr auto name_of_program = [](const auto &info) { return std::string(info.param); };
INSTANTIATE_TEST_SUITE_P(Of, GoStackSwitches,
                         testing::Values("user_stacks_go", "user_stacks_go_stripped", "user_stacks_go_pie", "user_stacks_go_plain", "go_stacks_arm64", "go_stacks_arm64_plain"),
                         name_of_program);
INSTANTIATE_TEST_SUITE_P(Of, GoStackSwitchIn, testing::Values("user_stacks_go_stripped", "go_stacks_arm64"), name_of_program);

} // namespace
} // namespace argtrace::elf
