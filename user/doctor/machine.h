// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "uapi/argtrace.h"

namespace argtrace {

/// What the checks look at: the files of a kernel, and what its module says.
struct Machine {
    std::string root = {}; ///< stands before /proc and /sys: a test has a tree of its own
    std::string release = {};
    std::string architecture = {};
    std::uint32_t cpus = 1;
    std::optional<argtrace_info> module = {}; ///< what the module says; nothing: it does not answer,
    std::string refusal = {};                 ///< and why

    /// The machine that we run on.
    static Machine here();

    /// Reading a file, or listing a folder: the errno, 0 if it could be read.
    struct Text {
        int error = 0;
        std::string text = {};

        bool there() const { return error == 0; }
        bool refused() const;
    };
    Text read(const std::string &path) const;

    struct Names {
        int error = 0;
        std::vector<std::string> names = {}; ///< in alphabetical order

        bool there() const { return error == 0; }
        bool refused() const;
    };
    Names list(const std::string &path) const;

    bool exists(const std::string &path) const;

    struct Symbols {
        std::set<std::string> names = {};
        bool addresses_shown = false; ///< to us
    };
    /// Those of the names that are symbols of the kernel; nothing where it does not list them.
    std::optional<Symbols> symbols(const std::set<std::string> &names) const;

    bool has_feature(std::uint64_t feature) const { return module && module->features & feature; }
};

/// The text without the newline at its end.
std::string_view without_newline(std::string_view text);

} // namespace argtrace
