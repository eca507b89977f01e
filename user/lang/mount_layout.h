// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "lang/types.h"
#include "uapi/argtrace_program.h"

namespace argtrace::lang {

/// The offsets that a path through mounts needs. Throws Error, which names what BTF does not
/// describe.
argtrace_mount_layout mount_layout(const Types &types);

/// The same of a cgroup's path.
argtrace_node_layout node_layout(const Types &types);

} // namespace argtrace::lang
