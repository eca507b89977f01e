// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>

#include "lang/parser.h"
#include "lang/program.h"
#include "lang/scope.h"

namespace argtrace::lang {

/// Compiles conditions (all have to hold; none: every call is recorded) and the values to record
/// into a program for the scope's function. Throws ExpressionError for what does not type, and for programs that are
/// larger than the module takes.
///
/// The terms of a conjunction (a && b && ..., and one condition beside another) are evaluated in
/// this order:
/// those that look at registers alone, then those that look at the current task or the stack,
/// then those that follow pointers, each in the order in which they are written. A term that
/// faults rejects the call, as one that is false does, so that no verdict depends on it; only
/// fewer faults are counted. Terms and values that are of the return (lang/moment.h) are evaluated
/// then, all others at entry. Nothing else is moved: what stands behind || or within a term is
/// evaluated when C would.
Program compile(const Scope &scope, std::span<const Expression> conditions,
                std::span<const ArgumentExpression> values);

/// One word or text of a map's key, or the value behind it.
struct MapPart {
    const ArgumentExpression *expression = nullptr; ///< null: `constant`
    std::uint64_t constant = 0;
    std::uint32_t text_bytes = 0; ///< room for text, a multiple of 8; 0: for all of it
    bool is_value = false;
};

/// The same for a program whose sink is a map: its outputs are words, extended as their types are, and
/// texts. A ProgramValue of the result is one of the parts, with its type and size as the expression has them.
Program compile_for_map(const Scope &scope, std::span<const Expression> conditions,
                        std::span<const MapPart> parts);

/// The bytes that text of a map's key takes up which is so long at most.
constexpr std::uint32_t text_room(std::uint32_t bytes) {
    return (bytes + 7) / 8 * 8;
}

} // namespace argtrace::lang
