// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

/// A part of a program of Go, whose other part is programs/go_generated.go: that many functions of random types, and what calls each of them.
std::string random_go_functions(unsigned seed, int functions);
