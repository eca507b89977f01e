// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <string>

#include "file/trace_target.h"
#include "render/aggregate.h"

namespace argtrace {

/// Where an answer goes: the file of that name, or stdout if it is empty. Throws Error when it cannot be written.
TraceTarget open_answer_target(const std::string &path);

/// "12:34:56", which heads an interval.
std::string time_of_day();
/// The same of a moment of CLOCK_REALTIME (ns).
std::string time_of_day(std::uint64_t realtime);

/// What the name of the file says that stacks are to be made into, or else `form`. Throws Error where that contradicts --fold,
/// --json or --interval.
StackForm stack_form_of(const std::string &path, StackForm form, bool json, bool interval);

} // namespace argtrace
