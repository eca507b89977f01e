// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <sstream>

#include "cases/case.h"

namespace cases {
namespace {

std::vector<std::string> lines_of(const std::string &text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    if (!text.empty() && text.back() != '\n')
        lines.back() += " (and no end of line)";
    return lines;
}

bool meets(const Expected &expected, const std::string &line) {
    return expected.kind == Expected::Kind::literal ? line == expected.text
                                                    : std::regex_match(line, expected.pattern);
}

} // namespace

std::optional<std::string> compare_output(const std::vector<Expected> &expected,
                                          const std::string &text) {
    const std::vector<std::string> lines = lines_of(text);
    // For each number of lines whether the expectations so far can be met by exactly these.
    std::vector<bool> reached(lines.size() + 1, false);
    reached[0] = true;
    for (const Expected &next : expected) {
        std::vector<bool> after(lines.size() + 1, false);
        for (std::size_t i = 0; i <= lines.size(); i++) {
            if (next.kind == Expected::Kind::any_lines)
                after[i] = reached[i] || (i > 0 && after[i - 1]);
            else
                after[i] = i > 0 && reached[i - 1] && meets(next, lines[i - 1]);
        }
        if (std::ranges::find(after, true) == after.end())
            return "no line is '" + next.text + "' where that is expected";
        reached = std::move(after);
    }
    if (reached.back())
        return std::nullopt;
    const std::size_t met =
        static_cast<std::size_t>(std::find(reached.rbegin(), reached.rend(), true).base() -
                                 reached.begin()) -
        1;
    return "'" + lines[met] + "' is not expected";
}

} // namespace cases
