// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/parser.h"
#include "lang/scope.h"

namespace argtrace {

/// The table that comes with the tool, in the form of Meanings::add(); see meanings.table.
extern const std::string_view shipped_meanings;

/// The paths of the tables that users write, of types and of calls (spec/calls.h); the first wins.
std::vector<std::string> user_tables();

/// What arguments mean, by their types: expressions in which `it` is the argument.
class Meanings {
public:
    struct Row {
        std::string type; ///< as prototypes have it: "struct file *"; of a program, with `*` for any characters: "std::vector<*>"
        bool of_program = false; ///< a struct, class or union of a program, which an argument is or points to
        std::vector<lang::ArgumentExpression> values;
        std::string source; ///< "FILE:LINE"
        bool shipped = false;
    };

    /// The user's own tables and the one that comes with the tool. A sentence for each line that is
    /// wrong is added to `wrong`.
    static Meanings load(std::vector<std::string> &wrong);

    /// The same, loaded once, without a word about lines that are wrong.
    static Meanings &shared();

    /// Adds the lines of a table: TYPE: EXPR [as NAME], ..., or with `program` before it. `source` is its name in errors. Where a
    /// type has several lines the first that can be resolved is taken.
    void add(std::string_view text, const std::string &source, std::vector<std::string> &wrong, bool shipped = false);

    const std::vector<Row> &rows() const { return rows_; }

    /// What that parameter of the scope means: values of which it is the subject; empty where its
    /// type has no meaning.
    std::vector<lang::ArgumentExpression> of(const lang::Scope &scope, std::uint32_t parameter);

    /// The same of what a user function returns, by the type that its prototype has.
    std::vector<lang::ArgumentExpression> of_result(const lang::Scope &scope, const std::string &type);

    /// What a struct of the program, or what points to one, holds: its text is the first value that it means, if that is one, its elements the same if
    /// that is text(FIRST, COUNT, MAX) or array(FIRST, COUNT, MAX), and its size a value of one of the names `size`, `len` and `n`.
    const lang::Scope::Contents &contents_of(const lang::Types &types, lang::Type type);

    /// Whether there is a line for that struct of the program.
    bool has_line(const lang::Types &types, lang::Type type) const;

    /// A sentence for each type asked for of which the user's own tables have a line, but none that can be resolved. What is shipped
    /// has lines for several versions of the kernel.
    const std::vector<std::string> &unresolved() const { return unresolved_; }

private:
    std::vector<lang::ArgumentExpression> values_meant(const lang::Scope &scope, const std::string &type_name, lang::Type type, std::string_view subject);
    const Row *find(const lang::Types &types, const std::string &name, lang::Type type);
    /// Those of a program's struct of that name, as numbers in rows_.
    std::vector<std::size_t> rows_of_program(std::string_view name) const;
    template<typename Rows> const Row *first_resolved(const lang::Types &types, lang::Type type, const Rows &rows);

    std::vector<Row> rows_;
    std::vector<std::size_t> of_programs_; // in rows_, in their order
    std::multimap<std::string, std::size_t> by_type_; // in rows_, in their order
    std::map<std::pair<const lang::Types *, std::string>, const Row *> known_;
    std::map<std::pair<const lang::Types *, std::string>, lang::Scope::Contents> contents_; // by the struct's name
    std::vector<std::string> unresolved_;
};

/// Throws lang::ExpressionError if not all values of the row can be resolved for an argument of that
/// type.
void check_meaning(const lang::Types &types, lang::Type type, const Meanings::Row &row);

/// The same of the type that the row is of.
void check_meaning(const lang::Types &types, const Meanings::Row &row);

} // namespace argtrace
