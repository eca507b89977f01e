// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lang/token.h"

namespace argtrace::lang {

enum class UnaryOperator : std::uint8_t {
    dereference,
    address,
    logical_not,
    complement,
    minus,
    plus,
};

enum class BinaryOperator : std::uint8_t {
    multiply,
    divide,
    modulo,
    add,
    subtract,
    shift_left,
    shift_right,
    less,
    greater,
    less_equal,
    greater_equal,
    equal,
    not_equal,
    matches,     ///< ~, with a glob
    not_matches, ///< !~
    bit_and,
    bit_xor,
    bit_or,
    logical_and,
    logical_or,
};

/// A type as it is written: "struct sock *", "u32".
struct TypeName {
    enum class Tag : std::uint8_t { none, structure, union_, enumeration };

    Tag tag = Tag::none;
    std::string name;    ///< "unsigned long" for any spelling of it
    unsigned stars = 0;  ///< pointers to it
    enum class Whole : std::uint8_t { none, array, function };
    Whole whole = Whole::none; ///< it is what an array consists of, or what a function returns,
    unsigned outer_stars = 0;  ///< and meant are pointers to that: int (*)[4], int (*)(void)
    std::uint64_t count = 0;   ///< of the array's elements
    std::size_t at = 0;  ///< where it begins,
    std::size_t end = 0; ///< and where it ends
};

struct Ast;
using AstPtr = std::unique_ptr<const Ast>;

/// An expression as it is written.
struct Ast {
    enum class Kind : std::uint8_t {
        number,       ///< `token`; characters, too
        string,       ///< `token`
        name,         ///< `token`
        member,       ///< operands[0] . token
        arrow,        ///< operands[0] -> token
        index,        ///< operands[0] [operands[1]]
        call,         ///< token (operands...)
        unary,        ///< unary operands[0]
        binary,       ///< operands[0] binary operands[1]
        conditional,  ///< operands[0] ? operands[1] : operands[2]
        cast,         ///< (type) operands[0]
        size_of,      ///< sizeof operands[0]
        size_of_type, ///< sizeof(type)
        container_of, ///< container_of(operands[0], type, path): operands[1] is its designator
        self,         ///< in such a designator: the struct itself
        at_return,    ///< operands[0] @ret
    };

    Kind kind = Kind::number;
    Token token;         ///< the name, or the operator
    std::size_t at = 0;  ///< where the expression begins,
    std::size_t end = 0; ///< and where it ends
    UnaryOperator unary = UnaryOperator::plus;
    BinaryOperator binary = BinaryOperator::add;
    bool parenthesized = false;
    TypeName type;
    std::vector<AstPtr> operands;
};

} // namespace argtrace::lang
