// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/probe.h"

namespace argtrace {

/// Functions whose returns the module cannot follow.
class Unfollowed {
public:
    /// Takes one out of the probes. Throws Error when it was the last.
    void take(std::vector<Probe> &probes, std::size_t index);

    /// Names them on stderr, if there are any.
    void tell() const;

private:
    std::vector<std::string> names_;
};

} // namespace argtrace
