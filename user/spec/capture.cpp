// SPDX-License-Identifier: GPL-2.0-only
#include "spec/capture.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "lang/compile.h"
#include "lang/expression_error.h"
#include "model/probe.h"
#include "model/probe_kind.h"
#include "spec/aggregate.h"
#include "spec/call_fetches.h"
#include "spec/calls.h"
#include "spec/changes.h"
#include "spec/functions.h"
#include "spec/go_parts.h"
#include "spec/member_values.h"

namespace argtrace {

namespace {

[[noreturn]] void fail(const lang::Expression &expression, std::string_view sentence) {
    throw lang::ExpressionError(expression.text(), expression.at(), sentence);
}

// The same value may be asked for twice, two values may not have one name.
void add_value(std::vector<lang::ArgumentExpression> &values,
               const lang::ArgumentExpression &value) {
    const auto same = std::find_if(values.begin(), values.end(), [&value](const auto &other) {
        return other.name == value.name;
    });
    if (same == values.end())
        values.push_back(value);
    else if (same->expression.written() != value.expression.written())
        fail(value.expression, fmt::format("two values have the name {}: give this one another "
                                           "with 'as NAME'",
                                           value.name));
}

void add_condition(std::optional<lang::Expression> &condition, const lang::Expression &further) {
    if (condition && condition->written() != further.written())
        fail(further, fmt::format("another SPEC names this function with the condition '{}': write "
                                  "one condition for it, joined by || or &&",
                                  condition->written()));
    condition = further;
}

std::vector<lang::ArgumentExpression>
computed_of(const Function &function, const std::vector<lang::ArgumentExpression> &values) {
    const std::vector<std::optional<UserOperand>> operands = function.operands();
    std::vector<lang::ArgumentExpression> computed;
    for (const lang::ArgumentExpression &value : values)
        if (const auto parameter = parameter_of(function.prototype, value); !value.is_head && (!parameter || is_computed(operands, *parameter)))
            computed.push_back(value);
    return computed;
}

std::vector<lang::ArgumentExpression> all_arguments(const Prototype &prototype) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i + prototype.results < prototype.parameters.size(); i++)
        if (!prototype.parameters[i].is_unasked)
            names.push_back(prototype.parameters[i].name);
    if (names.empty())
        return {};
    return lang::parse_values(fmt::format("{}", fmt::join(names, ", ")));
}

// Which of the call's stacks a value is, if it is one.
StackChoice stack_of(const Prototype &prototype, const lang::ArgumentExpression &value) {
    const lang::Ast &root = value.expression.root();
    if (root.kind != lang::Ast::Kind::name || root.parenthesized || !value.subject.empty() || parameter_of(prototype, value))
        return {};
    const std::string &name = root.token.text;
    return {name == "$stack" || name == "stack", name == "$ustack" || name == "ustack"};
}

StackChoice stacks_of(const Prototype &prototype, const std::vector<lang::ArgumentExpression> &values) {
    StackChoice stacks;
    for (const lang::ArgumentExpression &value : values)
        stacks = stacks | stack_of(prototype, value);
    return stacks;
}

// The stacks are behind all others, where what shows them looks for them.
std::vector<lang::ArgumentExpression> with_stacks(const Prototype &prototype, std::vector<lang::ArgumentExpression> values,
                                                  StackChoice stacks) {
    std::erase_if(values, [&](const auto &value) { return stack_of(prototype, value).any(); });
    if (stacks.kernel)
        values.push_back(lang::parse_values("$stack as stack").front());
    if (stacks.user)
        values.push_back(lang::parse_values(fmt::format("$ustack as {}", user_stack_name)).front());
    return values;
}

// What a function of Go returns, in front of the stacks if that is several values, and else behind them.
std::vector<lang::ArgumentExpression> with_results(const Prototype &prototype, std::vector<lang::ArgumentExpression> values, StackChoice stacks) {
    std::vector<lang::ArgumentExpression> results;
    for (std::size_t i = prototype.parameters.size() - prototype.results; i < prototype.parameters.size(); i++) {
        results.push_back(lang::parse_values(prototype.parameters[i].name).front());
        std::erase_if(values, [&](const auto &value) { return value.name == results.back().name; });
    }
    if (results.size() > 1)
        values.insert(values.end(), results.begin(), results.end());
    values = with_stacks(prototype, std::move(values), stacks);
    if (results.size() == 1)
        values.push_back(results.front());
    return values;
}

