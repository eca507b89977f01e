// SPDX-License-Identifier: GPL-2.0-only
#include "render/function_list.h"

#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "abi/calling_convention.h"
#include "spec/resolve.h"

namespace argtrace {

void append_function_text(std::string &out, const Function &function, bool verbose) {
    out += function.prototype.text;
    if (!function.symbol.module.empty())
        fmt::format_to(std::back_inserter(out), " [{}]", function.symbol.module);
    if (function.namesakes)
        fmt::format_to(std::back_inserter(out), " at {:#x}", function.symbol.addr);
    if (function.forced)
        out += " (needs --force)";
    out += '\n';
    if (!verbose)
        return;
    for (const Argument &argument : wanted_arguments(function))
        fmt::format_to(std::back_inserter(out), "    {:<14} {:<16} {}\n",
                       sysv_x86_64_location(argument), argument.name, argument.type_name);
}

void append_function_json(std::string &out, const Function &function, bool verbose) {
    nlohmann::ordered_json line;
    line["func"] = function.symbol.name;
    if (!function.symbol.module.empty())
        line["module"] = function.symbol.module;
    line["addr"] = fmt::format("{:#x}", function.symbol.addr);
    if (function.forced)
        line["forced"] = true;
    line["prototype"] = function.prototype.text;
    line["args"] = nlohmann::ordered_json::array();
    for (const Argument &argument : wanted_arguments(function)) {
        nlohmann::ordered_json &arg = line["args"].emplace_back();
        arg["name"] = argument.name;
        arg["type"] = argument.type_name;
        if (verbose)
            arg["location"] = sysv_x86_64_location(argument);
    }
    out += line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    out += '\n';
}

} // namespace argtrace
