// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "util/caret.h"
#include "util/error.h"

namespace argtrace::lang {

/// What is wrong with an expression: a sentence, and below it the text that it stands in with a
/// caret under the token.
class ExpressionError : public Error {
public:
    ExpressionError(std::string_view text, std::size_t at, std::string_view sentence)
        : Error(with_caret(text, at, sentence)), text_(text), at_(at), sentence_(sentence) {}

    const std::string &text() const { return text_; }
    std::size_t at() const { return at_; } ///< a byte of the text
    const std::string &sentence() const { return sentence_; }

private:
    std::string text_;
    std::size_t at_;
    std::string sentence_;
};

} // namespace argtrace::lang
