// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace argtrace {

/// Writes "argtrace: SENTENCE" to stderr, and so each line of several; one that is indented
/// continues the sentence before it. Errors in
/// writing are ignored: a stderr that is full, closed or without a reader must not end a recording.
void write_message(std::string_view sentence);

/// The same of each of them.
void write_messages(const std::vector<std::string> &sentences);

/// The same, formatted.
template<typename... Arguments>
void message(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
    write_message(fmt::format(format, std::forward<Arguments>(arguments)...));
}

} // namespace argtrace
