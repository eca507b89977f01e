// SPDX-License-Identifier: GPL-2.0-only
// Values of Go: strings, slices, maps, channels and interfaces, whose members are those that Go's runtime gives them.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "lang/checker.h"
#include "lang/expression_error.h"

namespace argtrace::lang {

namespace {

constexpr std::uint32_t type_name_max = 96;   // less than 128, see call_type()
constexpr Type byte_type = Type::of(Type::Basic::uchar);

/// Go's src/internal/abi/type.go: what the name of a type begins with '*' for, though it is no pointer.
constexpr std::uint64_t has_extra_star = 2;

} // namespace

// The number of the goroutine that the thread works for; 0 where it schedules them.
NodePtr Checker::goroutine_of_thread(const Ast &ast) {
    const GoProgram &program = *scope_.goroutines_of();
    const GoThread &thread = *program.thread;
    const Type pointer = ulong_type.pointer().in(Space::user);
    const auto load = [&](NodePtr from, std::uint64_t offset) {
        return make_node(Node::Kind::load, ulong_type, ast, make_offset(convert(std::move(from), pointer), offset, pointer, ast));
    };
    const auto current = [&] {
        NodePtr pointer = meant(thread.pointer, "goid is", ast);
        return thread.current ? load(std::move(pointer), static_cast<std::uint64_t>(*thread.current)) : std::move(pointer);
    };
    const auto m = [&] { return load(current(), thread.m); };
    const auto served = [&] { return load(m(), thread.curg); };
    const auto is_any = [&](NodePtr number) { return compare(ARGTRACE_ALU_EQ, true, std::move(number), make_constant(0, ulong_type, ast), ast); };
    NodePtr others = either(is_any(served()), load(served(), *program.goroutine_id), make_constant(0, ulong_type, ast), ast);
    NodePtr number = either(is_any(load(current(), *program.goroutine_id)), load(current(), *program.goroutine_id), std::move(others), ast);
    if (thread.current)
        return number;
    NodePtr is_goroutine = compare(ARGTRACE_ALU_EQ, false, load(load(m(), thread.g0), thread.m), m(), ast);
    return either(std::move(is_goroutine), std::move(number), make_constant(0, ulong_type, ast), ast);
}

// The number of the goroutine that runs, which R14 leads to.
NodePtr Checker::goroutine_id(const Ast &ast) {
    if (scope_.goroutines_of() && !is_go())
        return goroutine_of_thread(ast);
    if (scope_.kind().number != ARGTRACE_KIND_USER)
        fail(ast.at, fmt::format("goid is known of functions of Go, and {} is a {}", scope_.function(), scope_.kind().noun));
    if (!is_go())
        fail(ast.at, fmt::format("goid is known of functions of Go, and {} is none, or has no goroutine in the register that they have it in", scope_.function()));
    const GoProgram &program = *scope_.go().program;
    if (!program.goroutine_id)
        fail(ast.at, fmt::format("goid is not known in {}: {}", scope_.function(), program.why_no_id));
    const Type pointer = ulong_type.pointer().in(Space::user);
    NodePtr goroutine = register_value(native_user_registers().goroutine, pointer, ast);
    return make_node(Node::Kind::load, ulong_type, ast, make_offset(std::move(goroutine), *program.goroutine_id, pointer, ast));
}

// Where the goroutine that runs was begun.
NodePtr Checker::goroutine_beginning(const Ast &ast) {
    if (scope_.kind().number != ARGTRACE_KIND_USER || !is_go())
        fail(ast.at, fmt::format("created_by is known of functions of Go, and {} is none, or has no goroutine in the register that they have it in", scope_.function()));
    const GoProgram &program = *scope_.go().program;
    const auto type = program.beginning ? types_.find({TypeName::Tag::enumeration, go_beginning_type}) : std::nullopt;
    if (!type)
        fail(ast.at, fmt::format("created_by is not known in {}: {}", scope_.function(),
                                 program.is_movable ? "the program may be loaded at any address" : "it has no debug information"));
    const Type pointer = type->pointer().in(Space::user);
    NodePtr goroutine = register_value(native_user_registers().goroutine, ulong_type, ast);
    return make_node(Node::Kind::load, *type, ast, make_offset(convert(std::move(goroutine), pointer), *program.beginning, pointer, ast));
}

// A member of what the operand is, or points to.
NodePtr Checker::go_member(const Ast &operand, std::string_view name, const Ast &ast) {
    NodePtr whole = check(operand);
    if (traits(*whole).kind == TypeKind::pointer) {
        NodePtr pointer = pointer_to_follow(std::move(whole), operand, operand.at);
        const Type target = types_.target(pointer->type);
        whole = make_node(Node::Kind::object, target, ast, std::move(pointer));
    }
    return go_member_of(*whole, name, operand, ast);
}

NodePtr Checker::go_member_of(const Node &whole, std::string_view name, const Ast &operand, const Ast &ast) const {
    const auto member = traits(whole).kind == TypeKind::aggregate ? types_.member(whole.type, name) : std::nullopt;
    if (!member)
        fail(operand.at, fmt::format("{} has no {}: this version of Go is not known", this->name(whole.type), name));
    if (whole.kind == Node::Kind::register_object)
        return rvalue(register_part(whole, whole.value + member->bit_offset, member->bits, member->type, ast), ast);
    return rvalue(lvalue(make_offset(copy_of(*whole.operands.front()), member->bit_offset / 8, member->type.pointer(), ast), member->type, ast), ast);
}

// A string or a slice that is in registers or in memory, as what it consists of.
NodePtr Checker::go_value(NodePtr node, const Ast &ast) const {
    const GoKind kind = types_.go_kind(node->type);
    const bool is_whole = node->kind == Node::Kind::register_object || node->kind == Node::Kind::object;
    if (!is_whole || !is_go() || (kind != GoKind::string && kind != GoKind::slice && kind != GoKind::interface))
        return node;
    const auto member = [&](std::string_view name) { return go_member_of(*node, name, ast, ast); };
    if (kind == GoKind::interface)
        return member("data");
    if (kind == GoKind::string) {
        NodePtr text = make_node(Node::Kind::buffer, char_type.pointer(), ast, member("str"));
        text->operands.push_back(convert(member("len"), ulong_type));
        text->limit = scope_.text_bytes();
        text->is_signed = text->is_array = true;
        return text;
    }
    NodePtr first = member("array");
    const Type element = types_.target(first->type);
    const std::uint64_t bytes = types_.traits(element).bytes;
    if (bytes < 1 || bytes > ARGTRACE_TEXT_MAX)
        fail(ast.at, fmt::format("an element has {} bytes, and 1 to {} are recorded", bytes, ARGTRACE_TEXT_MAX));
    NodePtr slice = make_node(Node::Kind::buffer, element, ast, std::move(first));
    slice->operands.push_back(arithmetic(ARGTRACE_ALU_MUL, convert(member("len"), ulong_type), make_constant(bytes, ulong_type, ast), ast));
    const std::uint64_t count = bytes == 1 ? std::max(go_elements_max, scope_.text_bytes()) : go_elements_max;
    slice->limit = static_cast<std::uint32_t>(bytes * std::min(count, ARGTRACE_TEXT_MAX / bytes));
    slice->is_signed = slice->is_array = slice->may_be_empty = true;
    return slice;
}

// The element of a string or a slice.
NodePtr Checker::go_element(const Ast &ast, GoKind kind) {
    const Ast &left = *ast.operands[0];
    if (kind != GoKind::string && kind != GoKind::slice)
        fail(ast.token.at, fmt::format("{} is a {}, of which no element is read", written(left), name(check(left)->type)));
    return element_within(go_member(left, kind == GoKind::string ? "str" : "array", ast), go_member(left, "len", ast), ast);
}

// len(x) and cap(x): of a nil map or channel 0.
NodePtr Checker::go_length(const Node &value, const Ast &ast) {
    const std::string &function = ast.token.text;
    const Ast &operand = *ast.operands[0];
    const bool is_len = function == "len";
    const GoKind kind = types_.go_kind(value.type);
    if (kind == GoKind::slice || (kind == GoKind::string && is_len))
        return convert(go_member(operand, function, ast), long_type);
    if (kind != GoKind::channel && (kind != GoKind::map || !is_len))
        fail(operand.at, fmt::format("{} takes a {} of Go, and {} is a {}", function, is_len ? "string, slice, array, map or channel" : "slice or channel",
                                     written(operand), name(value.type)));
    const auto pointer = [&] { return rvalue(check(operand), operand); };
    std::string_view member = kind == GoKind::map ? "count" : is_len ? "qcount" : "dataqsiz";
    if (kind == GoKind::map && !types_.member(types_.target(value.type), member))
        member = "used"; // since Go 1.24
    NodePtr is_nil = compare(ARGTRACE_ALU_EQ, false, convert(pointer(), ulong_type), make_constant(0, ulong_type, ast), ast);
    return either(std::move(is_nil), make_constant(0, long_type, ast), convert(go_member(operand, member, ast), long_type), ast);
}

// element(x, i): the text of an element of a slice of strings; where there are not so many nothing, which is no fault. element(x, i, m): that of a member of an element
// which is a struct, or the number that it is; 0 where there are not so many.
NodePtr Checker::call_element(const Ast &ast) {
    require_operands(ast, 2, 3, "element(SLICE, INDEX)");
    const Ast &operand = *ast.operands[0];
    const NodePtr slice = check(operand);
    if (!is_go() || types_.go_kind(slice->type) != GoKind::slice)
        fail(operand.at, fmt::format("element() takes a slice of Go, and {} is a {}", written(operand), name(slice->type)));
    NodePtr index = integer(*ast.operands[1], "an index");
    if (!index->is_constant() || index->value > go_elements_max)
        fail(ast.operands[1]->at, fmt::format("the index of element() is a number up to {}; an element at any other is x[i]", go_elements_max));
    const Type element = types_.target(go_member(operand, "array", ast)->type);
    Type string = element;
    std::uint64_t place = 0;
    if (ast.operands.size() == 3) {
        const auto member = types_.traits(element).kind == TypeKind::aggregate ? types_.member(element, ast.operands[2]->token.text) : std::nullopt;
        if (!member)
            fail(ast.operands[2]->at, fmt::format("{} has no {}", name(element), ast.operands[2]->token.text));
        string = member->type;
        place = member->bit_offset / 8;
    }
    const std::uint64_t at = index->value * types_.traits(element).bytes + place;
    const auto part = [&](std::uint64_t offset, Type type) {
        NodePtr is_there = compare(ARGTRACE_ALU_LT, false, make_constant(index->value, ulong_type, ast), convert(go_member(operand, "len", ast), ulong_type), ast);
        NodePtr address = make_offset(go_member(operand, "array", ast), at + offset, type.pointer(), ast);
        NodePtr found = rvalue(lvalue(std::move(address), type, ast), ast);
        NodePtr none = make_constant(0, found->type, ast);
        return either(std::move(is_there), std::move(found), std::move(none), ast);
    };
    const TypeTraits known = types_.traits(string);
    if (ast.operands.size() == 3 && types_.go_kind(string) == GoKind::none && (known.is_scalar() || known.is_floating()))
        return part(0, string);
    const auto text = types_.member(string, "str"), length = types_.member(string, "len");
    if (types_.go_kind(string) != GoKind::string || !text || !length)
        fail(operand.at, fmt::format("element() takes a slice of strings, and {} is a {}", written(operand), name(slice->type)));
    NodePtr node = make_node(Node::Kind::buffer, char_type.pointer(), ast, part(text->bit_offset / 8, text->type));
    node->operands.push_back(convert(part(length->bit_offset / 8, length->type), ulong_type));
    node->limit = scope_.text_bytes();
    node->is_signed = node->is_array = true;
    return node;
}

// The address of what the runtime knows of the dynamic type of an interface; 0 of nil.
NodePtr Checker::go_type(const Ast &operand, const Ast &ast) {
    const NodePtr value = check(operand);
    if (!is_go() || types_.go_kind(value->type) != GoKind::interface)
        fail(operand.at, fmt::format("{}() takes an interface of Go, and {} is a {}", ast.token.text, written(operand), name(value->type)));
    if (types_.member(value->type, "_type"))
        return go_member(operand, "_type", ast);
    const auto table = [&] { return go_member(operand, "tab", ast); };
    NodePtr whole = table();
    const Type target = types_.target(whole->type);
    const auto member = types_.member(target, types_.member(target, "_type") ? "_type" : "Type");
    if (!member)
        fail(operand.at, fmt::format("{} has no type: this version of Go is not known", name(target)));
    NodePtr is_nil = compare(ARGTRACE_ALU_EQ, false, convert(table(), ulong_type), make_constant(0, ulong_type, ast), ast);
    NodePtr type = rvalue(lvalue(make_offset(std::move(whole), member->bit_offset / 8, member->type.pointer(), ast), member->type, ast), ast);
    NodePtr none = make_constant(0, type->type, ast);
    return either(std::move(is_nil), std::move(none), std::move(type), ast);
}

// Where the descriptions of types are in the process.
NodePtr Checker::go_types_begin(const Ast &ast) const {
    const Scope::OfGo &go = scope_.go();
    if (!go.program->types)
        fail(ast.at, "the program does not say where its types are described (runtime.types): it has no symbols");
    if (!go.program->is_movable)
        return make_constant(*go.program->types, ulong_type, ast);
    if (scope_.result())
        fail(ast.at, "the program may be loaded at any address, which is not known of calls that are recorded when they return");
    return arithmetic(ARGTRACE_ALU_ADD, register_value(native_user_registers().instruction_pointer, ulong_type, ast),
                      make_constant(*go.program->types - go.place, ulong_type, ast), ast);
}

// type(x): the name of an interface's dynamic type; nothing of nil. Behind its flags a name has its length in 7 bits a byte, the lowest first: one that
// is longer than that is longer than what is read of it.
NodePtr Checker::call_type(const Ast &ast) {
    require_operands(ast, 1, 1, "type(INTERFACE)");
    const Ast &operand = *ast.operands[0];
    const auto number = [&](std::uint64_t value) { return make_constant(value, ulong_type, ast); };
    const auto sum = [&](NodePtr left, NodePtr right) { return arithmetic(ARGTRACE_ALU_ADD, std::move(left), std::move(right), ast); };
    const auto type = [&] { return go_type(operand, ast); };
    const Type described = types_.target(type()->type);
    const auto find = [&](std::string_view name, std::string_view newer) {
        const auto older = types_.member(described, name);
        return older ? older : types_.member(described, newer);
    };
    const auto name_at = find("str", "Str"), flags_at = find("tflag", "TFlag");
    if (!name_at || !flags_at)
        fail(operand.at, fmt::format("{} has no name: this version of Go is not known", this->name(described)));
    const auto member = [&](const Types::Member &which) {
        NodePtr found = lvalue(make_offset(type(), which.bit_offset / 8, which.type.pointer(), ast), which.type, ast);
        return convert(rvalue(std::move(found), ast), types_.traits(which.type).is_signed ? long_type : ulong_type);
    };
    const auto name = [&] { return sum(go_types_begin(ast), convert(member(*name_at), ulong_type)); };
    const auto size = [&] { // the first byte of it
        NodePtr place = make_offset(convert(name(), byte_type.pointer().in(Space::user)), 1, byte_type.pointer(), ast);
        return convert(make_node(Node::Kind::load, byte_type, ast, std::move(place)), ulong_type);
    };
    const auto star = [&] {
        return arithmetic(ARGTRACE_ALU_SHR, arithmetic(ARGTRACE_ALU_AND, member(*flags_at), number(has_extra_star), ast), number(1), ast);
    };
    const auto is_there = [&] { return compare(ARGTRACE_ALU_EQ, true, convert(type(), ulong_type), number(0), ast); };
    NodePtr begin = sum(sum(name(), star()), sum(arithmetic(ARGTRACE_ALU_SHR, size(), number(7), ast), number(2)));
    NodePtr length = arithmetic(ARGTRACE_ALU_SUB, size(), star(), ast);
    NodePtr text = make_node(Node::Kind::buffer, char_type.pointer(), ast,
                             either(is_there(), convert(std::move(begin), char_type.pointer().in(Space::user)), make_constant(0, char_type.pointer().in(Space::user), ast), ast));
    text->operands.push_back(either(is_there(), std::move(length), number(0), ast));
    text->limit = type_name_max;
    return text;
}

// text(x) of an interface: of an error that is a text, or of a string. Nothing of others.
NodePtr Checker::text_in_interface(const Ast &ast) {
    const Ast &operand = *ast.operands[0];
    const std::vector<std::uint64_t> &texts = scope_.go().program->texts;
    if (texts.empty())
        fail(operand.at, "the program has no types whose text is known");
    const auto is_text = [&] {
        NodePtr any;
        for (const std::uint64_t offset : texts) {
            NodePtr known = arithmetic(ARGTRACE_ALU_ADD, go_types_begin(ast), make_constant(offset, ulong_type, ast), ast);
            NodePtr one = compare(ARGTRACE_ALU_EQ, false, convert(go_type(operand, ast), ulong_type), std::move(known), ast);
            if (any) {
                NodePtr both = make_node(Node::Kind::logical_or, int_type, ast, std::move(any));
                both->operands.push_back(std::move(one));
                any = std::move(both);
            } else {
                any = std::move(one);
            }
        }
        return any;
    };
    // The data is a pointer to it. Its length decides whether anything is read.
    const auto part = [&](NodePtr condition, std::uint64_t offset, Type type) {
        NodePtr data = convert(go_member(operand, "data", ast), type.pointer().in(Space::user));
        NodePtr found = lvalue(make_offset(std::move(data), offset, type.pointer(), ast), type, ast);
        NodePtr none = make_constant(0, found->type, ast);
        return either(std::move(condition), std::move(found), std::move(none), ast);
    };
    NodePtr has_data = compare(ARGTRACE_ALU_EQ, true, convert(go_member(operand, "data", ast), ulong_type), make_constant(0, ulong_type, ast), ast);
    NodePtr text = make_node(Node::Kind::buffer, char_type.pointer(), ast, part(std::move(has_data), 0, char_type.pointer()));
    text->operands.push_back(part(is_text(), 8, ulong_type));
    text->limit = scope_.text_bytes();
    text->is_signed = true;
    return text;
}

} // namespace argtrace::lang
