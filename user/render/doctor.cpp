// SPDX-License-Identifier: GPL-2.0-only
#include "render/doctor.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "render/json.h"

namespace argtrace {

void append_findings(std::string &out, const std::vector<Finding> &findings) {
    for (const Finding &finding : findings)
        fmt::format_to(std::back_inserter(out), "{:<8} {:<13} {}{}{}\n", health_name(finding.health), finding.check,
                       finding.says, finding.remedy.empty() ? "" : "; ", finding.remedy);
}

void append_findings_json(std::string &out, const std::vector<Finding> &findings) {
    for (const Finding &finding : findings) {
        out += "{\"check\":";
        append_json_string(out, finding.check);
        fmt::format_to(std::back_inserter(out), ",\"health\":\"{}\",\"says\":", health_name(finding.health));
        append_json_string(out, finding.says);
        out += ",\"remedy\":";
        if (finding.remedy.empty())
            out += "null";
        else
            append_json_string(out, finding.remedy);
        out += "}\n";
    }
    fmt::format_to(std::back_inserter(out), "{{\"works\":{}", tracing_works(findings));
    for (const Health health : {Health::ok, Health::limited, Health::missing, Health::unseen})
        fmt::format_to(std::back_inserter(out), ",\"{}\":{}", health_name(health),
                       std::count_if(findings.begin(), findings.end(),
                                     [health](const Finding &finding) { return finding.health == health; }));
    out += "}\n";
}

} // namespace argtrace
