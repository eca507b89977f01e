// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <span>

#include "record/metadata_writer.h"
#include "session/snapshot.h"

namespace argtrace {

/// Writes the packets of a snapshot to a file, in the order of time, each preceded by what it takes
/// to read it. The file's info, counts and end are left to the caller.
void write_packets(std::span<const RingSnapshot> snapshots, MetadataWriter &metadata,
                   TraceWriter &writer);

} // namespace argtrace
