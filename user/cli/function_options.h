// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <CLI/CLI.hpp>
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
    bool regex = false;
    bool force = false;
    bool raw = false;
    std::vector<std::string> conditions; ///< of --if
    std::string cgroup;                  ///< whose tasks alone are meant
    CallLimits limits;
    bool describe = false; ///< what arguments mean is recorded as well
    bool returns = false;  ///< and what functions return, and when
    bool stack = false;    ///< and the stacks of calls
    ReturnBy return_by = ReturnBy::automatic;
    bool changes = false;  ///< and what values are then, beside what they are at entry

    /// One that makes no sense without functions.
    bool given() const {
        return !btf.empty() || !on_load.empty() || regex || force || raw || !conditions.empty() || !cgroup.empty() ||
               limits != CallLimits() || describe || returns || stack || return_by != ReturnBy::automatic;
    }

    PatternSyntax syntax() const { return regex ? PatternSyntax::regex : PatternSyntax::glob; }
};

/// Adds the functions as the command's arguments, and --regex, --force, --raw, --btf, --if,
/// --cgroup, --describe and --return.
CLI::Option *add_function_options(CLI::App &command, FunctionOptions &options,
                                  const std::string &description);

/// Adds only SPEC, --regex, --force, --raw and --btf; and only --if and --cgroup.
CLI::Option *add_spec_options(CLI::App &command, FunctionOptions &options,
                              const std::string &description);
void add_condition_option(CLI::App &command, FunctionOptions &options);

/// Adds --sample and --max-rate, for commands that trace.
void add_limit_options(CLI::App &command, FunctionOptions &options);

/// Adds --regex alone, for commands that name functions which are traced already.
void add_regex_option(CLI::App &command, bool &regex);

/// The request that these options make. Throws Error when a SPEC, a list of SPECs or a condition is
/// wrong.
Request make_request(const FunctionOptions &options);

/// Adds --on-load, for commands that take functions before there are any.
void add_on_load_option(CLI::App &command, FunctionOptions &options);

/// Tells the kernel of the files of --btf. Throws Error when one is for a module that it has not.
void use_btf(Kernel &kernel, const FunctionOptions &options);

/// Says on stderr what has been left out.
void print_left(const std::vector<std::string> &left);

/// How a SPEC is written, for the end of a help text.
extern const char *const spec_help;

} // namespace argtrace
