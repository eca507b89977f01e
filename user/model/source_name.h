// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "uapi/argtrace.h"

namespace argtrace {

/// Where calls come from.
enum class Source : std::uint8_t {
    function,
    tracepoint, ///< "t:GROUP:NAME", or "t:NAME" of one that tracefs has no event, and so no group, for
    syscall,    ///< "s:NAME"; "s:ia32:NAME" as 32-bit programs make it
};

/// The name of a probe, as it is written and shown.
struct SourceName {
    Source source = Source::function;
    std::string_view group; ///< of a tracepoint; of a system call its ABI; empty: none
    std::string_view name;
};

inline constexpr std::string_view ia32_abi = "ia32";

/// What titles of that source begin with.
constexpr std::string_view source_prefix(Source source) {
    return source == Source::tracepoint ? "t:" : source == Source::syscall ? "s:" : "";
}

constexpr std::uint16_t kind_of(Source source) {
    return source == Source::tracepoint ? ARGTRACE_KIND_TRACEPOINT
           : source == Source::syscall  ? ARGTRACE_KIND_SYSCALL
                                        : ARGTRACE_KIND_ENTRY;
}

/// "function", "tracepoint", "system call".
constexpr std::string_view noun_of(Source source) {
    return source == Source::tracepoint ? "tracepoint"
           : source == Source::syscall  ? "system call"
                                        : "function";
}

inline Source source_of(std::string_view probe) {
    for (const Source source : {Source::tracepoint, Source::syscall})
        if (probe.starts_with(source_prefix(source)))
            return source;
    return Source::function;
}

inline SourceName split_title(std::string_view probe) {
    const Source source = source_of(probe);
    probe.remove_prefix(source_prefix(source).size());
    const std::size_t colon = source == Source::function ? probe.npos : probe.find(':');
    if (colon == probe.npos)
        return {source, {}, probe};
    return {source, probe.substr(0, colon), probe.substr(colon + 1)};
}

inline std::string title_of(const SourceName &name) {
    std::string title(source_prefix(name.source));
    if (!name.group.empty())
        title.append(name.group) += ':';
    return title.append(name.name);
}

} // namespace argtrace
