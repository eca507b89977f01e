// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>

#include "analyze/aggregation.h"
#include "session/map_reader.h"
#include "session/session.h"
#include "spec/aggregate.h"

namespace argtrace {

/// What a map holds, whose keys are those of these functions.
Aggregation aggregate_of(const MapContents &map, const AggregatedFunctions &functions,
                         const Buckets &buckets);

/// The calls that a session has counted, by function; the key has so many parts, which are all that.
Aggregation counts_of(const Session::Snapshot &session, std::size_t parts);

} // namespace argtrace
