// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace argtrace::lang {

struct Token {
    enum class Kind : std::uint8_t {
        end,
        name, ///< "count", "$pid"
        number,
        character,
        string,
        // Operators and punctuation.
        left_parenthesis,
        right_parenthesis,
        left_bracket,
        right_bracket,
        comma,
        dot,
        arrow,
        question,
        colon,
        plus,
        minus,
        star,
        slash,
        percent,
        ampersand,
        pipe,
        caret,
        tilde,
        exclamation,
        exclamation_tilde,
        shift_left,
        shift_right,
        less,
        greater,
        less_equal,
        greater_equal,
        equal,
        not_equal,
        and_and,
        or_or,
        at,
        other, ///< no part of an expression, such as '='
    };

    Kind kind = Kind::end;
    std::size_t at = 0;      ///< where it begins in the text
    std::size_t size = 0;    ///< in bytes, of the text
    std::string text;        ///< of a name; of a string what its escapes stand for
    std::uint64_t value = 0; ///< of a number; of a character, as an int that is extended
    bool is_decimal = false; ///< of a number: its type is never unsigned by itself
    bool has_u = false;      ///< of a number: suffixes
    bool has_l = false;
    bool is_floating = false; ///< of a number: it has a fraction or an exponent, and is `floating`
    double floating = 0;
};

} // namespace argtrace::lang
