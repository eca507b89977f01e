// SPDX-License-Identifier: GPL-2.0-only
#include "symbols/traceable.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>

#include <fmt/core.h>

#include "util/error.h"
#include "util/hex.h"
#include "util/lines.h"

namespace argtrace {

namespace {

constexpr std::string_view invalid_prefix = "__ftrace_invalid_address__"; // an overridden weak one

// The kernel looks up each name, which takes long: one of the two is enough, and where the second cannot be read, errors name that.
Text read_functions(const std::string &path) {
    try {
        return read_file(path + "_addrs");
    } catch (const std::system_error &) {
        return read_file(path);
    }
}

} // namespace

std::span<const std::string> Traceable::tracefs_directories() {
    static const std::string directories[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    return directories;
}

Traceable Traceable::load(std::span<const std::string> directories) {
    std::string denied;
    for (const std::string &directory : directories) {
        const std::string path = directory + "/available_filter_functions";
        try {
            return Traceable(read_functions(path));
        } catch (const std::system_error &e) {
            const int error = e.code().value();
            if (error == EPERM) // not EACCES: security_locked_down() said so
                throw Error(
                    fmt::format("{}: the kernel is locked down and lets nobody read it: boot "
                                "without Secure Boot, or without lockdown=",
                                path));
            if (error == EACCES)
                denied = path;
            else if (error != ENOENT && error != ENOTDIR)
                throw Error(fmt::format("{}: {}", path, e.code().message()));
        }
    }
    if (!denied.empty())
        throw Error(fmt::format("{}: no permission to read it: run argtrace as root", denied));
    throw Error("which functions can be traced is not known: tracefs is not mounted; "
                "mount it with: mount -t tracefs tracefs /sys/kernel/tracing");
}

Traceable Traceable::parse(std::string_view text) {
    return Traceable(Text(text.begin(), text.end()));
}

Traceable::Traceable(Text text) : text_(std::move(text)) {
    for_each_line(view(text_), [this](std::string_view line) {
        std::string_view name = next_word(line);
        // A module in brackets may follow a name, and a name follows an address.
        std::string_view module = next_word(line);
        std::optional<std::uint64_t> call;
        if (!module.empty() && !module.starts_with('[')) {
            call = parse_hex(name);
            name = module;
            module = next_word(line);
        }
        if (name.empty() || name.starts_with(invalid_prefix))
            return;
        functions_.push_back({name, bracketed(module)});
        if (call)
            calls_.push_back(*call);
    });
    std::sort(functions_.begin(), functions_.end());
    std::sort(calls_.begin(), calls_.end());
}

bool Traceable::contains(std::string_view name, std::string_view module) const {
    return std::binary_search(functions_.begin(), functions_.end(),
                              TraceableFunction{name, module});
}

bool Traceable::contains_between(std::uint64_t begin, std::uint64_t end) const {
    const auto call = std::lower_bound(calls_.begin(), calls_.end(), begin);
    return call != calls_.end() && *call < end && *call - begin < ftrace_call_within;
}

} // namespace argtrace
