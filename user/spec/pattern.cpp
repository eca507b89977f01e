// SPDX-License-Identifier: GPL-2.0-only
#include "spec/pattern.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "util/error.h"
#include "util/glob.h"

namespace argtrace {

namespace {

std::string reason(int error, const regex_t &regex) {
    std::string text(::regerror(error, &regex, nullptr, 0), '\0');
    ::regerror(error, &regex, text.data(), text.size());
    text.resize(text.find('\0'));
    return text;
}

struct Free {
    void operator()(regex_t *regex) const {
        ::regfree(regex);
        delete regex;
    }
};

constexpr std::uint64_t nodes_max = 20000;

/// About how many nodes regcomp() makes of it: a repetition copies what it repeats, and one of repetitions their copies.
class RegexSize {
public:
    explicit RegexSize(std::string_view text) : rest_(text) {}

    bool is_too_large() {
        while (!rest_.empty() && total() <= nodes_max)
            step();
        return total() > nodes_max;
    }

private:
    struct Group {
        std::uint64_t before = 0; // the last atom
        std::uint64_t atom = 0;
    };

    std::uint64_t total() const {
        std::uint64_t sum = 0;
        for (const Group &group : groups_)
            sum += group.before + group.atom;
        return sum;
    }

    void add(std::uint64_t size) {
        groups_.back().before += groups_.back().atom;
        groups_.back().atom = size;
    }

    void repeat(std::uint64_t times) { groups_.back().atom = (groups_.back().atom + 1) * times; }

    void step() {
        const char c = rest_.front();
        rest_.remove_prefix(1);
        if (c == '(') {
            groups_.emplace_back();
        } else if (c == ')' && groups_.size() > 1) {
            const Group inner = groups_.back();
            groups_.pop_back();
            add(inner.before + inner.atom + 1);
        } else if (c == '*' || c == '?') {
            repeat(1);
        } else if (c == '+') {
            repeat(2);
        } else if (c == '{') {
            repeat(most_times());
        } else if (c == '[') {
            skip_brackets();
            add(1);
        } else {
            if (c == '\\' && !rest_.empty())
                rest_.remove_prefix(1);
            add(1);
        }
    }

    // Behind '[': what stands there repeats nothing.
    void skip_brackets() {
        rest_.remove_prefix(rest_.starts_with("^]") ? 2 : rest_.starts_with(']') ? 1 : 0);
        rest_.remove_prefix(std::min(rest_.find(']'), rest_.size()));
    }

    // Behind '{': the larger of its numbers.
    std::uint64_t most_times() {
        std::uint64_t most = 1, number = 0;
        while (!rest_.empty() && rest_.front() != '}') {
            const char c = rest_.front();
            number = c >= '0' && c <= '9' ? std::min(number * 10 + static_cast<unsigned>(c - '0'), nodes_max) : 0;
            most = std::max(most, number);
            rest_.remove_prefix(1);
        }
        return most;
    }

    std::string_view rest_;
    std::vector<Group> groups_ = std::vector<Group>(1);
};

} // namespace

Pattern::Pattern(std::string text)
    : text_(std::move(text)), kind_(is_glob(text_) ? Kind::glob : Kind::name) {}

Pattern Pattern::regex(std::string text) {
    if (RegexSize(text).is_too_large())
        throw Error("it repeats repetitions so often that it would take more memory than there is");
    auto compiled = std::make_unique<regex_t>();
    if (int error = ::regcomp(compiled.get(), text.c_str(), REG_EXTENDED | REG_NOSUB))
        throw Error(reason(error, *compiled));

    Pattern pattern(std::move(text));
    pattern.kind_ = Kind::regex;
    pattern.regex_.reset(compiled.release(), Free());
    return pattern;
}

bool Pattern::matches(std::string_view name) const {
    switch (kind_) {
    case Kind::regex:
        return ::regexec(regex_.get(), std::string(name).c_str(), 0, nullptr, 0) == 0;
    case Kind::glob:
        return glob_matches(text_, name);
    case Kind::name:
        break;
    }
    return name == text_;
}

} // namespace argtrace
