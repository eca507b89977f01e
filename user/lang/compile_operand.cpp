// SPDX-License-Identifier: GPL-2.0-only
#include "lang/arithmetic.h"
#include "lang/compiler.h"

namespace argtrace::lang {

namespace {

/// Whether the operation, or the extension of what it yields, differs with the sign.
bool minds_sign(argtrace_alu op, unsigned bytes) {
    switch (op) {
    case ARGTRACE_ALU_DIV:
    case ARGTRACE_ALU_MOD:
    case ARGTRACE_ALU_SHR:
    case ARGTRACE_ALU_LT:
    case ARGTRACE_ALU_LE:
        return true;
    default:
        return bytes < 8;
    }
}

/// Operations whose result is extended as its type says if their operands are, so that they need no width of their own.
bool keeps_extension(argtrace_alu op) {
    switch (op) {
    case ARGTRACE_ALU_AND:
    case ARGTRACE_ALU_OR:
    case ARGTRACE_ALU_XOR:
    case ARGTRACE_ALU_EQ:
    case ARGTRACE_ALU_NE:
    case ARGTRACE_ALU_LT:
    case ARGTRACE_ALU_LE:
        return true;
    default:
        return false;
    }
}

} // namespace

unsigned Compiler::take_slot() {
    if (next_slot_ == ARGTRACE_SLOTS)
        throw OutOfSlots();
    return next_slot_++;
}

// Slots from `mark` on are free again, but for the one that has the value.
Chain Compiler::as_slot(Chain chain, Mark mark) {
    next_slot_ = mark;
    const unsigned slot = take_slot();
    if (chain.is_plain(ARGTRACE_SOURCE_SLOT) && chain.index == slot)
        return chain;
    argtrace_insn insn = chain.encode();
    insn.action = ARGTRACE_DO_SET;
    insn.arg = static_cast<std::uint16_t>(slot);
    emitter_.add(insn);
    return Chain::slot(slot);
}

Chain Compiler::to_slot(const Node &node) {
    const Mark mark = next_slot_;
    return as_slot(operand(node), mark);
}

void Compiler::alu(unsigned slot, argtrace_alu op, Chain operand, unsigned bytes, bool is_signed) {
    if (keeps_extension(op))
        bytes = 8;
    const bool minds = minds_sign(op, bytes);
    if (minds && !is_signed && operand.shifts_sign())
        operand = as_slot(operand, next_slot_);
    argtrace_insn insn = operand.encode(minds && is_signed);
    if (minds && is_signed)
        insn.flags |= ARGTRACE_INSN_SIGNED;
    insn.action = ARGTRACE_DO_ALU;
    insn.then = op;
    insn.other = static_cast<std::uint8_t>(bytes);
    insn.arg = static_cast<std::uint16_t>(slot);
    emitter_.add(insn);
}

Chain Compiler::address(const Node &node) {
    const Mark mark = next_slot_;
    Chain chain = operand(node);
    // A number cannot be the address of a test, which has no room for it.
    const bool ready = chain.is_whole() && chain.loads < 3 && chain.source != ARGTRACE_SOURCE_CONST;
    return ready ? chain : as_slot(chain, mark);
}

Chain Compiler::load(const Node &node) {
    const TypeTraits traits = types_.traits(node.type);
    Chain chain = address(*node.operands.front());
    const unsigned bytes = node.bits ? node.limit : static_cast<unsigned>(traits.bytes);
    chain.load(bytes, types_.space(node.operands.front()->type));
    if (node.bits)
        chain.take(static_cast<unsigned>(node.value), node.bits, traits.is_signed);
    else
        chain.convert(8 * bytes, traits.is_signed);
    return chain;
}

Chain Compiler::operand(const Node &node) {
    const Mark mark = next_slot_;
    const TypeTraits traits = types_.traits(node.type);
    switch (node.kind) {
    case Node::Kind::constant:
        return Chain::number(node.value);
    case Node::Kind::source:
        return Chain::of(node.source, node.index);
    case Node::Kind::load:
        return load(node);
    case Node::Kind::extract: {
        Chain chain = operand(*node.operands.front());
        chain.take(static_cast<unsigned>(node.value),
                   node.bits ? node.bits : static_cast<unsigned>(8 * traits.bytes),
                   traits.is_signed);
        return chain;
    }
    case Node::Kind::offset: {
        Chain chain = operand(*node.operands.front());
        if (chain.add(node.value))
            return chain;
        chain = as_slot(chain, mark);
        if (!chain.add(node.value))
            alu(chain.index, ARGTRACE_ALU_ADD, Chain::number(node.value), 8, false);
        return chain;
    }
    case Node::Kind::convert: {
        Chain chain = operand(*node.operands.front());
        const auto bits = static_cast<unsigned>(8 * traits.bytes);
        if (chain.source == ARGTRACE_SOURCE_CONST && chain.loads == 0)
            return Chain::number(extend(chain.constant, bits, traits.is_signed));
        if (!chain.convert(bits, traits.is_signed)) {
            chain = as_slot(chain, mark);
            chain.convert(bits, traits.is_signed);
        }
        return chain;
    }
    case Node::Kind::file: {
        argtrace_insn insn = operand(*node.operands.front()).encode();
        next_slot_ = mark;
        const unsigned slot = take_slot();
        insn.action = ARGTRACE_DO_FILE;
        insn.arg = static_cast<std::uint16_t>(slot);
        emitter_.add(insn);
        return Chain::slot(slot);
    }
    case Node::Kind::swap: {
        Chain chain = operand(*node.operands.front());
        if (!chain.reverse(static_cast<unsigned>(traits.bytes))) {
            chain = as_slot(chain, mark);
            chain.convert(static_cast<unsigned>(8 * traits.bytes), false);
            chain.reverse(static_cast<unsigned>(traits.bytes));
        }
        return chain;
    }
    case Node::Kind::arithmetic:
        return arithmetic(node);
    case Node::Kind::compare:
        return types_.traits(node.operands[0]->type).is_floating() ? choice(node) : comparison(node);
    default:
        return choice(node);
    }
}

Chain Compiler::arithmetic(const Node &node) {
    const Mark mark = next_slot_;
    const Node *left = node.operands[0].get(), *right = node.operands[1].get();
    const bool commutes = node.alu == ARGTRACE_ALU_AND || node.alu == ARGTRACE_ALU_OR ||
                          node.alu == ARGTRACE_ALU_XOR || node.alu == ARGTRACE_ALU_ADD ||
                          node.alu == ARGTRACE_ALU_MUL;
    if (commutes && left->is_constant())
        std::swap(left, right);
    const bool sign = is_signed(node.type);
    Chain chain = operand(*left);
    if (right->is_constant()) {
        Chain fused = chain;
        if (node.alu == ARGTRACE_ALU_AND && fused.bit_and(right->value))
            return fused;
        if (node.alu == ARGTRACE_ALU_SHR &&
            fused.shift_right(static_cast<unsigned>(right->value), sign))
            return fused;
    }
    chain = as_slot(chain, mark);
    const Mark above = next_slot_;
    const Chain other = operand(*right);
    alu(chain.index, node.alu, other, static_cast<unsigned>(types_.traits(node.type).bytes), sign);
    next_slot_ = above;
    return chain;
}

Chain Compiler::comparison(const Node &node) {
    const Type type = node.operands[0]->type;
    const Chain chain = to_slot(*node.operands[0]);
    const Mark above = next_slot_;
    const Chain other = operand(*node.operands[1]);
    const bool differ = node.alu == ARGTRACE_ALU_EQ && node.negated;
    alu(chain.index, differ ? ARGTRACE_ALU_NE : node.alu, other, 8, is_signed(type));
    if (node.negated && !differ)
        alu(chain.index, ARGTRACE_ALU_XOR, Chain::number(1), 8, false);
    next_slot_ = above;
    return chain;
}

Chain Compiler::choice(const Node &node) {
    const Mark slot = take_slot();
    const Mark above = next_slot_;
    const Label first = emitter_.make_label(), second = emitter_.make_label();
    const Label end = emitter_.make_label();
    const bool conditional = node.kind == Node::Kind::conditional;
    const auto set = [&](const Chain &chain) {
        argtrace_insn insn = chain.encode();
        insn.action = ARGTRACE_DO_SET;
        insn.arg = static_cast<std::uint16_t>(slot);
        emitter_.add(insn);
        next_slot_ = above;
    };
    test(conditional ? *node.operands[0] : node, first, second);
    next_slot_ = above;
    emitter_.bind(first);
    set(conditional ? operand(*node.operands[1]) : Chain::number(1));
    emitter_.jump(end);
    emitter_.bind(second);
    set(conditional ? operand(*node.operands[2]) : Chain::number(0));
    emitter_.bind(end);
    return Chain::slot(slot);
}

} // namespace argtrace::lang
