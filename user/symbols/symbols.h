// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/code_object.h"
#include "model/code_place.h"
#include "model/source_frame.h"

namespace argtrace {

struct Symbol {
    std::uint64_t addr = 0;
    std::string_view name;   ///< owned by the Symbols it came from
    std::string_view module; ///< empty for the kernel itself
    std::uint64_t size = 0;  ///< bytes; 0 where that is not known

    bool operator==(const Symbol &) const = default;
};

/// The stack of a call.
struct Stack {
    std::span<const std::uint64_t> addresses;     ///< innermost first; owned by the Symbols it came from, or in the room that these were given
    bool cut = false;                             ///< there were more
    CodeSpace space = CodeSpace::kernel;          ///< of all addresses
    std::span<const std::uint32_t> numbers = {};  ///< small ones of the places, one for each; empty: the Symbols have none
    std::uint64_t id = 0;                         ///< the number that all stacks of these addresses share; 0: the one that was asked for
    bool pending = false;                         ///< it is incomplete, and may be complete later
};

/// Where a stack is put that is kept in another form; used again and again.
struct StackRoom {
    std::vector<std::uint64_t> addresses;
    std::vector<std::uint32_t> numbers;
};

/// A source of symbols: the running kernel, or a file.
class Symbols {
public:
    virtual ~Symbols() = default;

    /// The symbol that contains the place, if any.
    virtual std::optional<Symbol> find(CodePlace place) const = 0;

    /// The same of an address of the kernel.
    std::optional<Symbol> at(std::uint64_t address) const { return find(kernel_place(address)); }

    /// The stack of that number, as values of ARGTRACE_TYPE_STACK have it, if it is known. It is valid until the room is used again.
    virtual std::optional<Stack> stack(std::uint64_t /*id*/, StackRoom & /*room*/) const { return std::nullopt; }

    /// Whether stacks of user code that have different numbers may be of the same addresses: see Stack::id.
    virtual bool has_stacks_alike() const { return true; }

    /// What is at a place in user code by its debug information: the innermost inlined function first, and last the function that has
    /// the code. Files and lines are there if the source of symbols is to tell them. Empty where nothing is known.
    virtual std::vector<SourceFrame> source(CodePlace /*place*/) const { return {}; }

    /// The object of that number, which frames of user code refer to (model/user_frame.h).
    virtual std::optional<CodeObject> object(std::uint32_t /*number*/) const { return std::nullopt; }
};

} // namespace argtrace
