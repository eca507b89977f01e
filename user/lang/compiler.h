// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lang/chain.h"
#include "lang/emitter.h"
#include "lang/floating.h"
#include "lang/node.h"
#include "lang/program.h"
#include "lang/types.h"

namespace argtrace::lang {

/// Compiles typed trees. Its parts are in compile.cpp, compile_condition.cpp, compile_floating.cpp, compile_value.cpp
/// and compile_operand.cpp; only those include this.
class Compiler {
public:
    /// Thrown when a program has not enough slots.
    struct OutOfSlots {};

    Compiler(const Types &types, bool followed) : types_(types), followed_(followed) {}

    void filter(const Node &condition);
    void filter_at_return(const Node &condition); ///< behind filter()
    /// `lenient` as in ArgumentExpression.
    void value(const Node &node, ProgramValue &described, bool lenient = false);
    /// As part of a map's key, or its value. Text gets so many bytes; 0: as many as it can have.
    void map_part(const Node &node, ProgramValue &described, std::uint32_t text_bytes, bool is_value);
    void map_constant(std::uint64_t value);

    std::size_t size() const { return emitter_.size(); }
    Program finish();

private:
    using Mark = unsigned; // slots below are in use

    // compile_operand.cpp: the chain that yields a node's value, after the instructions that it
    // needs. What it leaves in slots is in those from next_slot_ before to next_slot_ after.
    Chain operand(const Node &node);
    Chain address(const Node &node); // the same, and it can be loaded from
    Chain load(const Node &node);
    Chain arithmetic(const Node &node);
    Chain comparison(const Node &node);
    Chain choice(const Node &node); // a value that jumps decide
    Chain as_slot(Chain chain, Mark mark);
    Chain to_slot(const Node &node); // its value, in the first free slot
    void alu(unsigned slot, argtrace_alu op, Chain operand, unsigned bytes, bool is_signed);
    unsigned take_slot();

    // compile_condition.cpp
    void conjunction(const Node &condition);
    void test(const Node &node, Label then, Label other);
    void test_comparison(const Node &node, Label then, Label other);
    void test_constant(const Node &node, Chain chain, const Node &constant, bool mirrored,
                       Label then, Label other);
    void test_floating(const Node &node, Label then, Label other); // compile_floating.cpp
    void test_two_floating(const Node &node, FloatingFormat format, Label then, Label other);
    Chain ordered(const Node &node, FloatingFormat format, Label nan);
    void test_text(const Node &node, Label then, Label other);
    bool test_pieces(const Node &node, Label then, Label other);
    Chain testable(Chain chain, Mark mark);

    // compile_value.cpp
    void output(Chain chain, std::uint8_t action, std::uint32_t bytes, std::uint64_t base = 0);
    void output_at(const Node &address, std::uint8_t action, std::uint32_t bytes, std::uint8_t size_slot = 0,
                   bool is_signed = false);
    std::uint8_t data_flag(const Node &address) const;
    void output_scalar(const Node &node, ProgramValue &described);
    void output_words(const Node &node, ProgramValue &described);
    void output_object(const Node &node, ProgramValue &described);
    void output_buffer(const Node &node, ProgramValue &described);
    void output_stack(const Node &node, ProgramValue &described);
    void output_path(const Node &node, ProgramValue &described);
    void output_texts(const Node &node, ProgramValue &described);
    std::uint8_t output_flags(std::uint8_t action, std::uint8_t flags) const;
    template<typename Layout>
    std::uint32_t layout_in_data(std::optional<std::uint32_t> &at, Layout (*make)(const Types &));
    void describe(const Node &node, ProgramValue &described) const;
    void describe_scalar(const Node &node, ProgramValue &described) const;
    std::uint32_t describe_text(const Node &node, ProgramValue &described) const;

    const Types &types_;
    Emitter emitter_;
    unsigned next_slot_ = 0;
    const bool followed_;    // calls are recorded when they return
    bool at_return_ = false; // the value at hand is computed then
    bool lenient_ = false, may_be_null_ = false; // the value at hand is
    std::optional<std::uint32_t> mount_layout_, node_layout_; // where they are in the data
    std::uint16_t nr_filter_ = 0, nr_return_ = 0;
};

/// The terms of a conjunction in the order in which they are evaluated; see compile().
std::vector<const Node *> ordered_terms(const Node &condition);

} // namespace argtrace::lang
