// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "symbols/kallsyms.h"

namespace argtrace {

/// Return addresses as text: "ksys_read+0x6b", "ext4_file_read_iter+0x4a [ext4]", and
/// "0xffffffffc0a01234" where no symbol is near. Each is looked up once.
class CallerNames {
public:
    /// Without symbols (null) all are addresses.
    explicit CallerNames(const Kallsyms *symbols) : symbols_(symbols) {}

    const std::string &name(std::uint64_t address);

private:
    std::string look_up(std::uint64_t address) const;

    const Kallsyms *symbols_;
    std::unordered_map<std::uint64_t, std::string> names_;
};

} // namespace argtrace
