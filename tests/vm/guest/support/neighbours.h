// SPDX-License-Identifier: GPL-2.0-only
// Other tracers of the functions that argtrace traces, those of argtrace_neighbours.ko.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace vmtest {

/// Loads argtrace_neighbours.ko unless it is there.
void need_neighbours();

/// Writes to a file of its: see argtrace_neighbours.c. 0 or an errno.
int write_number_of_neighbours(const std::string &file, std::uint64_t number);

/// Has its functions called, and checks that each has returned what it should.
void call_neighbours(std::uint64_t count);

/// A tracer of an_value() and an_many(), or of one of them.
class Neighbour {
public:
    virtual ~Neighbour() = default;

    virtual void begin() = 0;
    virtual void end() = 0;

    /// The number of calls of `function` that it has seen since it began or this was last asked; -1: it does not tell.
    virtual long seen(const std::string &function) = 0;
    /// Whether it has calls of an_value() go on in another function. We may follow them there, or be too late.
    virtual bool diverts() const { return false; }
    /// Whether we follow calls where it was there before us. If not, they are counted as taken by somebody else.
    virtual bool lets_us_follow() const { return true; }
    /// Whether it is ftrace that has calls come to it. Kprobes are breakpoints on arm64.
    virtual bool is_of_ftrace() const { return true; }
    /// Whether we follow calls while it is there, whoever comes first.
    bool lets_us_share() const;
    /// Whether an_many() is among its functions, too.
    virtual bool has_many() const { return true; }
};

struct NeighbourKind {
    const char *name;
    /// Null where the kernel has none, with the reason in `why`.
    std::unique_ptr<Neighbour> (*make)(std::string &why);
};

const std::vector<NeighbourKind> &neighbour_kinds();

} // namespace vmtest
