// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "btf/display_types.h"
#include "btf/prototype.h"
#include "lang/type.h"
#include "uapi/argtrace_program.h"

namespace argtrace::lang {

struct Node;
using NodePtr = std::unique_ptr<Node>;

/// How a text is compared: ARGTRACE_MATCH_* and what with.
struct TextPattern {
    argtrace_match match = ARGTRACE_MATCH_WHOLE;
    std::string text; ///< without the `*` of PREFIX, SUFFIX, CONTAINS; of GLOB all of it
};

/// Which elements the bytes of an array are.
enum class ArrayOf : std::uint8_t {
    all,
    page,     ///< on_page(): the first ones
    records,  ///< records(): each says how long it is
    pointers, ///< pointers(): up to NULL
    pointers_of_page,
};

/// What a node is but for its operands.
struct NodeProperties {
    enum class Kind : std::uint8_t {
        constant,        ///< `value`
        string,          ///< a literal `pattern.text`
        source,          ///< all bits of `source`, `index`
        register_object, ///< a struct in registers from `index` on, or in those of `parts`, which begins at bit `value`
        words,           ///< all of such a struct, 8 bytes of which are in each of its operands, one or two
        load,            ///< what is at the address operands[0], or `bits` at bit `value` of it; of a struct cpumask, its
                         ///< first `bits`
        object,          ///< struct, union, array or function at the address operands[0]
        offset,          ///< the address operands[0] + `value`
        extract,         ///< `bits` at bit `value` of operands[0], as `type`
        convert,         ///< operands[0] as `type`, an integer or a pointer
        file,            ///< fd(): the struct file * of the descriptor operands[0] of the current task, or NULL
        swap,            ///< operands[0], whose bytes stand in the wrong order
        arithmetic,      ///< operands[0] `alu` operands[1], both of this type (shifts: the left)
        compare,         ///< EQ, LT or LE of two operands of one type, `negated` or not: an int
        logical_not,
        logical_and,
        logical_or,
        conditional,
        text_test, ///< whether the text at operands[0] is as `pattern` says, `negated` or not
        text,      ///< str(): the text at operands[0]
        buffer,    ///< buf(): operands[1] bytes at operands[0], at most `limit`; other functions, whose `type` is what
                   ///< the bytes are shown as
        texts,     ///< strs(): what the array of pointers at operands[0] leads to, in `limit` bytes
        path,      ///< path(), cgroup_path(): of what is at operands[0], which `value` says,
                   ///< as ARGTRACE_PATH_OF_*
        stack,     ///< the call's stack, of the kernel or of user code, as `source` says
    };

    Kind kind = Kind::constant;
    Type type;
    std::size_t at = 0; ///< where its text begins
    std::uint64_t value = 0;
    std::uint32_t bits = 0; ///< load, extract: of a bit-field, else 0
    std::uint8_t source = ARGTRACE_SOURCE_CONST;
    std::uint8_t index = 0;
    argtrace_alu alu = ARGTRACE_ALU_ADD;
    bool negated = false;
    bool at_return = false;  ///< evaluated when the function returns, not when it is entered
    bool fixed_size = false; ///< text_test, text: it is an array of `limit` bytes
    std::uint32_t limit = 0; ///< text_test, text, buffer: bytes that are looked at
    TextPattern pattern;
    std::vector<FlagName> flags; ///< of which the value is made, where it is shown
    bool one_flag = false;       ///< of just one of them
    bool is_signed = false;      ///< buffer: its length is a signed number, before it was converted
    bool is_array = false;       ///< buffer: of elements of that type
    ArrayOf elements = ArrayOf::all; ///< buffer: which of them
    bool may_be_empty = false;   ///< buffer: what has no bytes is there all the same
    bool may_be_null = false;    ///< text, texts, path: at NULL there is none, which is no fault
    bool symbol = false;         ///< it is shown as the function that it is in
    std::shared_ptr<const std::vector<RegisterPart>> parts; ///< register_object; with at_return in those that functions return values in

    bool is_constant() const { return kind == Kind::constant; }
};

/// An expression with its types, reduced to what there are instructions for: conversions are
/// explicit, members are offsets, names are registers or addresses.
///
/// Each value is represented by 64 bits: extended by its sign if its type is signed, else by
/// zeros.
struct Node : NodeProperties {
    std::vector<NodePtr> operands;
};

/// Another that is the same, with all its operands.
NodePtr copy_of(const Node &node);

} // namespace argtrace::lang
