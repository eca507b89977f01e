// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "uapi/argtrace.h"

struct btf;

namespace argtrace {

/// In what kind of register eight bytes of a value are passed (System V x86-64 psABI, 3.2.3).
enum class WordClass : std::uint8_t {
    unsaid, ///< BTF does not tell
    none,   ///< nothing is in them
    integer,
    vector,      ///< SSE
    vector_more, ///< the upper part of what is in the register of the word before
    x87,         ///< passed in memory, returned in a register of its own
    memory,
};

/// A floating-point number or a vector, or an aggregate of up to four that are alike, of which each is in a register of its own (AAPCS64, 5.9.5).
struct Homogeneous {
    std::uint8_t count = 0; ///< 0: it is something else
    std::uint8_t bytes = 0; ///< of each

    bool operator==(const Homogeneous &) const = default;
};

/// What a value of a type is to the machine: the type behind its typedefs and qualifiers.
struct Shape {
    enum class Kind {
        nothing, ///< void
        pointer, ///< and arrays and functions given as parameters, which decay to one
        integer,
        enumeration,
        floating,
        aggregate, ///< struct or union
        unknown,   ///< a kind of BTF that this version does not know, or broken BTF
    };

    Kind kind = Kind::unknown;
    std::uint32_t bytes = 0;
    bool is_signed = false; ///< integer and enumeration
    bool is_bool = false;   ///< integer: _Bool
    bool is_char = false;   ///< integer: plain char, neither signed char nor unsigned char
    bool unaligned = false; ///< aggregate: a member does not lie at its natural alignment
    bool has_float = false; ///< aggregate: a member is a floating-point number
    /// Aggregate: a word of it holds no member (it is padding, or an unnamed bit-field), or
    /// only later elements of an array in it are unaligned, which compilers take differently.
    bool ambiguous = false;
    /// Aggregate: a class that is passed and returned by its address, whatever its size, as copying or destroying one calls a function.
    bool by_address = false;
    /// Aggregates and floating-point numbers, where more is known than BTF says: the classes of the first two words. One that is in memory has `memory`
    /// in the first.
    std::array<WordClass, 2> words = {};
    std::optional<Homogeneous> homogeneous = {}; ///< the same; BTF does not tell
    bool is_word_aligned = false;                ///< aggregate: nothing in it is known to be aligned to more than a word; BTF does not tell

    bool operator==(const Shape &) const = default;
};

/// What a register has of a value in several: of Go's, a number or a pointer.
struct RegisterPart {
    std::uint32_t offset = 0, bytes = 8; ///< in the value
    bool is_floating = false;
    std::uint8_t index = 0; ///< the register that it is in: of ARGTRACE_SOURCE_REG, or the number of one for floating-point numbers (SOURCE_VECTOR)

    bool operator==(const RegisterPart &) const = default;
};

/// Appends what a register for floating-point numbers has of a value, up to 16 bytes.
inline void add_vector(std::vector<RegisterPart> &parts, std::uint32_t offset, std::uint32_t bytes, unsigned number) {
    constexpr std::uint32_t half = 8;
    parts.push_back({offset, std::min(half, bytes), true, static_cast<std::uint8_t>(number)});
    if (bytes > half)
        parts.push_back({offset + half, bytes - half, true, static_cast<std::uint8_t>(ARGTRACE_VECTOR_UPPER + number)});
}

/// Where a parameter is when its function is entered, if something else than the calling convention says so: the first of the registers
/// that pass arguments, in memory whose address one of these has, in one for floating-point numbers, so many bytes above the stack pointer,
/// in several that need not follow each other, or nowhere.
struct EntryRegister {
    std::optional<std::uint8_t> index = {};
    std::optional<std::uint8_t> address = {};
    std::optional<std::uint8_t> vector = {};
    std::optional<std::uint32_t> stack = {};
    std::vector<RegisterPart> parts = {};

    bool operator==(const EntryRegister &) const = default;
};

/// All of a value's, in the order of their places in it. Nothing: it is on the stack.
using GoParts = std::optional<std::vector<RegisterPart>>;

/// An argument of a function of Go, or what it returns.
struct GoValue {
    bool is_known = false; ///< its type is
    bool is_by_rules = false; ///< where it is when the function is entered is what the convention says, and not DWARF
    std::uint32_t bytes = 0, alignment = 1;
    std::string result_name = {}; ///< of what is returned: what the source calls it; empty: it does not, or it is a word of expressions
    GoParts parts = {};
    /// DWARF's numbers of the registers that it is in when the function is entered, one for each part. Nothing: DWARF does not say so.
    std::optional<std::vector<unsigned>> at_entry = {};
    /// Where DWARF has it in the frame of the caller, in bytes above the stack pointer that the function is entered with. What is passed in
    /// registers may be written there later.
    std::optional<std::uint32_t> on_stack = {};

    bool operator==(const GoValue &) const = default;
};

/// Where a variable is at an instruction in the midst of its function. Registers have DWARF's numbers.
struct VariablePlace {
    enum class Kind : std::uint8_t {
        nowhere,   ///< it has been optimised away there, or is where argtrace does not read it
        constant,  ///< it is `number`
        registers, ///< in the pieces
        memory,    ///< at `base` + `number`
        sum,       ///< it is `base` + `number`
        from_here, ///< in memory `number` bytes behind the instruction
    };
    struct Piece {
        unsigned number = 0;
        std::uint32_t bytes = 0; ///< 0: all of it is there

        bool operator==(const Piece &) const = default;
    };

    Kind kind = Kind::nowhere;
    unsigned base = 0;
    std::int64_t number = 0;
    std::vector<Piece> pieces = {};
    bool is_array = false;

    bool operator==(const VariablePlace &) const = default;
};

struct Parameter {
    std::string name; ///< "count"; unnamed ones are "arg0", "arg1" ...
    std::string type; ///< "size_t", "struct file *", "int (*)(void *)"
    Shape shape;
    std::optional<EntryRegister> place = {}; ///< nothing: as the calling convention has it
    std::optional<GoValue> go = {};          ///< of a function of Go
    std::optional<VariablePlace> variable = {}; ///< of a line of source: it is a variable or parameter there, not passed
    bool is_unasked = false;                    ///< it is recorded only where it is named

    bool operator==(const Parameter &) const = default;
};

/// Where BTF says it: a type of an object that lives as long as its KernelTypes. Of no account
/// when prototypes are compared.
struct TypeSource {
    const btf *types = nullptr;
    std::uint32_t id = 0;

    bool operator==(const TypeSource &) const { return true; }
};

/// What BTF says of a function.
struct Prototype {
    std::string function;
    std::string result; ///< its return type as C writes it
    Shape result_shape;
    std::vector<Parameter> parameters;
    /// Parameters before these, which are passed and described by BTF, but are nothing of the caller's:
    /// the data of a tracepoint's function, a pointer.
    std::uint32_t hidden = 0;
    std::uint32_t results = 0; ///< so many of the parameters, the last ones, are what a function of Go returns
    bool variadic = false; ///< "..." follows the parameters
    bool is_result_left_out = false; ///< the compiler has it return nothing, as nobody looks at that
    std::string text;      ///< "ssize_t vfs_read(struct file *file, char *buf, ...)" on one line
    TypeSource source;

    bool operator==(const Prototype &) const = default;
};

} // namespace argtrace
