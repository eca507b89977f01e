// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lang/parser.h"
#include "model/probe_kind.h"
#include "spec/pattern.h"
#include "util/error.h"

namespace argtrace {

/// In place of an object, before the build id of one: "u:build:1f2e3d4c:main".
inline constexpr std::string_view build_word = "build";

/// What the user writes to say which functions are meant:
///
///     SPEC    = [!] [MODULE:] PATTERN [(EXPR [as NAME], ...)] [=] [if EXPR]
///             | [!] t: [GROUP:] PATTERN [(EXPR [as NAME], ...)] [if EXPR]      a tracepoint
///             | [!] s: [ABI:] PATTERN [(EXPR [as NAME], ...)] [=] [if EXPR]    a system call
///               where PATTERN may be a class as well: %network
///             | [!] u: OBJECT: PATTERN [(EXPR [as NAME], ...)] [if EXPR]       a function of a program or library
///             | [!] usdt: OBJECT: PATTERN [(EXPR [as NAME], ...)] [if EXPR]    a USDT probe of one
///               where PATTERN may be a provider and a name: PROVIDER:NAME
///     PATTERN = a name, or a glob of `*` and `?`; a regular expression if asked for
///     MODULE  = a name or glob; "vmlinux" is the kernel itself
///
/// A name has the characters that the table in model/probe_kind.h allows its kind, or is in quotes where the kind has them: the name of a
/// function of C++ may have blanks, colons and parentheses. Blanks may stand between the parts. Behind a regular expression no arguments can be chosen, and
/// there is no condition: its parentheses and blanks are its own.
struct Spec {
    struct Word {
        std::string text; // "build:HEX" of an object that is known by its build id
        std::size_t at; ///< where it begins in Spec::text
        bool quoted = false;

        /// As a glob, unless it is quoted.
        bool matches(std::string_view word) const;
    };

    std::string text;                      ///< the whole as it was written
    std::string place;                     ///< "FILE:LINE: " if it stood in a file
    bool exclude = false;                  ///< with `!`: what it matches is not meant
    const ProbeKind *kind = &function_kind; ///< as what stood before the first `:` says
    std::optional<Word> module;            ///< only there; of a tracepoint its group, of a system call its ABI
    Pattern pattern{""};                   ///< of the function's name
    std::size_t pattern_at = 0;            ///< where that begins in `text`
    std::optional<std::vector<lang::ArgumentExpression>> values; ///< in parentheses; maybe none
    bool returns = false;                      ///< `=` behind that: with what it returns
    std::optional<lang::Expression> condition; ///< behind `if`

    /// Whether it means the function of that name in that module ("" is the kernel itself), or what has
    /// that title (see model/probe_kind.h).
    bool matches(std::string_view function, std::string_view in_module) const;

    /// Whether its pattern is a class of system calls.
    bool is_class() const { return *kind == syscall_kind && pattern.text().starts_with('%'); }

    /// Whether it means what has that name, wherever that is.
    bool matches_name(std::string_view name) const;

    /// The same of the title that a record has, which does not tell the module of a function.
    bool matches_title(std::string_view title) const;

    bool matches_module(std::string_view in_module) const;

    /// "ext4:ext4_open", "t:sched:sched_switch": what an error calls it.
    std::string title() const;
};

/// Whether `*` and `?` or regular expressions are used.
enum class PatternSyntax { glob, regex };

/// Why calls of that kind are never recorded when they return: "a tracepoint returns nothing".
std::string why_no_return(const ProbeKind &kind);

/// Throws Error, which points at the character that is wrong. The spec refers to its kind, which is one of `kinds`, the first of which is
/// that of SPECs without a prefix.
Spec parse_spec(const std::string &text, PatternSyntax syntax, const std::string &place = {},
                std::span<const ProbeKind> kinds = probe_kinds);

/// All of the words, where `@FILE` stands for the SPECs in that file: one a line, `#` begins a
/// comment. Throws Error as parse_spec() does, with file and line, or when a file cannot be read.
std::vector<Spec> parse_specs(std::span<const std::string> words, PatternSyntax syntax);

/// The sentence, and below it the spec with a caret under the character at `at`.
Error error_in(const Spec &spec, std::size_t at, std::string_view sentence);

/// The sentence about the whole of it; where it stands if it stands in a file.
Error error_in(const Spec &spec, std::string_view sentence);

/// Whether one of the specs with `!` means that function.
bool is_excluded(std::span<const Spec> specs, std::string_view function, std::string_view module);

} // namespace argtrace
