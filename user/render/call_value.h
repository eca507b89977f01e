// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>

#include "render/value_writer.h"

namespace argtrace {

// What -d has read of an argument of a system call, or of its result: values behind it whose names begin with its own, as those of
// render/meaning.h. The table of calls says what members are called and which of them are shown.
//
//     fd=3</etc/passwd>, buf="root:x:0:0:root:/root:/bin/bash"..., ufds=[{fd=0, events=POLLIN, revents=0}]
//
// The first of them is shown in place of the argument, or behind it if it is named "path". The others are parts of it, and are shown in
// the place that their names say: msg.msg_name in that of msg_name, iov.[0].iov_base in that of the first element's iov_base.

/// Appends the argument or result with that index, of which `count` values from `first` on say more. Where there are none it is shown as the
/// row says, or else by its type.
void append_call_value(Line &out, ValueWriter &values, const EventView &view, const DescribedCall &described,
                       const DescribedCall::Choice &choice, std::size_t argument, std::size_t first, std::size_t count);

} // namespace argtrace
