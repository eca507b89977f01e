// SPDX-License-Identifier: GPL-2.0-only
#include "render/probe_parts.h"

#include "render/change.h"
#include "render/meaning.h"

namespace argtrace {

ProbeParts::ProbeParts(const Probe &probe)
    : stacks(stack_places(probe)), shown(shown_arguments(probe)), result_meanings(argtrace::result_meanings(probe)) {
    for (std::size_t i = 0; i < probe.args.size(); ++i) {
        meanings.push_back(count_meanings(probe, i));
        changes.push_back(is_change(probe, i));
        names.emplace_back(probe.args[i].name + '=');
        next_names.emplace_back(", " + probe.args[i].name + '=');
    }
}

} // namespace argtrace
