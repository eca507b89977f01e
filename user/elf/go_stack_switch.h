// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "elf/call_frames.h"
#include "elf/go_functions.h"
#include "elf/object.h"
#include "uapi/argtrace_user.h"

namespace argtrace::elf {

/// Rules for functions of Go's assembly that go on on another stack (runtime.systemstack), of which no table says where their caller's is. Their
/// code does: what they execute up to their return leads back there.
class GoStackSwitch {
public:
    GoStackSwitch(const Object &object, const FrameRegisters &registers);

    /// The rule is that of addresses from `start` on, up to the next; nothing: none says what the code does.
    using Visit = std::function<void(std::uint64_t start, std::uint64_t end, std::optional<argtrace_unwind_rule> rule)>;

    /// Visits the instructions of a function from where its stack has changed first; returns where that is, the end if it does not.
    std::uint64_t visit_changed(std::uint64_t start, std::uint64_t end, const Visit &visit);

    /// The same for all of its instructions, for a function that saves what its caller's convention preserves and Go's does not.
    void visit_all(std::uint64_t start, std::uint64_t end, const Visit &visit);

    /// That of `grows`, runtime.morestack, on the other stack: runtime.newstack lets the goroutine go on from what it has saved of itself, the
    /// stack pointer where runtime.systemstack finds it, and beside it the address of the instruction.
    std::optional<argtrace_unwind_rule> growth_rule(const GoFunctions &functions, const GoFunctions::Function &grows);

private:
    const Object &object_;
    const FrameRegisters &registers_;
    std::size_t left_; ///< instructions: a file may say that it has any number of such functions
};

} // namespace argtrace::elf
