// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <cstring>

#include "lang/compiler.h"
#include "lang/path_layout.h"
#include "model/type.h"

namespace argtrace::lang {

namespace {

std::uint8_t code_of(const TypeTraits &traits) {
    if (traits.kind == TypeTraits::Kind::pointer)
        return ARGTRACE_TYPE_PTR;
    if (traits.is_bool && traits.bytes == 1)
        return ARGTRACE_TYPE_BOOL;
    if (traits.is_char)
        return traits.is_signed ? ARGTRACE_TYPE_CHAR : ARGTRACE_TYPE_UCHAR;
    return integer_type(static_cast<std::uint32_t>(traits.bytes), traits.is_signed);
}

} // namespace

void Compiler::output(Chain chain, std::uint8_t action, std::uint32_t bytes, std::uint64_t base) {
    argtrace_insn insn = chain.encode();
    insn.action = action;
    insn.arg = static_cast<std::uint16_t>(bytes);
    insn.base = base;
    emitter_.add(insn);
}

void Compiler::value(const Node &node, ProgramValue &described) {
    next_slot_ = 0;
    described.type_name = types_.name(node.type);
    if (node.type.basic == Type::Basic::none && node.type.stars == 0)
        described.btf_id = node.type.id;
    switch (node.kind) {
    case Node::Kind::object:
        output_object(node, described);
        break;
    case Node::Kind::text:
        described.type = ARGTRACE_TYPE_STR;
        described.size = node.limit;
        output(operand(*node.operands.front()), ARGTRACE_DO_STR, node.limit);
        break;
    case Node::Kind::buffer:
        output_buffer(node, described);
        break;
    case Node::Kind::path:
        output_path(node, described);
        break;
    default:
        output_scalar(node, described);
        break;
    }
}

void Compiler::output_scalar(const Node &node, ProgramValue &described) {
    const TypeTraits traits = types_.traits(node.type);
    described.type = code_of(traits);
    described.size = static_cast<std::uint32_t>(traits.bytes);
    Chain chain = operand(node);
    // The output takes the low bytes: they need not be extended.
    if (!chain.swap && chain.low == 0 && chain.mask == ~std::uint64_t{0} &&
        chain.bits >= 8 * described.size) {
        chain.bits = 64;
        chain.is_signed = false;
    }
    output(chain, ARGTRACE_DO_OUT, described.size);
}

void Compiler::output_object(const Node &node, ProgramValue &described) {
    const TypeTraits traits = types_.traits(node.type);
    const bool text =
        traits.kind == TypeTraits::Kind::array && types_.traits(types_.target(node.type)).is_char;
    described.type = text ? ARGTRACE_TYPE_STR : ARGTRACE_TYPE_BYTES;
    described.size = static_cast<std::uint32_t>(traits.bytes);
    if (text)
        described.btf_id = 0;
    output(operand(*node.operands.front()), text ? ARGTRACE_DO_STR : ARGTRACE_DO_MEM,
           described.size);
}

void Compiler::output_buffer(const Node &node, ProgramValue &described) {
    described.type = ARGTRACE_TYPE_BYTES;
    described.type_name = "u8[]";
    described.size = node.limit;
    const Node &length = *node.operands[1];
    if (length.is_constant()) {
        output(operand(*node.operands[0]), ARGTRACE_DO_MEM, node.limit);
        return;
    }
    const Chain size = to_slot(length);
    output(operand(*node.operands[0]), ARGTRACE_DO_BUF, node.limit, size.index);
}

void Compiler::output_path(const Node &node, ProgramValue &described) {
    described.type = ARGTRACE_TYPE_PATH;
    described.type_name = "path";
    described.size = ARGTRACE_PATH_MAX;
    described.btf_id = 0;
    if (!path_layout_) {
        const argtrace_path_layout layout = path_layout(types_);
        char bytes[sizeof(layout)];
        std::memcpy(bytes, &layout, sizeof(layout));
        path_layout_ = emitter_.add_data({bytes, sizeof(bytes)}, 8);
    }
    output(operand(*node.operands[0]), ARGTRACE_DO_PATH, static_cast<std::uint32_t>(node.value),
           *path_layout_);
}

} // namespace argtrace::lang
