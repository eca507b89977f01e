// SPDX-License-Identifier: GPL-2.0-only
#include "lang/moment.h"

#include <algorithm>

#include "lang/expression_error.h"

namespace argtrace::lang {

namespace {

bool is_source(const Node &node, std::uint8_t source) {
    return node.kind == Node::Kind::source && node.source == source;
}

// What is kept of a call of user code has no stack.
bool is_user_stack_pointer(const Node &node) {
    return is_source(node, ARGTRACE_SOURCE_STACK) && node.type.space == Space::user;
}

// Whether the node itself reads memory, apart from its operands.
bool reads_memory(const Node &node) {
    switch (node.kind) {
    case Node::Kind::load:
    case Node::Kind::object:
    case Node::Kind::text:
    case Node::Kind::texts:
    case Node::Kind::text_test:
    case Node::Kind::buffer:
    case Node::Kind::path:
        return true;
    default:
        return false;
    }
}

const Node &base_of(const Node &address) {
    const Node *node = &address;
    while (!node->operands.empty() && node->kind != Node::Kind::file)
        node = node->operands.front().get();
    return *node;
}

// The task itself, and the files that it has.
bool is_of_task(const Node &node) {
    return is_source(node, ARGTRACE_SOURCE_TASK) || node.kind == Node::Kind::file;
}

// What a load from the stack pointer that the function was entered with begins at; null if it begins elsewhere.
const Node *stack_pointer_of(const Node &node) {
    const Node *from = node.operands.front().get();
    from = from->kind == Node::Kind::offset ? from->operands.front().get() : from;
    return is_source(*from, ARGTRACE_SOURCE_STACK) ? from : nullptr;
}

// An argument that is passed on the stack, of which a function of the kernel that is followed has a copy of its own.
bool is_stack_argument(const Node &node) {
    const Node *from = stack_pointer_of(node);
    return from && from->type.space != Space::user;
}

// The first part that reads what the function may change, and that can be read at its entry. Of
// the task hardly anything changes.
const Node *read_at_entry(const Node &node) {
    if (node.at_return)
        return nullptr;
    if (is_source(node, ARGTRACE_SOURCE_VECTOR))
        return &node;
    if (reads_memory(node) && !is_of_return(node) && !is_stack_argument(node) &&
        !is_of_task(base_of(node)))
        return &node;
    for (const NodePtr &operand : node.operands)
        if (const Node *found = read_at_entry(*operand))
            return found;
    return nullptr;
}

} // namespace

bool is_of_return(const Node &node) {
    return node.at_return || is_source(node, ARGTRACE_SOURCE_RETURN) || is_source(node, ARGTRACE_SOURCE_RESULT) ||
           is_source(node, ARGTRACE_SOURCE_DURATION) ||
           std::any_of(node.operands.begin(), node.operands.end(),
                       [](const NodePtr &operand) { return is_of_return(*operand); });
}

bool is_of_entry_alone(const Node &node) {
    return is_source(node, ARGTRACE_SOURCE_VECTOR) ||
           is_user_stack_pointer(node) ||
           std::any_of(node.operands.begin(), node.operands.end(),
                       [](const NodePtr &operand) { return is_of_entry_alone(*operand); });
}

bool may_change(const Node &node) {
    return is_source(node, ARGTRACE_SOURCE_VECTOR) || is_user_stack_pointer(node) || (reads_memory(node) && !is_stack_argument(node)) || is_source(node, ARGTRACE_SOURCE_CPU) ||
           is_source(node, ARGTRACE_SOURCE_TIME) || is_source(node, ARGTRACE_SOURCE_IDENTITY) ||
           std::any_of(node.operands.begin(), node.operands.end(),
                       [](const NodePtr &operand) { return may_change(*operand); });
}

bool is_of_entry(const Node &node) {
    if (node.at_return)
        return false;
    return is_user_stack_pointer(node) || is_source(node, ARGTRACE_SOURCE_CPU) || is_source(node, ARGTRACE_SOURCE_TIME) ||
           read_at_entry(node) ||
           std::any_of(node.operands.begin(), node.operands.end(),
                       [](const NodePtr &operand) { return is_of_entry(*operand); });
}

void move_to_return(Node &node) {
    node.at_return = true;
    for (const NodePtr &operand : node.operands)
        move_to_return(*operand);
}

void refuse_two_moments(const Expression &expression, const Node &node) {
    if (!is_of_return(node))
        return;
    if (const Node *found = read_at_entry(node); found && is_of_entry_alone(*found))
        throw ExpressionError(expression.text(), found->at,
                              "this is known when the function is entered alone, and the rest when it returns: name them one by one");
    if (const Node *found = read_at_entry(node))
        throw ExpressionError(expression.text(), found->at,
                              "this is read when the function is entered, and the rest is known when "
                              "it returns: write (...)@ret around this for what is there then");
}

} // namespace argtrace::lang
