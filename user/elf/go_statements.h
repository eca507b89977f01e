// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elf/go_functions.h"
#include "elf/object.h"

namespace argtrace::elf {

/// A place where a Go program begins goroutines.
struct GoStatement {
    std::uint64_t address; ///< of the instruction that follows, which the runtime keeps of each goroutine
    std::string place;     ///< "main.serve server.go:42"
};

/// All of them: the calls of runtime.newproc in the code of the program.
std::vector<GoStatement> go_statements(const Object &object, const GoFunctions &functions);

} // namespace argtrace::elf
