// SPDX-License-Identifier: GPL-2.0-only
#include "symbols/enabled.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "util/lines.h"

namespace argtrace {

namespace {

/// "(2)" -> 2; 0 if it is none.
std::uint32_t count_in_parentheses(std::string_view word) {
    std::uint32_t count = 0;
    if (!word.starts_with('('))
        return 0;
    const auto [rest, problem] = std::from_chars(word.data() + 1, word.data() + word.size(), count);
    return problem == std::errc{} && rest != word.data() + word.size() && *rest == ')' ? count : 0;
}

/// Letters, each for a flag, before what is called.
template<typename Take> void for_each_flag(std::string_view line, Take take) {
    for (std::string_view word = next_word(line); word.size() == 1; word = next_word(line))
        take(word.front());
}

} // namespace

EnabledFunctions EnabledFunctions::load(std::span<const std::string> directories) {
    for (const std::string &directory : directories) {
        try {
            return parse(view(read_file(directory + "/enabled_functions")));
        } catch (const std::system_error &) {
            continue;
        }
    }
    return {};
}

EnabledFunctions EnabledFunctions::parse(std::string_view text) {
    EnabledFunctions enabled;
    // "init_once [ext4] (2) R I \ttramp: ..."; what follows of a function on lines of its own is
    // indented.
    for_each_line(text, [&enabled](std::string_view line) {
        if (line.empty() || line.front() == ' ' || line.front() == '\t')
            return;
        const std::string_view name = next_word(line);
        std::string_view word = next_word(line);
        const std::string_view module = bracketed(word);
        if (!module.empty())
            word = next_word(line);
        Use &use = enabled.uses_[{std::string(name), std::string(module)}];
        use.users = std::max(use.users, count_in_parentheses(word));
        for_each_flag(line, [&use](char flag) {
            use.modified |= flag == 'I';
            use.direct |= flag == 'D';
        });
    });
    return enabled;
}

const EnabledFunctions::Use *EnabledFunctions::find(std::string_view name, std::string_view module) const {
    const auto found = uses_.find({std::string(name), std::string(module)});
    return found == uses_.end() ? nullptr : &found->second;
}

std::uint32_t EnabledFunctions::users(std::string_view name, std::string_view module) const {
    const Use *use = find(name, module);
    return use ? use->users : 0;
}

bool EnabledFunctions::is_modified(std::string_view name, std::string_view module) const {
    const Use *use = find(name, module);
    return use && use->modified;
}

bool EnabledFunctions::is_direct(std::string_view name, std::string_view module) const {
    const Use *use = find(name, module);
    return use && use->direct;
}

FunctionUsers FunctionUsers::parse(std::string_view text) {
    FunctionUsers users;
    for_each_line(text, [&users](std::string_view line) {
        if (line.empty() || line.front() == ' ' || line.front() == '\t')
            return;
        next_word(line);
        std::string_view word = next_word(line);
        if (!bracketed(word).empty())
            word = next_word(line);
        if (count_in_parentheses(word) == 0)
            return;
        ++users.functions;
        for_each_flag(line, [&users](char flag) {
            users.modified += flag == 'I';
            users.direct += flag == 'D';
        });
    });
    return users;
}

} // namespace argtrace
