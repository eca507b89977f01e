// SPDX-License-Identifier: GPL-2.0-only
#include "session/selection.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "util/error.h"
#include "util/near_match.h"

namespace argtrace {

namespace {

Error no_such_probe(std::span<const Probe> probes, const Spec &spec) {
    if (spec.pattern.kind() != Pattern::Kind::name)
        return error_in(spec, fmt::format("{}: no {} that is traced matches", spec.title(),
                                          spec.kind->noun));
    std::vector<std::string_view> names;
    for (const Probe &probe : probes)
        names.push_back(probe.function);
    std::string_view near = near_match(spec.title(), names);
    return error_in(spec, near.empty() ? fmt::format("{}: is not traced", spec.title())
                                       : fmt::format("{}: is not traced; did you mean {}?",
                                                     spec.title(), near));
}

void check_parts(const Spec &spec) {
    if (spec.module && spec.kind->qualifier == Qualifier::module)
        throw error_in(spec, spec.module->at,
                       "the functions that are traced go by their names alone, without a module");
    if (spec.values)
        throw error_in(spec, spec.text.find('(', spec.pattern_at),
                       "a function is removed as a whole, not some of its arguments");
    if (spec.condition)
        throw error_in(spec, spec.condition->at(), "a function is removed for all its calls");
}

} // namespace

std::vector<ProbePlace> select_places(std::span<const Probe> probes, std::span<const Spec> specs) {
    std::set<ProbePlace> places;
    bool any = false;
    for (const Spec &spec : specs) {
        check_parts(spec);
        if (spec.exclude)
            continue;
        any = true;
        bool found = false;
        for (const Probe &probe : probes) {
            if (!spec.matches(probe.function, {}))
                continue;
            if (!is_excluded(specs, probe.function, {}))
                places.insert({probe.kind, probe.addr});
            found = true;
        }
        if (!found)
            throw no_such_probe(probes, spec);
    }
    if (!any && !specs.empty())
        throw error_in(specs.front(), 0,
                       "only exclusions are given; add '*'");
    if (places.empty() && any)
        throw Error("no function is left to remove: all that are named are excluded with '!'");
    return {places.begin(), places.end()};
}

} // namespace argtrace
