// SPDX-License-Identifier: GPL-2.0-only
#include "lang/go_key.h"

#include <utility>

namespace argtrace::lang {

namespace {

/// Makes nodes of the address and the length of one text.
class Words {
public:
    explicit Words(const Node &text) : text_(text) {}

    NodePtr word(unsigned number) const {
        const std::uint64_t begin = word_bytes * number;
        NodePtr rest = number == 0 ? first() : is_longer(begin + word_bytes - 1, load(8, at(begin)), last(begin));
        return is_longer(begin, std::move(rest), constant(0));
    }

private:
    static constexpr std::uint64_t word_bytes = 8;

    NodePtr make(Node::Kind kind, Type type, NodePtr one = nullptr, NodePtr other = nullptr) const {
        auto node = std::make_unique<Node>();
        node->kind = kind;
        node->type = type;
        node->at = text_.at;
        for (NodePtr *operand : {&one, &other})
            if (*operand)
                node->operands.push_back(std::move(*operand));
        return node;
    }
    NodePtr constant(std::uint64_t value) const {
        NodePtr node = make(Node::Kind::constant, ulong_type);
        node->value = value;
        return node;
    }
    NodePtr compute(argtrace_alu op, NodePtr left, NodePtr right) const {
        NodePtr node = make(Node::Kind::arithmetic, ulong_type, std::move(left), std::move(right));
        node->alu = op;
        return node;
    }
    NodePtr compute(argtrace_alu op, NodePtr left, std::uint64_t right) const { return compute(op, std::move(left), constant(right)); }
    NodePtr length() const { return copy_of(*text_.operands[1]); }
    NodePtr address() const {
        NodePtr node = copy_of(*text_.operands[0]);
        node->type = char_type.pointer().in(Space::user);
        return node;
    }
    NodePtr at(std::uint64_t offset) const {
        if (offset == 0)
            return address();
        NodePtr node = make(Node::Kind::offset, char_type.pointer().in(Space::user), address());
        node->value = offset;
        return node;
    }
    NodePtr at(NodePtr offset) const {
        NodePtr node = make(Node::Kind::arithmetic, char_type.pointer().in(Space::user), address(), std::move(offset));
        node->alu = ARGTRACE_ALU_ADD;
        return node;
    }
    NodePtr load(unsigned bytes, NodePtr place) const {
        const Type type = bytes == 8 ? ulong_type : bytes == 4 ? uint_type : Type::of(Type::Basic::uchar);
        NodePtr node = make(Node::Kind::load, type, std::move(place));
        return bytes == 8 ? std::move(node) : make(Node::Kind::convert, ulong_type, std::move(node));
    }
    NodePtr is_longer(std::uint64_t bytes, NodePtr then, NodePtr other) const {
        NodePtr test = make(Node::Kind::compare, int_type, constant(bytes), length());
        test->alu = ARGTRACE_ALU_LT;
        NodePtr node = make(Node::Kind::conditional, ulong_type, std::move(test), std::move(then));
        node->operands.push_back(std::move(other));
        return node;
    }
    /// What is at the end, moved to where its first byte stands in the word.
    NodePtr placed(unsigned bytes, NodePtr offset) const {
        NodePtr again = copy_of(*offset);
        return compute(ARGTRACE_ALU_SHL, load(bytes, at(std::move(again))), compute(ARGTRACE_ALU_MUL, std::move(offset), 8));
    }
    NodePtr before_end(std::uint64_t bytes) const { return compute(ARGTRACE_ALU_SUB, length(), bytes); }

    /// The word that the text ends in, behind others: the last eight bytes, of which the first have been in the word before.
    NodePtr last(std::uint64_t begin) const {
        NodePtr bits = compute(ARGTRACE_ALU_MUL, compute(ARGTRACE_ALU_SUB, constant(begin + word_bytes), length()), 8);
        return compute(ARGTRACE_ALU_SHR, load(8, at(before_end(word_bytes))), std::move(bits));
    }

    /// The first word, of which a shorter text is read from both ends.
    NodePtr first() const {
        NodePtr of_four = compute(ARGTRACE_ALU_OR, load(4, address()), placed(4, before_end(4)));
        NodePtr middle = placed(1, compute(ARGTRACE_ALU_SHR, length(), 1));
        NodePtr of_one = compute(ARGTRACE_ALU_OR, compute(ARGTRACE_ALU_OR, load(1, address()), std::move(middle)), placed(1, before_end(1)));
        return is_longer(word_bytes - 1, load(8, address()), is_longer(3, std::move(of_four), std::move(of_one)));
    }

    const Node &text_;
};

} // namespace

NodePtr key_word(const Node &text, unsigned word) {
    return Words(text).word(word);
}

} // namespace argtrace::lang
