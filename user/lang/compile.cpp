// SPDX-License-Identifier: GPL-2.0-only
#include "lang/compile.h"

#include <utility>

#include <fmt/format.h>

#include "lang/check.h"
#include "lang/compiler.h"
#include "lang/expression_error.h"

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

} // namespace

Program Compiler::finish() {
    Program program;
    program.insns = emitter_.take_insns();
    program.data = emitter_.take_data();
    program.nr_filter = nr_filter_;
    return program;
}

Program compile(const Scope &scope, const Expression *condition,
                std::span<const ArgumentExpression> values) {
    Compiler compiler(scope.types());
    if (condition) {
        const NodePtr node = check_condition(scope, *condition);
        const bool always = node->is_constant() && node->value != 0;
        if (!always)
            guarded(*condition, [&] { compiler.filter(*node); });
    }
    std::vector<ProgramValue> described;
    std::uint32_t bytes = 0;
    for (const ArgumentExpression &value : values) {
        const Expression &expression = value.expression;
        const NodePtr node = check_value(scope, expression);
        ProgramValue &made = described.emplace_back();
        made.name = value.name;
        guarded(expression, [&] { compiler.value(*node, made); });
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
    return program;
}

} // namespace argtrace::lang
