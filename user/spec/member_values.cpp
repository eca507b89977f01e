// SPDX-License-Identifier: GPL-2.0-only
#include "spec/member_values.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "lang/compile.h"
#include "lang/expression_error.h"

namespace argtrace {

namespace {

using lang::Type;
using TypeKind = lang::TypeTraits::Kind;

constexpr std::size_t members_max = 8;    // of one parameter
constexpr int depth_max = 2;              // of structs in each other
constexpr std::uint64_t bytes_max = 64;   // of a struct or an array that is shown whole
constexpr unsigned text_bytes_max = 64;   // as meanings.table has it of an argument

/// What a standard library keeps in its own classes says nothing, but of those whose members are what they are used by.
bool is_of_library(std::string_view name) {
    for (const std::string_view open : {"std::pair<", "std::__1::pair<", "std::array<", "std::__1::array<"})
        if (name.starts_with(open))
            return false;
    return name.starts_with("std::") || name.starts_with("__gnu_cxx::") || name.starts_with("core::") || name.starts_with("alloc::");
}

/// Whether its members are shown.
bool is_open(const lang::Types &types, const Meanings &meanings, Type type) {
    return !meanings.has_line(types, type) && !is_of_library(types.program_struct(type));
}

class MemberCollector {
public:
    MemberCollector(const lang::Scope &scope, Meanings &meanings) : scope_(scope), types_(scope.types()), meanings_(meanings) {}

    std::vector<lang::ArgumentExpression> run(const lang::Scope::Parameter &parameter, const std::string &name) {
        visit_members(parameter.place.name + (types_.is_reference(parameter.type) ? "." : "->"), name, types_.target(parameter.type), 0);
        return std::move(values_);
    }

private:
    /// Numbers, pointers and arrays and structs of these, which say something as they are.
    bool is_plain(Type type, int depth = 0) const {
        const lang::TypeTraits known = types_.traits(type);
        if (known.kind == TypeKind::array)
            return depth <= depth_max && is_plain(types_.target(type), depth + 1);
        if (known.kind != TypeKind::aggregate)
            return known.is_scalar() || known.is_floating();
        const auto names = types_.member_names(type);
        return depth <= depth_max && is_open(types_, meanings_, type) && !names.empty() && std::ranges::all_of(names, [&](std::string_view name) {
            const auto member = types_.member(type, name);
            return member && is_plain(member->type, depth + 1);
        });
    }

    /// What a function only reads; other pointers to characters may lead to room that has not been written.
    bool is_text(Type type) const { return types_.traits(type).kind == TypeKind::pointer && types_.name(types_.target(type)) == "const char"; }

    void visit_members(const std::string &prefix, const std::string &name, Type type, int depth) {
        for (const std::string_view member : types_.member_names(type))
            if (const auto found = types_.member(type, member))
                visit(prefix + std::string(member), fmt::format("{}.{}", name, member), found->type, depth);
    }

    void visit(const std::string &expression, const std::string &name, Type type, int depth) {
        const lang::TypeTraits known = types_.traits(type);
        if (known.kind != TypeKind::aggregate && known.kind != TypeKind::array)
            return leaf(expression, name, is_text(type) ? fmt::format("str({}, {})", expression, text_bytes_max) : "");
        const lang::Scope::Contents contents = known.kind == TypeKind::aggregate ? meanings_.contents_of(types_, type) : lang::Scope::Contents();
        if (contents.text)
            leaf(expression, name);
        else if (contents.size || contents.elements)
            leaf(fmt::format("len({})", expression), name + ".size");
        else if (is_plain(type) && known.bytes <= bytes_max)
            leaf(expression, name);
        else if (known.kind == TypeKind::aggregate && depth < depth_max && is_open(types_, meanings_, type))
            visit_members(expression + '.', name, type, depth + 1);
    }

    /// A member, and the text behind it, if there is one: where that cannot be read, it is the address that is shown.
    void leaf(const std::string &expression, const std::string &name, const std::string &text = "") {
        if (members_ < members_max && add(expression, name)) {
            ++members_;
            if (!text.empty())
                add(text, name + ".value");
        }
    }

    /// A value that is read, if it can be.
    bool add(const std::string &expression, const std::string &name) {
        try {
            lang::ArgumentExpression value = lang::parse_values(expression).front();
            value.name = name;
            value.named = true;
            value.optional = true;
            (void)lang::compile(scope_, {}, {&value, 1});
            values_.push_back(std::move(value));
            return true;
        } catch (const lang::ExpressionError &) {
            return false; // a member without a name of its own, or one that lies in no memory
        }
    }

    const lang::Scope &scope_;
    const lang::Types &types_;
    Meanings &meanings_;
    std::vector<lang::ArgumentExpression> values_;
    std::size_t members_ = 0;
};

} // namespace

std::vector<lang::ArgumentExpression> member_values(const lang::Scope &scope, Meanings &meanings, std::uint32_t parameter, const std::string &name) {
    const lang::Scope::Parameter &known = scope.parameters().at(parameter);
    const lang::Types &types = scope.types();
    const bool is_there = known.place.loc != ARGTRACE_LOC_NONE || known.operand;
    if (!is_there || types.traits(known.type).kind != TypeKind::pointer || types.program_struct(known.type).empty() || !is_open(types, meanings, known.type))
        return {};
    return MemberCollector(scope, meanings).run(known, name);
}

} // namespace argtrace
