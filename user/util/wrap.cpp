// SPDX-License-Identifier: GPL-2.0-only
#include "util/wrap.h"

#include "util/lines.h"

namespace argtrace {

namespace {

void append_wrapped(std::string &out, std::string_view line, std::size_t width,
                    std::size_t indent) {
    std::size_t column = indent;
    bool first = true;
    while (!line.empty()) {
        const std::string_view word = line.substr(0, line.find(' '));
        line.remove_prefix(word.size());
        line.remove_prefix(line.empty() ? 0 : 1);
        if (!first && column + 1 + word.size() > width) {
            out += '\n';
            out.append(indent, ' ');
            column = indent;
        } else if (!first) {
            out += ' ';
            ++column;
        }
        out += word;
        column += word.size();
        first = false;
    }
}

} // namespace

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
    std::string out;
    bool first = true;
    for_each_line(text, [&](std::string_view line) {
        if (!first) {
            out += '\n';
            if (!line.empty())
                out.append(indent, ' ');
        }
        first = false;
        if (line.starts_with(' '))
            out += line;
        else
            append_wrapped(out, line, width, indent);
    });
    return out;
}

} // namespace argtrace
