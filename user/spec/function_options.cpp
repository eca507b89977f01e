// SPDX-License-Identifier: GPL-2.0-only
#include "spec/function_options.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "spec/calls.h"
#include "spec/cgroup_condition.h"
#include "util/error.h"

namespace argtrace {

namespace {

lang::Expression parse_if(const std::string &text) {
    try {
        return lang::parse_condition(text);
    } catch (const Error &error) {
        throw Error(fmt::format("--if: {}", error.what()));
    }
}

void check_btf_module(Kernel &kernel, const ExternalBtf &external) {
    const std::string &module = kernel.only_module();
    if (!module.empty() && external.module != module)
        throw Error(fmt::format("--btf {0}: is for the module {1}, but the functions are those of "
                                "{2}: give it as --btf {2}={0}",
                                external.path, external.module, module));
    if (!module.empty())
        return;
    kernel.find_surely([&] {
        if (std::ranges::find(kernel.symbols().all(), external.module, &Symbol::module) != kernel.symbols().all().end())
            return;
        throw Error(fmt::format("--btf {0}: no module {1} is loaded: to trace one from its load on "
                                "use `argtrace add --on-load {1}`; for another name give it as "
                                "--btf MODULE={0}",
                                external.path, external.module));
    });
}

} // namespace

Request make_request(const FunctionOptions &options) {
    Request request{parse_specs(options.specs, options.syntax()), options.force, options.raw, {},
                    options.limits, false, {}};
    for (const std::string &condition : options.conditions)
        request.conditions.push_back(parse_if(condition));
    if (!options.cgroup.empty())
        request.conditions.push_back(lang::parse_condition(cgroup_condition(options.cgroup)));
    request.prototypes = options.prototypes;
    request.returns = options.returns;
    request.stack = options.stack;
    request.changes = options.changes;
    request.text_bytes = options.text_bytes;
    request.return_by = options.return_by;
    request.enabled = [] { return EnabledFunctions::load(); };
    if (options.describe) {
        std::vector<std::string> wrong;
        request.meanings = std::make_shared<Meanings>(Meanings::load(wrong));
        std::ranges::copy(Calls::wrong_lines(), std::back_inserter(wrong));
        if (!wrong.empty())
            throw Error(fmt::format("{}", fmt::join(wrong, "\n")));
    }
    if (request.specs.empty() && !options.specs.empty()) // files can be empty, words cannot
        throw Error(fmt::format("{}: names no function", fmt::join(options.specs, ", ")));
    return request;
}

void use_btf(Kernel &kernel, const FunctionOptions &options) {
    for (const ExternalBtf &external : options.btf) {
        check_btf_module(kernel, external);
        kernel.use_btf(external);
    }
}

} // namespace argtrace
