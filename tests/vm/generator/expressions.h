// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

/// random_expressions.c of argtrace_expressions.ko: that many functions, with random expressions
/// of their parameters as C and as what argtrace is told.
std::string random_expressions(unsigned seed, int functions);
