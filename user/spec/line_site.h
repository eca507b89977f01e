// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "btf/prototype.h"
#include "spec/functions.h"

namespace argtrace {

/// Where the variables are that a prototype of a line of source has, where argtrace reads them. Of those that are many or large it says that they
/// are recorded only where they are named, and as text it has the declaration of each.
UsdtSite line_site(Prototype &prototype);

} // namespace argtrace