// What a program reads of what the function returns, behind all others.
std::vector<lang::ArgumentExpression> with_computed_result(std::vector<lang::ArgumentExpression> values) {
    std::erase_if(values, [](const auto &value) { return value.name == lang::result_name; });
    values.push_back(lang::parse_values(std::string(lang::result_name)).front());
    return values;
}

// Whether the table of calls knows an argument or the result of it.
bool is_known_call(const Prototype &prototype, const std::vector<CallRow> *rows) {
    const ProbeKind &kind = *split_title(prototype.function).kind;
    const auto is_known_otherwise = [](const Parameter &parameter) { return Calls::shared().otherwise(parameter.name, parameter.type) != nullptr; };
    if (kind == function_kind && std::any_of(prototype.parameters.begin(), prototype.parameters.end(), is_known_otherwise))
        return true;
    if (!rows || kind == syscall_kind)
        return rows != nullptr;
    const auto has_parameter = [&](const CallRow::Argument &argument) {
        return std::any_of(prototype.parameters.begin(), prototype.parameters.end(),
                           [&](const Parameter &parameter) { return parameter.name == argument.name; });
    };
    return std::any_of(rows->begin(), rows->end(), [&](const CallRow &row) {
        return row.result.values || row.result.form != NumberForm::typed || std::any_of(row.arguments.begin(), row.arguments.end(), has_parameter);
    });
}

// Whether a value has the name of one that stands for the argument of a system call, or of its path: "fd.path".
bool is_of_syscall(std::string_view name) {
    const std::string_view part = name.substr(name.find('.') + 1);
    return part.starts_with(whole_part) || part.starts_with(before_part) || part.starts_with(path_part);
}

bool can_return_error(const lang::Scope &scope) {
    if (!scope.result())
        return false;
    const lang::TypeTraits traits = scope.types().traits(*scope.result());
    return traits.kind == lang::TypeTraits::Kind::pointer ||
           (traits.is_integer() && traits.is_signed && traits.bytes >= 4 && traits.bytes <= 8);
}

// "file.path" of the argument that is shown as "file".
lang::ArgumentExpression as_meaning(lang::ArgumentExpression meaning, const std::string &argument) {
    meaning.name = argument + '.' + meaning.name;
    meaning.named = true;
    meaning.optional = true;
    return meaning;
}

} // namespace

std::optional<std::uint32_t> parameter_of(const Prototype &prototype,
                                          const lang::ArgumentExpression &value) {
    const std::string_view name = value.expression.plain_name();
    if (name.empty() || !value.subject.empty())
        return std::nullopt;
    const auto &parameters = prototype.parameters;
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [name](const Parameter &p) { return p.name == name; });
    if (found == parameters.end())
        return std::nullopt;
    return static_cast<std::uint32_t>(found - parameters.begin());
}

void merge(Capture &capture, Capture further) {
    if (further.values) {
        std::vector<lang::ArgumentExpression> values;
        if (capture.values)
            values = std::move(*capture.values);
        for (const lang::ArgumentExpression &value : *further.values)
            add_value(values, value);
        capture.values = std::move(values);
    }
    if (further.condition)
        add_condition(capture.condition, *further.condition);
    capture.limits = further.limits;
    capture.returns = capture.returns || further.returns;
    capture.stack = capture.stack | further.stack;
    capture.changes = capture.changes || further.changes;
}

