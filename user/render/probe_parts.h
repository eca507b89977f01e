// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <vector>

#include "model/probe.h"
#include "render/line.h"

namespace argtrace {

/// Which of a probe's arguments are shown as what, worked out once: finding it out from their names takes longer than a line does.
struct ProbeParts {
    explicit ProbeParts(const Probe &probe);

    StackPlaces stacks;
    std::size_t shown;                 ///< see shown_arguments()
    std::size_t result_meanings;       ///< see result_meanings(): they stand behind those that are shown
    std::vector<std::size_t> meanings; ///< behind each argument, see count_meanings()
    std::vector<bool> changes;         ///< see is_change()
    std::vector<Snippet> names;        ///< "count=" of each argument,
    std::vector<Snippet> next_names;   ///< and behind another, ", count="
};

} // namespace argtrace
