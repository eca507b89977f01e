// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>

#include "render/value_writer.h"

namespace argtrace {

// A value that is recorded twice, when the function is entered and when it returns, in this order and with a @ret behind the
// second one's name, is one in text:
//
//     *pos=0 -> 832
//
// or just *pos=0, if it has not changed.

/// Whether the argument with that index and the one behind it are such.
bool is_change(const Probe &probe, std::size_t argument);

/// Appends both of them, as text.
void append_change(Line &out, ValueWriter &values, const EventView &view,
                   const ProbeFormats &formats, std::size_t argument);

} // namespace argtrace
