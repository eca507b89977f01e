// SPDX-License-Identifier: GPL-2.0-only
#include "spec/call_parts.h"

#include <cctype>

#include <fmt/format.h>

#include "util/error.h"

namespace argtrace {

namespace {

bool is_word(char character) {
    return std::isalnum(static_cast<unsigned char>(character)) || character == '_' || character == '$';
}

/// Behind a literal that begins at `at`.
std::size_t end_of_literal(std::string_view text, std::size_t at) {
    const char quote = text[at];
    while (++at < text.size() && text[at] != quote)
        at += text[at] == '\\';
    return std::min(at + 1, text.size());
}

/// Calls `visit` with the place of each name that is no member; true ends it.
template<typename Visit>
bool for_each_name(std::string_view text, Visit visit) {
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '"' || text[at] == '\'') {
            at = end_of_literal(text, at);
            continue;
        }
        const std::size_t begin = at;
        while (at < text.size() && is_word(text[at]))
            ++at;
        if (at == begin) {
            ++at;
            continue;
        }
        const std::string_view before = without_blanks(text.substr(0, begin));
        const bool is_member = before.ends_with('.') || before.ends_with("->") || before.ends_with("struct") || before.ends_with("union");
        if (!is_member && visit(begin, at - begin))
            return true;
    }
    return false;
}

/// Whether it is one of array() whose number of elements is no constant: all of those that are fixed in number are there, or it is none.
bool is_counted_array(std::string_view text) {
    if (!text.starts_with("array("))
        return false;
    const std::size_t comma = text.rfind(',');
    const std::string_view count = comma == text.npos ? text : without_blanks(text.substr(comma + 1));
    return count.find_first_not_of("0123456789)") != count.npos;
}

} // namespace

std::size_t find_outside(std::string_view text, char character, std::size_t from) {
    int depth = 0;
    for (std::size_t at = from; at < text.size(); ++at) {
        const char c = text[at];
        if (c == character && depth == 0)
            return at;
        if (c == '"' || c == '\'')
            at = end_of_literal(text, at) - 1;
        else if (c == '(' || c == '[' || c == '{')
            ++depth;
        else if (c == ')' || c == ']' || c == '}')
            --depth;
    }
    return text.npos;
}

std::vector<Fetch> parse_fetches(std::string_view list, Fetch::When when) {
    using When = Fetch::When;
    std::vector<Fetch> fetches;
    for_each_outside(list, ',', [&](std::string_view text) {
        Fetch fetch{{}, std::string(whole_part)};
        if (const std::size_t as = text.rfind(" as "); as != text.npos) {
            std::string_view name = without_blanks(text.substr(as + 4));
            if (name.size() > 1 && name.front() == '"' && name.back() == '"')
                name = name.substr(1, name.size() - 2);
            fetch.name = name;
            text = without_blanks(text.substr(0, as));
        }
        if (text.empty() || fetch.name.empty())
            throw Error("what is read of an argument is {EXPR [as NAME], ...}");
        fetch.expression = text;
        if (fetch.name == room_part || fetch.name.starts_with(fmt::format("{}.", before_part))) {
            fetches.push_back(std::move(fetch));
            return;
        }
        fetch.when = when == When::both || (when == When::entry && has_name(text, "ret")) ? When::success : when;
        fetches.push_back(fetch);
        // Its elements may go on on a page that is not there.
        if (fetch.name == whole_part && (is_counted_array(text) || text.starts_with("pointers(")))
            fetches.push_back({fmt::format("on_page({})", text), fetch.name, fetch.when});
        if (when == When::both) {
            fetch.when = When::entry;
            fetch.name = fetch.name == whole_part ? std::string(before_part) : fmt::format("{}.{}", before_part, fetch.name);
            fetches.push_back(std::move(fetch));
        }
    });
    return fetches;
}

std::string with_name(std::string_view expression, std::string_view name, std::string_view by) {
    std::string text;
    std::size_t copied = 0;
    for_each_name(expression, [&](std::size_t at, std::size_t size) {
        if (expression.substr(at, size) != name)
            return false;
        text += expression.substr(copied, at - copied);
        text += by;
        copied = at + size;
        return false;
    });
    text += expression.substr(copied);
    return text;
}

bool has_name(std::string_view expression, std::string_view name) {
    return for_each_name(expression, [&](std::size_t at, std::size_t size) { return expression.substr(at, size) == name; });
}

} // namespace argtrace
