// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "uapi/argtrace.h"

namespace argtrace {

/// What stands before the ':' of a SPEC, behind its prefix.
enum class Qualifier : std::uint8_t {
    module, ///< of a function, whose title does not have it
    group,  ///< in the title, if there is one; a SPEC without it means those of all groups
    abi,    ///< in the title, but for the usual one, which a SPEC without it means
    object, ///< the file that it is in: in the title by its name alone, and in SPECs as object_matches() has it
};

/// A kind of probe: where its calls come from, what SPECs and titles of it look like, and what its probes can do.
struct ProbeKind {
    std::uint16_t number;  ///< enum argtrace_kind
    std::string_view noun; ///< "function", "tracepoint", "system call"

    /// What SPECs of the kind begin with; titles begin with the first.
    std::array<std::string_view, 4> prefixes = {};
    Qualifier qualifier = Qualifier::module;
    std::string_view qualifier_characters = "-"; ///< beside letters, digits, '_' and those of globs
    std::string_view name_characters = ".$";     ///< likewise; with '(' Go's "pkg.(*T).M" is a name
    bool is_quoted = false;             ///< qualifier and name may be in quotes, and have any characters then
    std::string_view no_qualifier = {}; ///< the error where nothing stands before ':'
    std::string_view more_colons = {};  ///< the error for a ':' behind the name

    bool has_specs = true;         ///< SPECs mean its probes, which are removed one by one
    bool is_call = true;           ///< false: its probes tell what was running, and nothing was called
    bool is_ftraced = true;        ///< ftrace calls us for the function at its address
    bool can_return = true;        ///< its calls can be recorded when they return (-r)
    bool by_kernel = true;         ///< an fprobe or a kretprobe can then follow them
    bool deferrable = true;        ///< it can wait for its module (--on-load)
    bool user_pointers = false;    ///< pointers among its arguments are those of a program
    std::uint8_t own_context = 0;  ///< ARGTRACE_CTX_* of its records that tell of the probe itself
    std::string_view refused = {}; ///< why the module refused its address; empty: see why_untraceable()

