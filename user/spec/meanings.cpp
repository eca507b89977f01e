// SPDX-License-Identifier: GPL-2.0-only
#include "spec/meanings.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

#include "lang/check.h"
#include "lang/compile.h"
#include "lang/expression_error.h"
#include "lang/spaces.h"
#include "spec/calls.h"
#include "util/file.h"
#include "util/glob.h"
#include "util/lines.h"

namespace argtrace {

namespace {

constexpr const char *system_table = "/etc/argtrace/types";

std::string user_table() {
    if (const char *config = std::getenv("XDG_CONFIG_HOME"); config && *config)
        return fmt::format("{}/argtrace/types", config);
    const char *home = std::getenv("HOME");
    return fmt::format("{}/.config/argtrace/types", home ? home : "");
}

// What a value is called that has no name: by the member that it ends in.
std::string name_of(const lang::Ast &ast) {
    switch (ast.kind) {
    case lang::Ast::Kind::member:
    case lang::Ast::Kind::arrow:
        return ast.token.text;
    case lang::Ast::Kind::index:
    case lang::Ast::Kind::cast:
        return name_of(*ast.operands.front());
    case lang::Ast::Kind::call:
        if (ast.token.text == "path" || ast.token.text == "flags" || ast.operands.empty())
            return ast.token.text;
        return name_of(*ast.operands.front());
    default:
        return "value";
    }
}

// A type as a prototype has it.
std::string canonical(std::string_view text) {
    const lang::TypeName type = lang::parse_type(std::string(text));
    using Tag = lang::TypeName::Tag;
    return fmt::format("{}{}{}{}{}", text.starts_with("const ") ? "const " : "",
                       type.tag == Tag::structure     ? "struct "
                       : type.tag == Tag::union_      ? "union "
                       : type.tag == Tag::enumeration ? "enum "
                                                      : "",
                       type.name, type.stars > 0 ? " " : "", std::string(type.stars, '*'));
}

constexpr std::string_view program_word = "program ";

// The colon behind the type, of which "::" is none.
std::size_t find_colon(std::string_view line) {
    for (std::size_t at = line.find(':'); at != line.npos; at = line.find(':', at + 2))
        if (!line.substr(at).starts_with("::"))
            return at;
    return line.npos;
}

// What stands before the colon. The errors show the line.
std::string type_of(std::string_view line, std::size_t colon) {
    const std::string_view written = without_blanks(line.substr(0, colon));
    if (written.empty())
        throw lang::ExpressionError(line, colon, "a type is missing before ':'");
    try {
        return canonical(written);
    } catch (const lang::ExpressionError &error) {
        throw lang::ExpressionError(line, line.find(written) + error.at(), error.sentence());
    }
}

// What stands behind it.
std::vector<lang::ArgumentExpression> values_of(std::string_view line, std::size_t begin) {
    std::vector<lang::ArgumentExpression> values = lang::parse_values(std::string(line), begin);
    for (auto value = values.begin(); value != values.end(); ++value) {
        if (!value->named)
            value->name = name_of(value->expression.root());
        if (std::any_of(values.begin(), value, [&](const auto &other) { return other.name == value->name; }))
            throw lang::ExpressionError(line, value->expression.at(),
                                        fmt::format("two values have the name {}: give this one another with 'as NAME'", value->name));
    }
    return values;
}

// "struct path *" for "const struct path *".
std::string without_const(std::string name) {
    for (std::size_t at; (at = name.find("const ")) != name.npos;)
        name.erase(at, 6);
    return name;
}

} // namespace

std::vector<std::string> user_tables() {
    return {user_table(), system_table};
}

void Meanings::add(std::string_view text, const std::string &source, std::vector<std::string> &wrong, bool shipped) {
    std::size_t number = 0;
    for_each_line(text, [&](std::string_view line) {
        ++number;
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        if (without_blanks(line).empty() || without_blanks(line).front() == '#' || Calls::is_line(line))
            return;
        const std::string place = fmt::format("{}:{}", source, number);
        const std::size_t colon = find_colon(line);
        if (colon == line.npos) {
            wrong.push_back(place + ": a line is TYPE: EXPR [as NAME], ..., as in 'struct file *: "
                                    "path(it)'");
            return;
        }
        Row row{{}, false, {}, place, shipped};
        const std::string_view written = without_blanks(line.substr(0, colon));
        row.of_program = written.starts_with(program_word);
        try {
            row.type = row.of_program ? std::string(without_blanks(written.substr(program_word.size()))) : type_of(line, colon);
            if (!without_blanks(line.substr(colon + 1)).empty())
                row.values = values_of(line, colon + 1);
        } catch (const lang::ExpressionError &error) {
            wrong.push_back(fmt::format("{}: {}", place, error.what()));
            return;
        }
        if (row.of_program)
            of_programs_.push_back(rows_.size());
        else
            by_type_.emplace(row.type, rows_.size());
        rows_.push_back(std::move(row));
    });
}

Meanings Meanings::load(std::vector<std::string> &wrong) {
    Meanings meanings;
    for (const std::string &path : user_tables()) {
        try {
            const Text text = read_file(path);
            meanings.add(view(text), path, wrong);
        } catch (const std::system_error &error) {
            if (error.code() != std::errc::no_such_file_or_directory)
                wrong.push_back(
                    fmt::format("{}: cannot be read: {}", path, error.code().message()));
        }
    }
    meanings.add(shipped_meanings, "the table of types", wrong, true);
    return meanings;
}

std::vector<lang::ArgumentExpression> Meanings::of(const lang::Scope &scope,
                                                   std::uint32_t parameter) {
    const lang::Scope::Parameter &argument = scope.parameters().at(parameter);
    if (argument.place.loc == ARGTRACE_LOC_NONE && !argument.operand)
        return {};
    return values_meant(scope, argument.place.type_name, argument.type, argument.place.name);
}

std::vector<lang::ArgumentExpression> Meanings::of_result(const lang::Scope &scope, const std::string &type) {
    if (scope.kind() != user_kind || !scope.result())
        return {};
    lang::Type known = *scope.result();
    if (scope.is_result_in_memory())
        known = known.pointer().in(lang::Space::user);
    else if (scope.types().traits(known).kind == lang::TypeTraits::Kind::pointer)
        known = known.in(lang::Space::user);
    // An argument may be room to write to; what is returned has been written.
    return values_meant(scope, type == "char *" ? "const char *" : type, known, lang::result_name);
}

std::vector<lang::ArgumentExpression> Meanings::values_meant(const lang::Scope &scope, const std::string &type_name, lang::Type type, std::string_view subject) {
    const Row *row = find(scope.types(), type_name, type);
    if (!row)
        return {};
    std::vector<lang::ArgumentExpression> values = row->values;
    for (lang::ArgumentExpression &value : values)
        value.subject = subject;
    return values;
}

const Meanings::Row *Meanings::find(const lang::Types &types, const std::string &name,
                                    lang::Type type) {
    // What cannot be done with user memory is no meaning of a pointer to it.
    const bool user = types.space(type) == lang::Space::user;
    const auto [known, added] = known_.try_emplace({&types, user ? lang::with_user_mark(name) : name}, nullptr);
    if (!added)
        return known->second;
    auto range = by_type_.equal_range(name);
    if (range.first == range.second)
        range = by_type_.equal_range(without_const(name));
    std::vector<std::size_t> rows;
    for (auto it = range.first; it != range.second; ++it)
        rows.push_back(it->second);
    if (const std::string_view whole = types.program_struct(type); rows.empty() && !whole.empty())
        rows = rows_of_program(whole);
    return known->second = first_resolved(types, type, rows);
}

template<typename Rows> const Meanings::Row *Meanings::first_resolved(const lang::Types &types, lang::Type type, const Rows &rows) {
    const Row *found = nullptr;
    std::string of_users;
    for (auto number = rows.begin(); number != rows.end() && !found; ++number) {
        const Row &row = rows_[*number];
        try {
            check_meaning(types, type, row);
            found = &row;
        } catch (const lang::ExpressionError &error) { // of another version of the kernel, or of the library
            if (of_users.empty() && !row.shipped)
                of_users = fmt::format("{}: {}", row.source, error.what());
        }
    }
    if (!of_users.empty() && (!found || found->shipped))
        unresolved_.push_back(std::move(of_users));
    return found;
}

const lang::Scope::Contents &Meanings::contents_of(const lang::Types &types, lang::Type type) {
    const std::string_view whole = types.program_struct(type);
    const auto [known, added] = contents_.try_emplace({&types, std::string(whole)});
    if (!added)
        return known->second;
    // The same of what is in memory and in registers.
    const bool is_pointer = types.traits(type).kind == lang::TypeTraits::Kind::pointer;
    const lang::Type pointer = is_pointer ? type : type.pointer().in(lang::Space::user);
    for (const std::size_t number : rows_of_program(whole)) {
        const Row &row = rows_[number];
        if (row.values.empty())
            continue;
        try {
            const lang::NodePtr node = lang::check_value(lang::Scope(types, "it", pointer), row.values.front().expression, "it");
            const lang::Expression *const expression = &row.values.front().expression;
            const bool is_counted = node->kind == lang::Node::Kind::buffer && node->type == lang::char_type.pointer();
            if (is_counted || node->kind == lang::Node::Kind::text)
                known->second.text = expression;
            const lang::Ast &root = expression->root();
            if (root.kind == lang::Ast::Kind::call && (root.token.text == "array" || root.token.text == "text"))
                known->second.elements = expression;
            for (const lang::ArgumentExpression &value : row.values)
                if (value.name == "size" || value.name == "len" || value.name == "n")
                    known->second.size = &value.expression;
            break; // it means something else
        } catch (const lang::ExpressionError &) {
        }
    }
    return known->second;
}

std::vector<std::size_t> Meanings::rows_of_program(std::string_view name) const {
    std::vector<std::size_t> rows;
    std::ranges::copy_if(of_programs_, std::back_inserter(rows), [&](std::size_t row) { return glob_matches(rows_[row].type, name); });
    return rows;
}

bool Meanings::has_line(const lang::Types &types, lang::Type type) const {
    return !rows_of_program(types.program_struct(type)).empty();
}

Meanings &Meanings::shared() {
    static Meanings meanings = [] {
        std::vector<std::string> said_by_others;
        return load(said_by_others);
    }();
    return meanings;
}

void check_meaning(const lang::Types &types, lang::Type type, const Meanings::Row &row) {
    std::vector<lang::ArgumentExpression> values = row.values;
    for (lang::ArgumentExpression &value : values)
        value.subject = "it";
    (void)lang::compile(lang::Scope(types, "it", type), {}, values);
}

void check_meaning(const lang::Types &types, const Meanings::Row &row) {
    const lang::TypeName name = lang::parse_type(row.type);
    const auto type = types.find(name);
    if (!type)
        throw lang::ExpressionError(row.type, 0, "the kernel itself has no such type");
    if (types.is_ambiguous(name))
        throw lang::ExpressionError(row.type, 0, "the kernel has different types of that name");
    check_meaning(types, *type, row);
}

} // namespace argtrace
