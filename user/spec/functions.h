// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spec/kernel.h"
#include "spec/spec.h"
#include "util/error.h"

namespace argtrace {

/// A function of the kernel: where it is and what it takes.
struct Function {
    Symbol symbol; ///< its strings are owned by Kernel::symbols()
    Prototype prototype;
    bool forced = false;    ///< the prototype may not be its own
    bool namesakes = false; ///< in a list: others have its name, there or in other modules
    std::optional<std::vector<std::string>> chosen = {}; ///< only these arguments are wanted
};

/// Which functions are wanted.
struct Request {
    std::vector<Spec> specs;
    bool force = false; ///< those too whose prototype BTF has not for sure
    bool raw = false;   ///< six registers of those that have no prototype
};

struct Found {
    std::vector<Function> functions; ///< each address once
    std::vector<std::string> left;   ///< a sentence for what has been left out, and why
};

/// The functions that are wanted, in the order of the specs. A name stands for the function
/// of the kernel and of each module that has it. With `force` its clones come along. Only for
/// patterns does this look whether ftrace can trace them: that needs tracefs.
///
/// Throws Error when one of the specs comes to nothing, and says why.
Found find_functions(Kernel &kernel, const Request &request);

/// The same for a list: by name, all of them traceable. Functions that share their name are
/// in it without `force`, too, and count as forced.
Found list_functions(Kernel &kernel, const Request &request);

/// Why ftrace does not take that function.
Error why_untraceable(Kernel &kernel, const Symbol &symbol);

} // namespace argtrace