    /// Several may have one number: titles tell them apart.
    bool operator==(const ProbeKind &other) const { return number == other.number && prefixes.front() == other.prefixes.front(); }
};

/// The table of kinds: by number, then those that have the number of another.
inline constexpr ProbeKind probe_kinds[] = {
    {
        .number = ARGTRACE_KIND_ENTRY,
        .noun = "function",
        .no_qualifier = "a module's name is missing before ':'; the kernel itself is vmlinux",
        .more_colons = "there is one ':' in a SPEC, between module and function",
    },
    {
        .number = ARGTRACE_KIND_TRACEPOINT,
        .noun = "tracepoint",
        .prefixes = {"t:", "tracepoint:", "rawtracepoint:", "rt:"},
        .qualifier = Qualifier::group,
        .no_qualifier = "a group's name is missing before ':'; all groups are '*'",
        .more_colons = "a tracepoint is t:GROUP:NAME, and there is no ':' behind its name",
        .is_ftraced = false,
        .can_return = false,
        .by_kernel = false,
        .refused = "the kernel has no such tracepoint any more, or its module does not let it be used (see dmesg)",
    },
    {
        .number = ARGTRACE_KIND_SYSCALL,
        .noun = "system call",
        .prefixes = {"s:", "syscall:"},
        .qualifier = Qualifier::abi,
        .no_qualifier = "an ABI is missing before ':'; that of 32-bit programs is ia32",
        .more_colons = "a system call is s:NAME or s:ia32:NAME, and there is no ':' behind its name",
        .by_kernel = false,
        .deferrable = false,
        .user_pointers = true,
        .refused = "the kernel does not let the function of this system call be traced, or the module does not know what its "
                   "expressions take; `argtrace list -v` shows that",
    },
    {
        .number = ARGTRACE_KIND_TIMER,
        .noun = "timer",
        .has_specs = false,
        .is_call = false,
        .is_ftraced = false,
        .can_return = false,
        .by_kernel = false,
        .deferrable = false,
        // A tick is an interrupt itself, or an NMI.
        .own_context = ARGTRACE_CTX_IRQS_OFF | ARGTRACE_CTX_HARDIRQ | ARGTRACE_CTX_NMI,
    },
    {
        .number = ARGTRACE_KIND_USER,
        .noun = "user function",
        .prefixes = {"u:", "uprobe:"},
        .qualifier = Qualifier::object,
        .qualifier_characters = "-+./,@~%=#",
        .name_characters = ".$:~+<>,&[]@-(",
        .is_quoted = true,
        .no_qualifier = "an object is missing before ':': a path, a program, or a library as libc is one",
        .more_colons = "a user function is u:OBJECT:FUNCTION",
        .is_ftraced = false,
        .by_kernel = false,
        .deferrable = false,
        .user_pointers = true,
        .refused = "the kernel sets no breakpoint there: it cannot execute the instruction elsewhere, or the file system has no "
                   "pages for code",
    },
    {
        .number = ARGTRACE_KIND_USER,
        .noun = "USDT probe",
        .prefixes = {"usdt:", "U:"},
        .qualifier = Qualifier::object,
        .qualifier_characters = "-+./,@~%=#",
        .name_characters = ".$:-",
        .is_quoted = true,
        .no_qualifier = "an object is missing before ':': a path, a program, or a library as libc is one",
        .more_colons = "a USDT probe is usdt:OBJECT:PROVIDER:NAME",
        .is_ftraced = false,
        .can_return = false,
        .by_kernel = false,
        .deferrable = false,
        .user_pointers = true,
        .refused = "the kernel sets no breakpoint there: the file system has no pages for code, or another tracer has a probe of the place "
                   "without its semaphore, as a user function has it",
    },
};

inline constexpr const ProbeKind &function_kind = probe_kinds[ARGTRACE_KIND_ENTRY];
inline constexpr const ProbeKind &tracepoint_kind = probe_kinds[ARGTRACE_KIND_TRACEPOINT];
inline constexpr const ProbeKind &syscall_kind = probe_kinds[ARGTRACE_KIND_SYSCALL];
inline constexpr const ProbeKind &timer_kind = probe_kinds[ARGTRACE_KIND_TIMER];
inline constexpr const ProbeKind &user_kind = probe_kinds[ARGTRACE_KIND_USER];
inline constexpr const ProbeKind &usdt_kind = probe_kinds[ARGTRACE_KIND_USER + 1];

/// The first kind of that number. A number that is not known yet counts as that of functions.
constexpr const ProbeKind &kind_of(std::uint16_t number) {
    return number <= ARGTRACE_KIND_USER ? probe_kinds[number] : function_kind;
}

/// What `text` has between the quotes that it begins with; nothing where it does not begin with one, or that is not closed. Either kind of
/// quotes does, and nothing is escaped: whatever has one kind in it is put into the other.
constexpr std::optional<std::string_view> quoted_part(std::string_view text) {
    if (text.empty() || (text.front() != '"' && text.front() != '\''))
        return std::nullopt;
    const std::size_t end = text.find(text.front(), 1);
    return end == text.npos ? std::nullopt : std::optional(text.substr(1, end - 1));
}

/// The name of a probe, as it is written and shown: "vfs_read", "t:GROUP:NAME" ("t:NAME" of a tracepoint that tracefs has no event, and
/// so no group, for), "s:NAME", "s:ia32:NAME". The name is what follows the first ':' behind the prefix, and may have any characters; a
/// qualifier with a ':' is in quotes.
struct Title {
    const ProbeKind *kind;
    std::string_view qualifier; ///< empty: none
    std::string_view name;
};

inline Title split_title(std::string_view title, std::span<const ProbeKind> kinds = probe_kinds) {
    for (const ProbeKind &kind : kinds) {
        const std::string_view prefix = kind.prefixes.front();
        if (prefix.empty() || !title.starts_with(prefix))
            continue;
        title.remove_prefix(prefix.size());
        const std::optional<std::string_view> quoted = kind.is_quoted ? quoted_part(title) : std::nullopt;
        if (quoted && title.substr(quoted->size() + 2).starts_with(':'))
            return {&kind, *quoted, title.substr(quoted->size() + 3)};
        const std::size_t colon = title.find(':');
        if (colon == title.npos)
            return {&kind, {}, title};
        return {&kind, title.substr(0, colon), title.substr(colon + 1)};
    }
    return {&function_kind, {}, title};
}

/// The name of a file without its folders.
constexpr std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

/// Whether a file of that name is what a SPEC calls `object`: by its name, by a path to it, or a library without what follows ".so" in its
/// name, "libc" and "libc.so" for "libc.so.6".
constexpr bool object_matches(std::string_view object, std::string_view name) {
    const std::string_view wanted = file_name(object);
    if (wanted == name)
        return true;
    if (wanted.empty() || !name.starts_with(wanted))
        return false;
    const std::string_view rest = name.substr(wanted.size());
    return wanted.starts_with("lib") && (rest.starts_with(".so") || (wanted.find(".so") != wanted.npos && rest.starts_with('.')));
}

inline std::string title_of(const ProbeKind &kind, std::string_view qualifier, std::string_view name) {
    std::string title(kind.prefixes.front());
    if (kind.is_quoted && qualifier.find(':') != qualifier.npos) {
        const char quote = qualifier.find('"') == qualifier.npos ? '"' : '\'';
        ((title += quote).append(qualifier) += quote) += ':';
    } else if (!qualifier.empty()) {
        title.append(qualifier) += ':';
    }
    return title.append(name);
}

} // namespace argtrace
