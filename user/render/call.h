// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "render/value_writer.h"

namespace argtrace {

/// Appends "file=0x..., count=832": the arguments as text, without what the call returned. With -d what they mean stands in their place, and
/// those that the call does not look at are left out.
void append_arguments(Line &out, ValueWriter &values, const EventView &view);

/// The same in parentheses: "(file=0x..., count=832)".
void append_call_arguments(Line &out, ValueWriter &values, const EventView &view);

} // namespace argtrace
