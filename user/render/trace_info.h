// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

#include "file/info.h"

namespace argtrace {

/// Where a trace file comes from, for people.
void append_trace_info_text(std::string &out, const TraceInfo &info);

/// The same as a JSON object on one line.
void append_trace_info_json(std::string &out, const TraceInfo &info);

} // namespace argtrace
