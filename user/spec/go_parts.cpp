// SPDX-License-Identifier: GPL-2.0-only
#include "spec/go_parts.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "btf/go_type_name.h"
#include "lang/check.h"
#include "lang/compile.h"
#include "lang/expression_error.h"

namespace argtrace {

namespace {

using lang::Type;
using TypeKind = lang::TypeTraits::Kind;

constexpr int depth_max = 4;              // of structs in each other
constexpr std::size_t parts_max = 40;     // of one value
constexpr std::uint32_t strings_max = 4;  // of a slice or an array; structs with strings as well

class PartCollector {
public:
    PartCollector(const lang::Scope &scope, bool follows) : scope_(scope), types_(scope.types()), follows_(follows) {}

    /// Nothing if the value has no parts.
    std::vector<lang::ArgumentExpression> run(const lang::ArgumentExpression &value) {
        const auto type = type_of(value);
        if (!type || !value.subject.empty() || !has_parts(*type))
            return {};
        const std::string_view plain = value.expression.plain_name();
        base_ = value;
        visit(plain.empty() ? fmt::format("({})", value.expression.written()) : std::string(plain), value.name, *type, 0);
        return std::move(values_);
    }

private:
    /// What has no bytes is nowhere, and has a type all the same.
    std::optional<Type> type_of(const lang::ArgumentExpression &value) const {
        const lang::Scope::Parameter *parameter = value.subject.empty() ? scope_.parameter(value.expression.plain_name()) : nullptr;
        if (parameter && types_.traits(parameter->type).bytes == 0)
            return parameter->type;
        return lang::type_of(scope_, value.expression, value.subject);
    }

    bool has_parts(Type type) const {
        const GoKind kind = types_.go_kind(type);
        const TypeKind known = types_.traits(type).kind;
        return (kind != GoKind::none && kind != GoKind::string) || (kind == GoKind::none && (known == TypeKind::aggregate || known == TypeKind::array)) ||
               is_followed(type);
    }

    /// A pointer to a struct whose members are known.
    bool is_followed(Type type) const {
        if (!follows_ || types_.go_kind(type) != GoKind::none || types_.traits(type).kind != TypeKind::pointer)
            return false;
        const Type target = types_.target(type);
        return types_.traits(target).kind == TypeKind::aggregate && types_.go_kind(target) == GoKind::none;
    }

    bool is_empty(Type type) const {
        const TypeKind kind = types_.traits(type).kind;
        return (kind == TypeKind::array && types_.count(type) == 0) || (kind == TypeKind::aggregate && types_.member_names(type).empty());
    }

    bool is_time(Type type) const { return types_.traits(type).kind == TypeKind::aggregate && types_.program_struct(type) == "time.Time"; }
    bool is_string(Type type) const { return types_.go_kind(type) == GoKind::string; }

    /// Elements that say something when they are read as they are.
    bool is_plain(Type type, int depth = 0) const {
        const TypeKind kind = types_.traits(type).kind;
        if (types_.go_kind(type) != GoKind::none || depth > depth_max || is_time(type))
            return false;
        if (kind == TypeKind::array)
            return is_plain(types_.target(type), depth + 1);
        if (kind != TypeKind::aggregate)
            return types_.traits(type).is_scalar() || types_.traits(type).is_floating();
        const auto names = types_.member_names(type);
        return !names.empty() && std::ranges::all_of(names, [&](std::string_view name) {
            const auto member = types_.member(type, name);
            return member && is_plain(member->type, depth + 1);
        });
    }

    void head(const std::string &name, Type type) {
        if (name != base_->name)
            return;
        base_->is_head = true;
        base_->type_name = go_type_name(types_.name(type));
        values_.push_back(*base_);
    }

    /// The value of a struct without members, or of an array without elements: of this one nothing is read.
    void empty(const std::string &name, Type type) {
        lang::ArgumentExpression value = *base_;
        value.name = name;
        value.is_head = true;
        value.optional = name != base_->name;
        value.type_name = go_type_name(types_.name(type));
        value.empty_type = type.id;
        values_.push_back(std::move(value));
    }

