// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "abi/user_registers.h"
#include "lang/check.h"

namespace argtrace::lang {

inline constexpr std::uint64_t recorded_bytes_max = ARGTRACE_TEXT_MAX; ///< of what is recorded as bytes
inline constexpr std::uint32_t text_default = 256;                     ///< bytes of str() without a size
inline constexpr std::uint64_t page_bytes_min = 4096;                  ///< the smallest pages that machines have

/// Types one expression. Its parts are in several files: check_names.cpp, check_access.cpp,
/// check_operators.cpp, check_floating.cpp, check_text.cpp, check_arrays.cpp, check_objects.cpp, check_operand.cpp; only those include this.
class Checker {
public:
    Checker(const Scope &scope, const Expression &expression, std::string_view subject = {})
        : scope_(scope), types_(scope.types()), text_(expression.text()), subject_(subject) {}
    /// In this one `it` is an expression of another, of the same call.
    Checker(const Expression &expression, Checker &other, const Ast &subject)
        : scope_(other.scope_), types_(other.types_), text_(expression.text()), other_(&other), other_subject_(&subject) {}

    NodePtr condition(const Ast &ast);
    NodePtr value(const Ast &ast);
    Type type(const Ast &ast) { return check(ast)->type; }

private:
    using TypeKind = TypeTraits::Kind;

    [[noreturn]] void fail(std::size_t at, std::string_view sentence) const;
    std::string_view written(const Ast &ast) const;
    TypeTraits traits(const Node &node) const { return types_.traits(node.type); }
    std::string name(Type type) const { return types_.name(type); }

    Space space(const Node &node) const; // of what it is the address of

    // An expression as it is: load and object can be had the address of.
    NodePtr check(const Ast &ast);

    // Its value: arrays are pointers, big-endian numbers are swapped.
    NodePtr rvalue(const Ast &ast) { return rvalue(check(ast), ast); }
    NodePtr rvalue(NodePtr node, const Ast &ast) const;
    NodePtr scalar(const Ast &ast); // a value to compute with
    NodePtr require_scalar(NodePtr node, const Ast &ast) const;
    NodePtr integer(const Ast &ast, std::string_view what);
    NodePtr require_integer(NodePtr node, const Ast &ast, std::string_view what) const;

    // check_names.cpp
    NodePtr check_number(const Ast &ast) const;
    NodePtr check_name(const Ast &ast);
    NodePtr parameter(const Scope::Parameter &parameter, const Ast &ast);
    NodePtr builtin(const Builtin &builtin, const Ast &ast);
    NodePtr meant(std::string_view expression, std::string_view what, const Ast &ast);
    NodePtr outcome(const Builtin &builtin, const Ast &ast);
    NodePtr check_at_return(const Ast &ast);
    void require_return(std::string_view what, const Ast &ast) const;
    [[noreturn]] void unknown_name(const Ast &ast) const;
    std::string meant_elsewhere(std::string_view name) const;
    std::string results_without_names() const;
    std::string enumerator_meant(const std::string &qualifier, std::string_view name) const;
    bool is_known(const Ast &ast) const; // a name
    bool is_subject(const Ast &ast) const; // the name `it` of what a table says of
    bool is_type_alone(const Ast &ast) const;
    Type find_type(const TypeName &name) const;
    Type find_struct(const std::string &name, std::size_t at) const;
    std::string explain_ambiguous(const TypeName &name) const;
    std::string explain_incomplete(Type type) const;

