// SPDX-License-Identifier: GPL-2.0-only
#include "spec/unresolved.h"

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

void Unresolved::add(std::string_view function, const lang::ExpressionError &error) {
    const bool own = error.text() == spec_->text;
    // The spec's own error is the one that its author can mend.
    if (names_.total == 0 || (own && !by_spec_)) {
        option_ = error.text() == keys_ ? "--by" : "--if";
        names_.sentence = error.sentence();
        message_ = (own ? spec_->place : std::string(option_) + ": ") + error.what();
    }
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
        return error_in(*spec_, fmt::format("{}: what it returns cannot be followed: {}",
                                            spec_->title(), unfollowed_.sentence));
    if (names_.total == 1 || !by_spec_ || spec_->pattern.kind() == Pattern::Kind::name)
        return Error(message_);
    return Error(fmt::format("{}{}: this can be resolved in none of the {} functions that it "
                             "matches: {}",
                             spec_->place, spec_->title(), names_.total, message_));
}

std::vector<std::string> Unresolved::describe() const {
    std::vector<std::string> sentences;
    if (names_.total > 0)
        sentences.push_back(names_.describe(
            by_spec_ ? "where an expression cannot be resolved"
                     : fmt::format("where {} cannot be resolved", option_)));
    if (unfollowed_.total > 0)
        sentences.push_back(unfollowed_.describe("whose returns cannot be followed"));
    return sentences;
}

} // namespace argtrace
