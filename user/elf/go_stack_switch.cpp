// SPDX-License-Identifier: GPL-2.0-only
#include "elf/go_stack_switch.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "elf/code_execution.h"
#include "elf/unwind_rule.h"

namespace argtrace::elf {

namespace {

constexpr std::uint64_t function_max = 1 << 14; // bytes
constexpr std::size_t link_after_growth = 2;    // in at[], behind what leads to the stack
constexpr std::size_t all_max = 1 << 22;        // instructions of all functions of an object, some hundred times what a program has

bool all_fit(const argtrace_unwind_rule &rule, std::int64_t offset, std::int64_t add, std::span<const std::int64_t> at) {
    return fits<decltype(rule.offset)>(offset) && fits<decltype(rule.add)>(add) && std::ranges::all_of(at, fits<std::int16_t>);
}

/// A rule by a stack pointer that is `offset` bytes from a register, or is that which these words lead to.
std::optional<argtrace_unwind_rule> along(std::uint8_t kind, std::uint8_t reg, std::int64_t offset, std::int64_t add, std::vector<std::int64_t> at) {
    argtrace_unwind_rule rule = {};
    if (!all_fit(rule, offset, add, at))
        return std::nullopt;
    rule.cfa = kind;
    rule.reg = reg;
    rule.offset = static_cast<std::int32_t>(offset);
    rule.add = static_cast<std::int32_t>(add);
    std::ranges::transform(at, rule.at, [](std::int64_t number) { return static_cast<std::int16_t>(number); });
    return rule;
}

/// Where the word that the stack pointer was read from is given the one that lies so far above it, it is one of several that are kept there one after the other.
std::optional<std::int64_t> place_of_next(const CodeExecution &execution, const CodePath &pointer) {
    CodePath address = pointer;
    address.numbers.pop_back();
    const KnownValue next = execution.written(address);
    if (!next || next->minus || next->path.base != pointer.base || next->path.numbers.size() != pointer.numbers.size() + 1 || next->path.numbers.back() != 0)
        return std::nullopt;
    CodePath expected = address.word();
    expected.numbers.back() = next->path.numbers[expected.numbers.size() - 1];
    return expected.word() == next->path ? std::optional(expected.numbers.back()) : std::nullopt;
}

/// Where the caller's registers are that the function restores; those that it restores from elsewhere are not known to be anywhere.
void set_saved(argtrace_unwind_rule &rule, const FrameRegisters &registers, const CodeExecution &execution, const CodePath &pointer) {
    for (std::size_t n = 0; n < registers.saved.size(); n++) {
        const KnownValue value = execution.value(registers.saved[n]);
        if (!value || value->minus || value->path.base != pointer.base || value->path.numbers.size() != 2 || value->path.numbers[1] != 0)
            continue;
        const std::int64_t distance = wrapping_difference(value->path.numbers[0], wrapping_sum(pointer.numbers[0], execution.popped()));
        if (distance % 8 != 0 || !fits<std::int16_t>(distance / 8))
            continue;
        rule.saved |= static_cast<std::uint16_t>(1u << n);
        rule.at[n] = static_cast<std::int16_t>(distance / 8);
    }
}

/// What leads to a goroutine's stack: on x86-64 words from the thread's own memory on, elsewhere from the register on that has the goroutine.
bool is_from_thread(const FrameRegisters &registers, const CodePath &path) {
    return registers.is_linked ? path.numbers.size() == CodePath::most - 1 : path.base == CodePath::thread && path.numbers.size() == CodePath::most;
}

/// By the stack pointer with which the function returns.
std::optional<argtrace_unwind_rule> rule_of_stack(const FrameRegisters &registers, const CodeExecution &execution) {
    const KnownValue &end = execution.stack_pointer();
    if (!end || end->path.base == CodePath::nothing)
        return std::nullopt;
    const auto &numbers = end->path.numbers;
    const std::uint8_t base = end->path.base;
    const std::int64_t behind = wrapping_sum(numbers.back(), execution.popped());
    if (end->minus) {
        const CodePath &minus = *end->minus;
        if (base == CodePath::thread || numbers.size() != 3 || minus.base != base || minus.numbers.size() != 2)
            return std::nullopt;
        return along(ARGTRACE_CFA_DEPTH, base, numbers[0], wrapping_difference(behind, minus.numbers[1]), {numbers[1], minus.numbers[0]});
    }
    if (is_from_thread(registers, end->path)) {
        std::vector<std::int64_t> at(numbers.begin() + 1, numbers.end() - 1);
        CodePath pointer = end->path;
        pointer.numbers.back() = 0;
        const auto next = place_of_next(execution, pointer);
        if (next)
            at.push_back(*next);
        const auto reg = base == CodePath::thread ? static_cast<std::uint8_t>(registers.stack_pointer) : base;
        return along(next ? ARGTRACE_CFA_CALLBACK : ARGTRACE_CFA_THREAD, reg, numbers[0], behind, std::move(at));
    }
    if (base == CodePath::thread)
        return std::nullopt;
    if (numbers.size() == 2)
        return along(ARGTRACE_CFA_MEMORY, base, numbers[0], behind, {});
    if (numbers.size() != 1)
        return std::nullopt;
    auto rule = along(ARGTRACE_CFA_REGISTER, base, behind, 0, {});
    if (rule)
        set_saved(*rule, registers, execution, end->path);
    return rule;
}

/// By how the function returns.
std::optional<argtrace_unwind_rule> rule_of(const FrameRegisters &registers, const CodeExecution &execution) {
    auto rule = rule_of_stack(registers, execution);
    const auto address = execution.return_address();
    if (!rule || !address)
        return std::nullopt;
    rule->ra = address->is_in_register ? ARGTRACE_RA_REGISTER : ARGTRACE_RA_MEMORY;
    rule->ra_at = address->words;
    return rule;
}

class Switcher {
public:
    Switcher(const Object &object, const FrameRegisters &registers, std::size_t &left, std::uint64_t start, std::uint64_t end)
        : machine_(object.machine()), registers_(registers), left_(left), start_(start) {
        const auto offset = object.offset_of(start);
        if (offset && end > start && end - start <= function_max && left_ > 0)
            code_ = object.read(*offset, end - start);
    }

