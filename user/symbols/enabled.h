// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "symbols/traceable.h"

namespace argtrace {

/// How many users of ftrace (tracers, BPF programs, live patches, argtrace's own sessions) each
/// function has at some moment.
class EnabledFunctions {
public:
    /// Reads enabled_functions from the first of `directories` that has it. Nothing is known to
    /// have users where it cannot be read.
    static EnabledFunctions
    load(std::span<const std::string> directories = Traceable::tracefs_directories());

    /// Parses text of that form.
    static EnabledFunctions parse(std::string_view text);

    /// Where functions of that module ("" for the kernel) share the name, the most that one of them has.
    std::uint32_t users(std::string_view name, std::string_view module = {}) const;
    /// Whether one of them has a user that sends calls elsewhere (IPMODIFY), or is called through a trampoline of somebody's own.
    bool is_modified(std::string_view name, std::string_view module = {}) const;
    bool is_direct(std::string_view name, std::string_view module = {}) const;

private:
    struct Use {
        std::uint32_t users = 0;
        bool modified = false, direct = false;
    };

    const Use *find(std::string_view name, std::string_view module) const;

    std::map<std::pair<std::string, std::string>, Use> uses_;
};

/// How many functions have users at that moment, and users of which kind.
struct FunctionUsers {
    std::uint32_t functions = 0;
    std::uint32_t modified = 0; ///< one of them sends the call elsewhere (IPMODIFY)
    std::uint32_t direct = 0;   ///< are called through a trampoline of somebody's own

    static FunctionUsers parse(std::string_view text);
};

} // namespace argtrace
