// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <string>

#include "elf/source_lines.h"
#include "spec/spec.h"
#include "util/error.h"

namespace argtrace {

/// A SPEC of a line of source, "u:OBJECT@FILE:LINE": no function is called by a number.
struct LinePlace {
    std::string object, file;
    int line = 0;
};

/// Nothing if the SPEC is of no line.
std::optional<LinePlace> line_place(const Spec &spec);

/// Throws Error where the SPEC has the file of a line, and no line in it.
void require_line(const Spec &spec);

/// Says why the line is nowhere in the object of that path.
Error why_no_line(const Spec &spec, const LinePlace &place, const std::string &path, const elf::SourceLine &line);

} // namespace argtrace
