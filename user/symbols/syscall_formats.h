// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/written_parameter.h"
#include "symbols/traceable.h"

namespace argtrace {

/// The system calls that programs of the kernel's own word size make, and their arguments, as tracefs describes
/// the events of their entries.
class SyscallFormats {
public:
    SyscallFormats() = default;

    /// The text of each one's format, by its name.
    explicit SyscallFormats(std::map<std::string, std::string, std::less<>> texts)
        : texts_(std::move(texts)) {}

    /// Finds those in the first of `directories` that has them; their formats are read when they are asked
    /// for. Throws Error when tracefs is not mounted or not open to this user.
    static SyscallFormats
    load(std::span<const std::string> directories = Traceable::tracefs_directories());

    bool contains(std::string_view name) const { return texts_.contains(name); }

    /// All names, in their order.
    std::vector<std::string_view> names() const;

    /// The arguments of one; nothing if there is none of that name. Throws Error when its format cannot be read.
    std::optional<std::vector<WrittenParameter>> arguments(std::string_view name) const;

private:
    std::string directory_;                                   // of the events; empty: there is none
    std::map<std::string, std::string, std::less<>> texts_;   // with a directory they are empty
};

} // namespace argtrace
