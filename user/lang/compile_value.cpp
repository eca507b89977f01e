// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <cstring>

#include "lang/compile.h"
#include "lang/compiler.h"
#include "lang/moment.h"
#include "lang/mount_layout.h"
#include "model/probe.h"
#include "model/type.h"
#include "model/type_name.h"
#include "uapi/argtrace_map.h"
#include "util/error.h"

namespace argtrace::lang {

namespace {

std::uint8_t code_of(const TypeTraits &traits) {
    if (traits.kind == TypeTraits::Kind::pointer)
        return ARGTRACE_TYPE_PTR;
    if (traits.is_floating())
        return floating_type(static_cast<std::uint32_t>(traits.bytes));
    if (traits.is_bool && traits.bytes == 1)
        return ARGTRACE_TYPE_BOOL;
    if (traits.is_char)
        return traits.is_signed ? ARGTRACE_TYPE_CHAR : ARGTRACE_TYPE_UCHAR;
    return integer_type(static_cast<std::uint32_t>(traits.bytes), traits.is_signed);
}

/// See Checker::cpus_at().
bool is_cpumask_word(const Node &node, const TypeTraits &traits) {
    return node.kind == Node::Kind::load && traits.kind == TypeTraits::Kind::aggregate;
}

} // namespace

/// ARGTRACE_OUT_* of an output of the value at hand.
std::uint8_t Compiler::output_flags(std::uint8_t action, std::uint8_t flags) const {
    if (action == ARGTRACE_DO_OUT || action == ARGTRACE_DO_WORDS)
        return 0;
    const bool again = lenient_ && followed_ && !at_return_ && flags & ARGTRACE_INSN_USER_DATA;
    return static_cast<std::uint8_t>((again ? ARGTRACE_OUT_AGAIN : 0) | (lenient_ || may_be_null_ ? ARGTRACE_OUT_NULL : 0));
}

void Compiler::output(Chain chain, std::uint8_t action, std::uint32_t bytes, std::uint64_t base) {
    argtrace_insn insn = chain.encode();
    insn.action = action;
    insn.arg = static_cast<std::uint16_t>(bytes);
    insn.base = base;
    if (at_return_)
        insn.flags |= ARGTRACE_INSN_RETURN;
    insn.then = output_flags(action, insn.flags);
    emitter_.add(insn);
}

/// INSN_USER_DATA if what is at the address is in user memory.
std::uint8_t Compiler::data_flag(const Node &address) const {
    return types_.space(address.type) == Space::user ? ARGTRACE_INSN_USER_DATA : 0;
}

/// An output of what is at the address.
void Compiler::output_at(const Node &address, std::uint8_t action, std::uint32_t bytes, std::uint8_t size_slot, bool is_signed) {
    argtrace_insn insn = operand(address).encode();
    insn.action = action;
    insn.arg = static_cast<std::uint16_t>(bytes);
    insn.base = size_slot;
    insn.other = action == ARGTRACE_DO_STRS ? sizeof(std::uint64_t) : is_signed ? ARGTRACE_BUF_SIGNED : 0;
    insn.flags |= data_flag(address);
    if (at_return_)
        insn.flags |= ARGTRACE_INSN_RETURN;
    insn.then = output_flags(action, insn.flags);
    emitter_.add(insn);
}

void Compiler::describe(const Node &node, ProgramValue &described) const {
    described.type_name = types_.name(node.type);
    if (node.type.basic == Type::Basic::none && node.type.stars == 0)
        described.btf_id = node.type.id;
    described.symbol = node.symbol;
    if (!node.flags.empty()) {
        described.btf_id = 0;
        described.flags = node.flags;
        described.one_flag = node.one_flag;
    }
}

void Compiler::value(const Node &node, ProgramValue &described, bool lenient) {
    next_slot_ = 0;
    lenient_ = lenient;
    may_be_null_ = node.may_be_null;
    // Where the function cannot change it, nothing has to be kept until it returns.
    at_return_ = followed_ && (is_of_return(node) || !may_change(node));
    describe(node, described);
    switch (node.kind) {
    case Node::Kind::object:
        output_object(node, described);
        break;
    case Node::Kind::words:
        output_words(node, described);
        break;
    case Node::Kind::text:
        described.type = ARGTRACE_TYPE_STR;
        described.size = node.limit;
        output_at(*node.operands.front(), ARGTRACE_DO_STR, node.limit);
        break;
    case Node::Kind::buffer:
        output_buffer(node, described);
        break;
    case Node::Kind::texts:
        output_texts(node, described);
        break;
    case Node::Kind::path:
        output_path(node, described);
        break;
    case Node::Kind::stack:
        output_stack(node, described);
        break;
    default:
        output_scalar(node, described);
        break;
    }
}

void Compiler::describe_scalar(const Node &node, ProgramValue &described) const {
    const TypeTraits traits = types_.traits(node.type);
    const std::uint32_t bytes = is_cpumask_word(node, traits) ? node.limit : static_cast<std::uint32_t>(traits.bytes);
    described.type = is_cpumask_word(node, traits) ? integer_type(bytes, false) : code_of(traits);
    described.size = bytes;
}

void Compiler::output_scalar(const Node &node, ProgramValue &described) {
    describe_scalar(node, described);
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
    output_at(*node.operands.front(), text ? ARGTRACE_DO_STR : ARGTRACE_DO_MEM, described.size);
}

// The second word is in a slot, in which the first one leaves it.
void Compiler::output_words(const Node &node, ProgramValue &described) {
    described.type = ARGTRACE_TYPE_BYTES;
    described.size = static_cast<std::uint32_t>(types_.traits(node.type).bytes);
    const bool has_second = node.operands.size() > 1;
    const std::uint64_t second = has_second ? to_slot(*node.operands[1]).index : 0;
    output(operand(*node.operands[0]), ARGTRACE_DO_WORDS, described.size, second);
}

void Compiler::output_buffer(const Node &node, ProgramValue &described) {
    described.type = ARGTRACE_TYPE_BYTES;
    if (node.type == void_pointer)
        described.type_name = "u8[]";
    else if (node.type == char_type.pointer())
        described.type_name = node.may_be_empty ? "char[*]" : node.is_array ? "string" : "char[]"; // of Go, which is never absent
    else if (node.elements == ArrayOf::pointers)
        described.type_name = pointers_type;
    else if (node.elements == ArrayOf::pointers_of_page)
        described.type_name = page_pointers_type;
    else if (node.is_array)
        described.type_name += node.elements == ArrayOf::records ? records_suffix
                               : node.elements == ArrayOf::page  ? page_suffix
                               : node.may_be_empty               ? "[*]"
                                                                 : "[]";
    described.size = node.limit;
    const Node &length = *node.operands[1];
    if (length.is_constant()) {
        output_at(*node.operands[0], ARGTRACE_DO_MEM, node.limit);
        return;
    }
    const Chain size = to_slot(length);
    output_at(*node.operands[0], ARGTRACE_DO_BUF, node.limit, size.index, node.is_signed);
}

void Compiler::output_texts(const Node &node, ProgramValue &described) {
    described.type = ARGTRACE_TYPE_BYTES;
    described.type_name = "char *[]";
    described.btf_id = 0;
    described.size = node.limit;
    output_at(*node.operands[0], ARGTRACE_DO_STRS, node.limit);
}

void Compiler::output_stack(const Node &node, ProgramValue &described) {
    described.type = ARGTRACE_TYPE_STACK;
    described.type_name = node.source == ARGTRACE_SOURCE_STACK_ID ? "stack" : user_stack_name;
    described.size = sizeof(std::uint64_t);
    argtrace_insn insn{};
    insn.source = node.source;
    insn.mask = ~std::uint64_t{0};
    insn.action = ARGTRACE_DO_OUT;
    insn.arg = sizeof(std::uint64_t);
    insn.flags = at_return_ ? ARGTRACE_INSN_RETURN : 0;
    emitter_.add(insn);
}

/// Where it is, which is added to the data once.
template<typename Layout>
std::uint32_t Compiler::layout_in_data(std::optional<std::uint32_t> &at, Layout (*make)(const Types &)) {
    if (!at) {
        const Layout layout = make(types_);
        char bytes[sizeof(layout)];
        std::memcpy(bytes, &layout, sizeof(layout));
        at = emitter_.add_data({bytes, sizeof(bytes)}, 8);
    }
    return *at;
}

void Compiler::output_path(const Node &node, ProgramValue &described) {
    described.type = ARGTRACE_TYPE_PATH;
    described.type_name = "path";
    described.size = ARGTRACE_PATH_MAX;
    described.btf_id = 0;
    std::uint32_t base = 0;
    if (node.value == ARGTRACE_PATH_OF_PATH)
        base = layout_in_data(mount_layout_, mount_layout);
    else if (node.value == ARGTRACE_PATH_OF_NODE)
        base = layout_in_data(node_layout_, node_layout);
    output(operand(*node.operands[0]), ARGTRACE_DO_PATH, static_cast<std::uint32_t>(node.value), base);
}

/// How long the text may be; 0 if it is none.
std::uint32_t Compiler::describe_text(const Node &node, ProgramValue &described) const {
    if (node.kind == Node::Kind::text) {
        described.size = node.limit;
    } else {
        const TypeTraits traits = types_.traits(node.type);
        if (node.kind != Node::Kind::object || traits.kind != TypeTraits::Kind::array ||
            !types_.traits(types_.target(node.type)).is_char)
            return 0;
        described.size = static_cast<std::uint32_t>(traits.bytes);
        described.btf_id = 0;
    }
    described.type = ARGTRACE_TYPE_STR;
    return described.size;
}

void Compiler::map_part(const Node &node, ProgramValue &described, std::uint32_t text_bytes,
                        bool is_value) {
    constexpr std::uint32_t text_bytes_max = 8 * ARGTRACE_MAP_KEY_WORDS_MAX;
    next_slot_ = 0;
    lenient_ = may_be_null_ = false;
    at_return_ = followed_ && !is_of_entry(node);
    describe(node, described);
    if (node.kind == Node::Kind::stack && is_value)
        throw Error("a stack is no number: group calls by it with --by");
    if (node.kind == Node::Kind::stack) {
        output_stack(node, described);
        return;
    }
    if (node.kind == Node::Kind::path)
        throw Error(node.value == ARGTRACE_PATH_OF_NODE
                        ? "a path has no room in a key: tell calls apart by the number of the cgroup, `--by cgroup`"
                        : "a path has no room in a key: record it (`argtrace record`), and give the "
                          "recording with --in");
    const std::uint32_t length = describe_text(node, described);
    if (length > 0 && !is_value) {
        const std::uint32_t room =
            text_bytes ? text_bytes : std::min(text_room(length), text_bytes_max);
        output_at(*node.operands.front(), ARGTRACE_DO_STR, room);
        return;
    }
    if (node.kind == Node::Kind::buffer && node.type == char_type.pointer() && !is_value) { // its end is not a NUL
        const std::uint32_t room = text_bytes ? text_bytes : std::min(text_room(node.limit), text_bytes_max);
        described.type = ARGTRACE_TYPE_STR;
        described.size = node.limit;
        described.btf_id = 0;
        described.has_length = true;
        const Chain size = to_slot(*node.operands[1]);
        output_at(*node.operands[0], ARGTRACE_DO_BUF, room, size.index, node.is_signed);
        return;
    }
    const TypeTraits traits = types_.traits(node.type);
    if (traits.is_floating() && is_value)
        throw Error("floating-point numbers are not added up: they can be recorded, and be keys");
    const bool scalar = node.kind != Node::Kind::object && node.kind != Node::Kind::buffer &&
                        node.kind != Node::Kind::text &&
                        ((is_cpumask_word(node, traits) && !is_value) || ((traits.is_scalar() || traits.is_floating()) && traits.bytes <= 8));
    if (!scalar)
        throw Error(is_value ? "a value to add up is a number: name a member of this"
                             : "a key is a number, an address or text: name a member of this");
    describe_scalar(node, described);
    output(operand(node), ARGTRACE_DO_OUT, sizeof(std::uint64_t));
}

void Compiler::map_constant(std::uint64_t value) {
    at_return_ = followed_;
    output(Chain::number(value), ARGTRACE_DO_OUT, sizeof(value));
}

} // namespace argtrace::lang
