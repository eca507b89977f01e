// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <utility>

#include "lang/arithmetic.h"
#include "lang/compiler.h"

namespace argtrace::lang {

namespace {

constexpr std::uint64_t largest_unsigned = ~std::uint64_t{0};
constexpr std::uint64_t largest_signed = largest_unsigned >> 1;
constexpr std::uint64_t smallest_signed = largest_signed + 1;
constexpr std::uint64_t largest_byte = 0xff;

constexpr std::size_t pieces_max = 2; // tests that are cheaper than one TEXT

/// What evaluating a term takes.
enum class Cost { registers, task, memory };

Cost cost_of_address(const Node &node) {
    if (node.kind == Node::Kind::offset)
        return cost_of_address(*node.operands.front());
    const bool safe = node.kind == Node::Kind::source &&
                      (node.source == ARGTRACE_SOURCE_TASK || node.source == ARGTRACE_SOURCE_STACK);
    return safe ? Cost::task : Cost::memory;
}

Cost cost_of(const Node &node) {
    Cost cost = Cost::registers;
    if (node.kind == Node::Kind::load || node.kind == Node::Kind::text_test)
        cost = cost_of_address(*node.operands.front());
    if (node.kind == Node::Kind::source &&
        (node.source == ARGTRACE_SOURCE_TIME || node.source == ARGTRACE_SOURCE_IDENTITY))
        cost = Cost::task;
    const bool divides = node.kind == Node::Kind::arithmetic &&
                         (node.alu == ARGTRACE_ALU_DIV || node.alu == ARGTRACE_ALU_MOD);
    if (divides && !node.operands[1]->is_constant())
        cost = Cost::memory; // it may fault
    for (const NodePtr &operand : node.operands)
        cost = std::max(cost, cost_of(*operand));
    return cost;
}

void flatten(const Node &node, std::vector<const Node *> &terms) {
    if (node.kind != Node::Kind::logical_and) {
        terms.push_back(&node);
        return;
    }
    flatten(*node.operands[0], terms);
    flatten(*node.operands[1], terms);
}

std::uint64_t little_endian(std::string_view text, std::size_t at, unsigned bytes) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < bytes && at + i < text.size(); i++)
        value |= std::uint64_t{static_cast<unsigned char>(text[at + i])} << 8 * i;
    return value;
}

struct Piece {
    unsigned at;
    unsigned width;
};

/// Loads that cover the first `count` bytes of an array of `size`, none reaching beyond it.
std::vector<Piece> pieces_of(unsigned count, unsigned size) {
    std::vector<Piece> pieces;
    for (unsigned at = 0; at < count;) {
        unsigned width = 1;
        while (width < 8 && width < count - at && at + 2 * width <= size)
            width *= 2;
        pieces.push_back({at, width});
        at += width;
    }
    return pieces;
}

} // namespace

std::vector<const Node *> ordered_terms(const Node &condition) {
    std::vector<const Node *> terms;
    flatten(condition, terms);
    std::stable_sort(terms.begin(), terms.end(),
                     [](const Node *a, const Node *b) { return cost_of(*a) < cost_of(*b); });
    return terms;
}

void Compiler::filter(const Node &condition) {
    conjunction(condition);
    nr_filter_ = static_cast<std::uint16_t>(emitter_.size());
}

void Compiler::filter_at_return(const Node &condition) {
    conjunction(condition);
    nr_return_ = static_cast<std::uint16_t>(emitter_.size() - nr_filter_);
}

void Compiler::conjunction(const Node &condition) {
    const std::vector<const Node *> terms = ordered_terms(condition);
    for (std::size_t i = 0; i < terms.size(); i++) {
        next_slot_ = 0;
        const bool last = i + 1 == terms.size();
        const Label next = last ? accept_label : emitter_.make_label();
        test(*terms[i], next, reject_label);
        if (!last)
            emitter_.bind(next);
    }
}

void Compiler::test(const Node &node, Label then, Label other) {
    const Mark mark = next_slot_;
    switch (node.kind) {
    case Node::Kind::constant:
        emitter_.jump(node.value != 0 ? then : other);
        break;
    case Node::Kind::logical_not:
        test(*node.operands[0], other, then);
        break;
    case Node::Kind::logical_and:
    case Node::Kind::logical_or: {
        const Label second = emitter_.make_label();
        const bool is_and = node.kind == Node::Kind::logical_and;
        test(*node.operands[0], is_and ? second : then, is_and ? other : second);
        emitter_.bind(second);
        test(*node.operands[1], then, other);
        break;
    }
    case Node::Kind::conditional: {
        const Label first = emitter_.make_label(), second = emitter_.make_label();
        test(*node.operands[0], first, second);
        emitter_.bind(first);
        test(*node.operands[1], then, other);
        emitter_.bind(second);
        test(*node.operands[2], then, other);
        break;
    }
    case Node::Kind::compare:
        test_comparison(node, then, other);
        break;
    case Node::Kind::text_test:
        test_text(node, then, other);
        break;
    case Node::Kind::convert:
        if (node.operands[0]->kind == Node::Kind::compare) { // 0 or 1 in any type
            test(*node.operands[0], then, other);
            break;
        }
        [[fallthrough]];
    default:
        emitter_.equal(testable(operand(node), mark), 0, other, then);
        break;
    }
    next_slot_ = mark;
}

