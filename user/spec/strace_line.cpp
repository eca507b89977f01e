// SPDX-License-Identifier: GPL-2.0-only
#include "spec/strace_line.h"

#include <string_view>

#include "util/lines.h"

namespace argtrace {

namespace {

// Short options that take a value, which is part of the word or the next one.
constexpr std::string_view with_value = "abeoOpPsSuEIUX";

// "openat,%network" of "trace=openat,%network"; empty of another expression.
std::string_view traced(std::string_view expression) {
    const std::size_t equals = expression.find('=');
    if (equals == expression.npos)
        return expression;
    const std::string_view qualifier = expression.substr(0, equals);
    return qualifier == "trace" || qualifier == "t" ? expression.substr(equals + 1) : std::string_view();
}

// "!open,close" means all others.
void add_specs(std::string_view list, std::vector<std::string> &specs) {
    const bool excludes = list.starts_with('!');
    if (excludes) {
        list.remove_prefix(1);
        specs.emplace_back("s:*");
    }
    for_each_part(list, ',', [&](std::string_view name) {
        for (const char mark : {'?', '/'})
            if (name.starts_with(mark))
                name.remove_prefix(1);
        if (name == "all")
            name = "*";
        if (!name.empty() && name != "none")
            specs.push_back(std::string(excludes ? "!s:" : "s:").append(name));
    });
}

} // namespace

std::vector<std::string> strace_line(std::span<const std::string> words) {
    bool counts = false, follows = false;
    std::vector<std::string> specs, processes;
    std::string text_size;
    auto word = words.begin();
    for (; word != words.end() && word->size() > 1 && word->starts_with('-') && *word != "--"; ++word) {
        if (word->starts_with("--")) {
            follows = follows || *word == "--follow-forks";
            counts = counts || *word == "--summary-only";
            if (word->starts_with("--trace="))
                add_specs(std::string_view(*word).substr(8), specs);
            if (word->starts_with("--attach="))
                processes.push_back(word->substr(9));
            if (word->starts_with("--string-limit="))
                text_size = word->substr(15);
            continue;
        }
        for (std::size_t i = 1; i < word->size(); ++i) {
            const char option = (*word)[i];
            follows = follows || option == 'f';
            counts = counts || option == 'c';
            if (with_value.find(option) == with_value.npos)
                continue;
            const std::string value = i + 1 < word->size() ? word->substr(i + 1) : word + 1 != words.end() ? *++word : std::string();
            if (option == 'e')
                add_specs(traced(value), specs);
            else if (option == 'p')
                processes.push_back(value);
            else if (option == 's')
                text_size = value;
            break;
        }
    }
    if (word != words.end() && *word == "--")
        ++word;
    if (specs.empty())
        specs.emplace_back("s:*");
    std::vector<std::string> line;
    if (counts)
        line = {"count", "--by", "func,ret"};
    else
        line = {"trace", "-d", "-r"};
    if (!counts && !text_size.empty())
        line.insert(line.end(), {"--text-size", text_size});
    line.insert(line.end(), specs.begin(), specs.end());
    for (const std::string &process : processes) {
        line.emplace_back("-p");
        line.push_back(process);
    }
    if (follows)
        line.emplace_back("-F");
    if (word != words.end())
        line.emplace_back("--");
    line.insert(line.end(), word, words.end());
    return line;
}

} // namespace argtrace
