// SPDX-License-Identifier: GPL-2.0-only
#include "elf/go_stack_switch.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <Zydis/Zydis.h>

#include "elf/unwind_rule.h"

namespace argtrace::elf {

namespace {

constexpr std::uint64_t function_max = 1 << 14; // bytes
constexpr std::size_t execution_max = 512;      // instructions up to the return
constexpr std::size_t all_max = 1 << 22;        // of all functions of an object, some hundred times what a program has
constexpr std::size_t path_max = 5;             // as many words as a rule follows, and one number
constexpr std::uint8_t thread_base = 16, no_base = 17; // behind the numbers of registers

/// The numbers of DWARF, by those of the instruction set.
constexpr std::array<std::uint8_t, 16> dwarf_numbers = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr std::uint8_t rax = 0, rcx = 2, rsp = 7, r11 = 11;
constexpr std::array<std::uint8_t, 9> lost_in_calls = {0, 1, 2, 4, 5, 8, 9, 10, 11};

/// As the processor adds.
std::int64_t add(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

std::int64_t negative(std::int64_t number) {
    return static_cast<std::int64_t>(-static_cast<std::uint64_t>(number));
}

/// What a register had where the code is looked at, or the thread's pointer, or zero, and then: add the first number, read the word there, add the next, ...
struct Path {
    std::uint8_t base = no_base;
    std::vector<std::int64_t> numbers = {0};

    auto operator<=>(const Path &) const = default;

    bool is_number() const { return base == no_base && numbers.size() == 1; }
    Path plus(std::int64_t number) const {
        Path sum = *this;
        sum.numbers.back() = add(sum.numbers.back(), number);
        return sum;
    }
    Path word() const {
        Path at = *this;
        at.numbers.push_back(0);
        return at;
    }
};

/// The end of a path, from which that of another one may be subtracted.
struct Value {
    Path path;
    std::optional<Path> minus = std::nullopt;

    bool operator==(const Value &) const = default;
};
using Known = std::optional<Value>;

Known sum(const Known &a, const Known &b, bool is_difference) {
    if (!a || !b || b->minus)
        return std::nullopt;
    if (b->path.is_number())
        return Value{a->path.plus(is_difference ? negative(b->path.numbers[0]) : b->path.numbers[0]), a->minus};
    if (!is_difference)
        return a->path.is_number() && !a->minus ? Known(Value{b->path.plus(a->path.numbers[0])}) : std::nullopt;
    if (a->minus)
        return std::nullopt;
    // The same but for what is added last.
    Path same = b->path;
    same.numbers.back() = a->path.numbers.back();
    if (same == a->path)
        return Value{Path{no_base, {add(a->path.numbers.back(), negative(b->path.numbers.back()))}}};
    return Value{a->path, b->path};
}

/// The code from one instruction on, up to the return.
class Execution {
public:
    Execution(const Text &code, std::size_t from, const ZydisDecoder &decoder) : code_(code), at_(from), decoder_(decoder) {
        for (std::uint8_t number = 0; number < registers_.size(); number++)
            registers_[number] = Value{Path{number, {0}}};
    }

    enum class End { unknown, returns, never };

    /// How it ends: by a return, or in a loop that nothing leads out of.
    End run() {
        std::set<std::size_t> jumps;
        for (std::size_t i = 0; i < execution_max; i++) {
            const std::size_t from = at_;
            if (!decode())
                return End::unknown;
            if (is_.mnemonic == ZYDIS_MNEMONIC_RET)
                return End::returns;
            if (is_.meta.category == ZYDIS_CATEGORY_COND_BR)
                jumps.clear();
            if (is_.meta.category == ZYDIS_CATEGORY_UNCOND_BR) {
                const auto to = target();
                if (!to || *to >= code_.size())
                    return End::unknown;
                if (!jumps.insert(from).second)
                    return End::never;
                at_ = *to;
                continue;
            }
            execute();
        }
        return End::unknown;
    }

    /// One instruction, wherever it would go on.
    bool step() {
        if (!decode())
            return false;
        execute();
        return true;
    }

    std::size_t at() const { return at_; }
    std::size_t count() const { return count_; } ///< instructions
    const Known &value(std::uint8_t number) const { return registers_[number]; }

    /// What the code has written there.
    Known written(const Path &address) const {
        const auto found = memory_.find(address);
        return found == memory_.end() ? std::nullopt : found->second;
    }

private:
    bool decode() {
        if (at_ >= code_.size() || !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, code_.data() + at_, code_.size() - at_, &is_, operands_.data())))
            return false;
        at_ += is_.length;
        count_++;
        return true;
    }

