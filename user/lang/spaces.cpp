// SPDX-License-Identifier: GPL-2.0-only
#include "lang/spaces.h"

#include <algorithm>
#include <unordered_map>

#include "model/type_name.h"
#include "util/lines.h"

namespace argtrace::lang {

namespace {

struct Row {
    Space space;
    std::string_view names; // with spaces between them
};

using Rows = std::unordered_multimap<std::string_view, Row>;

Rows read_table() {
    Rows rows;
    for_each_line(shipped_spaces, [&](std::string_view line) {
        const std::size_t blank = line.find(' '), colon = line.find(':');
        if (line.starts_with('#') || colon == line.npos)
            return;
        const Space space = line.substr(0, blank) == "user" ? Space::user : Space::per_cpu;
        rows.emplace(line.substr(blank + 1, colon - blank - 1), Row{space, line.substr(colon + 1)});
    });
    return rows;
}

bool has_word(std::string_view words, std::string_view wanted) {
    while (!words.empty()) {
        words.remove_prefix(std::min(words.find_first_not_of(' '), words.size()));
        const std::string_view word = words.substr(0, words.find(' '));
        if (word == wanted)
            return true;
        words.remove_prefix(word.size());
    }
    return false;
}

Space find_space(std::string_view owner, std::string_view name) {
    static const Rows rows = read_table();
    const auto [begin, end] = rows.equal_range(owner);
    const auto found = std::find_if(begin, end, [name](const auto &row) { return has_word(row.second.names, name); });
    return found == end ? Space::unsaid : found->second.space;
}

} // namespace

Space space_of_parameter(const ProbeKind &kind, std::string_view function, std::string_view parameter) {
    return kind.user_pointers ? Space::user : find_space(function, parameter);
}

Space space_of_member(std::string_view aggregate, std::string_view member) {
    return find_space(aggregate, member);
}

std::string with_user_mark(std::string type) {
    if (type.ends_with('*') && !has_user_mark(type))
        type.insert(type.find_last_not_of('*') + 1, user_mark);
    return type;
}

} // namespace argtrace::lang
