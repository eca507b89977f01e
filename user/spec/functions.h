// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "abi/architecture.h"
#include "elf/function_returns.h"
#include "abi/user_registers.h"
#include "model/code_naming.h"
#include "model/probe_kind.h"
#include "model/return_way.h"
#include "model/timer.h"
#include "spec/capture.h"
#include "spec/kernel.h"
#include "spec/library_prototypes.h"
#include "spec/object_scope.h"
#include "spec/spec.h"
#include "spec/user_returns.h"
#include "symbols/enabled.h"
#include "uapi/argtrace.h"

namespace argtrace {

/// A place of a USDT probe, or a function of Go, and where the probe's arguments are there: of each parameter its place or, where that says none, its operand.
struct UsdtSite {
    std::vector<Argument> places;
    std::vector<std::optional<UserOperand>> operands;
    std::vector<std::string> noted;  ///< and what the note says of it
    std::uint64_t semaphore = 0;     ///< its offset in the file; 0: none
};

/// A function of the kernel or of a program, a tracepoint, a system call or a timer: where it is, what it takes, and what is wanted of its calls.
struct Function {
    Symbol symbol; ///< its strings are owned by Kernel::symbols(); of a tracepoint that of its iterator, of a system call that of its function
    Prototype prototype;
    bool forced = false;    ///< the prototype may not be its own
    bool namesakes = false; ///< in a list: others have its name, there or in other modules
    Capture capture = {};
    std::uint32_t by = 0; ///< of calls whose return the kernel is to follow: ARGTRACE_PROBE_BY_*, with the reason
    const ProbeKind *kind = &function_kind;
    std::string title = {}; ///< of what is no function: its name, see Title
    const CallingConvention *convention = native_architecture().functions; ///< how it takes its arguments
    std::shared_ptr<const UsdtSite> site = {}; ///< of a USDT probe, or a function of Go
    bool is_go = false; ///< which is known by its goroutine
    std::shared_ptr<const GoProgram> go = {}; ///< what is known of its program; null: it is not passed its arguments as Go's ABIInternal says
    std::uint64_t address = 0;                ///< of a function of Go: where its calls are, in its file
    std::shared_ptr<const UserFile> file = {}; ///< of a user function, at whose offset it is: symbol.addr; null: of the kernel
    std::function<UserReturns()> find_returns = {}; ///< of a user function, while functions are found
    elf::FunctionReturns returns = {}; ///< of one whose calls are recorded when they return; no places: the kernel's uretprobe follows them

    /// Where its arguments are that are recorded as they are.
    std::vector<Argument> places() const { return site ? site->places : convention->places(prototype); }

    /// Whether some of them may be such as a program has to read, as the module does not find them by itself.
    bool may_have_operands() const { return site || convention->program_operands; }

    /// Where those are: one for each parameter, or none at all.
    std::vector<std::optional<UserOperand>> operands() const {
        if (!may_have_operands())
            return {};
        return site ? site->operands : convention->operands(prototype);
    }

    /// Whether a program finds what it returns by its convention, which is C's.
    bool is_read_at_return() const { return capture.returns && !site && convention->program_operands; }

    /// What it returns in registers, of a function of C or C++ whose calls are recorded when they return.
    std::optional<UserOperand> result_operand() const { return is_read_at_return() ? convention->returning(prototype).operand : std::nullopt; }

    /// Whether what such a function returns is in memory, at the address that is recorded.
    bool has_result_in_memory() const { return is_read_at_return() && convention->returning(prototype).is_address; }

    /// Whether that is not known.
    bool has_unread_result() const { return is_read_at_return() && convention->returning(prototype).is_unread; }

    /// Whether a program is to record what it returns: what the module does not find in a register, and what is behind the address that it finds.
    bool has_computed_result() const {
        return has_object_in_memory() || (result_operand() && convention->returning(prototype).value.loc == ARGTRACE_LOC_NONE);
    }

    /// Whether what is there says more than where that is: not so of a class with functions of its own to copy it.
    bool has_object_in_memory() const {
        const Shape &result = prototype.result_shape;
        return has_result_in_memory() && !result.by_address && result.bytes <= ARGTRACE_BYTES_MAX;
    }

    /// How many of its parameters are recorded where nothing is chosen.
    std::size_t recorded_parameters() const { return prototype.parameters.size() - (capture.returns ? 0 : prototype.results); }

    /// As it is shown, and as its calls are.
    std::string_view name() const { return title.empty() ? symbol.name : title; }
};

/// Whether a parameter of a function that has these operands() is to be recorded by a program.
inline bool is_computed(const std::vector<std::optional<UserOperand>> &operands, std::uint32_t parameter) {
    return !operands.empty() && operands[parameter].has_value();
}

/// What an object has of that which a SPEC means.
struct FoundUserFunctions {
    std::vector<Function> functions; ///< by offset
    std::vector<std::string> left;   ///< a sentence for what has been left out, and why
};

/// Which functions are wanted.
struct Request {
    std::vector<Spec> specs;
    bool force = false; ///< those too whose prototype BTF has not for sure
    bool raw = false;   ///< six registers of those that have no prototype
    std::vector<lang::Expression> conditions = {}; ///< that hold for each function's calls
    CallLimits limits = {};
    bool returns = false; ///< of all functions, what they return and when
    StackChoice stack = {}; ///< of all calls, these of their stacks
    bool changes = false; ///< and what values are then, beside what they are at entry
    bool goroutines = false; ///< of functions of Go, the goroutine that calls them
    bool goroutines_of_threads = false; ///< and where there are any, of all others, too, as only a program of Go calls these
    std::shared_ptr<Meanings> meanings = {}; ///< that are added to the arguments; null: none
    std::uint32_t text_bytes = lang::text_bytes_default; ///< that text() records at most, where it does not say so itself
    std::shared_ptr<const Aggregate> aggregate = {}; ///< how calls are added up; null: they are recorded
    ReturnBy return_by = ReturnBy::automatic;
    std::function<EnabledFunctions()> enabled = {}; ///< who else has functions now; null: nobody
    std::vector<WrittenPrototype> prototypes = {}; ///< of user functions
    ObjectScope objects = {}; ///< and whose they are
    DebugFiles debug_files = {}; ///< where those of their objects are looked for, too
    std::optional<Timer> timer = {}; ///< whose ticks are wanted, beside the specs
    std::vector<lang::ArgumentExpression> tick_values = {}; ///< that are recorded of each tick, beside its stack
};

struct Found {
    std::vector<Function> functions; ///< each address once
    std::vector<std::string> left;   ///< a sentence for what has been left out, and why
};

/// The functions that are wanted, in the order of the specs. A name stands for the function
/// of the kernel and of each module that has it. With `force` its clones come along. Only for
/// patterns does this look whether ftrace can trace them: that needs tracefs. Functions in which
/// the request's conditions cannot be resolved are left out, and of a pattern those in which its own
/// expressions cannot be.
///
/// Throws Error when one of the specs comes to nothing, and says why.
Found find_functions(Kernel &kernel, const Request &request);

/// The same for a list: by name, all of them traceable. Functions that share their name are
/// in it without `force`, too, and count as forced.
Found list_functions(Kernel &kernel, const Request &request);

} // namespace argtrace