    std::optional<std::uint64_t> target() const {
        if (operands_[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !operands_[0].imm.is_relative)
            return std::nullopt;
        return at_ + operands_[0].imm.value.u;
    }

    static std::optional<std::uint8_t> number_of(ZydisRegister reg) {
        if (reg < ZYDIS_REGISTER_RAX || reg > ZYDIS_REGISTER_R15)
            return std::nullopt;
        return dwarf_numbers[static_cast<std::size_t>(reg - ZYDIS_REGISTER_RAX)];
    }

    Known of_register(ZydisRegister reg) const {
        const auto number = number_of(reg);
        return number ? registers_[*number] : std::nullopt;
    }

    std::optional<Path> address_of(const ZydisDecodedOperand &operand) const {
        const auto &memory = operand.mem;
        if (memory.index != ZYDIS_REGISTER_NONE || memory.segment == ZYDIS_REGISTER_GS)
            return std::nullopt;
        const bool is_of_thread = memory.segment == ZYDIS_REGISTER_FS;
        Known base = memory.base == ZYDIS_REGISTER_NONE ? Known(Value{Path{}}) : of_register(memory.base);
        if (!base || base->minus || (is_of_thread && !base->path.is_number()))
            return std::nullopt;
        Path at = base->path.plus(memory.disp.value);
        if (is_of_thread)
            at.base = thread_base;
        return at.base == no_base ? std::nullopt : std::optional(at);
    }

    Known load(const std::optional<Path> &address) const {
        if (!address)
            return std::nullopt;
        const auto known = memory_.find(*address);
        if (known != memory_.end())
            return known->second;
        return address->numbers.size() <= path_max ? Known(Value{address->word()}) : std::nullopt;
    }

    Known read(const ZydisDecodedOperand &operand) const {
        if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER)
            return of_register(operand.reg.value);
        if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
            return Value{Path{no_base, {operand.imm.value.s}}};
        if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.size == 64)
            return load(address_of(operand));
        return std::nullopt;
    }

    void write(const ZydisDecodedOperand &operand, const Known &value) {
        if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
            const auto number = number_of(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand.reg.value));
            if (number)
                registers_[*number] = operand.size == 64 ? value : std::nullopt;
        } else if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type == ZYDIS_MEMOP_TYPE_MEM) {
            if (const auto address = address_of(operand))
                memory_[*address] = operand.size == 64 ? value : std::nullopt;
        }
    }

    void execute() {
        const auto &to = operands_[0], &from = operands_[1];
        switch (is_.mnemonic) {
        case ZYDIS_MNEMONIC_MOV:
            return write(to, read(from));
        case ZYDIS_MNEMONIC_LEA: {
            const auto address = from.mem.segment == ZYDIS_REGISTER_FS ? std::nullopt : address_of(from);
            return write(to, address ? Known(Value{*address}) : std::nullopt);
        }
        case ZYDIS_MNEMONIC_ADD:
        case ZYDIS_MNEMONIC_SUB:
            return write(to, sum(read(to), read(from), is_.mnemonic == ZYDIS_MNEMONIC_SUB));
        case ZYDIS_MNEMONIC_PUSH:
            registers_[rsp] = sum(registers_[rsp], Value{Path{no_base, {8}}}, true);
            if (registers_[rsp] && !registers_[rsp]->minus)
                memory_[registers_[rsp]->path] = read(to);
            return;
        case ZYDIS_MNEMONIC_POP: {
            const Known top = registers_[rsp];
            registers_[rsp] = sum(top, Value{Path{no_base, {8}}}, false);
            return write(to, top && !top->minus ? load(top->path) : std::nullopt);
        }
        case ZYDIS_MNEMONIC_CALL:
            for (const std::uint8_t number : lost_in_calls)
                registers_[number].reset();
            return;
        case ZYDIS_MNEMONIC_SYSCALL:
            for (const std::uint8_t number : {rax, rcx, r11})
                registers_[number].reset();
            return;
        default:
            for (std::size_t i = 0; i < is_.operand_count; i++)
                if (operands_[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
                    write(operands_[i], std::nullopt);
        }
    }

    const Text &code_;
    std::size_t at_, count_ = 0;
    const ZydisDecoder &decoder_;
    ZydisDecodedInstruction is_;
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands_;
    std::array<Known, 16> registers_;
    std::map<Path, Known> memory_;
};

template<typename To>
bool fits(std::int64_t number) {
    return number >= std::numeric_limits<To>::min() && number <= std::numeric_limits<To>::max();
}

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
    rule.ra = ARGTRACE_RA_MEMORY;
    rule.ra_at = -1;
    std::ranges::transform(at, rule.at, [](std::int64_t number) { return static_cast<std::int16_t>(number); });
    return rule;
}

/// Where the word that the stack pointer was read from is given the one that lies so far above it, it is one of several that are kept there one after the other.
std::optional<std::int64_t> place_of_next(const Execution &execution, const Path &pointer) {
    Path address = pointer;
    address.numbers.pop_back();
    const Known next = execution.written(address);
    if (!next || next->minus || next->path.base != pointer.base || next->path.numbers.size() != pointer.numbers.size() + 1 || next->path.numbers.back() != 0)
        return std::nullopt;
    Path expected = address.word();
    expected.numbers.back() = next->path.numbers[expected.numbers.size() - 1];
    return expected.word() == next->path ? std::optional(expected.numbers.back()) : std::nullopt;
}