    // check_access.cpp
    NodePtr check_member(const Ast &ast);
    NodePtr check_index(const Ast &ast);
    NodePtr element_within(NodePtr first, NodePtr count, const Ast &ast);
    NodePtr element_meant(const Ast &ast, const Expression &meaning);
    NodePtr part_meant(const Ast &operand, std::string_view what, const Expression &meaning, const Ast &part);
    NodePtr number_of_elements(Type type, const Ast &operand);
    NodePtr dereference(const Ast &ast);
    NodePtr address_of(const Ast &ast);
    NodePtr check_cast(const Ast &ast);
    NodePtr check_size(const Ast &ast);
    NodePtr check_container(const Ast &ast);
    NodePtr pointer_to_follow(NodePtr node, const Ast &ast, std::size_t at) const;
    NodePtr member_of(NodePtr aggregate, const Ast &ast);
    NodePtr member_of(NodePtr aggregate, std::string_view wanted, const Ast &ast);
    NodePtr promoted_member(NodePtr aggregate, const Ast &ast);
    std::string suggest_member(Type aggregate, const std::string &wanted) const;
    NodePtr register_part(const Node &aggregate, std::uint64_t bit, std::uint32_t bits, Type type,
                          const Ast &ast) const;
    NodePtr lvalue(NodePtr address, Type type, const Ast &ast) const;
    NodePtr bit_field(NodePtr address, const Types::Member &member, const Ast &ast) const;
    std::uint64_t size_of(Type type, const Ast &ast, std::size_t at) const;
    NodePtr scaled(NodePtr index, std::uint64_t size, const Ast &ast) const;

    // check_operators.cpp
    NodePtr check_unary(const Ast &ast);
    NodePtr check_binary(const Ast &ast);
    NodePtr check_conditional(const Ast &ast);
    NodePtr arithmetic(argtrace_alu op, NodePtr left, NodePtr right, const Ast &ast) const;
    NodePtr pointer_sum(NodePtr pointer, NodePtr integer, bool subtract, const Ast &ast) const;
    NodePtr pointer_difference(NodePtr left, NodePtr right, const Ast &ast) const;
    NodePtr comparison(NodePtr left, NodePtr right, const Ast &ast) const;
    NodePtr compare(argtrace_alu op, bool negated, NodePtr left, NodePtr right,
                    const Ast &ast) const;
    NodePtr convert(NodePtr node, Type type) const;
    NodePtr to_bool(NodePtr node, Type type, const Ast &ast) const;
    Type promoted_type(const Node &node) const;

    // check_floating.cpp
    NodePtr floating_comparison(NodePtr left, NodePtr right, const Ast &ast) const;

    // check_text.cpp
    NodePtr check_call(const Ast &ast);
    void require_quotes(const Ast &text, const Ast &name);
    NodePtr text_comparison(NodePtr &left, NodePtr &right, const Ast &ast);
    NodePtr glob_comparison(const Ast &ast);
    NodePtr text_test(NodePtr text, const TextPattern &pattern, bool negated, const Ast &operand,
                      const Ast &ast);
    NodePtr counted_text_test(NodePtr text, const TextPattern &pattern, bool negated, const Ast &operand, const Ast &ast) const;
    NodePtr as_text(NodePtr node, const Ast &ast) const;
    NodePtr text_of_program(const Node &node, const Ast &operand, std::uint32_t limit);
    NodePtr address(NodePtr node, const Ast &ast) const;
    std::optional<Type> pointed_aggregate(const Node &node) const;
    std::uint32_t length(const Ast &ast);
    void require_operands(const Ast &ast, std::size_t least, std::size_t most,
                          std::string_view usage) const;
    NodePtr call_str(const Ast &ast);
    NodePtr bytes_at(const Ast &ast, Type type, std::uint32_t limit);
    NodePtr call_buf(const Ast &ast);
    bool has_empty_values() const;
    NodePtr call_text(const Ast &ast);
    NodePtr call_array(const Ast &ast);
    NodePtr call_len(const Ast &ast);
    NodePtr call_head(const Ast &ast);
    NodePtr number_up_to(const Ast &operand, const char *what, std::uint64_t most, const Ast &ast);
    NodePtr call_records(const Ast &ast);
    NodePtr call_pointers(const Ast &ast);
    NodePtr call_on_page(const Ast &ast);
    NodePtr call_strs(const Ast &ast);
    NodePtr call_fd(const Ast &ast);
    NodePtr call_path(const Ast &ast);
    NodePtr call_cgroup_path(const Ast &ast);
    NodePtr call_pfn(const Ast &ast);
    NodePtr call_flags(const Ast &ast);
    std::vector<FlagName> constants_named(const Ast &ast, bool one);
    NodePtr call_sockaddr(const Ast &ast);
    NodePtr call_cpus(const Ast &ast);
    NodePtr cpus_at(NodePtr address, Type type, const Ast &ast) const;
    bool is_cpumask(Type type) const;
    NodePtr call_only(const Ast &ast);
    NodePtr length_of_sockaddr(const Ast &operand, const Ast &ast);
    NodePtr either(NodePtr condition, NodePtr first, NodePtr second, const Ast &ast) const;
    NodePtr call_sym(const Ast &ast);

