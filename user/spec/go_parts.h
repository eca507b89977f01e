// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <span>
#include <vector>

#include "lang/parser.h"
#include "lang/scope.h"

namespace argtrace {

// A value of Go's that is more than a number, a pointer or a string is recorded as several values: one of its name, if something stands for it, and behind
// that its parts, whose names begin with it:
//
//     b, b.len, b.cap, b.array    a slice: its elements, and where they are
//     s, s.[0], s.[1], s.len ...  a slice of strings, of which some elements are read
//     p, p.X, p.S                 a struct, of which nothing is recorded but its parts
//     m, m.len                    a map: its address; c.len and c.cap of a channel
//     e, e.type, e.text           an interface: the address of its data, the name of its dynamic type, and of some types a text
//     t, t.nsec                   a time.Time: seconds since 1970
//     c, c.(real), c.(imag)       a complex number
//     p, p.X, p.S                 a pointer to a struct, with -d: its address, and what the struct has
//
// As text they are one again: render/go_text.h.

/// The values with their parts. What has none is as it was. `follows`: a pointer has those of the struct that it points to.
std::vector<lang::ArgumentExpression> with_go_parts(const lang::Scope &scope, std::span<const lang::ArgumentExpression> values, bool follows);

} // namespace argtrace
