// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <vector>

#include "btf/external.h"
#include "spec/functions.h"

namespace argtrace {

/// Which functions the user wants.
struct FunctionOptions {
    std::vector<std::string> specs;
    std::vector<ExternalBtf> btf;
    std::string on_load; ///< a module, or its file: they are its functions, from its next load on
    std::vector<WrittenPrototype> prototypes; ///< of user functions
    bool regex = false;
    bool force = false;
    bool raw = false;
    std::vector<std::string> conditions; ///< of --if
    std::string cgroup;                  ///< whose tasks alone are meant
    CallLimits limits;
    bool describe = false; ///< what arguments mean is recorded as well
    std::uint32_t text_bytes = lang::text_bytes_default; ///< and so much of the data that is passed
    bool returns = false;  ///< and what functions return, and when
    StackChoice stack = {}; ///< and these of the stacks of calls
    ReturnBy return_by = ReturnBy::automatic;
    bool changes = false;  ///< and what values are then, beside what they are at entry

    /// One that makes no sense without functions.
    bool given() const {
        return !btf.empty() || !prototypes.empty() || !on_load.empty() || regex || force || raw || !conditions.empty() || !cgroup.empty() ||
               limits != CallLimits() || describe || text_bytes != lang::text_bytes_default || returns || stack.any() || return_by != ReturnBy::automatic;
    }

    PatternSyntax syntax() const { return regex ? PatternSyntax::regex : PatternSyntax::glob; }
};

/// The request that these options make. Throws Error when a SPEC, a list of SPECs or a condition is
/// wrong.
Request make_request(const FunctionOptions &options);

/// Tells the kernel of the files of --btf. Throws Error when one is for a module that it has not.
void use_btf(Kernel &kernel, const FunctionOptions &options);

} // namespace argtrace
