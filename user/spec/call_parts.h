// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "util/lines.h"

namespace argtrace {

/// What -d reads in addition of an argument of a system call, or of its result.
struct Fetch {
    std::string expression; ///< of `it`, the argument, and of the others by the names that the row gives them
    std::string name;       ///< as MEMBER: it is shown in the place of that part of the first one; "value": the first one
    enum class When {
        entry,   ///< when the call is made
        success, ///< it is what a call that succeeds has written there
        failure, ///< it is what a call that fails has written there
        both,    ///< of parse_fetches(): at the entry, and on success
    } when = When::entry;

    bool at_return() const { return when != When::entry; }

    bool operator==(const Fetch &) const = default;
};

/// As the name of a part: for how many bytes of it the program had room when it made the call.
inline constexpr std::string_view room_part = "room";

/// As names of what is read: that which stands for the argument, what this was before the call, and that which is shown behind it.
inline constexpr std::string_view whole_part = "value", before_part = "before", path_part = "path";

/// Reads "EXPR [as NAME], ...". What has the result in it is read when there is one. Throws Error.
std::vector<Fetch> parse_fetches(std::string_view list, Fetch::When when);

/// Where `character` is in a text, outside of quotes, and of parentheses, brackets and braces that open behind `from`; npos: nowhere.
std::size_t find_outside(std::string_view text, char character, std::size_t from = 0);

/// Calls `visit` with each part of a list, without the blanks around it; separators in quotes and brackets do not count. An empty list has
/// one part, which is empty.
template<typename Visit>
void for_each_outside(std::string_view list, char separator, Visit visit) {
    for (std::size_t begin = 0;;) {
        const std::size_t end = find_outside(list, separator, begin);
        visit(without_blanks(list.substr(begin, end - begin)));
        if (end == list.npos)
            return;
        begin = end + 1;
    }
}

/// Replaces a name in an expression wherever it stands for itself and is no member.
std::string with_name(std::string_view expression, std::string_view name, std::string_view by);

/// Whether the name stands in it so.
bool has_name(std::string_view expression, std::string_view name);

} // namespace argtrace
