// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/capture.h"
#include "spec/kernel.h"
#include "spec/spec.h"
#include "uapi/argtrace.h"

namespace argtrace {

/// A function of the kernel, or a tracepoint: where it is, what it takes, and what is wanted of its calls.
struct Function {
    Symbol symbol; ///< its strings are owned by Kernel::symbols(); of a tracepoint that of its iterator
    Prototype prototype;
    bool forced = false;    ///< the prototype may not be its own
    bool namesakes = false; ///< in a list: others have its name, there or in other modules
    Capture capture = {};
    std::string tracepoint = {}; ///< its title; empty: a function

    std::uint16_t kind() const {
        return tracepoint.empty() ? ARGTRACE_KIND_ENTRY : ARGTRACE_KIND_TRACEPOINT;
    }
    /// As it is shown, and as its calls are.
    std::string_view name() const { return tracepoint.empty() ? symbol.name : tracepoint; }
};

/// Which functions are wanted.
struct Request {
    std::vector<Spec> specs;
    bool force = false; ///< those too whose prototype BTF has not for sure
    bool raw = false;   ///< six registers of those that have no prototype
    std::vector<lang::Expression> conditions = {}; ///< that hold for each function's calls
    CallLimits limits = {};
    bool returns = false; ///< of all functions, what they return and when
    bool stack = false;   ///< of all calls, their stacks
    bool changes = false; ///< and what values are then, beside what they are at entry
    std::shared_ptr<Meanings> meanings = {}; ///< that are added to the arguments; null: none
    std::shared_ptr<const Aggregate> aggregate = {}; ///< how calls are added up; null: they are recorded
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
