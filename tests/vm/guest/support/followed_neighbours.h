// SPDX-License-Identifier: GPL-2.0-only
// The functions of argtrace_neighbours.ko, followed, and what has become of their calls.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "support/device.h"

namespace vmtest {

/// In one call of call_neighbours().
inline constexpr std::uint64_t neighbour_calls = 100;

struct FollowedFunction {
    const char *name;
    unsigned nr_args;
    bool variadic = false; ///< the kernel alone can follow it
};

/// What has become of the calls of one function.
struct CallOutcomes {
    std::uint64_t records = 0, taken = 0;
};

/// A session that follows calls of an_value(), an_many(), and of an_variadic() if the kernel does it.
class FollowedNeighbours {
public:
    /// `by`: 0, or ARGTRACE_PROBE_BY_FPROBE, ARGTRACE_PROBE_BY_KRETPROBE.
    explicit FollowedNeighbours(std::uint32_t by = 0);

    void begin();
    void end();

    const std::vector<FollowedFunction> &functions() const { return functions_; }

    /// What has become of them since this was last asked, of `neighbour_calls` calls of each. `diverted`: those of an_value() have gone
    /// on in an_diverted().
    std::vector<CallOutcomes> take(bool diverted = false);

private:
    void check(const RawRecord &record, const FollowedFunction &function, bool diverted) const;

    std::uint32_t by_;
    std::vector<FollowedFunction> functions_;
    std::unique_ptr<RawDevice> device_;
    std::vector<std::unique_ptr<RawRing>> rings_;
    std::vector<argtrace_return_counts> before_;
};

} // namespace vmtest
