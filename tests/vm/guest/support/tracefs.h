// SPDX-License-Identifier: GPL-2.0-only
// The kernel's own tracing.
#pragma once

#include <string>

namespace vmtest {

inline const std::string tracing_directory = "/sys/kernel/tracing/";

/// Writes to a file there, neither creating nor truncating it: that would remove every event that
/// dynamic_events has. 0 or the errno.
int write_tracefs(const std::string &path, const std::string &text);

/// Whether this kernel has fprobe events.
bool has_fprobe();

/// Whether its function tracer can record arguments.
bool has_func_args();

/// Records that the buffers have lost, of all CPUs, by their statistics.
unsigned long tracefs_lost();

} // namespace vmtest
