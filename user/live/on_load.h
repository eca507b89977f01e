// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <vector>

#include "model/probe.h"
#include "session/session.h"
#include "spec/function_options.h"
#include "spec/kernel.h"

namespace argtrace {

/// What --on-load asks for.
struct OnLoad {
    std::string module;
    std::string srcversion;
    std::vector<Probe> probes;
    std::vector<std::string> left; ///< a sentence for what has been left out, and why

    /// Has them added whenever the module is loaded; those whose returns cannot be followed are taken
    /// out, and named on stderr. Throws Error when none is left.
    void order(Session &session);
};

/// What the file of --on-load says of the module. Throws Error when there is no such file, or no
/// types in it or --btf.
struct ModuleOnLoad {
    std::string srcversion;
    Kernel kernel;
};
ModuleOnLoad open_on_load(const FunctionOptions &options);

/// Reads the module's file and finds the functions in it. Throws Error, which says why not.
OnLoad resolve_on_load(const FunctionOptions &options, const Request &request);

/// Says on stderr when the module is loaded now, since then nothing happens before its next load.
void note_loaded(const std::string &module);

} // namespace argtrace
