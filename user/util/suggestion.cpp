// SPDX-License-Identifier: GPL-2.0-only
#include "util/suggestion.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "util/near_match.h"

namespace argtrace {

namespace {

constexpr std::size_t names_shown = 4;

// Fewer characters are found in too many names to mean one of them.
constexpr std::size_t part_size_min = 3;

// What the kernel puts before the name of an operation, the best known first. The first and the last are those of system calls, "__x64_" and
// "__x64_sys_" where `syscall_prefix` is the latter.
std::array<std::string_view, 7> usual_prefixes(std::string_view syscall_prefix) {
    const std::string_view before_sys = syscall_prefix.substr(0, std::min(syscall_prefix.rfind("sys_"), syscall_prefix.size()));
    return {before_sys, "vfs_", "ksys_", "do_", "sys_", "kernel_", syscall_prefix};
}

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lowered(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), lower);
    return result;
}

bool separates_words(char c) {
    return c == '_' || c == '.' || c == '$' || c == ':';
}

enum class Contained { no, as_part, as_words };

Contained find(std::string_view word, std::string_view name) {
    Contained found = Contained::no;
    for (std::size_t at = name.find(word); at != name.npos; at = name.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        found = Contained::as_part;
        if ((at == 0 || separates_words(name[at - 1])) &&
            (end == name.size() || separates_words(name[end])))
            return Contained::as_words;
    }
    return found;
}

/// Smaller is likelier: functions rather than what the compiler made of them, usual prefixes, few
/// words, short names.
auto rank(std::string_view word, std::string_view name, std::span<const std::string_view> prefixes) {
    const auto prefix = std::ranges::find_if(prefixes, [&](std::string_view usual) {
        return !usual.empty() && name.size() == usual.size() + word.size() && name.starts_with(usual) && name.ends_with(word);
    });
    return std::tuple(name.find('.') != name.npos, prefix - prefixes.begin(),
                      std::count_if(name.begin(), name.end(), separates_words), name.size(), name);
}

Suggestion first_of(std::string_view word, std::vector<std::string_view> names, std::string_view syscall_prefix) {
    const auto prefixes = usual_prefixes(syscall_prefix);
    std::sort(names.begin(), names.end(), [&](std::string_view a, std::string_view b) {
        return rank(word, a, prefixes) < rank(word, b, prefixes);
    });
    names.erase(std::unique(names.begin(), names.end()), names.end());
    const std::size_t shown = std::min(names.size(), names_shown);
    const std::size_t others = names.size() - shown;
    names.resize(shown);
    return {std::move(names), others, true};
}

} // namespace

Suggestion suggest(std::string_view word, std::span<const std::string_view> candidates, std::string_view syscall_prefix) {
    std::string wanted = lowered(word);
    wanted.erase(0, std::min(wanted.find_first_not_of('_'), wanted.size()));
    wanted.erase(wanted.find_last_not_of('_') + 1);
    std::vector<std::string_view> same, with_words, with_part;
    if (wanted.size() >= part_size_min) {
        for (const std::string_view candidate : candidates) {
            const std::string name = lowered(candidate);
            const Contained how = find(wanted, name);
            if (name == wanted)
                same.push_back(candidate);
            else if (how != Contained::no)
                (how == Contained::as_words ? with_words : with_part).push_back(candidate);
        }
    }
    for (auto *names : {&same, &with_words, &with_part})
        if (!names->empty())
            return first_of(wanted, std::move(*names), syscall_prefix);
    std::vector<std::string> names;
    std::ranges::transform(candidates, std::back_inserter(names), lowered);
    const std::vector<std::string_view> views(names.begin(), names.end());
    const std::string_view near = near_match(lowered(word), views);
    const auto found = std::ranges::find(views, near.data(), [](std::string_view name) { return name.data(); });
    return near.empty() ? Suggestion{} : Suggestion{{candidates[static_cast<std::size_t>(found - views.begin())]}};
}

std::string did_you_mean(const Suggestion &suggestion, std::string_view word, bool listing) {
    const std::vector<std::string_view> &names = suggestion.names;
    if (names.empty())
        return "";
    if (suggestion.others > 0)
        return fmt::format("; did you mean {}, or one of {} more{}?", fmt::join(names, ", "),
                           suggestion.others,
                           listing ? fmt::format(" (`argtrace list '*{}*'`)", lowered(word)) : "");
    if (names.size() == 1)
        return fmt::format("; did you mean {}?", names.front());
    return fmt::format("; did you mean {} or {}?", fmt::join(names.begin(), names.end() - 1, ", "),
                       names.back());
}

std::string did_you_mean(std::string_view name) {
    return name.empty() ? "" : fmt::format("; did you mean {}?", name);
}

} // namespace argtrace
