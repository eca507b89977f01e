// SPDX-License-Identifier: GPL-2.0-only
#include "spec/left_out.h"

#include <algorithm>

#include <fmt/format.h>

namespace argtrace {

namespace {

constexpr std::size_t named_of_each = 3;

struct Words {
    std::string_view what;
    std::string_view remedy; ///< empty: there is none
    std::string_view option; ///< which has `argtrace list` show them
};

// In the order of LeftOut::Reason.
constexpr std::array<Words, 6> words{{
    {"that the compiler made of others", "--force takes them", "--force"},
    {"that share their names with others", "--force takes them", "--force"},
    {"that BTF does not describe", "--raw shows registers", "--raw"},
    {"of modules that have no BTF", "--btf gives it, --raw shows registers", "--raw"},
    {"that are parts of others", "", ""},
    {"that share their names with some that the kernel does not trace", "", ""},
}};

} // namespace

LeftOut::Reason LeftOut::reason_of(Doubt doubt) {
    switch (doubt) {
    case Doubt::clone:
        return clone;
    case Doubt::shared:
    case Doubt::differs:
        return shared;
    case Doubt::no_module_btf:
        return no_module_btf;
    case Doubt::cold:
        return cold;
    case Doubt::untraceable:
        return untraceable;
    case Doubt::undescribed:
    case Doubt::none:
        break;
    }
    return undescribed;
}

void LeftOut::add(const Assessment &assessment) {
    Group &group = groups_[reason_of(assessment.doubt)];
    ++group.count;
    const std::string_view name = assessment.symbol.name;
    if (group.different > 0 && group.last == name)
        return;
    group.last = name;
    if (group.different++ < named_of_each)
        group.names.emplace_back(name);
}

std::size_t LeftOut::total() const {
    std::size_t sum = 0;
    for (const Group &group : groups_)
        sum += group.count;
    return sum;
}

std::string LeftOut::describe(std::string_view pattern) const {
    std::vector<std::string> parts;
    std::vector<std::string_view> options;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
        const Group &group = groups_[i];
        if (group.count == 0)
            continue;
        const bool all_named = group.names.size() == group.different;
        parts.push_back(fmt::format("{} {} ({}{}{}{})", group.count, words[i].what,
                                    fmt::join(group.names, ", "), all_named ? "" : " ...",
                                    words[i].remedy.empty() ? "" : "; ", words[i].remedy));
        const std::string_view option = words[i].option;
        const bool known = std::find(options.begin(), options.end(), option) != options.end();
        if (!all_named && !option.empty() && !known)
            options.push_back(option);
    }
    std::string text = fmt::format("{}", fmt::join(parts, ", "));
    if (!options.empty() && !pattern.empty())
        text += fmt::format("; `argtrace list {} '{}'` shows them among the others",
                            fmt::join(options, " "), pattern);
    return text;
}

} // namespace argtrace
