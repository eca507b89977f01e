// SPDX-License-Identifier: GPL-2.0-only
#include "lang/flag_names.h"

#include <algorithm>
#include <iterator>
#include <map>
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

bool matches_any(std::string_view globs, std::string_view name) {
    for (;;) {
        const std::size_t end = std::min(globs.find('|'), globs.size());
        if (glob_matches(globs.substr(0, end), name))
            return true;
        if (end == globs.size())
            return false;
        globs.remove_prefix(end + 1);
    }
}

/// In order, and without numbers of bits.
std::vector<std::string> constant_names(const Types &types) {
    std::vector<std::string> names;
    const auto add = [&](const auto &all) {
        for (const std::string_view name : all)
            if (!name.ends_with("_BIT"))
                names.emplace_back(name);
    };
    add(types.enumerator_names());
    add(macro_names());
    add(bit_flag_names(types));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

/// What constants have in common that may be names of one thing: their enum, or how the names of macros begin.
std::string family_of(const Types &types, std::string_view name) {
    constexpr std::size_t stem = 3; // "SIG"
    if (types.enumerator(name))
        return std::to_string(types.enum_of(name));
    if (!macro_constant(name) && name.find("GFP_") != name.npos)
        return "GFP";
    const std::size_t border = name.find('_', 1);
    return std::string(name.substr(0, border == name.npos ? stem : border));
}

} // namespace

std::vector<FlagName> flag_names(const Types &types, std::string_view glob, bool zero) {
    FlagNameCache &cache = types.flag_name_cache();
    const std::lock_guard lock(cache.mutex);
    const auto [found, is_new] = cache.by_glob.try_emplace({std::string(glob), zero});
    if (!is_new)
        return found->second;
    if (cache.names.empty())
        cache.names = constant_names(types);
    for (const std::string &name : cache.names) {
        if (!matches_any(glob, name) || (glob != name && is_synonym(name)))
            continue;
        if (const auto constant = named_constant(types, name); constant && (zero || constant->value != 0 || macro_constant(name)))
            found->second.push_back({name, constant->value});
    }
    return found->second;
}

std::vector<FlagName> enumerators_beside(const Types &types, std::string_view enumerator) {
    std::vector<FlagName> flags;
    if (const std::uint32_t id = types.enum_of(enumerator))
        for (const auto &[name, value] : types.enumerators_of(id))
            flags.push_back({std::string(name), value});
    return flags;
}

void drop_too_large(std::vector<FlagName> &flags, std::uint64_t bytes) {
    if (bytes >= sizeof(std::uint64_t))
        return;
    const std::uint64_t mask = (std::uint64_t{1} << 8 * bytes) - 1, sign = (mask >> 1) + 1;
    std::erase_if(flags, [&](const FlagName &flag) { return flag.value > mask && flag.value < ~mask + sign; });
}

std::optional<std::pair<FlagName, FlagName>> find_ambiguous(const Types &types, std::span<const FlagName> flags) {
    std::map<std::uint64_t, const FlagName *> known;
    for (const FlagName &flag : flags) {
        const auto [first, is_new] = known.emplace(flag.value, &flag);
        if (!is_new && family_of(types, first->second->name) != family_of(types, flag.name))
            return std::pair(*first->second, flag);
    }
    return std::nullopt;
}

} // namespace argtrace::lang
