// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

#include "util/fd.h"

namespace argtrace {

/// Where there is as much room as for what is written to `path`: its folder. Of what is in no folder of a disk, such as standard output
/// ("-") or a device, TMPDIR, or else /var/tmp, as /tmp is often memory.
std::string folder_for_temporary(const std::string &path);

/// A file without a name in that folder, which goes when it is closed. Throws Error.
Fd open_temporary(const std::string &folder);

} // namespace argtrace
