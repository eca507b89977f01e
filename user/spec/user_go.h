// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "abi/go_program.h"
#include "dwarf/functions.h"
#include "elf/function_list.h"
#include "elf/object.h"

namespace argtrace {

/// The end of a symbol whose function takes its arguments where Go had them before version 1.17: what assembly is, and what it calls.
inline constexpr std::string_view go_old_convention = ".abi0";

/// The functions of an object that the Go compiler has made. Their stacks are moved while they run, so that they may be called in the middle of
/// a check of their stack twice, and an address on it must not be replaced.
class GoCode {
public:
    /// Nothing if there are none.
    static std::optional<GoCode> of(const elf::Object &object);

    /// Whether a function is Go's, and not C's in a program of both. Where nothing tells, all are.
    bool has(const elf::NamedFunction &function) const { return functions_.empty() || functions_.contains(function.address); }

    /// Whether all that it does is to call another function, whose call is one as well. A pattern does not mean these.
    bool is_wrapper(const elf::NamedFunction &function) const;

    /// Whether it is a function of another convention than Go's ("runtime.newstack.abi0"), and Go's has its name, too. A pattern means these only where it ends
    /// as they do.
    bool is_twin(const elf::NamedFunction &function) const;

    /// Where its calls begin, in bytes from its first instruction.
    std::uint32_t entry(const elf::NamedFunction &function) const;

    /// How many bytes above its return address are for what it takes and returns.
    std::optional<std::uint32_t> passed_bytes(const elf::NamedFunction &function) const;

    /// Why its calls cannot be followed; empty: they can.
    std::string_view why_not_followed(const elf::NamedFunction &function) const;

    /// Whether it is passed its arguments in registers.
    bool takes_registers(const elf::NamedFunction &function) const { return why_not_followed(function).empty(); }

private:
    explicit GoCode(const elf::Object &object) : object_(&object) {}

    struct Kind {
        bool is_assembly, is_wrapper, is_twin;
        std::uint32_t passed_bytes;
    };
    /// NULL: it is not known.
    const Kind *kind_of(const elf::NamedFunction &function) const;
    static void choose_convention(const std::vector<Kind *> &kinds);

    const elf::Object *object_;
    std::map<std::uint64_t, Kind> functions_; ///< by address. None: the program is too old to say
};

/// What is known of a program of Go, by its debug information where it has any.
GoProgram go_program(const elf::Object &object, const dwarf::Functions *described);

} // namespace argtrace
