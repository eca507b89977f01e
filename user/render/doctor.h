// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <vector>

#include "doctor/finding.h"

namespace argtrace {

/// A line for each check: "limited  clock        WHAT; WAY OUT".
void append_findings(std::string &out, const std::vector<Finding> &findings);

/// The same as one JSON object a line, and one for all of them:
///
///     {"check":"clock","health":"limited","says":"...","remedy":"..."}
///     {"works":true,"ok":12,"limited":1,"missing":0,"unseen":0}
void append_findings_json(std::string &out, const std::vector<Finding> &findings);

} // namespace argtrace
