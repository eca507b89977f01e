// SPDX-License-Identifier: GPL-2.0-only
#include "spec/foreign.h"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

namespace argtrace {

namespace {

constexpr std::array<std::string_view, 9> entries{"kprobe", "k",      "kfunc",    "fentry", "f",
                                                  "p",      "fprobe", "function", "ftrace"};
constexpr std::array<std::string_view, 6> returns{"kretprobe", "kr", "kretfunc",
                                                  "fexit",     "fr", "r"};
constexpr std::array<std::string_view, 2> tracepoints{"event", "e"};
constexpr std::array<std::string_view, 3> syscalls{"syscalls", "ksyscall", "kretsyscall"};
constexpr std::array<std::string_view, 2> program_returns{"uretprobe", "ur"};
constexpr std::array<std::string_view, 2> markers{"USDT", "sdt"};
constexpr std::array<std::string_view, 2> kernels{"kernel", "linux"};

bool is_one(std::string_view word, std::span<const std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// The way to write a name that patterns or parentheses make the shell's business.
std::string quoted(std::string_view text) {
    const bool plain = text.find_first_of("*?()!^$[] ") == text.npos;
    return plain ? std::string(text) : fmt::format("'{}'", text);
}

} // namespace

std::string explain_foreign_object(std::string_view prefix, std::string_view rest) {
    if (is_one(prefix, entries))
        return fmt::format("'{}:' is not needed: a function of a program or library is u:OBJECT:FUNCTION: {}", prefix, quoted(fmt::format("u:{}", rest)));
    if (is_one(prefix, returns))
        return fmt::format("'{}:': with --return, or '=' behind the function, a call is recorded with what it returned: 'u:{}='", prefix, rest);
    return {};
}

std::string explain_foreign_prefix(std::string_view prefix, std::string_view rest) {
    const std::string function = rest.empty() ? "vfs_read" : quoted(rest);
    if (is_one(prefix, entries))
        return fmt::format("'{}:' is not needed: the entry of a function is named by the function "
                           "alone: {}",
                           prefix, function);
    if (is_one(prefix, returns))
        return fmt::format("'{}:': with --return, or '=' behind the function, a call is recorded "
                           "with what it returned: '{}='",
                           prefix, rest.empty() ? "vfs_read" : rest);
    if (is_one(prefix, tracepoints))
        return fmt::format("'{}:': a tracepoint is t:GROUP:NAME: `argtrace list 't:*'` shows them",
                           prefix);
    if (is_one(prefix, syscalls))
        return fmt::format("'{}:': a system call is s:NAME: `argtrace list 's:*'` shows them", prefix);
    if (is_one(prefix, program_returns))
        return fmt::format("'{}:': with --return, or '=' behind the function, a call is recorded with what it returned: 'u:{}='", prefix,
                           rest.empty() ? "OBJECT:FUNCTION" : rest);
    if (is_one(prefix, markers))
        return fmt::format("'{}:': a USDT probe is usdt:OBJECT:PROVIDER:NAME, where OBJECT is a program, a library or a path: "
                           "`argtrace list 'usdt:libstdc++:*'` shows those of libstdc++",
                           prefix);
    if (is_one(prefix, kernels))
        return fmt::format("{}: the kernel itself is vmlinux: {}", prefix,
                           quoted(fmt::format("vmlinux:{}", rest.empty() ? "*" : rest)));
    return {};
}

} // namespace argtrace
