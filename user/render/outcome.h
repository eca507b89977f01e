// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "render/value_writer.h"

namespace argtrace {

// What came of a call: what the function returned, its probe's last value, and how long that took.
// `result` is that value's format, as of an argument; `described` what the table of calls says of the probe, or null.

/// As text: " = 832 <1.83us>", or " <1.83us>" of a function that returns nothing. A negative number
/// that is an error is shown as such: -ENOENT. Of a call that was left " = ? <left within 1.83us>".
void append_outcome(Line &out, ValueWriter &values, const EventView &view, bool has_result,
                    const Format *result, const DescribedCall *described);

/// The value alone.
void append_result_value(Line &out, ValueWriter &values, const EventView &view,
                         const Format *result, const DescribedCall *described);

/// As members of a JSON object that others come before: ,"ret":832,"duration":1830 in ns. An error is
/// its name, nothing is null. Of a call that was left: ,"ret":null,"duration":null,"left_within":1830.
void append_json_outcome(Line &out, ValueWriter &values, const EventView &view, bool has_result,
                         const Format *result, const DescribedCall *described);

} // namespace argtrace
