// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "model/probe.h"

namespace argtrace {

/// Functions whose returns the module cannot follow.
class Unfollowed {
public:
    /// Takes those out of the probes that the module would refuse for their names: it names one at a time, and each time the others
    /// would be given to it once more. Throws Error when none is left.
    void take_refused(std::vector<Probe> &probes);

    /// Takes one out of the probes. Throws Error when it was the last.
    void take(std::vector<Probe> &probes, std::size_t index);

    /// Names them on stderr with the reasons, if there are any.
    void tell() const;

private:
    void add(const std::string &function);
    void require_any(const std::vector<Probe> &probes) const;
    std::string describe() const;

    /// By reason, in the order in which they were met.
    std::vector<std::pair<std::string, std::vector<std::string>>> names_;
    std::size_t total_ = 0;
};

} // namespace argtrace
