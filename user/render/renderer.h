// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>

#include "decode/event.h"

namespace argtrace {

/// Events -> lines.
class Renderer {
public:
    virtual ~Renderer() = default;

    /// Appends what stands before the first event; `now` is the clock of the events.
    virtual void begin(std::string &out, std::uint64_t now) = 0;

    /// Appends one event, as a line.
    virtual void event(std::string &out, const EventView &view) = 0;
};

} // namespace argtrace
