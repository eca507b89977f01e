// SPDX-License-Identifier: GPL-2.0-only
#include "elf/code_execution.h"

#include <set>

#include <elf.h>

#include "elf/code_execution_arm64.h"
#include "elf/code_execution_x86_64.h"

namespace argtrace::elf {

namespace {

constexpr std::size_t execution_max = 512; // instructions up to the return

} // namespace

std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

std::int64_t wrapping_difference(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

CodePath CodePath::plus(std::int64_t number) const {
    CodePath sum = *this;
    sum.numbers.back() = wrapping_sum(sum.numbers.back(), number);
    return sum;
}

CodePath CodePath::word() const {
    CodePath at = *this;
    at.numbers.push_back(0);
    return at;
}

std::unique_ptr<CodeExecution> CodeExecution::of(int machine, const Text &code, std::size_t from) {
    switch (machine) {
    case EM_X86_64:
        return std::make_unique<CodeExecutionX8664>(code, from);
    case EM_AARCH64:
        return std::make_unique<CodeExecutionArm64>(code, from);
    default:
        return nullptr;
    }
}

CodeExecution::CodeExecution(const Text &code, std::size_t from, std::uint8_t stack_pointer) : code_(code), at_(from), stack_pointer_(stack_pointer) {
    for (std::uint8_t number = 0; number < registers_.size(); number++)
        registers_[number] = CodeValue{CodePath{number, {0}}};
}

std::optional<CodeExecution::Flow> CodeExecution::next() {
    const auto flow = decode();
    count_ += flow.has_value();
    return flow;
}

CodeExecution::End CodeExecution::run() {
    std::set<std::size_t> jumps;
    for (std::size_t i = 0; i < execution_max; i++) {
        const std::size_t from = at_;
        const auto flow = next();
        if (!flow)
            return End::unknown;
        if (flow == Flow::returns)
            return End::returns;
        if (flow == Flow::branches)
            jumps.clear();
        if (flow == Flow::jumps) {
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

bool CodeExecution::step() {
    if (!next())
        return false;
    execute();
    return true;
}

KnownValue CodeExecution::written(const CodePath &address) const {
    const auto found = memory_.find(address);
    return found == memory_.end() ? std::nullopt : found->second;
}

KnownValue CodeExecution::sum(const KnownValue &a, const KnownValue &b, bool is_difference) {
    if (!a || !b || b->minus)
        return std::nullopt;
    if (b->path.is_number()) {
        const std::int64_t number = b->path.numbers[0];
        return CodeValue{a->path.plus(is_difference ? wrapping_difference(0, number) : number), a->minus};
    }
    if (!is_difference)
        return a->path.is_number() && !a->minus ? KnownValue(CodeValue{b->path.plus(a->path.numbers[0])}) : std::nullopt;
    if (a->minus)
        return std::nullopt;
    // The same but for what is added last.
    CodePath same = b->path;
    same.numbers.back() = a->path.numbers.back();
    if (same == a->path)
        return number(wrapping_difference(a->path.numbers.back(), b->path.numbers.back()));
    return CodeValue{a->path, b->path};
}

KnownValue CodeExecution::load(const std::optional<CodePath> &address) const {
    if (!address)
        return std::nullopt;
    const auto known = memory_.find(*address);
    if (known != memory_.end())
        return known->second;
    return address->numbers.size() <= CodePath::most ? KnownValue(CodeValue{address->word()}) : std::nullopt;
}

void CodeExecution::store(const std::optional<CodePath> &address, const KnownValue &value) {
    if (address)
        memory_[*address] = value;
}

void CodeExecution::forget(std::span<const std::uint8_t> numbers) {
    for (const std::uint8_t number : numbers)
        registers_[number].reset();
}

} // namespace argtrace::elf