void CaptureCompiler::compile(Function &function) {
    const Prototype &prototype = function.prototype;
    Capture &capture = function.capture;
    capture.program = {};
    capture.described.reset();
    const std::vector<CallRow> *rows = meanings_ ? Calls::shared().rows(prototype.function) : nullptr;
    capture.is_described = meanings_ && is_known_call(prototype, rows);
    std::vector<lang::Expression> conditions(conditions_.begin(), conditions_.end());
    if (capture.condition)
        conditions.push_back(*capture.condition);
    const StackChoice stacks = capture.values ? capture.stack | stacks_of(prototype, *capture.values) : capture.stack;
    const auto chosen = [&] {
        std::vector<lang::ArgumentExpression> values = capture.values ? *capture.values : all_arguments(prototype);
        if (capture.goroutines_of && std::ranges::find(values, "goid", &lang::ArgumentExpression::name) == values.end())
            values.push_back(lang::parse_values("goid").front());
        return values;
    };
    const bool has_computed_result = !aggregate_ && function.has_computed_result();
    if (!aggregate_ && capture.returns && prototype.results > 0)
        capture.described = with_results(prototype, chosen(), stacks);
    else if (!aggregate_ && (stacks.any() || capture.goroutines_of || (function.go && !prototype.parameters.empty()) || has_computed_result))
        capture.described = with_stacks(prototype, chosen(), stacks);
    if (has_computed_result)
        capture.described = with_computed_result(std::move(*capture.described));
    std::vector<lang::ArgumentExpression> computed;
    if (capture.recorded())
        computed = computed_of(function, *capture.recorded());
    else if (function.may_have_operands() && !aggregate_)
        computed = computed_of(function, all_arguments(prototype));
    const bool adds_up = aggregate_ && !aggregate_->counts_only();
    const bool has_go_parts = function.go && capture.described;
    if (!adds_up && !has_go_parts && computed.empty() && conditions.empty() && !meanings_ && !capture.changes)
        return;
    capture.types = prototype.source.types ? prototype.source.types : kernel_->types().kernel();
    const std::vector<Argument> places = function.places();
    lang::Scope scope(types_of(capture.types, *function.kind), prototype, places, *function.kind);
    scope.set_operands(function.operands());
    scope.set_text_bytes(text_bytes_);
    scope.set_go({function.go.get(), function.address});
    scope.set_goroutines_of(capture.goroutines_of.get());
    Meanings &meanings = meanings_ ? *meanings_ : Meanings::shared();
    scope.set_contents_finder([&meanings](const lang::Types &types, lang::Type type) { return meanings.contents_of(types, type); });
    if (capture.returns) {
        scope.set_result(scope.types().result(prototype.source.id));
        scope.set_result_operand(function.result_operand());
        scope.set_result_in_memory(function.has_result_in_memory());
        scope.set_result_unread(function.has_unread_result());
    }
    if (adds_up) {
        capture.program = add_up(scope, conditions, *aggregate_, capture);
        return;
    }
    if (has_go_parts) {
        capture.described = with_parts(function, scope, *capture.described);
        if (!fit_optional(function, scope, conditions, *capture.described, capture.program))
            capture.program = lang::compile(scope, conditions, computed_of(function, *capture.described));
    } else {
        capture.program = lang::compile(scope, conditions, computed);
    }
    if ((meanings_ && !has_go_parts) || capture.changes)
        describe(function, scope, conditions, rows, capture);
}

// Parts of what a function of Go returns stand in front of the stacks, as do those of a result of the kernel's.
std::vector<lang::ArgumentExpression> CaptureCompiler::with_parts(const Function &function, const lang::Scope &scope,
                                                                  std::span<const lang::ArgumentExpression> values) const {
    std::vector<lang::ArgumentExpression> all = with_go_parts(scope, values, meanings_ != nullptr);
    const bool has_one_result = function.capture.returns && function.prototype.results == 1;
    const auto result = std::ranges::find(all, lang::result_name, &lang::ArgumentExpression::name);
    if (!has_one_result || result == all.end())
        return all;
    const auto first_stack = std::ranges::find_if(all, [&](const auto &value) { return stack_of(function.prototype, value).any(); });
    // RESULT PARTS behind STACKS: PARTS STACKS RESULT
    std::rotate(result, result + 1, all.end()); // the parts take its place
    std::rotate(std::min(first_stack, result), result, all.end() - 1);
    return all;
}

// As many of the optional values as fit a program, and a record, which has the heads as well. False: none does, and there is no program.
bool CaptureCompiler::fit_optional(const Function &function, const lang::Scope &scope, std::span<const lang::Expression> conditions,
                                   std::vector<lang::ArgumentExpression> &values, lang::Program &program) {
    const auto is_optional = [](const auto &value) { return value.optional; };
    while (std::any_of(values.begin(), values.end(), is_optional)) {
        try {
            if (values.size() <= ARGTRACE_VALUES_MAX) {
                program = lang::compile(scope, conditions, computed_of(function, values));
                return true;
            }
        } catch (const lang::ExpressionError &) {
        }
        values.erase(std::find_if(values.rbegin(), values.rend(), is_optional).base() - 1);
    }
    return false;
}

