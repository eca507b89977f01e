// SPDX-License-Identifier: GPL-2.0-only
#include "spec/unresolved.h"

#include <algorithm>

#include <fmt/format.h>

namespace argtrace {

namespace {

constexpr std::size_t names_shown = 5;

} // namespace

void Unresolved::Names::add(std::string_view function) {
    if (first.size() < names_shown)
        first.emplace_back(function);
    ++total;
}

std::string Unresolved::Names::describe(std::string_view what) const {
    return fmt::format("{} left out, {} ({}{}): {}",
                       total == 1 ? "1 function is" : fmt::format("{} functions are", total), what,
                       fmt::join(first, ", "), first.size() < total ? " ..." : "", sentence);
}

std::string_view Unresolved::option_of(std::string_view text) const {
    if (text == keys_)
        return "--by";
    const bool is_condition = std::ranges::any_of(*conditions_, [&](const auto &condition) { return condition.text() == text; });
    return is_condition ? "--if" : std::string_view();
}

void Unresolved::add(std::string_view function, const lang::ExpressionError &error) {
    const bool own = error.text() == spec_->text;
    // The spec's own error is the one that its author can mend.
    const bool first = names_.total == 0 || (own && !by_spec_);
    if (first) {
        option_ = option_of(error.text());
        names_.sentence = error.sentence();
    }
    // Where nothing is resolved, the function in which most is tells best what is wrong.
    const bool nearer = own == by_spec_ && furthest_ && error.text() == furthest_->text() && error.at() > furthest_->at();
    if (first || nearer)
        furthest_ = error;
    by_spec_ = by_spec_ || own;
    names_.add(function);
}

void Unresolved::add_unfollowed(std::string_view function, std::string_view why) {
    if (unfollowed_.total == 0)
        unfollowed_.sentence = fmt::format("{}: {}", function, why);
    unfollowed_.add(function);
}

Error Unresolved::error() const {
    if (names_.total == 0)
        return error_in(*spec_, fmt::format("{}: its return cannot be followed: {}",
                                            spec_->title(), unfollowed_.sentence));
    const std::string place = by_spec_ || option_.empty() ? spec_->place : fmt::format("{}: ", option_);
    if (names_.total == 1 || spec_->pattern.kind() == Pattern::Kind::name)
        return Error(place + furthest_->what());
    return Error(fmt::format("{}{} can be resolved in none of the {} functions that {}: {}", place,
                             by_spec_ ? fmt::format("{}: this", spec_->title()) : "this", names_.total,
                             by_spec_ ? "it matches" : fmt::format("{} matches", spec_->title()), furthest_->what()));
}

std::vector<std::string> Unresolved::describe() const {
    std::vector<std::string> sentences;
    if (names_.total > 0)
        sentences.push_back(names_.describe(by_spec_          ? "where an expression cannot be resolved"
                                            : option_.empty() ? "where an argument or the result cannot be recorded"
                                                              : fmt::format("where {} cannot be resolved", option_)));
    if (unfollowed_.total > 0)
        sentences.push_back(unfollowed_.describe("whose returns cannot be followed"));
    return sentences;
}

} // namespace argtrace