    // check_operand.cpp
    NodePtr register_value(const NamedRegister &known, Type type, const Ast &ast, bool at_return = false) const;
    NodePtr operand(const UserOperand &operand, Type type, const Ast &ast) const;
    NodePtr part_source(const RegisterPart &part, bool at_return, const Ast &ast) const;
    NodePtr part_of(const Node &aggregate, std::uint64_t bit, std::uint32_t bits, Type type, const Ast &ast) const;
    NodePtr word_of(const Node &aggregate, std::uint64_t begin, std::uint64_t size, const Ast &ast) const;
    NodePtr whole_object(const Node &aggregate, const Ast &ast) const;
    NodePtr call_reg(const Ast &ast) const;
    static bool is_recorded_as_bytes(const TypeTraits &type);

    // check_go.cpp
    bool is_go() const { return scope_.go().program != nullptr; }
    NodePtr goroutine_id(const Ast &ast);
    NodePtr goroutine_beginning(const Ast &ast);
    NodePtr goroutine_of_thread(const Ast &ast);
    NodePtr go_member(const Ast &operand, std::string_view name, const Ast &ast);
    NodePtr go_member_of(const Node &whole, std::string_view name, const Ast &operand, const Ast &ast) const;
    NodePtr go_value(NodePtr node, const Ast &ast) const;
    NodePtr go_element(const Ast &ast, GoKind kind);
    NodePtr go_type(const Ast &operand, const Ast &ast);
    NodePtr go_types_begin(const Ast &ast) const;
    NodePtr go_length(const Node &value, const Ast &ast);
    NodePtr call_element(const Ast &ast);
    NodePtr call_type(const Ast &ast);
    NodePtr text_in_interface(const Ast &ast);

    // check_space.cpp
    bool is_of_program(const Node &node) const;
    NodePtr call_space(const Ast &ast, Space space);
    NodePtr call_per_cpu(const Ast &ast);
    NodePtr offset_of_cpu(const Ast &ast);
    void require_one_place(const Node &pointer, const Ast &ast, std::size_t at) const;

    const Scope &scope_;
    const Types &types_;
    const std::string &text_;
    const std::string_view subject_; // see check_value()
    Checker *const other_ = nullptr;
    const Ast *const other_subject_ = nullptr;
    Type container_; // what container_of() is about
};

/// Why a call of path(), buf() or the like is no operand.
std::string explain_recorded_only(const Ast &call);

/// Nodes of the typed tree.
NodePtr make_node(Node::Kind kind, Type type, const Ast &ast);
NodePtr make_node(Node::Kind kind, Type type, const Ast &ast, NodePtr operand);
NodePtr make_constant(std::uint64_t value, Type type, const Ast &ast);
NodePtr make_comparison(argtrace_alu op, bool negated, NodePtr left, NodePtr right, const Ast &ast);
NodePtr make_source(std::uint8_t source, std::uint8_t index, Type type, const Ast &ast);
NodePtr make_offset(NodePtr address, std::uint64_t bytes, Type pointer, const Ast &ast);

} // namespace argtrace::lang
