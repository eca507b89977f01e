// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lang/ast.h"

namespace argtrace::lang {

/// An expression with the text that it stands in, which errors show. Copies share both.
class Expression {
public:
    Expression(std::shared_ptr<const std::string> text, AstPtr root)
        : text_(std::move(text)), root_(std::move(root)) {}

    const Ast &root() const { return *root_; }
    const std::string &text() const { return *text_; } ///< all of it
    std::size_t at() const { return root_->at; }       ///< where the expression begins in it
    std::string_view written() const {                 ///< the expression alone
        return std::string_view(*text_).substr(root_->at, root_->end - root_->at);
    }

    /// The name if it is nothing but one ("count", not "(count)" or "$pid"); else empty.
    std::string_view plain_name() const;

private:
    std::shared_ptr<const std::string> text_;
    std::shared_ptr<const Ast> root_;
};

/// One of the things to be recorded: EXPR [as NAME].
struct ArgumentExpression {
    Expression expression;
    std::string name;   ///< what it is called in the output: NAME, or the expression as written
    bool named = false; ///< there is a NAME
    std::string subject = {}; ///< the parameter that `it` means, or result_name; empty: none
    bool optional = false;    ///< it is left out where a program has no room for it
    /// There is nothing at NULL, and user memory that cannot be read at the entry is read again at the return.
    bool lenient = false;
    bool is_head = false; ///< nothing is recorded of it: what stands behind it, whose names begin with its own, are its parts
    std::string type_name = {}; ///< as which it is recorded, if not by the type of the expression
    std::uint32_t empty_type = 0; ///< of a head that is all there is of a value without bytes: the number of its type in BTF
};

/// As a subject: what the function returns.
inline constexpr std::string_view result_name = "ret";

struct ParsedArguments {
    std::vector<ArgumentExpression> arguments;
    std::size_t end = 0; ///< behind the closing parenthesis
};

/// Reads "(EXPR [as NAME], ...)", which begins at byte `at` of `text` with its parenthesis.
/// Throws ExpressionError, which shows `text`.
ParsedArguments parse_arguments(const std::string &text, std::size_t at);

/// Reads "EXPR [as NAME], ..." from byte `at` of `text` to its end. Throws ExpressionError.
std::vector<ArgumentExpression> parse_values(const std::string &text, std::size_t at = 0);

/// Reads a type, all of `text`: "const struct path *". Throws ExpressionError.
TypeName parse_type(const std::string &text);

/// Reads one EXPR from byte `at` of `text` to its end. Throws ExpressionError.
Expression parse_condition(const std::string &text, std::size_t at = 0);

} // namespace argtrace::lang
