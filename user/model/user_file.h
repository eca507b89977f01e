// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

#include "util/fd.h"

namespace argtrace {

/// A file with code that probes are to be in, open for reading: the kernel knows it by the descriptor, and not by a path, which another
/// process may see otherwise.
struct UserFile {
    Fd file;
    std::string path; ///< by which it was found; for messages
};

} // namespace argtrace