    /// A value that is read; false if it cannot be.
    bool leaf(const std::string &expression, const std::string &name, std::string type_name = {}) {
        try {
            lang::ArgumentExpression value = lang::parse_values(expression).front();
            value.name = name;
            value.named = true;
            value.optional = name != base_->name;
            value.type_name = std::move(type_name);
            (void)lang::compile(scope_, {}, {&value, 1});
            values_.push_back(std::move(value));
            return true;
        } catch (const lang::ExpressionError &) {
            return false;
        }
    }

    void leaf_or_head(const std::string &expression, const std::string &name, Type type) {
        if (!leaf(expression, name, go_type_name(types_.name(type))))
            head(name, type);
    }

    void visit(const std::string &expression, const std::string &name, Type type, int depth) {
        if (values_.size() >= parts_max || depth > depth_max)
            return;
        switch (types_.go_kind(type)) {
        case GoKind::string:
            leaf(expression, name);
            return;
        case GoKind::slice:
            visit_slice(expression, name, type);
            return;
        case GoKind::map:
        case GoKind::channel:
            leaf_or_head(expression, name, type);
            leaf(fmt::format("len({})", expression), name + ".len", "int");
            if (types_.go_kind(type) == GoKind::channel)
                leaf(fmt::format("cap({})", expression), name + ".cap", "int");
            return;
        case GoKind::interface:
            leaf_or_head(expression, name, type);
            leaf(fmt::format("type({})", expression), name + ".type");
            leaf(fmt::format("text({})", expression), name + ".text");
            return;
        case GoKind::complex64:
        case GoKind::complex128:
            head(name, type);
            leaf(fmt::format("({}).real", expression), name + ".(real)");
            leaf(fmt::format("({}).imag", expression), name + ".(imag)");
            return;
        case GoKind::none:
            break;
        }
        const TypeKind kind = types_.traits(type).kind;
        if (is_empty(type))
            empty(name, type);
        else if (kind == TypeKind::array)
            visit_array(expression, name, type, depth);
        else if (is_time(type))
            visit_time(expression, name, type);
        else if (kind == TypeKind::aggregate)
            visit_struct(expression, name, type, depth);
        else if (depth == 0 && is_followed(type))
            visit_pointer(expression, name, type);
        else if (!leaf(expression, name))
            head(name, type);
    }

    void visit_slice(const std::string &expression, const std::string &name, Type type) {
        const auto array = types_.member(type, "array");
        const Type element = array ? types_.target(array->type) : Type();
        const bool is_read = array && is_plain(element) && leaf(expression, name, go_type_name(types_.name(element)) + "[*]");
        if (!is_read)
            head(name, type);
        for (std::uint32_t i = 0; array && is_string(element) && i < strings_max; i++)
            leaf(fmt::format("element({}, {})", expression, i), fmt::format("{}.[{}]", name, i));
        for (std::uint32_t i = 0; array && !is_read && types_.traits(element).kind == TypeKind::aggregate && i < strings_max; i++)
            visit_element(expression, fmt::format("{}.[{}]", name, i), element, i);
        for (const std::string_view member : {"len", "cap", "array"})
            leaf(fmt::format("{}.{}", expression, member), fmt::format("{}.{}", name, member), member == "array" ? "unsafe.Pointer" : "int");
    }