lang::Program CaptureCompiler::add_up(const lang::Scope &scope,
                                      std::span<const lang::Expression> conditions,
                                      const Aggregate &aggregate, const Capture &capture) {
    std::vector<lang::MapPart> parts;
    for (std::size_t i = 0; i < aggregate.keys.size(); ++i) {
        lang::MapPart part;
        if (is_function_key(aggregate.keys[i]))
            part.constant = capture.number;
        else if (!is_error_key(aggregate.keys[i]) || can_return_error(scope))
            part.expression = &aggregate.keys[i];
        part.text_bytes = aggregate.room.empty() ? 0 : aggregate.room[i];
        parts.push_back(part);
    }
    static const std::vector<lang::ArgumentExpression> duration = lang::parse_values("$duration");
    if (aggregate.value == Aggregate::Value::of_spec) {
        if (capture.values->size() != 1)
            fail(capture.values->back().expression,
                 "one value can be added up, and the SPECs of this function have more");
        parts.push_back({.expression = &capture.values->front(), .is_value = true});
    } else if (aggregate.value == Aggregate::Value::duration) {
        parts.push_back({.expression = &duration.front(), .is_value = true});
    }
    return lang::compile_for_map(scope, conditions, parts);
}

// What the table of calls reads of the parameter, or of the result, that this kernel's types allow; nothing where it says nothing.
std::vector<lang::ArgumentExpression> CaptureCompiler::fetched(const Prototype &prototype, const lang::Scope &scope,
                                                               const std::vector<CallRow> *rows, std::optional<std::uint32_t> parameter) const {
    const bool is_function = *split_title(prototype.function).kind == function_kind;
    if (is_function && parameter)
        rows = Calls::shared().rows_naming(prototype.parameters[*parameter].name, rows);
    if (!rows)
        return {};
    std::vector<lang::ArgumentExpression> values = fetched_values(*rows, prototype, parameter);
    // What descriptors and pointers of a system call lead to. Those of a function may not be the program's.
    if (is_function)
        std::erase_if(values, [](const lang::ArgumentExpression &value) { return is_of_syscall(value.name); });
    std::erase_if(values, [&scope](const lang::ArgumentExpression &value) {
        try {
            (void)lang::compile(scope, {}, {&value, 1});
            return false;
        } catch (const lang::ExpressionError &) {
            return true;
        }
    });
    return values;
}

// As many of the meanings, and of the values at return, as fit a program.
void CaptureCompiler::describe(const Function &function, const lang::Scope &scope,
                               std::span<const lang::Expression> conditions, const std::vector<CallRow> *rows,
                               Capture &capture) const {
    const Prototype &prototype = function.prototype;
    std::vector<lang::ArgumentExpression> wanted, values, result;
    const bool has_computed_result = function.has_computed_result();
    if (meanings_ && capture.returns && !scope.parameter(lang::result_name)) {
        if (!has_computed_result)
            result = fetched(prototype, scope, rows, std::nullopt);
        for (lang::ArgumentExpression &meaning : meanings_->of_result(scope, prototype.result))
            result.push_back(as_meaning(meaning, std::string(lang::result_name)));
    }
    const auto add_result = [&] {
        values.insert(values.end(), result.begin(), result.end());
        result.clear();
    };
    wanted = capture.recorded() ? *capture.recorded() : all_arguments(prototype);
    if (capture.changes)
        wanted = with_changes(scope, prototype, wanted);
    for (const auto &value : wanted) {
        if (stack_of(prototype, value).any() || (has_computed_result && value.name == lang::result_name))
            add_result();
        values.push_back(value);
        const auto parameter = parameter_of(prototype, value);
        if (!parameter || !meanings_)
            continue;
        std::vector<lang::ArgumentExpression> read = fetched(prototype, scope, rows, parameter);
        if (read.empty())
            for (lang::ArgumentExpression &meaning : meanings_->of(scope, *parameter))
                read.push_back(as_meaning(meaning, value.name));
        if (read.empty() && scope.kind() == user_kind)
            read = member_values(scope, *meanings_, *parameter, value.name);
        std::ranges::move(read, std::back_inserter(values));
    }
    add_result();
    if (fit_optional(function, scope, conditions, values, capture.program))
        capture.described = std::move(values);
}

// Those that are made for user functions are the program's.
const lang::Types &CaptureCompiler::types_of(const btf *types, const ProbeKind &kind) {
    std::unique_ptr<lang::Types> &known = types_[types];
    if (!known)
        known = std::make_unique<lang::Types>(types, [kernel = kernel_](std::string_view name) { return kernel->variable(name); },
                                              kind == user_kind ? lang::Types::Owner::program : lang::Types::Owner::kernel);
    return *known;
}

} // namespace argtrace
