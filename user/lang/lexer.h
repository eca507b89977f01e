// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "lang/token.h"

namespace argtrace::lang {

/// Cuts a text into tokens as C does, one when it is asked for: what follows an expression need
/// not be one.
///
/// Numbers are decimal, 0x, 0b or octal, with u, l and ll behind them; K M G T multiply by powers
/// of 1024, and ns us ms s are times in nanoseconds. Decimal ones may have a fraction and an exponent, as 1.5 and 1e-3.
class Lexer {
public:
    /// Begins at byte `at` of `text`, which must outlive the lexer.
    explicit Lexer(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

    /// The next token; of kind `end` at the end, again and again.
    /// Throws ExpressionError for a number, character or string that is none.
    Token next();

    /// "'x'" for what stands at a byte of the text, whatever its length in UTF-8; "the end".
    std::string shown(std::size_t at) const;

private:
    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }
    Token name();
    Token number();
    bool is_floating_number() const;
    Token floating_number();
    Token quoted(char quote);
    Token punctuation();
    char escape();
    [[noreturn]] void fail(std::size_t at, std::string_view sentence) const;

    std::string_view text_;
    std::size_t at_;
};

} // namespace argtrace::lang
