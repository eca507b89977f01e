// SPDX-License-Identifier: GPL-2.0-only
#include "lang/compile.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "lang/check.h"
#include "lang/compiler.h"
#include "lang/expression_error.h"
#include "lang/moment.h"

namespace argtrace::lang {

namespace {

/// Compiles one expression, whose errors point at it.
template<typename Action>
void guarded(const Expression &expression, Action action) {
    const auto fail = [&](const std::string &sentence) {
        throw ExpressionError(expression.text(), expression.at(), sentence);
    };
    try {
        action();
    } catch (const Emitter::Full &) {
        fail(fmt::format("this is too much for one program, which has {} instructions at most: "
                         "use fewer terms or values",
                         ARGTRACE_INSNS_MAX));
    } catch (const Compiler::OutOfSlots &) {
        fail(fmt::format("this is nested too deeply: a program has {} variables", ARGTRACE_SLOTS));
    } catch (const ExpressionError &) {
        throw;
    } catch (const Error &error) {
        fail(error.what());
    }
}

/// Conditions as one each; null if they always hold.
struct Conjunctions {
    NodePtr at_entry, at_return;

    /// Adds a condition, or its terms.
    void add(const Expression &condition, NodePtr node) {
        if (node->kind == Node::Kind::logical_and) {
            for (NodePtr &operand : node->operands)
                add(condition, std::move(operand));
            return;
        }
        refuse_two_moments(condition, *node);
        NodePtr &all = is_of_return(*node) ? at_return : at_entry;
        if (!all) {
            all = std::move(node);
            return;
        }
        auto both = std::make_unique<Node>();
        both->kind = Node::Kind::logical_and;
        both->type = int_type;
        both->operands.push_back(std::move(all));
        both->operands.push_back(std::move(node));
        all = std::move(both);
    }
};

void compile_conditions(const Scope &scope, std::span<const Expression> conditions,
                        Compiler &compiler) {
    Conjunctions terms;
    for (const Expression &condition : conditions) {
        NodePtr node = check_condition(scope, condition);
        const bool always = node->is_constant() && node->value != 0;
        if (!always)
            terms.add(condition, std::move(node));
    }
    if (terms.at_entry)
        guarded(conditions.back(), [&] { compiler.filter(*terms.at_entry); });
    if (terms.at_return)
        guarded(conditions.back(), [&] { compiler.filter_at_return(*terms.at_return); });
}

/// What one expression may cost alone.
template<typename Action>
std::uint64_t cost_of(const Scope &scope, Action action) {
    Compiler compiler(scope.types(), scope.result().has_value());
    action(compiler);
    return compiler.finish().cost();
}

/// Throws for a program that may cost too much, pointing at the dearest of its expressions.
void check_cost(const Scope &scope, const Program &program, std::span<const Expression> conditions,
                std::span<const ArgumentExpression> values) {
    const std::uint64_t all = program.cost();
    if (all <= ARGTRACE_COST_MAX)
        return;
    const Expression *dearest = nullptr;
    std::uint64_t most = 0;
    const auto consider = [&](const Expression &expression, std::uint64_t cost) {
        if (dearest && cost <= most)
            return;
        dearest = &expression;
        most = cost;
    };
    for (const Expression &condition : conditions)
        consider(condition, cost_of(scope, [&](Compiler &compiler) {
                     compile_conditions(scope, {&condition, 1}, compiler);
                 }));
    for (const ArgumentExpression &value : values)
        consider(value.expression, cost_of(scope, [&](Compiler &compiler) {
                     ProgramValue unused;
                     compiler.value(*check_value(scope, value.expression, value.subject), unused);
                 }));
    throw ExpressionError(
        dearest->text(), dearest->at(),
        fmt::format("a call may take {} steps with this, and {} in all, where at most {} are allowed: the function "
                    "waits for them; use fewer globs, or shorter ones, or compare less of the text: "
                    "str(ADDRESS, LENGTH)",
                    most, all, ARGTRACE_COST_MAX));
}

} // namespace

Program Compiler::finish() {
    Program program;
    program.nr_filter = nr_filter_;
    program.nr_return = nr_return_;
    program.insns = emitter_.take_insns(program.nr_filter, program.nr_return);
    program.data = emitter_.take_data();
    return program;
}

Program compile(const Scope &scope, std::span<const Expression> conditions,
                std::span<const ArgumentExpression> values) {
    Compiler compiler(scope.types(), scope.result().has_value());
    compile_conditions(scope, conditions, compiler);
    std::vector<ProgramValue> described;
    std::uint32_t bytes = 0;
    for (const ArgumentExpression &value : values) {
        const Expression &expression = value.expression;
        const NodePtr node = check_value(scope, expression, value.subject);
        refuse_two_moments(expression, *node);
        ProgramValue &made = described.emplace_back();
        made.name = value.name;
        guarded(expression, [&] { compiler.value(*node, made, value.lenient); });
        if (!value.type_name.empty())
            made.type_name = value.type_name;
        bytes += made.size + (argtrace_type_size(made.type) ? 0 : sizeof(__u16));
        if (described.size() > ARGTRACE_VALUES_MAX)
            throw ExpressionError(expression.text(), expression.at(),
                                  fmt::format("a call has at most {} values", ARGTRACE_VALUES_MAX));
        if (bytes > ARGTRACE_OUTPUT_MAX)
            throw ExpressionError(
                expression.text(), expression.at(),
                fmt::format("the values of a call have at most {} bytes, and with this they are up "
                            "to {}; str(ADDRESS, LENGTH) takes less",
                            ARGTRACE_OUTPUT_MAX, bytes));
    }
    Program program = compiler.finish();
    program.values = std::move(described);
    check_cost(scope, program, conditions, values);
    return program;
}

Program compile_for_map(const Scope &scope, std::span<const Expression> conditions,
                        std::span<const MapPart> parts) {
    Compiler compiler(scope.types(), scope.result().has_value());
    compile_conditions(scope, conditions, compiler);
    std::vector<ProgramValue> described;
    for (const MapPart &part : parts) {
        ProgramValue &made = described.emplace_back();
        if (!part.expression) {
            made.type = ARGTRACE_TYPE_U64;
            made.size = sizeof(part.constant);
            compiler.map_constant(part.constant);
            continue;
        }
        const Expression &expression = part.expression->expression;
        made.name = part.expression->name;
        const NodePtr node = check_value(scope, expression);
        refuse_two_moments(expression, *node);
        guarded(expression, [&] {
            compiler.map_part(*node, made, part.text_bytes, part.is_value);
        });
    }
    Program program = compiler.finish();
    program.values = std::move(described);
    std::vector<ArgumentExpression> expressions;
    for (const MapPart &part : parts) {
        if (part.expression)
            expressions.push_back(*part.expression);
    }
    check_cost(scope, program, conditions, expressions);
    return program;
}

} // namespace argtrace::lang