/// Where the caller's registers are that the function restores; those that it restores from elsewhere are not known to be anywhere.
void set_saved(argtrace_unwind_rule &rule, const FrameRegisters &registers, const Execution &execution, const Path &pointer) {
    for (std::size_t n = 0; n < registers.saved.size(); n++) {
        const Known value = execution.value(registers.saved[n]);
        if (!value || value->minus || value->path.base != pointer.base || value->path.numbers.size() != 2 || value->path.numbers[1] != 0)
            continue;
        const std::int64_t distance = add(value->path.numbers[0], negative(add(pointer.numbers[0], 8)));
        if (distance % 8 != 0 || !fits<std::int16_t>(distance / 8))
            continue;
        rule.saved |= static_cast<std::uint16_t>(1u << n);
        rule.at[n] = static_cast<std::int16_t>(distance / 8);
    }
}

/// By what the stack pointer has when the function returns.
std::optional<argtrace_unwind_rule> rule_of(const FrameRegisters &registers, const Execution &execution) {
    const Known &end = execution.value(rsp);
    if (!end || end->path.base == no_base)
        return std::nullopt;
    const auto &numbers = end->path.numbers;
    const std::uint8_t base = end->path.base;
    const std::int64_t behind = add(numbers.back(), 8);
    if (end->minus) {
        const Path &minus = *end->minus;
        if (base == thread_base || numbers.size() != 3 || minus.base != base || minus.numbers.size() != 2)
            return std::nullopt;
        return along(ARGTRACE_CFA_DEPTH, base, numbers[0], add(behind, negative(minus.numbers[1])), {numbers[1], minus.numbers[0]});
    }
    if (base == thread_base) {
        if (numbers.size() != path_max)
            return std::nullopt;
        std::vector<std::int64_t> at(numbers.begin() + 1, numbers.end() - 1);
        const auto next = place_of_next(execution, Path{base, {numbers[0], numbers[1], numbers[2], numbers[3], 0}});
        if (next)
            at.push_back(*next);
        return along(next ? ARGTRACE_CFA_CALLBACK : ARGTRACE_CFA_THREAD, static_cast<std::uint8_t>(registers.stack_pointer), numbers[0], behind, std::move(at));
    }
    if (numbers.size() == 2)
        return along(ARGTRACE_CFA_MEMORY, base, numbers[0], behind, {});
    if (numbers.size() != 1)
        return std::nullopt;
    auto rule = along(ARGTRACE_CFA_REGISTER, base, behind, 0, {});
    if (rule)
        set_saved(*rule, registers, execution, end->path);
    return rule;
}

class Switcher {
public:
    Switcher(const Object &object, const FrameRegisters &registers, std::size_t &left, std::uint64_t start, std::uint64_t end)
        : registers_(registers), left_(left), start_(start) {
        ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
        const auto offset = object.offset_of(start);
        if (offset && end > start && end - start <= function_max && left_ > 0)
            code_ = object.read(*offset, end - start);
    }

    /// Behind the first instruction after which the stack pointer is not so far from what it was.
    std::size_t first_change() const {
        Execution execution(code_, 0, decoder_);
        while (execution.step()) {
            left_ -= std::min<std::size_t>(left_, 1);
            const Known &pointer = execution.value(rsp);
            if (!pointer || pointer->minus || pointer->path.base != rsp || pointer->path.numbers.size() != 1)
                return execution.at();
        }
        return code_.size();
    }

    void visit(std::size_t from, const GoStackSwitch::Visit &visit) const {
        while (from < code_.size() && left_ > 0) {
            Execution next(code_, from, decoder_), whole(code_, from, decoder_);
            if (!next.step())
                return;
            const std::size_t end = next.at();
            std::optional<argtrace_unwind_rule> rule;
            const auto how = whole.run();
            left_ -= std::min(left_, whole.count() + 1);
            if (how == Execution::End::returns)
                rule = rule_of(registers_, whole);
            else if (how == Execution::End::never)
                rule = end_rule(registers_); // the stack is that of a thread which has begun here
            visit(start_ + from, start_ + end, rule);
            from = end;
        }
    }

    std::uint64_t address(std::size_t at) const { return start_ + at; }
    bool is_read() const { return !code_.empty(); }

private:
    const FrameRegisters &registers_;
    std::size_t &left_;
    std::uint64_t start_;
    Text code_;
    ZydisDecoder decoder_;
};

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

std::optional<argtrace_unwind_rule> GoStackSwitch::growth_rule(const GoFunctions &functions) {
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
    if (found) {
        found->add = 0;
        found->ra = ARGTRACE_RA_BESIDE;
        found->ra_at = 0;
    }
    return found;
}

} // namespace argtrace::elf
