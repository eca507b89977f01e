// SPDX-License-Identifier: GPL-2.0-only
#include "util/message.h"

#include <cerrno>
#include <unistd.h>

#include "util/lines.h"

namespace argtrace {

void write_message(std::string_view sentence) {
    // Written in one piece, so that the lines of several writers stay whole.
    std::string text;
    for_each_line(sentence, [&text](std::string_view line) {
        text += fmt::format("{}{}\n", line.starts_with(' ') ? "" : "argtrace: ", line);
    });
    for (std::string_view rest = text; !rest.empty();) {
        const ssize_t written = ::write(STDERR_FILENO, rest.data(), rest.size());
        if (written > 0)
            rest.remove_prefix(static_cast<std::size_t>(written));
        else if (written == 0 || errno != EINTR)
            return;
    }
}

void write_messages(const std::vector<std::string> &sentences) {
    for (const std::string &sentence : sentences)
        write_message(sentence);
}

} // namespace argtrace
