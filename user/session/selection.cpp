// SPDX-License-Identifier: GPL-2.0-only
#include "session/selection.h"

#include <set>
#include <string_view>

#include <fmt/format.h>

#include "util/error.h"
#include "util/glob.h"
#include "util/near_match.h"

namespace argtrace {

namespace {

Error no_such_probe(std::span<const Probe> probes, const std::string &word) {
    if (is_glob(word))
        return Error(fmt::format("{}: no function that is traced matches", word));
    std::vector<std::string_view> names;
    for (const Probe &probe : probes)
        names.push_back(probe.function);
    std::string_view near = near_match(word, names);
    return Error(near.empty() ? fmt::format("{}: is not traced", word)
                              : fmt::format("{}: is not traced; did you mean {}?", word, near));
}

} // namespace

std::vector<std::uint64_t> select_addresses(std::span<const Probe> probes,
                                            std::span<const std::string> words) {
    std::set<std::uint64_t> addrs;
    for (const std::string &word : words) {
        bool found = false;
        for (const Probe &probe : probes) {
            if (probe.function != word && !(is_glob(word) && glob_matches(word, probe.function)))
                continue;
            addrs.insert(probe.addr);
            found = true;
        }
        if (!found)
            throw no_such_probe(probes, word);
    }
    return {addrs.begin(), addrs.end()};
}

} // namespace argtrace
