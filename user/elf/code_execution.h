// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "elf/object.h"

namespace argtrace::elf {

/// What a register had where the code is looked at, or the thread's pointer, or zero, and then: add the first number, read the word there, add the next, ...
struct CodePath {
    static constexpr std::uint8_t thread = 32, nothing = 33; ///< behind the numbers of registers
    static constexpr std::size_t most = 5;                   ///< numbers: as many words as a rule follows, and one more

    std::uint8_t base = nothing; ///< a register, by DWARF's number
    std::vector<std::int64_t> numbers = {0};

    auto operator<=>(const CodePath &) const = default;

    bool is_number() const { return base == nothing && numbers.size() == 1; }
    CodePath plus(std::int64_t number) const;
    CodePath word() const;
};

/// The end of a path, from which that of another one may be subtracted.
struct CodeValue {
    CodePath path;
    std::optional<CodePath> minus = std::nullopt;

    bool operator==(const CodeValue &) const = default;
};
using KnownValue = std::optional<CodeValue>; ///< nothing: it is not known

/// As the processor adds, and subtracts.
std::int64_t wrapping_sum(std::int64_t a, std::int64_t b);
std::int64_t wrapping_difference(std::int64_t a, std::int64_t b);

/// What the code of a function computes from one instruction on, as if no condition were true, as far as that is known.
class CodeExecution {
public:
    /// Where an object's function has its code, which must outlive this; null if the machine's code is not known.
    static std::unique_ptr<CodeExecution> of(int machine, const Text &code, std::size_t from);

    virtual ~CodeExecution() = default;
    CodeExecution(const CodeExecution &) = delete;
    CodeExecution &operator=(const CodeExecution &) = delete;

    enum class End { unknown, returns, never };

    /// How it ends: by a return, or in a loop that nothing leads out of.
    End run();

    /// One instruction, wherever it would go on.
    bool step();

    std::size_t at() const { return at_; }
    std::size_t count() const { return count_; } ///< instructions
    const KnownValue &value(std::uint8_t number) const { return registers_[number]; }
    const KnownValue &stack_pointer() const { return registers_[stack_pointer_]; }

    /// What the code has written there.
    KnownValue written(const CodePath &address) const;

    /// Where a return goes on: at an address in a register, or `words` from where the stack pointer is behind it.
    struct ReturnAddress {
        bool is_in_register;
        std::int16_t words; ///< or the register
    };
    virtual std::optional<ReturnAddress> return_address() const = 0;

    /// How many bytes a return takes from the stack.
    virtual std::int64_t popped() const = 0;

protected:
    enum class Flow { on, branches, jumps, returns };

    CodeExecution(const Text &code, std::size_t from, std::uint8_t stack_pointer);

    /// Reads the instruction at at(), and goes behind it; nothing if it is none.
    virtual std::optional<Flow> decode() = 0;
    /// Where it jumps to, in the code; nothing if that is not known.
    virtual std::optional<std::uint64_t> target() const = 0;
    virtual void execute() = 0;

    static KnownValue sum(const KnownValue &a, const KnownValue &b, bool is_difference);
    static KnownValue number(std::int64_t value) { return CodeValue{CodePath{CodePath::nothing, {value}}}; }
    KnownValue load(const std::optional<CodePath> &address) const;
    void store(const std::optional<CodePath> &address, const KnownValue &value);
    void forget(std::span<const std::uint8_t> numbers);

    static constexpr std::size_t register_count = 32;
    const Text &code_;
    std::size_t at_, count_ = 0;
    std::array<KnownValue, register_count> registers_;

private:
    std::optional<Flow> next();

    std::uint8_t stack_pointer_;
    std::map<CodePath, KnownValue> memory_;
};

} // namespace argtrace::elf
