// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "model/event.h"
#include "spec/spec.h"

namespace argtrace {

/// Which events of a trace the user wants. An empty list wants all.
struct EventFilter {
    std::uint64_t from = 0;                                       ///< ns, this moment included
    std::uint64_t to = std::numeric_limits<std::uint64_t>::max(); ///< and this one, too
    std::vector<Spec> functions;                                  ///< any of these, by their names, whatever the module,
    std::vector<Spec> excluded;                                   ///< none of those
    std::vector<std::uint32_t> tids;
    std::vector<std::uint32_t> pids;
    std::vector<std::string> comms;                            ///< names or globs
    std::vector<std::pair<std::uint32_t, std::uint32_t>> cpus; ///< from, to

    bool wants_all() const;
    bool wants_cpu(std::uint32_t cpu) const;
    bool wants_function(const std::string &name) const;

    /// Takes the events that are not wanted out of the batch; their values stay.
    void apply(EventBatch &batch) const;

private:
    bool wants_task(const Event &event) const;
};

} // namespace argtrace
