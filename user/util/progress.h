// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string_view>

namespace argtrace {

/// One line on a terminal that tells, once a second, how far long work has come.
class Progress {
public:
    /// `fd` is the caller's; where it is no terminal nothing is ever told. Times are in ns.
    Progress(int fd, std::uint64_t start);

    /// Nothing is told from now on: somebody else writes to that terminal.
    void disable() { enabled_ = false; }

    /// It is time for tell().
    bool due(std::uint64_t now) const { return enabled_ && now >= next_; }

    /// `text` in the place of what was told before.
    void tell(std::uint64_t now, std::string_view text);

    /// Takes the line away.
    void clear();

private:
    void write(std::string_view text) const;

    int fd_;
    bool enabled_;
    bool shown_ = false;
    std::uint64_t next_;
};

} // namespace argtrace
