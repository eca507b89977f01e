// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/file.h"

namespace argtrace {

/// How far behind the beginning of a function ftrace's call stands at most.
inline constexpr std::uint64_t ftrace_call_within = 16;

struct TraceableFunction {
    std::string_view name;   ///< owned by the Traceable it came from
    std::string_view module; ///< empty for the kernel itself

    auto operator<=>(const TraceableFunction &) const = default;
};

/// The functions ftrace can trace, read once.
class Traceable {
public:
    /// Reads available_filter_functions from the first of `directories` that has it, with their addresses where the kernel
    /// tells them (available_filter_functions_addrs, Linux 6.5). Throws Error when tracefs is not mounted or not open to this user.
    static Traceable load(std::span<const std::string> directories = tracefs_directories());

    /// Parses text of either form.
    static Traceable parse(std::string_view text);

    /// Whether ftrace can trace a function of that name in that module ("" for the kernel).
    bool contains(std::string_view name, std::string_view module = {}) const;

    /// Whether it is known where the functions are.
    bool has_addresses() const { return !calls_.empty(); }

    /// Whether ftrace can trace the function that begins at `begin`, if none other begins before `end`. Needs the addresses.
    bool contains_between(std::uint64_t begin, std::uint64_t end) const;

    /// All functions, sorted by name, then module; several of the same name have an entry each.
    const std::vector<TraceableFunction> &all() const { return functions_; }

    /// Where tracefs is mounted, by custom.
    static std::span<const std::string> tracefs_directories();

private:
    explicit Traceable(Text text);

    Text text_;
    std::vector<TraceableFunction> functions_;
    std::vector<std::uint64_t> calls_; // where ftrace is called, sorted; empty: not known
};

} // namespace argtrace
