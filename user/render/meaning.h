// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <string_view>

#include "render/value_writer.h"

namespace argtrace {

// What an argument means (`-d`) are values that the probe's program computes, right behind it, whose
// names begin with its own and a point: file, file.path. In text they stand in its place:
//
//     file="/etc/passwd", inode={dev=8:1, ino=1234}, work={func=drain_obj_stock}, pos={4096}
//
// alone if it is a text, or if it is what a number is shown as; the name "value" is left out, and so is what
// only() has nothing of. Where none of them could be read, for a NULL pointer above all, or they are not asked
// for, the argument itself does.

/// How many of the arguments behind that one say what it means.
std::size_t count_meanings(const Probe &probe, std::size_t argument);

/// What it is called, without the argument's name and the point: "path".
std::string_view meaning_name(const Probe &probe, std::size_t argument, std::size_t meaning);

/// Whether there is nothing of it in this call: a condition of only() does not hold, or a file has no path, as one that is being opened.
bool is_empty_meaning(const Value &value, const Format *format);

/// Appends the argument with that index, as text, and what it means.
void append_with_meaning(Line &out, ValueWriter &values, const EventView &view,
                         const ProbeFormats &formats, std::size_t argument);

/// The same of any value, whose meanings are `count` arguments from `first` on. A value that has none is as `format` says.
void append_with_meaning(Line &out, ValueWriter &values, const EventView &view, const ProbeFormats &formats, std::size_t value,
                         const Format *format, std::size_t first, std::size_t count);

} // namespace argtrace
