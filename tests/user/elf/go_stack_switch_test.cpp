// SPDX-License-Identifier: GPL-2.0-only
// What the code of Go's runtime says about the stacks that it changes to, against what debug information says about the runtime's types.
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "abi/calling_convention.h"
#include "dwarf/functions.h"
#include "elf/go_functions.h"
#include "elf/unwind_table.h"

namespace argtrace::elf {
namespace {

constexpr std::uint8_t rsp = 7, r12 = 12;
constexpr std::int16_t stack_pointer = 56, end_of_stack = 8; // g.sched.sp and g.stack.hi of Go's runtime/runtime2.go, since long

Object program(const std::string &name) {
    const std::string path = ARGTRACE_TEST_PROGRAMS "/" + name;
    auto object = Object::open(path);
    if (!object)
        throw std::runtime_error("cannot read " + path);
    return std::move(*object);
}

/// The rules of a function's instructions, from the first to the last.
std::vector<const argtrace_unwind_rule *> rules_of(const Object &object, const UnwindTable &table, const std::string &name) {
    const auto functions = GoFunctions::read(object);
    std::vector<const argtrace_unwind_rule *> rules;
    for (std::size_t i = 0; functions && i < functions->count(); i++) {
        const auto function = functions->at(i);
        if (function && functions->names().data() + function->name == name)
            for (std::uint64_t address = function->start; address < function->end; address++)
                rules.push_back(rule_at(table, *object.offset_of(address)));
    }
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
        const Object described = program("user_stacks_go");
        types_ = dwarf::Functions::open(described, dwarf_registers_x86_64)->go_types();
    }

    void expect_thread(const argtrace_unwind_rule &rule) const {
        EXPECT_EQ(rule.offset, -8);
        EXPECT_EQ(rule.at[0], static_cast<std::int16_t>(*types_.m));
        EXPECT_EQ(rule.at[1], static_cast<std::int16_t>(*types_.curg));
        EXPECT_EQ(rule.at[2], stack_pointer);
        EXPECT_FALSE(rule.saved);
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
    EXPECT_EQ(rules.front()->reg, rsp);
    EXPECT_EQ(rules.front()->offset, 8);
    const argtrace_unwind_rule *rule = last_of(rules, ARGTRACE_CFA_THREAD);
    ASSERT_TRUE(rule);
    expect_thread(*rule);
    EXPECT_EQ(rule->add, 8);
    EXPECT_EQ(rule->ra, ARGTRACE_RA_MEMORY);
    EXPECT_EQ(rule->ra_at, -1);
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
    EXPECT_EQ(registers, (std::set<std::uint8_t>{rsp, r12}));
    EXPECT_EQ(kinds_of(rules), std::set<std::uint8_t>{ARGTRACE_CFA_REGISTER});
}

TEST_P(GoStackSwitches, LeadFromCBackToTheGoroutineThatMayHaveBeenMoved) {
    const auto rules = rules_of(object_, table_, "runtime.asmcgocall");
    ASSERT_FALSE(rules.empty());
    const argtrace_unwind_rule *rule = last_of(rules, ARGTRACE_CFA_DEPTH);
    ASSERT_TRUE(rule);
    EXPECT_EQ(rule->reg, rsp);
    EXPECT_EQ(rule->at[0], end_of_stack);
    EXPECT_EQ(rule->add, 8);
    // Where it is called on the thread's stack, the pointer is kept as it was.
    rule = last_of(rules, ARGTRACE_CFA_MEMORY);
    ASSERT_TRUE(rule);
    EXPECT_EQ(rule->reg, rsp);
    EXPECT_EQ(rule->add, 8);
}

TEST_P(GoStackSwitches, DoNotTakeMuch) {
    std::size_t many = 0;
    for (const argtrace_unwind_rule &rule : table_.rules)
        many += rule.cfa > ARGTRACE_CFA_SIGNAL;
    EXPECT_GE(many, 2u);
    EXPECT_LT(many, 20u);
}

INSTANTIATE_TEST_SUITE_P(Of, GoStackSwitches, testing::Values("user_stacks_go", "user_stacks_go_stripped", "user_stacks_go_pie", "user_stacks_go_plain"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace argtrace::elf