    /// A struct in a slice, of which numbers, pointers and strings are read. Where the slice is shorter they are 0, which is no fault.
    void visit_element(const std::string &expression, const std::string &name, Type type, std::uint32_t index) {
        if (types_.go_kind(type) != GoKind::none || values_.size() >= parts_max)
            return;
        if (is_time(type)) {
            visit_time(fmt::format("({})[{}]", expression, index), name, type, fmt::format("len({}) > {}", expression, index));
            return;
        }
        for (const std::string_view member : types_.member_names(type)) {
            const auto found = types_.member(type, member);
            if (!found || member == "_")
                continue;
            const std::string part = fmt::format("{}.{}", name, member);
            const lang::TypeTraits known = types_.traits(found->type);
            const bool is_number = types_.go_kind(found->type) == GoKind::none && (known.is_scalar() || known.is_floating());
            if (is_string(found->type) || is_number)
                leaf(fmt::format("element({}, {}, {})", expression, index, member), part, is_number ? go_type_name(types_.name(found->type)) : std::string());
        }
    }

    void visit_pointer(const std::string &expression, const std::string &name, Type type) {
        const Type target = types_.target(type);
        leaf_or_head(expression, name, type);
        if (!is_time(target))
            visit_members(expression, name, target, 1);
    }

    void visit_array(const std::string &expression, const std::string &name, Type type, int depth) {
        if (is_plain(types_.target(type)) && leaf(expression, name))
            return;
        head(name, type);
        for (std::uint32_t i = 0; i < std::min(types_.count(type), is_string(types_.target(type)) ? strings_max : go_elements_max); i++)
            visit(fmt::format("{}[{}]", expression, i), fmt::format("{}.[{}]", name, i), types_.target(type), depth + 1);
    }

    void visit_struct(const std::string &expression, const std::string &name, Type type, int depth) {
        head(name, type);
        visit_members(expression, name, type, depth + 1);
    }

    void visit_members(const std::string &expression, const std::string &name, Type type, int depth) {
        for (const std::string_view member : types_.member_names(type))
            if (const auto found = types_.member(type, member); found && member != "_")
                visit(fmt::format("{}.{}", expression, member), fmt::format("{}.{}", name, member), found->type, depth);
    }

    /// `condition`: where it does not hold there is no time, and 0 is read. Go's time/time.go: bit 63 of `wall` says whether 33 bits of it are seconds since 1885, and `ext` is none since the year 1.
    void visit_time(const std::string &expression, const std::string &name, Type type, const std::string &condition = {}) {
        const std::string seconds = fmt::format("((({0}).wall >> 63) ? (long)((({0}).wall << 1) >> 31) + 59453308800 : (long)({0}).ext) - 62135596800", expression);
        const auto value = [&](std::string text) { return condition.empty() ? text : fmt::format("{} ? {} : 0", condition, text); };
        if (leaf(value(seconds), name, "time.Time"))
            leaf(value(fmt::format("(unsigned int)(({}).wall & 0x3fffffff)", expression)), name + ".nsec", "int");
        else
            head(name, type);
    }

    const lang::Scope &scope_;
    const lang::Types &types_;
    bool follows_;
    std::optional<lang::ArgumentExpression> base_;
    std::vector<lang::ArgumentExpression> values_;
};

/// An argument that cannot be recorded, as a complex number, is unknown.
lang::ArgumentExpression as_far_as_read(const lang::Scope &scope, lang::ArgumentExpression value) {
    const lang::Scope::Parameter *parameter = value.subject.empty() ? scope.parameter(value.expression.plain_name()) : nullptr;
    if (!parameter || !parameter->operand)
        return value;
    try {
        (void)lang::compile(scope, {}, {&value, 1});
    } catch (const lang::ExpressionError &) {
        value.is_head = true;
        value.type_name = go_type_name(scope.types().name(parameter->type));
    }
    return value;
}

} // namespace

std::vector<lang::ArgumentExpression> with_go_parts(const lang::Scope &scope, std::span<const lang::ArgumentExpression> values, bool follows) {
    std::vector<lang::ArgumentExpression> all;
    for (const lang::ArgumentExpression &value : values) {
        std::vector<lang::ArgumentExpression> parts = PartCollector(scope, follows).run(value);
        if (parts.empty())
            all.push_back(as_far_as_read(scope, value));
        std::ranges::move(parts, std::back_inserter(all));
    }
    return all;
}

} // namespace argtrace
