// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>

#include "uapi/argtrace.h"

namespace argtrace {

// What there is of argtrace on this machine. `info` is null when the module does not answer.

void append_info_text(std::string &out, std::string_view kernel, const argtrace_info *info);
void append_info_json(std::string &out, std::string_view kernel, const argtrace_info *info);

} // namespace argtrace
