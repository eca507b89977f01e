// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <memory>
#include <vector>

#include "analyze/pairing.h"
#include "answer/aggregate_options.h"
#include "btf/format.h"
#include "decode/schema.h"
#include "render/aggregate.h"

namespace argtrace {

// `latency --from A --to B --on EXPR`: how long it takes from a call of A to one of B with the same value.
// It is worked out from records of both.

/// A and B. Throws Error.
std::vector<Spec> pair_specs(const AggregateOptions &options);

/// The value of --on. Throws Error.
lang::ArgumentExpression parse_pair_value(const AggregateOptions &options);

/// Pairs nothing yet.
Pairing make_pairing(const AggregateOptions &options, const std::vector<lang::ArgumentExpression> &keys);

/// The first that the schema has of A, null if it has none.
const Probe *first_probe(const Schema &schema, const Spec &from);

/// What `begins`, a probe of A, records of the keys; `formats` are those that the columns refer to.
std::vector<KeyColumn> pair_columns(const std::vector<lang::ArgumentExpression> &keys, const Probe *begins,
                                    std::unique_ptr<ProbeFormats> &formats);

/// Says on stderr how many calls are in no pair, and why.
void tell_unpaired(const Pairing &pairing, const AggregateOptions &options);

RecordedTotals paired_totals(const Pairing &pairing);

} // namespace argtrace
