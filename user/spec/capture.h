// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "lang/parser.h"
#include "lang/program.h"
#include "lang/scope.h"
#include "lang/types.h"
#include "spec/kernel.h"
#include "spec/meanings.h"

namespace argtrace {

/// How many of a function's calls are looked at, and recorded.
struct CallLimits {
    std::uint32_t sample = 0;   ///< one call in so many, counted on each CPU; 0 and 1: each
    std::uint32_t max_rate = 0; ///< records in a second; 0: any number

    bool operator==(const CallLimits &) const = default;
};

/// What is recorded of a function's calls, and of which.
struct Capture {
    /// The values, in order, each with a name of its own; nothing: all arguments.
    std::optional<std::vector<lang::ArgumentExpression>> values = {};
    std::optional<lang::Expression> condition = {};
    CallLimits limits = {};
    bool returns = false; ///< it is recorded when it returns, with what and how long that took
    StackChoice stack = {}; ///< with these of its stacks
    bool changes = false; ///< and with what values are then, beside what they are at entry
    std::shared_ptr<const GoProgram> goroutines_of = {}; ///< with the number of the goroutine, of this program

    /// Tests the condition and computes those values that are not just arguments. Made of the
    /// above by CaptureCompiler.
    lang::Program program = {};
    /// The values and, where that was asked for, what arguments among them mean, what values are at
    /// return, and the stacks; nothing: as `values`.
    std::optional<std::vector<lang::ArgumentExpression>> described = {};
    bool is_described = false;  ///< the table of calls says what arguments are
    const btf *types = nullptr; ///< those of the program's values
    std::uint32_t number = 0;   ///< that stands for the function in the keys of a map

    const std::optional<std::vector<lang::ArgumentExpression>> &recorded() const {
        return described ? described : values;
    }

    /// It takes a program that the module runs.
    bool is_programmed() const {
        return !program.empty() || limits.sample > 1 || limits.max_rate > 0;
    }
};

/// Which parameter of the function a value is; nothing if it is no plain argument.
std::optional<std::uint32_t> parameter_of(const Prototype &prototype,
                                          const lang::ArgumentExpression &value);

/// Adds what a further SPEC says of the same function: values that are chosen win over all
/// arguments and add up, a condition wins over none. The program has to be compiled again. Throws
/// lang::ExpressionError when the SPECs contradict each other.
void merge(Capture &capture, Capture further);

struct Aggregate;
class CallRow;
struct Function;

/// Compiles captures. It keeps what it has found out about types, which takes long.
class CaptureCompiler {
public:
    /// `conditions` have to hold beside those of the captures; `meanings`, if there are any, are
    /// added to the arguments. Both must outlive it.
    /// With an `aggregate` calls are added up as it says; else it is null.
    CaptureCompiler(Kernel &kernel, std::span<const lang::Expression> conditions,
                    Meanings *meanings, const Aggregate *aggregate = nullptr)
        : kernel_(&kernel), conditions_(conditions), meanings_(meanings), aggregate_(aggregate) {}

    /// How many bytes text() records that does not say so.
    void set_text_bytes(std::uint32_t bytes) { text_bytes_ = bytes; }

    /// Sets the program of the function's capture. Throws lang::ExpressionError for what cannot be resolved in the function.
    void compile(Function &function);

private:
    void describe(const Function &function, const lang::Scope &scope,
                  std::span<const lang::Expression> conditions, const std::vector<CallRow> *rows, Capture &capture) const;
    std::vector<lang::ArgumentExpression> fetched(const Prototype &prototype, const lang::Scope &scope,
                                                  const std::vector<CallRow> *rows, std::optional<std::uint32_t> parameter) const;
    std::vector<lang::ArgumentExpression> with_parts(const Function &function, const lang::Scope &scope,
                                                     std::span<const lang::ArgumentExpression> values) const;
    static bool fit_optional(const Function &function, const lang::Scope &scope, std::span<const lang::Expression> conditions,
                             std::vector<lang::ArgumentExpression> &values, lang::Program &program);
    static lang::Program add_up(const lang::Scope &scope,
                                std::span<const lang::Expression> conditions,
                                const Aggregate &aggregate, const Capture &capture);
    const lang::Types &types_of(const btf *types, const ProbeKind &kind);

    Kernel *kernel_;
    std::span<const lang::Expression> conditions_;
    Meanings *meanings_;
    const Aggregate *aggregate_;
    std::uint32_t text_bytes_ = lang::text_bytes_default;
    std::unordered_map<const btf *, std::unique_ptr<lang::Types>> types_;
};

} // namespace argtrace
