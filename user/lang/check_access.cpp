// SPDX-License-Identifier: GPL-2.0-only
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/checker.h"
#include "lang/expression_error.h"
#include "lang/spaces.h"
#include "util/suggestion.h"

namespace argtrace::lang {

namespace {

constexpr std::uint64_t word_bits = 64;

} // namespace

// Whatever space its type says, a pointer that is in user memory was written by the program.
NodePtr Checker::lvalue(NodePtr address, Type type, const Ast &ast) const {
    const Space space = types_.space(address->type);
    switch (types_.traits(type).kind) {
    case TypeKind::pointer:
        return make_node(Node::Kind::load, space == Space::user ? type.in(space) : type, ast,
                         std::move(address));
    case TypeKind::array:
    case TypeKind::function:
    case TypeKind::aggregate:
        address->type = type.pointer().in(space);
        return make_node(Node::Kind::object, type, ast, std::move(address));
    case TypeKind::void_:
        fail(ast.at, "what a void * points to has no type: cast it, as in *(int *)p");
    case TypeKind::incomplete:
        fail(ast.at, explain_incomplete(type));
    case TypeKind::unknown:
        fail(ast.at,
             fmt::format("BTF describes {} in a way that this version does not know", name(type)));
    default:
        return make_node(Node::Kind::load, type, ast, std::move(address));
    }
}

// A pointer whose target is to be read; `at` is the operator.
NodePtr Checker::pointer_to_follow(NodePtr node, const Ast &ast, std::size_t at) const {
    NodePtr pointer = require_scalar(rvalue(std::move(node), ast), ast);
    const TypeTraits known = traits(*pointer);
    if (known.kind != TypeKind::pointer) {
        const bool wide = known.is_integer() && known.bytes == 8;
        fail(at, fmt::format("{} is no pointer: {}{}", written(ast), name(pointer->type),
                             wide ? "; cast it, as in (struct file *)NAME" : ""));
    }
    require_one_place(*pointer, ast, at);
    const Type target = types_.target(pointer->type);
    const TypeTraits pointed = types_.traits(target);
    if (pointed.kind == TypeKind::void_)
        fail(at, fmt::format("{} is a void *, and what it points to has no type: cast it, as in "
                             "(struct file *)NAME",
                             written(ast)));
    if (pointed.kind == TypeKind::incomplete)
        fail(at, explain_incomplete(target));
    if (pointed.kind == TypeKind::function)
        fail(at, fmt::format("{} points to a function, which is not read", written(ast)));
    return pointer;
}

NodePtr Checker::dereference(const Ast &ast) {
    const Ast &operand = *ast.operands[0];
    NodePtr pointer = pointer_to_follow(check(operand), operand, ast.token.at);
    const Type target = types_.target(pointer->type);
    return lvalue(std::move(pointer), target, ast);
}

NodePtr Checker::check_member(const Ast &ast) {
    const Ast &left = *ast.operands[0];
    NodePtr whole = check(left);
    if (whole->kind == Node::Kind::buffer || whole->kind == Node::Kind::texts)
        whole = require_scalar(std::move(whole), left);
    if (ast.kind == Ast::Kind::arrow) {
        if (whole->kind == Node::Kind::register_object ||
            traits(*whole).kind == TypeKind::aggregate)
            fail(ast.token.at, fmt::format("{} is a {}, no pointer to one: write '.'",
                                           written(left), name(whole->type)));
        NodePtr pointer = pointer_to_follow(std::move(whole), left, ast.token.at);
        const Type target = types_.target(pointer->type);
        if (types_.traits(target).kind != TypeKind::aggregate)
            fail(ast.token.at, fmt::format("{} is a {}, which has no members", written(left),
                                           name(pointer->type)));
        return member_of(make_node(Node::Kind::object, target, ast, std::move(pointer)), ast);
    }
    const TypeTraits known = traits(*whole);
    // Whether an object is passed by its value or by its address, a table of types says the same of it; and so do references and Go.
    if (known.kind == TypeKind::pointer && (is_subject(left) || is_go() || types_.is_reference(whole->type)) && !types_.program_struct(whole->type).empty()) {
        const Type target = types_.target(whole->type);
        NodePtr pointer = pointer_to_follow(std::move(whole), left, ast.token.at);
        return member_of(make_node(Node::Kind::object, target, ast, std::move(pointer)), ast);
    }
    if (known.kind == TypeKind::pointer &&
        types_.traits(types_.target(whole->type)).kind == TypeKind::aggregate)
        fail(ast.token.at, fmt::format("{} is a {}: write '->'", written(left), name(whole->type)));
    if (known.kind != TypeKind::aggregate)
        fail(ast.token.at,
             fmt::format("{} is a {}, which has no members", written(left), name(whole->type)));
    return member_of(std::move(whole), ast);
}

// The kernel's own code may name by a macro what is a member of a member, such as sk->sk_dport.
std::string Checker::suggest_member(Type aggregate, const std::string &wanted) const {
    const std::vector<std::string_view> names = types_.member_names(aggregate);
    for (const std::string_view outer : names) {
        const auto member = types_.member(aggregate, outer);
        if (member && member->bits == 0 && types_.traits(member->type).kind == TypeKind::aggregate && types_.member(member->type, wanted))
            return did_you_mean(fmt::format("{}.{}", outer, wanted));
    }
    return did_you_mean(suggest(wanted, names));
}

NodePtr Checker::member_of(NodePtr aggregate, const Ast &ast) {
    if (!is_go() || types_.member(aggregate->type, ast.token.text))
        return member_of(std::move(aggregate), ast.token.text, ast);
    return promoted_member(std::move(aggregate), ast);
}

// A member of a struct that is embedded, in Go, where pointers are followed.
NodePtr Checker::promoted_member(NodePtr aggregate, const Ast &ast) {
    const std::string &wanted = ast.token.text;
    const Types::Promotion promotion = types_.promotion(aggregate->type, wanted);
    if (!promotion.other.empty())
        fail(ast.token.at, fmt::format("{} has several {}: {}.{} and {}.{} are as deep as each other", name(aggregate->type), wanted,
                                       fmt::join(promotion.path, "."), wanted, fmt::join(promotion.other, "."), wanted));
    for (const std::string_view outer : promotion.path) {
        NodePtr inner = member_of(std::move(aggregate), outer, ast);
        if (traits(*inner).kind == TypeKind::pointer) {
            NodePtr pointer = pointer_to_follow(std::move(inner), ast, ast.token.at);
            const Type target = types_.target(pointer->type);
            inner = make_node(Node::Kind::object, target, ast, std::move(pointer));
        }
        aggregate = std::move(inner);
    }
    return member_of(std::move(aggregate), wanted, ast);
}

NodePtr Checker::member_of(NodePtr aggregate, std::string_view wanted, const Ast &ast) {
    const auto member = types_.member(aggregate->type, wanted);
    if (!member)
        fail(ast.token.at, fmt::format("{} has no {}{}", name(aggregate->type), wanted, suggest_member(aggregate->type, std::string(wanted))));
    if (aggregate->kind == Node::Kind::register_object)
        return register_part(*aggregate, aggregate->value + member->bit_offset, member->bits,
                             member->type, ast);
    NodePtr address = std::move(aggregate->operands.front());
    if (member->bits > 0)
        return bit_field(std::move(address), *member, ast);
    Type type = member->type;
    if (types_.traits(type).kind == TypeKind::pointer)
        type.space = space_of_member(types_.name(Type::btf(types_.traits(aggregate->type).bare)), wanted);
    return lvalue(make_offset(std::move(address), member->bit_offset / 8, member->type.pointer(), ast),
                  type, ast);
}

// Read with the smallest naturally aligned load that holds all of it, which does not reach beyond
// the struct; in a packed struct there may be none.
NodePtr Checker::bit_field(NodePtr address, const Types::Member &member, const Ast &ast) const {
    std::uint64_t begin = member.bit_offset / 8;
    std::uint32_t bytes = 0;
    for (std::uint32_t width = 1; width <= 8 && !bytes; width *= 2) {
        const std::uint64_t start = begin / width * width;
        if (member.bit_offset - 8 * start + member.bits <= 8 * width) {
            begin = start;
            bytes = width;
        }
    }
    if (!bytes && member.bit_offset % 8 + member.bits > word_bits)
        fail(ast.token.at,
             fmt::format("{} lies in more than eight bytes of a packed struct", ast.token.text));
    NodePtr node = make_node(Node::Kind::load, member.type, ast,
                             make_offset(std::move(address), begin, member.type.pointer(), ast));
    node->bits = member.bits;
    node->value = member.bit_offset - 8 * begin;
    node->limit = bytes ? bytes : 8;
    return node;
}

NodePtr Checker::register_part(const Node &aggregate, std::uint64_t bit, std::uint32_t bits,
                               Type type, const Ast &ast) const {
    const TypeTraits known = types_.traits(type);
    NodePtr node;
    if (known.kind == TypeKind::aggregate || known.kind == TypeKind::array) {
        node = make_node(Node::Kind::register_object, type, ast);
        node->index = aggregate.index;
        node->value = bit;
        node->parts = aggregate.parts;
        node->at_return = aggregate.at_return;
        return node;
    }
    if (aggregate.parts)
        return part_of(aggregate, bit, bits, type, ast);
    if (bit % word_bits + (bits ? bits : 8 * known.bytes) > word_bits)
        fail(ast.token.at, fmt::format("{} lies in two registers", written(ast)));
    const auto index = static_cast<std::uint8_t>(aggregate.index + bit / word_bits);
    node = make_node(Node::Kind::extract, type, ast,
                     make_source(ARGTRACE_SOURCE_REG, index, ulong_type, ast));
    node->value = bit % word_bits;
    node->bits = bits;
    return node;
}

NodePtr Checker::address_of(const Ast &ast) {
    const Ast &operand = *ast.operands[0];
    NodePtr node = check(operand);
    if (node->kind == Node::Kind::load && node->bits > 0)
        fail(ast.token.at,
             fmt::format("{} is a bit-field, which has no address", written(operand)));
    if (node->kind != Node::Kind::load && node->kind != Node::Kind::object)
        fail(ast.token.at, fmt::format("{} is not in memory: it has no address", written(operand)));
    NodePtr address = std::move(node->operands.front());
    address->type = node->type.pointer().in(types_.space(address->type));
    return address;
}

std::uint64_t Checker::size_of(Type type, const Ast &ast, std::size_t at) const {
    const TypeTraits known = types_.traits(type);
    if (types_.is_ambiguous(types_.declared_name(type)))
        fail(at, explain_incomplete(type));
    if (known.kind == TypeKind::incomplete || known.kind == TypeKind::unknown)
        fail(at, fmt::format("BTF does not say how large {} is, so that {} cannot be computed",
                             name(type), written(ast)));
    return known.bytes;
}

NodePtr Checker::scaled(NodePtr index, std::uint64_t size, const Ast &ast) const {
    index = convert(std::move(index), long_type);
    return size == 1 ? std::move(index)
                     : arithmetic(ARGTRACE_ALU_MUL, std::move(index),
                                  make_constant(size, long_type, ast), ast);
}

NodePtr Checker::check_index(const Ast &ast) {
    const Ast &left = *ast.operands[0];
    if (is_type_alone(left))
        fail(ast.token.at, fmt::format("{0} is a type, and arrays of it cannot be written; pointers can, as in ({0} *)", left.token.text));
    NodePtr index = integer(*ast.operands[1], "an index");
    NodePtr whole = check(left);
    if (const GoKind kind = types_.go_kind(whole->type); kind != GoKind::none && is_go())
        return go_element(ast, kind);
    const bool is_reference = types_.is_reference(whole->type);
    if (is_reference || traits(*whole).kind == TypeKind::aggregate)
        if (const Expression *meaning = scope_.contents_of(whole->type).elements)
            return element_meant(ast, *meaning);
    if (is_reference) {
        const Type referred = types_.target(whole->type);
        whole = lvalue(pointer_to_follow(std::move(whole), left, ast.token.at), referred, ast);
    }
    if (whole->kind == Node::Kind::register_object && traits(*whole).kind == TypeKind::array) {
        const Type type = types_.target(whole->type);
        if (!index->is_constant() || index->value >= types_.count(whole->type))
            fail(ast.token.at, "this array is in registers: its index must be a number, and within "
                               "the array");
        return register_part(*whole, whole->value + 8 * index->value * types_.traits(type).bytes, 0,
                             type, ast);
    }
    const bool has_elements =
        traits(*whole).kind == TypeKind::array || traits(*whole).kind == TypeKind::pointer;
    if (!has_elements && left.kind == Ast::Kind::index &&
        traits(*check(*left.operands[0])).kind == TypeKind::array)
        fail(ast.token.at, fmt::format("{0} is one {1}: BTF has an array of several dimensions as one "
                                       "row of elements, of which this is [i][j]: {2}[i * COLUMNS + j]",
                                       written(left), name(whole->type),
                                       written(*left.operands[0])));
    if (!has_elements)
        fail(ast.token.at, fmt::format("{} is neither an array nor a pointer: {}", written(left),
                                       name(whole->type)));
    NodePtr pointer = pointer_to_follow(std::move(whole), left, ast.token.at);
    const Type type = types_.target(pointer->type);
    return lvalue(pointer_sum(std::move(pointer), std::move(index), false, ast), type, ast);
}

// The element x[i], where the first is and how many there are. Behind the last is nothing that could be read.
NodePtr Checker::element_within(NodePtr first, NodePtr count, const Ast &ast) {
    const auto index = [&] { return convert(integer(*ast.operands[1], "an index"), ulong_type); };
    const Type pointer = first->type, element = types_.target(pointer);
    NodePtr is_there = compare(ARGTRACE_ALU_LT, false, index(), convert(std::move(count), ulong_type), ast);
    NodePtr place = pointer_sum(std::move(first), index(), false, ast);
    place->type = pointer;
    return lvalue(either(std::move(is_there), std::move(place), make_constant(0, pointer, ast), ast), element, ast);
}

// That of what holds several, as std::vector does, by what the table of types says of it.
NodePtr Checker::element_meant(const Ast &ast, const Expression &meaning) {
    const Ast &left = *ast.operands[0];
    const auto part = [&](std::size_t number) { return part_meant(left, "elements", meaning, *meaning.root().operands[number]); };
    return element_within(part(0), part(1), ast);
}

// A part of what the table of types says of the operand.
NodePtr Checker::part_meant(const Ast &operand, std::string_view what, const Expression &meaning, const Ast &part) {
    try {
        Checker checker(meaning, *this, operand);
        return checker.rvalue(checker.check(part), part);
    } catch (const ExpressionError &error) {
        fail(operand.at, fmt::format("the {} of {} cannot be read here: {}", what, written(operand), error.sentence()));
    }
}

// How many elements it has. Null: nothing says that.
NodePtr Checker::number_of_elements(Type type, const Ast &operand) {
    const Scope::Contents contents = scope_.contents_of(type);
    const Expression *const meaning = contents.size ? contents.size : contents.elements;
    if (!meaning)
        return nullptr;
    return convert(part_meant(operand, "size", *meaning, contents.size ? meaning->root() : *meaning->root().operands[1]), long_type);
}

NodePtr Checker::check_cast(const Ast &ast) {
    Type type = find_type(ast.type);
    const TypeTraits known = types_.traits(type);
    NodePtr node = scalar(*ast.operands[0]);
    if (known.kind == TypeKind::pointer && !known.is_user)
        type.space = space(*node);
    if (known.kind == TypeKind::integer && known.bytes > 8)
        fail(ast.type.at, fmt::format("{} has {} bits: there are no operators for that", name(type),
                                      8 * known.bytes));
    if (!known.is_scalar())
        fail(ast.type.at,
             fmt::format("nothing can be cast to {}; to a pointer it can, as in ({} *)", name(type),
                         name(type)));
    node->at = ast.at;
    return known.is_bool ? to_bool(std::move(node), type, ast) : convert(std::move(node), type);
}

NodePtr Checker::check_size(const Ast &ast) {
    if (ast.kind == Ast::Kind::size_of_type) {
        const Type type = find_type(ast.type);
        return make_constant(size_of(type, ast, ast.type.at), ulong_type, ast);
    }
    const Ast &operand = *ast.operands[0];
    if (operand.kind == Ast::Kind::name) {
        const std::string &word = operand.token.text;
        TypeName named;
        named.name = word;
        named.at = operand.at;
        const bool means_value =
            scope_.parameter(word) || find_builtin(word) || named_constant(types_, word);
        if (types_.find(named) && !means_value)
            return make_constant(size_of(find_type(named), ast, operand.at), ulong_type, ast);
    }
    const NodePtr node = check(operand);
    if ((node->kind == Node::Kind::load || node->kind == Node::Kind::extract) && node->bits > 0)
        fail(operand.at, "a bit-field has no size");
    if (node->kind == Node::Kind::string)
        return make_constant(node->pattern.text.size() + 1, ulong_type, ast);
    return make_constant(size_of(node->type, ast, operand.at), ulong_type, ast);
}

NodePtr Checker::check_container(const Ast &ast) {
    NodePtr pointer = scalar(*ast.operands[0]);
    if (traits(*pointer).kind != TypeKind::pointer)
        fail(ast.operands[0]->at,
             fmt::format("{} is no pointer: {}", written(*ast.operands[0]), name(pointer->type)));
    const Type type = find_type(ast.type);
    if (types_.traits(type).kind != TypeKind::aggregate)
        fail(ast.type.at, fmt::format("{} has no members", name(type)));
    const Type before = std::exchange(container_, type);
    const NodePtr member = check(*ast.operands[1]);
    container_ = before;
    const bool in_memory = member->kind == Node::Kind::load || member->kind == Node::Kind::object;
    if (!in_memory || member->bits > 0 || !member->operands.front()->is_constant())
        fail(ast.operands[1]->at, "this member has no offset that is the same for all calls");

    const Type target = types_.target(pointer->type);
    if (types_.traits(target).kind != TypeKind::void_ && !types_.same(target, member->type))
        fail(ast.operands[0]->at,
             fmt::format("{} is a {}, and that member is a {}", written(*ast.operands[0]),
                         name(pointer->type), name(member->type)));
    return make_offset(std::move(pointer), 0 - member->operands.front()->value, type.pointer(),
                       ast);
}

} // namespace argtrace::lang
