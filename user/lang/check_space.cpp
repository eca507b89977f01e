// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lang/checker.h"
#include "util/cpus.h"

namespace argtrace::lang {

namespace {

constexpr std::string_view offsets_of_cpus = "__per_cpu_offset";

} // namespace

// Whether the program that runs has determined the number: it has been read from its memory, or passed to a system call, or is a
// pointer of its own. A number that is computed of it counts as one of the program's, so that no arithmetic makes an address of the
// kernel's of it.
bool Checker::is_of_program(const Node &node) const {
    if (traits(node).kind == TypeKind::pointer && types_.space(node.type) == Space::user)
        return true;
    const bool passed = node.kind == Node::Kind::source &&
                        (node.source == ARGTRACE_SOURCE_REG || node.source == ARGTRACE_SOURCE_RETURN || node.source == ARGTRACE_SOURCE_RESULT);
    if (passed && scope_.kind().user_pointers)
        return true;
    if (node.kind == Node::Kind::load) // whatever its address was computed of
        return space(*node.operands.front()) == Space::user;
    return std::any_of(node.operands.begin(), node.operands.end(),
                       [this](const NodePtr &operand) { return is_of_program(*operand); });
}

Space Checker::space(const Node &node) const {
    if (traits(node).kind == TypeKind::pointer)
        return types_.space(node.type);
    return is_of_program(node) ? Space::user : Space::kernel;
}

// user() and kernel(): a pointer, or a number that is an address, as a pointer to that memory.
NodePtr Checker::call_space(const Ast &ast, Space space) {
    const std::string &function = ast.token.text;
    require_operands(ast, 1, 1, function + "(POINTER)");
    const Ast &operand = *ast.operands[0];
    NodePtr node = scalar(operand);
    const TypeTraits known = traits(*node);
    if (known.kind != TypeKind::pointer && known.bytes != 8)
        fail(operand.at, fmt::format("{} is no address: {}", written(operand), name(node->type)));
    const Type type = known.kind == TypeKind::pointer ? node->type : void_pointer;
    node = convert(std::move(node), type.in(space));
    node->at = ast.at;
    return node;
}

// A per-cpu pointer is not followed.
void Checker::require_one_place(const Node &pointer, const Ast &ast, std::size_t at) const {
    if (space(pointer) == Space::per_cpu)
        fail(at, fmt::format("{0} is a per-cpu pointer: each CPU has its own, and this address is none of them; write this_cpu({0}) "
                             "for that of the CPU that runs, or per_cpu({0}, CPU)",
                             written(ast)));
}

// What a per-cpu pointer needs to become that of a CPU: __per_cpu_offset[cpu]. Where there is no such CPU it is read at address 0, so
// that it is a fault.
NodePtr Checker::offset_of_cpu(const Ast &ast) {
    const auto table = types_.variable(offsets_of_cpus);
    if (!table)
        fail(ast.at, fmt::format("where the CPUs have their variables is not known on this kernel: it has no variable {}, or "
                                 "/proc/kallsyms does not list it",
                                 offsets_of_cpus));
    const auto number = [&](std::uint64_t value) { return make_constant(value, ulong_type, ast); };
    const auto cpu = [&] {
        return ast.operands.size() > 1 ? convert(integer(*ast.operands[1], "a CPU"), ulong_type)
                                       : make_source(ARGTRACE_SOURCE_CPU, 0, ulong_type, ast);
    };
    const std::uint64_t cpus = possible_cpus();
    const NodePtr wanted = cpu();
    if (wanted->is_constant() && wanted->value >= cpus)
        fail(ast.operands[1]->at, fmt::format("there is no such CPU: the last one that this machine can have is {}", cpus - 1));
    NodePtr place = arithmetic(ARGTRACE_ALU_ADD,
                               arithmetic(ARGTRACE_ALU_MUL, cpu(), number(sizeof(std::uint64_t)), ast), number(*table), ast);
    if (ast.operands.size() > 1 && !wanted->is_constant())
        place = either(compare(ARGTRACE_ALU_LT, false, cpu(), number(cpus), ast), std::move(place), number(0), ast);
    return make_node(Node::Kind::load, ulong_type, ast, std::move(place));
}

// this_cpu() and per_cpu(): the pointer to what a CPU has.
NodePtr Checker::call_per_cpu(const Ast &ast) {
    const std::string &function = ast.token.text;
    if (function == "this_cpu")
        require_operands(ast, 1, 1, "this_cpu(POINTER)");
    else
        require_operands(ast, 2, 2, "per_cpu(POINTER, CPU)");
    const Ast &operand = *ast.operands[0];
    NodePtr pointer = scalar(operand);
    if (traits(*pointer).kind != TypeKind::pointer)
        fail(operand.at, fmt::format("{} is no pointer: {}", written(operand), name(pointer->type)));
    if (space(*pointer) == Space::user)
        fail(operand.at, fmt::format("{} is a pointer to user memory, and the variables of CPUs are in the kernel's", written(operand)));
    const Type type = types_.target(pointer->type).pointer(); // without its tag
    NodePtr sum = arithmetic(ARGTRACE_ALU_ADD, offset_of_cpu(ast), convert(std::move(pointer), ulong_type), ast);
    return convert(std::move(sum), type.in(Space::kernel));
}

} // namespace argtrace::lang
