// SPDX-License-Identifier: GPL-2.0-only
#include "render/function_list.h"

#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "abi/calling_convention.h"

namespace argtrace {

void append_function_text(std::string &out, const Function &function, bool verbose) {
    out += function.prototype.text;
    if (!function.symbol.module.empty())
        fmt::format_to(std::back_inserter(out), " [{}]", function.symbol.module);
    out += '\n';
    if (!verbose)
        return;
    for (const Argument &argument : sysv_x86_64(function.prototype))
        fmt::format_to(std::back_inserter(out), "    {:<14} {:<16} {}\n",
                       sysv_x86_64_location(argument), argument.name, argument.type_name);
}

void append_function_json(std::string &out, const Function &function, bool verbose) {
    nlohmann::ordered_json line;
    line["func"] = function.symbol.name;
    if (!function.symbol.module.empty())
        line["module"] = function.symbol.module;
    line["addr"] = fmt::format("{:#x}", function.symbol.addr);
    line["prototype"] = function.prototype.text;
    line["args"] = nlohmann::ordered_json::array();
    for (const Argument &argument : sysv_x86_64(function.prototype)) {
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
