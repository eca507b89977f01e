// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "abi/calling_convention.h"
#include "lang/arithmetic.h"
#include "lang/checker.h"
#include "lang/constants.h"
#include "lang/expression_error.h"
#include "lang/moment.h"
#include "util/near_match.h"
#include "util/suggestion.h"

namespace argtrace::lang {

namespace {

std::string_view tag_of(const TypeName &name) {
    switch (name.tag) {
    case TypeName::Tag::structure:
        return "struct ";
    case TypeName::Tag::union_:
        return "union ";
    case TypeName::Tag::enumeration:
        return "enum ";
    case TypeName::Tag::none:
        break;
    }
    return "";
}

} // namespace

// C17 6.4.4.1: the first of the types that holds the number.
NodePtr Checker::check_number(const Ast &ast) const {
    const Token &token = ast.token;
    if (token.kind == Token::Kind::character) {
        const bool is_signed = types_.traits(char_type).is_signed;
        return make_constant(extend(token.value, 8, is_signed), int_type, ast);
    }
    if (token.is_floating)
        return make_constant(std::bit_cast<std::uint64_t>(token.floating), double_type, ast);
    const bool fits_signed = !token.has_u;
    const bool fits_unsigned = token.has_u || !token.is_decimal;
    Type type = ulong_type;
    if (fits_signed && !token.has_l && token.value <= std::numeric_limits<std::int32_t>::max())
        type = int_type;
    else if (fits_unsigned && !token.has_l &&
             token.value <= std::numeric_limits<std::uint32_t>::max())
        type = uint_type;
    else if (fits_signed && token.value <= std::numeric_limits<std::int64_t>::max())
        type = long_type;
    return make_constant(token.value, type, ast);
}

NodePtr Checker::check_name(const Ast &ast) {
    const std::string &name = ast.token.text;
    if (name.front() == '$') {
        if (const Builtin *found = find_builtin(std::string_view(name).substr(1)))
            return builtin(*found, ast);
        unknown_name(ast);
    }
    const bool is_it = is_subject(ast);
    if (is_it && other_)
        return other_->check(*other_subject_);
    const std::string_view wanted = is_it ? subject_ : name;
    if (const Scope::Parameter *found = scope_.parameter(wanted))
        return parameter(*found, ast);
    if (is_it && subject_ == result_name)
        return outcome(*find_builtin(result_name), ast);
    if (const Builtin *found = find_builtin(name))
        return builtin(*found, ast);
    if (const auto found = named_constant(types_, name))
        return make_constant(found->value, found->type, ast);
    unknown_name(ast);
}

NodePtr Checker::parameter(const Scope::Parameter &parameter, const Ast &ast) {
    const Type type = parameter.type;
    const Argument &place = parameter.place;
    const bool aggregate = types_.traits(type).kind == TypeKind::aggregate;
    if (parameter.operand) {
        if (parameter.operand->at_return)
            require_return(place.name, ast);
        return operand(*parameter.operand, type, ast);
    }
    switch (place.loc) {
    case ARGTRACE_LOC_REG:
    case ARGTRACE_LOC_REG_PAIR: {
        if (!aggregate) {
            NodePtr whole = make_source(ARGTRACE_SOURCE_REG, place.index, ulong_type, ast);
            return make_node(Node::Kind::extract, type, ast, std::move(whole));
        }
        NodePtr node = make_node(Node::Kind::register_object, type, ast);
        node->index = place.index;
        return node;
    }
    case ARGTRACE_LOC_STACK:
        return lvalue(make_offset(make_source(ARGTRACE_SOURCE_STACK, 0, void_pointer, ast),
                                  place.offset, type.pointer(), ast),
                      type, ast);
    case ARGTRACE_LOC_REF: {
        const bool is_of_user = scope_.kind().number == ARGTRACE_KIND_USER;
        const auto placed = [is_of_user](Type in_memory) { return is_of_user ? in_memory.in(Space::user) : in_memory; };
        const Type pointer = placed(type.pointer());
        if (place.index != ref_on_stack)
            return lvalue(convert(make_source(ARGTRACE_SOURCE_REG, place.index, ulong_type, ast), pointer), type, ast);
        NodePtr stack = make_source(ARGTRACE_SOURCE_STACK, 0, placed(void_pointer), ast);
        return lvalue(rvalue(lvalue(make_offset(std::move(stack), place.offset, placed(pointer.pointer()), ast), pointer, ast), ast), type, ast);
    }
    default:
        if (parameter.is_variable)
            fail(ast.at, fmt::format("{} has no value in {} that can be read: the compiler has optimised it away there, or has divided it", place.name,
                                     scope_.function()));
        if (scope_.kind() == usdt_kind)
            fail(ast.at, fmt::format("where the argument {} is cannot be read: `argtrace list -v` shows what is noted of it", place.name));
        if (scope_.kind() == user_kind)
            fail(ast.at, fmt::format("where the argument {} of {} is cannot be told: by the debug information it is passed nowhere, or in a place that argtrace "
                                     "does not read",
                                     place.name, scope_.function()));
        fail(ast.at, fmt::format("where the argument {} is cannot be told from BTF, or it is no "
                                 "place that argtrace reads",
                                 place.name));
    }
}

NodePtr Checker::builtin(const Builtin &builtin, const Ast &ast) {
    if (builtin.name == "cpu")
        return make_source(ARGTRACE_SOURCE_CPU, 0, uint_type, ast);
    if (builtin.name == "caller")
        return make_source(ARGTRACE_SOURCE_CALLER, 0, void_pointer, ast);
    if (builtin.name == "time")
        return make_source(ARGTRACE_SOURCE_TIME, 0, ulong_type, ast);
    if (builtin.name == "uid")
        return make_source(ARGTRACE_SOURCE_IDENTITY, ARGTRACE_IDENTITY_UID, uint_type, ast);
    if (builtin.name == "gid")
        return make_source(ARGTRACE_SOURCE_IDENTITY, ARGTRACE_IDENTITY_GID, uint_type, ast);
    if (builtin.name == "cgroup")
        return make_source(ARGTRACE_SOURCE_IDENTITY, ARGTRACE_IDENTITY_CGROUP, ulong_type, ast);
    if (builtin.name == "stack" || builtin.name == "ustack") {
        NodePtr node = make_node(Node::Kind::stack, ulong_type, ast);
        node->source = builtin.name == "stack" ? ARGTRACE_SOURCE_STACK_ID : ARGTRACE_SOURCE_USER_STACK_ID;
        return node;
    }
    if (builtin.name == "goid")
        return goroutine_id(ast);
    if (builtin.name == "created_by")
        return goroutine_beginning(ast);
    if (builtin.name == "ret" || builtin.name == "duration")
        return outcome(builtin, ast);
    if (builtin.name == "task")
        return make_source(ARGTRACE_SOURCE_TASK, 0, find_struct("task_struct", ast.at).pointer(), ast);
    return meant(builtin.meaning, fmt::format("{} is", builtin.name), ast);
}

// What an expression of the task's yields, which `what` ("comm is") stands for.
NodePtr Checker::meant(std::string_view expression, std::string_view what, const Ast &ast) {
    try {
        const Expression meaning = parse_condition(std::string(expression));
        NodePtr node = Checker(scope_, meaning).check(meaning.root());
        node->at = ast.at;
        return node;
    } catch (const ExpressionError &error) {
        fail(ast.at, fmt::format("{} not known on this kernel: {}", what, error.sentence()));
    }
}

void Checker::require_return(std::string_view what, const Ast &ast) const {
    if (!scope_.kind().is_call)
        fail(ast.at, fmt::format("{} is known of calls, and {} is none", what, scope_.function()));
    if (!scope_.kind().can_return)
        fail(ast.at, fmt::format("{} is known when a call returns, and a {} returns nothing", what, scope_.kind().noun));
    if (!scope_.result())
        fail(ast.at, fmt::format("{} is known of calls that are recorded when they return: add "
                                 "--return, or '=' behind the function",
                                 what));
}

NodePtr Checker::check_at_return(const Ast &ast) {
    require_return(written(ast), ast);
    const Ast &operand = *ast.operands[0];
    NodePtr node = check(operand);
    if ((!may_change(*node) && !is_of_return(*node)) || is_of_entry_alone(*node))
        fail(ast.at, fmt::format("{0} is what the function was called with, and no other when it "
                                 "returns: write {0}",
                                 written(operand)));
    move_to_return(*node);
    return node;
}

// What is known when the function returns.
NodePtr Checker::outcome(const Builtin &builtin, const Ast &ast) {
    require_return(builtin.name, ast);
    const auto &result = scope_.result();
    if (builtin.name == "duration")
        return make_source(ARGTRACE_SOURCE_DURATION, 0, ulong_type, ast);
    const TypeTraits known = types_.traits(*result);
    if (known.kind == TypeKind::void_)
        fail(ast.at, fmt::format("{} returns nothing", scope_.function()));
    if (scope_.result_operand())
        return operand(*scope_.result_operand(), *result, ast);
    if (scope_.is_result_in_memory()) {
        NodePtr address = make_source(ARGTRACE_SOURCE_RETURN, 0, ulong_type, ast);
        return lvalue(convert(std::move(address), result->pointer().in(Space::user)), *result, ast);
    }
    if (known.kind == TypeKind::floating && !known.is_floating())
        fail(ast.at, fmt::format("{} returns a {}, in a register of the x87 unit, which is not read", scope_.function(), name(*result)));
    if (!known.is_floating() && (!known.is_scalar() || known.bytes > 8))
        fail(ast.at, fmt::format("{} returns a {}, which is recorded, but cannot be computed with",
                                 scope_.function(), name(*result)));
    if (scope_.is_result_unread())
        fail(ast.at, fmt::format("what {} returns is not known: only its own program calls it, nothing there looks at that, and the compiler may have left it out",
                                 scope_.function()));
    if (known.is_floating() && scope_.kind().number != ARGTRACE_KIND_USER)
        fail(ast.at, fmt::format("{} returns a {}, in a register that the kernel does not use", scope_.function(), name(*result)));
    NodePtr whole = make_source(ARGTRACE_SOURCE_RETURN, known.is_floating() ? ARGTRACE_RETURN_VECTOR : 0, ulong_type, ast);
    const bool leads_to_program = scope_.kind().user_pointers && known.kind == TypeKind::pointer;
    return make_node(Node::Kind::extract, leads_to_program ? result->in(Space::user) : *result, ast, std::move(whole));
}

// What other tracers have for a name.
std::string Checker::meant_elsewhere(std::string_view name) const {
    constexpr std::pair<std::string_view, std::string_view> words[]{{"retval", "ret"}, {"nsecs", "time"}, {"execname", "comm"}, {"curtask", "task"}};
    for (const auto &[other, own] : words)
        if (name == other)
            return did_you_mean(own);
    const bool is_number = name.starts_with("arg") && name.size() > 3 && name.find_first_not_of("0123456789", 3) == name.npos;
    if ((!is_number && name != "args") || scope_.parameters().empty())
        return "";
    std::vector<std::string_view> arguments;
    for (const Scope::Parameter &one : scope_.parameters())
        arguments.push_back(one.place.name);
    return fmt::format("; arguments go by their names: {}", fmt::join(arguments, ", "));
}

// Go's functions need not name what they return.
std::string Checker::results_without_names() const {
    std::vector<std::string_view> results;
    for (const Scope::Parameter &one : scope_.parameters())
        if (one.other_name.empty() && one.place.name.starts_with(result_name) && one.place.name.find_first_not_of("0123456789", result_name.size()) == std::string::npos)
            results.push_back(one.place.name);
    return results.empty() ? "" : fmt::format("; what it returns is {}", fmt::join(results, ", "));
}

// The enumerator that may be meant, of the enum that its qualifier names.
std::string Checker::enumerator_meant(const std::string &qualifier, std::string_view name) const {
    TypeName wanted;
    wanted.tag = TypeName::Tag::enumeration;
    wanted.name = qualifier;
    const auto type = types_.find(wanted);
    if (!type)
        return "";
    std::vector<std::string_view> known;
    for (const auto &[one, value] : types_.enumerators_of(type->id))
        known.push_back(one);
    const std::string_view near = near_match(name, known);
    return near.empty() ? fmt::format("; {} has {}", qualifier, fmt::join(known, ", ")) : did_you_mean(fmt::format("{}::{}", qualifier, near));
}

namespace {

// There are tens of thousands in a kernel, so that some are near to anything: the beginning, which those of an enum have in common, is taken as right.
std::string_view near_enumerator(const Types &types, std::string_view name) {
    constexpr std::size_t beginning = 3;
    std::vector<std::string_view> known = types.enumerator_names();
    std::erase_if(known, [&](std::string_view one) { return one.substr(0, beginning) != name.substr(0, beginning); });
    return near_match(name, known);
}

} // namespace

bool Checker::is_known(const Ast &ast) const {
    const std::string &name = ast.token.text;
    return name.front() == '$' || name == "it" || scope_.parameter(name) || find_builtin(name) || named_constant(types_, name);
}

bool Checker::is_subject(const Ast &ast) const {
    return ast.kind == Ast::Kind::name && ast.token.text == "it" && (other_ || !subject_.empty());
}

bool Checker::is_type_alone(const Ast &ast) const {
    TypeName type;
    type.name = ast.token.text;
    return ast.kind == Ast::Kind::name && !is_known(ast) && types_.find(type);
}

void Checker::unknown_name(const Ast &ast) const {
    const std::string &name = ast.token.text;
    std::vector<std::string_view> known;
    if (name.front() == '$') {
        for (const Builtin &one : all_builtins())
            known.push_back(one.name);
        const std::string_view near = near_match(std::string_view(name).substr(1), known);
        fail(ast.at,
             fmt::format("there is no builtin {}{}", name,
                         near.empty() ? fmt::format("; there are {}", fmt::join(known, ", "))
                                      : fmt::format("; did you mean ${}?", near)));
    }
    if (const auto values = types_.enumerator_values(name); values.size() > 1) {
        const std::vector<std::string> qualified = types_.qualified_enumerators(name);
        fail(ast.at, fmt::format("{} is the name of several enumerators, of the values {}: write {}", name, fmt::join(values, ", "),
                                 qualified.empty() ? "the number that is meant" : fmt::format("which is meant: {}", fmt::join(qualified, ", "))));
    }
    for (const Scope::Parameter &one : scope_.parameters())
        known.push_back(one.place.name);
    for (const Builtin &one : all_builtins())
        known.push_back(one.name);
    std::string near = did_you_mean(suggest(name, known));
    if (near.empty())
        near = did_you_mean(near_match(name, macro_names()));
    if (near.empty())
        near = did_you_mean(near_enumerator(types_, name));
    if (near.empty())
        near = meant_elsewhere(name);
    if (near.empty() && is_go())
        near = results_without_names();
    if (const std::size_t at = name.rfind("::"); near.empty() && at != name.npos)
        near = enumerator_meant(name.substr(0, at), name.substr(at + 2));
    if (is_type_alone(ast))
        near = "; it is a type, which can be cast to: (" + name + ")(...)";
    fail(ast.at, fmt::format("{} has no argument {}, and it is no builtin or constant either{}",
                             scope_.function(), name, near));
}

std::string Checker::explain_ambiguous(const TypeName &name) const {
    std::vector<std::uint64_t> sizes;
    const std::vector<Type> types = types_.all(name);
    for (const Type type : types)
        sizes.push_back(types_.traits(type).bytes);
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return fmt::format("{}{} is the name of {} different types, of {} bytes: write the offset of the "
                       "member that is meant, as in *(int *)((char *)NAME + 16)",
                       tag_of(name), name.name, types.size(), fmt::join(sizes, " and "));
}

std::string Checker::explain_incomplete(Type type) const {
    const TypeName declared = types_.declared_name(type);
    return types_.is_ambiguous(declared)
               ? explain_ambiguous(declared)
               : fmt::format("BTF knows nothing of {} but its name", name(type));
}

Type Checker::find_struct(const std::string &name, std::size_t at) const {
    TypeName wanted;
    wanted.tag = TypeName::Tag::structure;
    wanted.name = name;
    const auto type = types_.find_of_kernel(wanted);
    if (!type)
        fail(at, fmt::format("BTF does not describe struct {}", name));
    return *type;
}

Type Checker::find_type(const TypeName &name) const {
    if (types_.is_ambiguous(name))
        fail(name.at, explain_ambiguous(name));
    if (const auto found = types_.find(name))
        return *found;
    std::string near;
    // What is a struct here may be a union, or a typedef.
    for (const auto &[other, word] :
         {std::pair(TypeName::Tag::structure, "struct "),
          std::pair(TypeName::Tag::union_, "union "),
          std::pair(TypeName::Tag::enumeration, "enum "), std::pair(TypeName::Tag::none, "")}) {
        TypeName same = name;
        same.tag = other;
        same.stars = 0;
        if (near.empty() && types_.find(same))
            near = fmt::format("; did you mean {}{}?", word, name.name);
    }
    if (near.empty())
        near = did_you_mean(near_match(name.name, types_.names(name.tag)));
    fail(name.at, fmt::format("there is no type {}{}{}", tag_of(name), name.name, near));
}

} // namespace argtrace::lang
