// SPDX-License-Identifier: GPL-2.0-only
#include "lang/compiler.h"
#include "lang/floating.h"

namespace argtrace::lang {

void Compiler::test_floating(const Node &node, Label then, Label other) {
    const Node &left = *node.operands[0], &right = *node.operands[1];
    const FloatingFormat format = floating_format(types_.traits(left.type).bytes);
    if (!left.is_constant() && !right.is_constant()) {
        test_two_floating(node, format, then, other);
        return;
    }
    const Mark mark = next_slot_;
    const bool mirrored = left.is_constant();
    const std::vector<BitRange> ranges = ranges_of_comparison(node.alu, mirrored, (mirrored ? left : right).value, format);
    Chain chain = testable(operand(mirrored ? right : left), mark);
    if (ranges.empty()) { // whatever is read, it does not hold
        emitter_.range(chain, false, 0, ~std::uint64_t{0}, other, then);
        return;
    }
    if (ranges.size() > 1 && chain.loads > 0)
        chain = as_slot(chain, mark);
    for (std::size_t i = 0; i < ranges.size(); i++) {
        const bool last = i + 1 == ranges.size();
        const Label next = last ? other : emitter_.make_label();
        emitter_.range(chain, false, ranges[i].first, ranges[i].last, then, next);
        if (!last)
            emitter_.bind(next);
    }
}

// Its bits as a signed number of the same order, in a slot; both zeros are 0. What is no number leads to `nan`.
Chain Compiler::ordered(const Node &node, FloatingFormat format, Label nan) {
    const Chain bits = to_slot(node);
    const Mark above = next_slot_;
    const Label done = emitter_.make_label(), signed_bits = emitter_.make_label(), negative = emitter_.make_label();
    emitter_.range(bits, false, 0, format.infinity, done, signed_bits);
    emitter_.bind(signed_bits);
    emitter_.range(bits, false, format.sign, format.sign | format.infinity, negative, nan);
    emitter_.bind(negative);
    const Chain difference = as_slot(Chain::number(format.sign), above);
    alu(difference.index, ARGTRACE_ALU_SUB, bits, 8, false);
    argtrace_insn insn = difference.encode();
    insn.action = ARGTRACE_DO_SET;
    insn.arg = bits.index;
    emitter_.add(insn);
    emitter_.jump(done);
    emitter_.bind(done);
    next_slot_ = above;
    return bits;
}

void Compiler::test_two_floating(const Node &node, FloatingFormat format, Label then, Label other) {
    const Chain left = ordered(*node.operands[0], format, other);
    const Chain right = ordered(*node.operands[1], format, other);
    const bool equality = node.alu == ARGTRACE_ALU_EQ;
    alu(left.index, equality ? ARGTRACE_ALU_XOR : node.alu, right, 8, true);
    emitter_.equal(left, 0, equality ? then : other, equality ? other : then);
}

} // namespace argtrace::lang
