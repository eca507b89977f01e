// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

namespace argtrace {

/// A function at a place in user code, and where in its source that is.
struct SourceFrame {
    std::string function; ///< demangled; empty if that is not known
    std::string file;     ///< likewise, the path that it was compiled as
    int line = 0;         ///< of the place, or of the call of the inlined function before this; 0: not known

    bool operator==(const SourceFrame &) const = default;
};

} // namespace argtrace