// A test has no room for a number, and adds no offset but before a comparison of all bits.
Chain Compiler::testable(Chain chain, Mark mark) {
    const bool number = chain.source == ARGTRACE_SOURCE_CONST;
    const bool offset = chain.address_offset != 0 && !chain.is_whole();
    return number || offset ? as_slot(chain, mark) : chain;
}

void Compiler::test_comparison(const Node &node, Label then, Label other) {
    const Mark mark = next_slot_;
    const Node &left = *node.operands[0], &right = *node.operands[1];
    if (node.negated)
        std::swap(then, other);
    if (types_.traits(left.type).is_floating()) {
        test_floating(node, then, other);
        return;
    }
    if (right.is_constant() || left.is_constant()) {
        const bool mirrored = !right.is_constant();
        const Chain chain = testable(operand(mirrored ? right : left), mark);
        test_constant(node, chain, mirrored ? left : right, mirrored, then, other);
        return;
    }
    const Chain chain = to_slot(left);
    const Chain with = operand(right);
    const bool equality = node.alu == ARGTRACE_ALU_EQ;
    alu(chain.index, equality ? ARGTRACE_ALU_XOR : node.alu, with, 8, is_signed(left.type));
    emitter_.equal(chain, 0, equality ? then : other, equality ? other : then);
}

// chain OP constant; constant OP chain if it is mirrored.
void Compiler::test_constant(const Node &node, Chain chain, const Node &constant, bool mirrored,
                             Label then, Label other) {
    const std::uint64_t value = constant.value;
    const bool sign = is_signed(node.operands[0]->type);
    if (node.alu == ARGTRACE_ALU_EQ) {
        emitter_.equal(chain, value, then, other);
        return;
    }
    const std::uint64_t lowest = sign ? smallest_signed : 0;
    const std::uint64_t highest = sign ? largest_signed : largest_unsigned;
    std::uint64_t limit = value;
    // c < x is !(x <= c), and c <= x is !(x < c).
    const bool excluding = (node.alu == ARGTRACE_ALU_LT) != mirrored;
    if (mirrored)
        std::swap(then, other);
    if (excluding) {
        if (limit == lowest) { // nothing is below: whatever is read, it does not hold
            emitter_.range(chain, sign, lowest, highest, other, then);
            return;
        }
        limit--;
    }
    emitter_.range(chain, sign, lowest, limit, then, other);
}

bool Compiler::test_pieces(const Node &node, Label then, Label other) {
    const TextPattern &pattern = node.pattern;
    const bool whole = pattern.match == ARGTRACE_MATCH_WHOLE;
    if (!node.fixed_size || !(whole || pattern.match == ARGTRACE_MATCH_PREFIX))
        return false;
    const auto size = static_cast<unsigned>(pattern.text.size());
    const unsigned count = whole ? std::min(size + 1, node.limit) : size; // with its NUL
    const std::vector<Piece> pieces = pieces_of(count, node.limit);
    if (pieces.size() > pieces_max)
        return false;
    Mark mark = next_slot_;
    const Space space = types_.space(node.operands.front()->type);
    Chain from = address(*node.operands.front());
    if (pieces.size() > 1 && from.loads > 0)
        from = as_slot(from, mark);
    mark = next_slot_;
    for (std::size_t i = 0; i < pieces.size(); i++) {
        const Piece &piece = pieces[i];
        const unsigned used = std::min(piece.width, count - piece.at);
        Chain chain = from;
        if (!chain.add(piece.at)) {
            chain = as_slot(chain, mark);
            chain.add(piece.at);
        }
        chain.load(piece.width, space);
        chain.take(0, 8 * used, false);
        const bool last = i + 1 == pieces.size();
        const Label next = last ? then : emitter_.make_label();
        emitter_.equal(chain, little_endian(pattern.text, piece.at, used), next, other);
        if (!last)
            emitter_.bind(next);
    }
    return true;
}

void Compiler::test_text(const Node &node, Label then, Label other) {
    if (node.negated)
        std::swap(then, other);
    const TextPattern &pattern = node.pattern;
    if (pattern.text.empty()) { // nothing, or anything that can be read
        Chain first = address(*node.operands.front());
        first.load(1, types_.space(node.operands.front()->type));
        first.take(0, 8, false);
        const bool whole = pattern.match == ARGTRACE_MATCH_WHOLE;
        emitter_.range(first, false, 0, whole ? 0 : largest_byte, then, other);
        return;
    }
    if (test_pieces(node, then, other))
        return;
    const Mark mark = next_slot_;
    Chain chain = operand(*node.operands.front());
    if (chain.source == ARGTRACE_SOURCE_CONST)
        chain = as_slot(chain, mark);
    const auto size = static_cast<std::uint32_t>(pattern.text.size());
    std::uint32_t looked_at = std::min<std::uint32_t>(node.limit, ARGTRACE_MATCH_MAX);
    if (pattern.match == ARGTRACE_MATCH_WHOLE)
        looked_at = std::min(looked_at, size + 1);
    else if (pattern.match == ARGTRACE_MATCH_PREFIX)
        looked_at = std::min(looked_at, size);
    argtrace_insn insn = chain.encode();
    insn.flags |= data_flag(*node.operands.front());
    insn.action = ARGTRACE_DO_TEXT;
    insn.arg = static_cast<std::uint16_t>(looked_at);
    insn.base = emitter_.add_data({pattern.text.c_str(), size + 1}); // with its NUL
    insn.span = size | std::uint64_t{pattern.match} << 32;
    emitter_.test(insn, then, other);
}

} // namespace argtrace::lang