    /// Behind the first instruction after which the stack pointer is not so far from what it was.
    std::size_t first_change() const {
        const auto execution = CodeExecution::of(machine_, code_, 0);
        while (execution && execution->step()) {
            left_ -= std::min<std::size_t>(left_, 1);
            const KnownValue &pointer = execution->stack_pointer();
            if (!pointer || pointer->minus || pointer->path.base != registers_.stack_pointer || pointer->path.numbers.size() != 1)
                return execution->at();
        }
        return code_.size();
    }

    void visit(std::size_t from, const GoStackSwitch::Visit &visit) const {
        while (from < code_.size() && left_ > 0) {
            const auto next = CodeExecution::of(machine_, code_, from), whole = CodeExecution::of(machine_, code_, from);
            if (!next || !next->step())
                return;
            const std::size_t end = next->at();
            std::optional<argtrace_unwind_rule> rule;
            const auto how = whole->run();
            left_ -= std::min(left_, whole->count() + 1);
            if (how == CodeExecution::End::returns)
                rule = rule_of(registers_, *whole);
            else if (how == CodeExecution::End::never)
                rule = end_rule(registers_); // the stack is that of a thread which has begun here
            visit(start_ + from, start_ + end, rule);
            from = end;
        }
    }

    std::uint64_t address(std::size_t at) const { return start_ + at; }
    bool is_read() const { return !code_.empty(); }

private:
    int machine_;
    const FrameRegisters &registers_;
    std::size_t &left_;
    std::uint64_t start_;
    Text code_;
};

/// Where what Go's functions have in the register of the return address is kept while their stack grows, from where the stack pointer is kept (arm64: str x3, [x28, #...]).
std::optional<std::int64_t> place_of_link(const Text &code, std::int64_t place_of_stack_pointer) {
    for (std::size_t at = 0; at + sizeof(std::uint32_t) <= code.size(); at += sizeof(std::uint32_t)) {
        std::uint32_t instruction;
        std::memcpy(&instruction, code.data() + at, sizeof(instruction));
        if ((instruction & 0xffc003ff) == 0xf9000383)
            return static_cast<std::int64_t>(instruction >> 10 & 0xfff) * 8 - place_of_stack_pointer;
    }
    return std::nullopt;
}

} // namespace

GoStackSwitch::GoStackSwitch(const Object &object, const FrameRegisters &registers) : object_(object), registers_(registers), left_(all_max) {}

std::uint64_t GoStackSwitch::visit_changed(std::uint64_t start, std::uint64_t end, const Visit &visit) {
    const Switcher switcher(object_, registers_, left_, start, end);
    if (!switcher.is_read())
        return start;
    const std::size_t change = switcher.first_change();
    switcher.visit(change, visit);
    return switcher.address(change);
}

void GoStackSwitch::visit_all(std::uint64_t start, std::uint64_t end, const Visit &visit) {
    Switcher(object_, registers_, left_, start, end).visit(0, visit);
}

std::optional<argtrace_unwind_rule> GoStackSwitch::growth_rule(const GoFunctions &functions, const GoFunctions::Function &grows) {
    std::optional<argtrace_unwind_rule> found;
    const auto take = [&found](std::uint64_t, std::uint64_t, const std::optional<argtrace_unwind_rule> &rule) {
        if (rule && rule->cfa == ARGTRACE_CFA_THREAD)
            found = rule;
    };
    for (std::size_t i = 0; i < functions.count() && !found; i++) {
        const auto function = functions.at(i);
        if (function && function->caller == GoFunctions::Caller::elsewhere && std::string_view(functions.names().data() + function->name) == "runtime.systemstack")
            visit_changed(function->start, function->end, take);
    }
    if (!found)
        return std::nullopt;
    found->add = 0;
    found->ra = ARGTRACE_RA_BESIDE;
    found->ra_at = 0;
    if (registers_.is_linked) {
        const auto offset = object_.offset_of(grows.start);
        const auto link = offset && grows.end - grows.start <= function_max
                              ? place_of_link(object_.read(*offset, grows.end - grows.start), found->at[link_after_growth - 1])
                              : std::nullopt;
        if (!link || !fits<std::int16_t>(*link))
            return std::nullopt;
        found->at[link_after_growth] = static_cast<std::int16_t>(*link);
    }
    return found;
}

} // namespace argtrace::elf
