// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <string>

#include "elf/object.h"

namespace argtrace::elf {

/// Which version of Go has made a program: "go1.19.8", by what `go version` reads (.go.buildinfo), which stripping leaves. Nothing if that does not
/// say, as before Go 1.18.
std::optional<std::string> go_version(const Object &object);

} // namespace argtrace::elf
