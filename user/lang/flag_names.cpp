// SPDX-License-Identifier: GPL-2.0-only
#include "lang/flag_names.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "lang/constants.h"
#include "lang/scope.h"
#include "util/glob.h"

namespace argtrace::lang {

namespace {

/// Other names of a constant, which are known, but not shown.
constexpr std::string_view synonyms[]{"AF_LOCAL", "AF_ROUTE", "O_NDELAY"};

bool is_synonym(std::string_view name) {
    return std::find(std::begin(synonyms), std::end(synonyms), name) != std::end(synonyms);
}

} // namespace

std::vector<FlagName> flag_names(const Types &types, std::string_view glob, bool zero) {
    std::vector<std::string> names;
    const auto add = [&](std::string_view name) {
        if (glob_matches(glob, name) && !name.ends_with("_BIT") && (glob == name || !is_synonym(name)))
            names.emplace_back(name);
    };
    for (const std::string_view name : types.enumerator_names())
        add(name);
    for (const std::string_view name : macro_names())
        add(name);
    for (const std::string &name : gfp_names(types))
        add(name);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());

    std::vector<FlagName> flags;
    for (std::string &name : names)
        if (const auto found = named_constant(types, name);
            found && (zero || found->value != 0 || macro_constant(name)))
            flags.push_back({std::move(name), found->value});
    return flags;
}

} // namespace argtrace::lang
