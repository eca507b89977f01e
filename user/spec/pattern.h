// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace argtrace {

/// Which names are meant: one name, or all that a glob or a regular expression matches.
class Pattern {
public:
    enum class Kind { name, glob, regex };

    /// A glob if it has `*` or `?`, else a name.
    explicit Pattern(std::string text);

    /// A name, whatever characters it has.
    static Pattern literal(std::string name);

    /// A POSIX extended regular expression without references to its groups, which matches anywhere in a name unless `^` and
    /// `$` say otherwise. Throws Error, the reason alone, when it is none, or when it repeats repetitions so often that it
    /// would take some MiB.
    static Pattern regex(std::string text);

    bool matches(std::string_view name) const;

    Kind kind() const { return kind_; }
    const std::string &text() const { return text_; }

private:
    std::string text_;
    Kind kind_;
    std::shared_ptr<const re2::RE2> regex_; // of a regex
};

} // namespace argtrace
