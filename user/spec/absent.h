// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>

#include "spec/kernel.h"
#include "spec/spec.h"

namespace argtrace {

/// Throws Error, which says what to write instead, when no module that is loaded matches the
/// module part of `spec`.
void check_module(Kernel &kernel, const Spec &spec);

/// Why there is no symbol of the name that `spec` is.
Error why_absent(Kernel &kernel, const Spec &spec);

/// "; did you mean ...?": the functions that somebody may have meant by `word`, or nothing.
std::string suggest_function(Kernel &kernel, std::string_view word);

} // namespace argtrace
