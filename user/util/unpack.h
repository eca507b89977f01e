// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "util/file.h"

namespace argtrace {

/// The content of a file that xz, zstd or gzip may have packed; what is not packed is handed
/// back as it is. Throws Error, the reason alone, when it is damaged or unpacks to more than a
/// gigabyte.
Text unpack(Text content);

} // namespace argtrace
