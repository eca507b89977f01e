// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <bit>
#include <netinet/in.h>
#include <sys/un.h>
#include <utility>

#include <fmt/format.h>

#include "lang/checker.h"
#include "lang/expression_error.h"
#include "lang/flag_names.h"
#include "util/cpus.h"

namespace argtrace::lang {

namespace {

constexpr std::size_t flags_max = 256;

} // namespace

// The struct file * of a descriptor of the current task; NULL where it has none of that number.
NodePtr Checker::call_fd(const Ast &ast) {
    require_operands(ast, 1, 1, "fd(DESCRIPTOR)");
    const Ast &operand = *ast.operands[0];
    const Type file = find_struct("file", ast.token.at).pointer().in(Space::kernel);
    NodePtr node = make_node(Node::Kind::file, file, ast, convert(integer(operand, "a descriptor"), uint_type));
    node->may_be_null = true;
    return node;
}

NodePtr Checker::call_path(const Ast &ast) {
    require_operands(ast, 1, 1, "path(POINTER)");
    const Ast &operand = *ast.operands[0];
    NodePtr node = check(operand);
    const bool in_place = node->kind == Node::Kind::object;
    if (!in_place)
        node = rvalue(std::move(node), operand);
    const Type type = in_place ? node->type : types_.target(node->type);
    const bool pointer = in_place || traits(*node).kind == TypeKind::pointer;
    const auto is = [&](const char *structure) {
        TypeName wanted;
        wanted.tag = TypeName::Tag::structure;
        wanted.name = structure;
        const auto found = types_.find(wanted);
        return pointer && found && types_.same(*found, type);
    };
    const bool file = is("file"), dentry = is("dentry");
    if (!file && !dentry && !is("path"))
        fail(operand.at, fmt::format("path() takes a struct file *, struct path * or struct dentry "
                                     "*, and {} is a {}",
                                     written(operand), this->name(node->type)));
    NodePtr from = in_place ? std::move(node->operands.front()) : std::move(node);
    const bool may_be_null = from->may_be_null;
    require_one_place(*from, operand, operand.at);
    if (space(*from) == Space::user)
        fail(operand.at, fmt::format("{} is in user memory, and what has a path is the kernel's", written(operand)));
    if (file) {
        const auto member = types_.member(type, "f_path");
        if (!member)
            fail(ast.token.at, "BTF describes no f_path in struct file");
        from = make_offset(std::move(from), member->bit_offset / 8, member->type.pointer(), ast);
    }
    const Type address_type = from->type;
    NodePtr path = make_node(Node::Kind::path, address_type, ast, std::move(from));
    path->may_be_null = may_be_null;
    path->value = dentry ? ARGTRACE_PATH_OF_DENTRY : ARGTRACE_PATH_OF_PATH;
    return path;
}

// In the unified hierarchy, which every task is in.
NodePtr Checker::call_cgroup_path(const Ast &ast) {
    if (!ast.operands.empty())
        fail(ast.operands[0]->at, "cgroup_path() is that of the current task, and has no operands");
    NodePtr kn = meant("task->cgroups->dfl_cgrp->kn", "cgroup_path() is", ast);
    const Type type = kn->type;
    NodePtr path = make_node(Node::Kind::path, type, ast, std::move(kn));
    path->value = ARGTRACE_PATH_OF_NODE;
    return path;
}

// page_to_pfn(), of what can be read: a NULL pointer has no number.
NodePtr Checker::call_pfn(const Ast &ast) {
    require_operands(ast, 1, 1, "pfn(POINTER)");
    const Ast &operand = *ast.operands[0];
    const auto pointer = [&] { return rvalue(check(operand), operand); };
    const NodePtr first = pointer();
    const Type type = find_struct("page", ast.token.at);
    const auto is = [&](Type of) { return types_.same(types_.target(first->type), of); };
    TypeName folio;
    folio.tag = TypeName::Tag::structure;
    folio.name = "folio";
    const auto known_folio = types_.find(folio);
    if (traits(*first).kind != TypeKind::pointer || !(is(type) || (known_folio && is(*known_folio))))
        fail(operand.at, fmt::format("pfn() takes a struct page * or struct folio *, and {} is a {}",
                                     written(operand), this->name(first->type)));
    require_one_place(*first, operand, operand.at);
    if (space(*first) == Space::user)
        fail(operand.at, fmt::format("{} is a pointer to user memory, and pages are described in the kernel's", written(operand)));
    const std::uint64_t size = size_of(type, ast, ast.token.at);
    const auto base = types_.variable("vmemmap_base");
    if (!base)
        fail(ast.at, "the number of a page is not known on this kernel: it has no variable "
                     "vmemmap_base, or /proc/kallsyms does not list it");
    const auto number = [&](std::uint64_t value) { return make_constant(value, ulong_type, ast); };
    NodePtr read = make_node(Node::Kind::load, Type::of(Type::Basic::uchar), ast, pointer());
    NodePtr nothing =
        arithmetic(ARGTRACE_ALU_AND, convert(std::move(read), ulong_type), number(0), ast);
    NodePtr address = arithmetic(ARGTRACE_ALU_ADD, std::move(nothing),
                                 convert(pointer(), ulong_type), ast);
    NodePtr bytes = arithmetic(ARGTRACE_ALU_SUB, std::move(address),
                               make_node(Node::Kind::load, ulong_type, ast, number(*base)), ast);
    return std::has_single_bit(size)
               ? arithmetic(ARGTRACE_ALU_SHR, std::move(bytes),
                            number(static_cast<std::uint64_t>(std::countr_zero(size))), ast)
               : arithmetic(ARGTRACE_ALU_DIV, std::move(bytes), number(size), ast);
}

// The constants that the second operand of flags() or name() stands for: a glob, or one of an enum's.
std::vector<FlagName> Checker::constants_named(const Ast &ast, bool one) {
    if (ast.kind == Ast::Kind::name)
        if (std::vector<FlagName> all = enumerators_beside(types_, ast.token.text); !all.empty())
            return all;
    if (ast.kind != Ast::Kind::string)
        fail(ast.at, "this is a glob in quotes of the names of constants, as in \"O_*\"");
    std::vector<FlagName> named = flag_names(types_, check(ast)->pattern.text, one);
    if (named.empty())
        fail(ast.at, "no constant has such a name");
    return named;
}

// flags() and name(), which is of one constant.
NodePtr Checker::call_flags(const Ast &ast) {
    const std::string &function = ast.token.text;
    require_operands(ast, 2, 2, function + "(VALUE, \"GLOB\")");
    const Ast &names = *ast.operands[1];
    NodePtr node = integer(*ast.operands[0], function == "name" ? "name" : "flags");
    node->one_flag = function == "name";
    node->flags = constants_named(names, node->one_flag);
    drop_too_large(node->flags, traits(*node).bytes);
    if (node->flags.empty())
        fail(names.at, fmt::format("none of these constants fits in {}, which has {} bits", written(*ast.operands[0]), 8 * traits(*node).bytes));
    if (const auto ambiguous = find_ambiguous(types_, node->flags)) {
        const auto &[first, second] = *ambiguous;
        const std::string in_enum = types_.enum_of(second.name) ? second.name : types_.enum_of(first.name) ? first.name : "";
        fail(names.at, fmt::format("several of these constants have one value: {} and {} are both {}; write globs of fewer, as in \"A_*|B_*\"{}",
                                   first.name, second.name, static_cast<std::int64_t>(first.value),
                                   in_enum.empty() ? "" : fmt::format(", or one constant of the enum that is meant, as in {}({}, {})", function, written(*ast.operands[0]), in_enum)));
    }
    if (node->flags.size() > flags_max)
        fail(names.at, fmt::format("{} constants have such names, and a value is shown by at most {}",
                                   node->flags.size(), flags_max));
    return node;
}

NodePtr Checker::either(NodePtr condition, NodePtr first, NodePtr second, const Ast &ast) const {
    const Type type = first->type;
    NodePtr node = make_node(Node::Kind::conditional, type, ast, std::move(condition));
    node->operands.push_back(std::move(first));
    node->operands.push_back(std::move(second));
    return node;
}

// What its family has of it: behind that may be a page that is not there. A name of AF_UNIX is as long as
// bind() was told; it is read up to the end of its page, if it may reach it.
NodePtr Checker::length_of_sockaddr(const Ast &operand, const Ast &ast) {
    const auto number = [&](std::uint64_t value) { return make_constant(value, ulong_type, ast); };
    const auto begin = [&] { return address(check(operand), operand); };
    const auto is_of = [&](std::uint64_t family) {
        NodePtr read = make_node(Node::Kind::load, Type::of(Type::Basic::ushort), ast, begin());
        return compare(ARGTRACE_ALU_EQ, false, convert(std::move(read), ulong_type), number(family),
                       ast);
    };
    const auto left_of_page = [&] { // 0 at its beginning
        return arithmetic(ARGTRACE_ALU_AND,
                          arithmetic(ARGTRACE_ALU_SUB, number(0), convert(begin(), ulong_type), ast),
                          number(page_bytes_min - 1), ast);
    };
    NodePtr reaches_end =
        compare(ARGTRACE_ALU_LT, false, arithmetic(ARGTRACE_ALU_SUB, left_of_page(), number(1), ast),
                number(sizeof(sockaddr_un) - 1), ast);
    NodePtr name = either(std::move(reaches_end), left_of_page(), number(sizeof(sockaddr_un)), ast);
    NodePtr other = either(is_of(AF_UNIX), std::move(name), number(sizeof(sa_family_t)), ast);
    other = either(is_of(AF_INET6), number(sizeof(sockaddr_in6)), std::move(other), ast);
    return either(is_of(AF_INET), number(sizeof(sockaddr_in)), std::move(other), ast);
}

NodePtr Checker::call_sockaddr(const Ast &ast) {
    require_operands(ast, 1, 2, "sockaddr(POINTER) or sockaddr(POINTER, LENGTH)");
    const Type type = find_struct("sockaddr_in6", ast.token.at);
    const Ast &operand = *ast.operands[0];
    NodePtr from = check(operand);
    // struct sockaddr, those of families, and struct __kernel_sockaddr_storage.
    if (const auto other = pointed_aggregate(*from); other && name(*other).find("sockaddr") == std::string::npos)
        fail(operand.at, fmt::format("sockaddr() takes a struct sockaddr *, and {} is a {}; cast it, as in sockaddr((struct sockaddr *)NAME)",
                                     written(operand), name(from->type)));
    NodePtr node = make_node(Node::Kind::buffer, type, ast, address(std::move(from), operand));
    node->limit = sizeof(sockaddr_un);
    if (ast.operands.size() == 1) {
        node->operands.push_back(length_of_sockaddr(operand, ast));
        return node;
    }
    // What is behind the length may be of another address. Up to it a name is whole, which the type says to those who show it.
    TypeName name_of_unix;
    name_of_unix.tag = TypeName::Tag::structure;
    name_of_unix.name = "sockaddr_un";
    node->type = types_.find(name_of_unix).value_or(type);
    node->operands.push_back(number_up_to(*ast.operands[1], "a length", node->limit, ast));
    return node;
}

NodePtr Checker::call_cpus(const Ast &ast) {
    require_operands(ast, 1, 1, "cpus(POINTER)");
    const Type type = find_struct("cpumask", ast.token.at);
    const Ast &operand = *ast.operands[0];
    NodePtr from = check(operand);
    if (const auto other = pointed_aggregate(*from); other && !types_.same(*other, type))
        fail(operand.at, fmt::format("cpus() takes a struct cpumask *, and {} is a {}; cast it, as in cpus((struct cpumask *)NAME)",
                                     written(operand), name(from->type)));
    return cpus_at(address(std::move(from), operand), type, ast);
}

// As much of a struct cpumask as this machine has CPUs: not all of it need be there, and what is behind them may be anything. Up to 64
// are a number.
NodePtr Checker::cpus_at(NodePtr address, Type type, const Ast &ast) const {
    const std::uint64_t cpus = possible_cpus(), bytes = types_.traits(type).bytes;
    if (constexpr std::uint32_t word = 64; cpus <= word && bytes >= word / 8) {
        NodePtr node = make_node(Node::Kind::load, type, ast, std::move(address));
        node->limit = word / 8;
        node->bits = static_cast<std::uint32_t>(cpus);
        return node;
    }
    NodePtr node = make_node(Node::Kind::buffer, type, ast, std::move(address));
    node->limit = static_cast<std::uint32_t>(std::min({(cpus + 7) / 8, bytes, recorded_bytes_max}));
    node->operands.push_back(make_constant(node->limit, ulong_type, ast));
    return node;
}

bool Checker::is_cpumask(Type type) const {
    TypeName wanted;
    wanted.tag = TypeName::Tag::structure;
    wanted.name = "cpumask";
    const auto known = types_.find(wanted);
    return known && types_.same(*known, type);
}

// The value that an output has of nothing where the condition does not hold: bytes of the length 0, or what is at NULL.
NodePtr Checker::call_only(const Ast &ast) {
    require_operands(ast, 2, 2, "only(VALUE, CONDITION)");
    const Ast &operand = *ast.operands[0];
    NodePtr value = check(operand);
    const auto number = [&](std::uint64_t size) { return make_constant(size, ulong_type, ast); };
    const std::uint64_t bytes = traits(*value).bytes;
    const bool in_memory = (value->kind == Node::Kind::load && value->bits == 0) ||
                           value->kind == Node::Kind::object;
    const bool is_data = value->kind == Node::Kind::buffer || value->kind == Node::Kind::text || value->kind == Node::Kind::texts ||
                         value->kind == Node::Kind::path;
    if (!is_data && (!in_memory || value->type.basic != Type::Basic::none || value->type.stars > 0))
        fail(operand.at, "the value of only() is a member, what a pointer to one of the kernel's types points to, or a text, bytes or "
                         "a path");
    if (!is_data && (bytes < 1 || bytes > ARGTRACE_TEXT_MAX))
        fail(operand.at, fmt::format("{} has {} bytes, and 1 to {} are recorded",
                                     this->name(value->type), bytes, ARGTRACE_TEXT_MAX));
    NodePtr condition = scalar(*ast.operands[1]);
    if (condition->is_constant())
        fail(ast.operands[1]->at, "this condition is the same for all calls");
    if (is_data) { // of which the length is 0, or the address
        const bool has_length = value->kind == Node::Kind::buffer;
        NodePtr &operand_or_0 = value->operands[has_length ? 1 : 0];
        const Type type = operand_or_0->type;
        operand_or_0 = either(std::move(condition), std::move(operand_or_0), convert(number(0), type), ast);
        value->may_be_null = !has_length;
        value->may_be_empty = false;
        return value;
    }
    NodePtr node = make_node(Node::Kind::buffer, value->type, ast,
                             std::move(value->operands.front()));
    node->limit = static_cast<std::uint32_t>(bytes);
    node->operands.push_back(either(std::move(condition), number(bytes), number(0), ast));
    return node;
}

NodePtr Checker::call_sym(const Ast &ast) {
    require_operands(ast, 1, 1, "sym(ADDRESS)");
    NodePtr node = convert(address(check(*ast.operands[0]), *ast.operands[0]), void_pointer);
    node->symbol = true;
    return node;
}

} // namespace argtrace::lang
