// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "elf/object.h"

namespace argtrace::elf {

/// The functions of a Go program, by the table that its own runtime unwinds stacks with (.gopclntab), which stripping does not take
/// away: Go 1.18 and later. Nothing in it is trusted.
class GoFunctions {
public:
    /// Nothing if there is no such table.
    static std::optional<GoFunctions> read(const Object &object);

    enum class Caller {
        on_stack,
        none,        ///< stacks end here
        elsewhere,   ///< it changes to another stack, and what lies there is no return address
        saved,       ///< the same, but it returns to what its goroutine has saved
        interrupted, ///< on the stack, where a signal's handler has put the address of an instruction that does not call
        in_c         ///< on the stack, and the function saves what C preserves and Go does not
    };
    struct Function {
        std::uint64_t start, end; ///< addresses
        std::uint32_t name;       ///< where it is in names()
        Caller caller;
        bool is_assembly;         ///< written in it, and so most often called as Go's functions were before version 1.17, on the stack
        std::uint32_t sizes;      ///< for visit_sizes()
        std::uint32_t passed;     ///< bytes on the stack, above the return address, that it may use for what it takes and returns
    };
    std::size_t count() const { return count_; }
    std::optional<Function> at(std::size_t number) const;

    struct Line {
        std::string_view file; ///< in this object
        std::int64_t number;
    };
    /// That of an address in the function of that number.
    std::optional<Line> line(std::size_t number, std::uint64_t address) const;

    /// For each number, whether the compiler has made that function to call another one, as for a method of an embedded type, and it does that.
    std::vector<bool> find_wrappers() const;

    /// Texts that end with a zero byte.
    const Text &names() const { return names_; }

    /// How many bytes the function has on the stack, beside its return address, for ranges of addresses, ascending and without gaps.
    void visit_sizes(const Function &function, const std::function<void(std::uint64_t start, std::uint64_t end, std::int64_t size)> &visit) const;

private:
    struct Description;
    using Visit = std::function<void(std::uint64_t start, std::uint64_t end, std::int64_t value)>;

    std::optional<Description> describe(std::size_t number) const;
    std::uint8_t wrapper_number() const;
    bool is_made(const Description &described, std::string_view name, std::uint8_t wrapper) const;
    bool has_inlined(const Description &described) const;
    std::optional<std::int64_t> value_at(std::uint32_t table, const Description &described, std::uint64_t address) const;
    void visit_values(std::uint32_t table, std::uint64_t start, std::uint64_t end, const Visit &visit) const;

    Text content_, names_;
    std::uint64_t text_ = 0, sizes_at_ = 0, functions_at_ = 0;
    std::size_t count_ = 0, flags_at_ = 0;
    std::uint8_t least_ = 1; ///< bytes of an instruction, in which distances of code are
};

} // namespace argtrace::elf
