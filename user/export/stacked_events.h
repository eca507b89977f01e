// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/event.h"
#include "render/flame_graph.h"
#include "render/stack.h"

namespace argtrace {

/// Which calls, and ticks, have a stack that says where they were, and how many have none.
class StackedEvents {
public:
    /// Its stacks; nothing if it has none that is shown.
    std::optional<StackValues> take(const EventView &view);

    /// Behind the last one. Throws Error where no call has a stack.
    void check() const;

    FlameGraph::Unit unit() const { return ticks_ > 0 ? FlameGraph::Unit::ticks : FlameGraph::Unit::calls; }

    /// As Exporter::left_out().
    std::string left_out() const;

private:
    std::uint64_t calls_ = 0;
    std::uint64_t ticks_ = 0; ///< of these, no calls
    std::uint64_t idle_ = 0;  ///< ticks that found a CPU idle
    std::uint64_t without_stack_ = 0;
    std::uint64_t unfinished_ = 0;
};

} // namespace argtrace
