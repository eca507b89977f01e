// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/event.h"
#include "model/probe.h"
#include "render/caller.h"
#include "render/line.h"

namespace argtrace {

/// The stack under the line of an event: a line for each function, the innermost first.
void append_stack(Line &out, CallerNames &names, const Value &value);

/// The numbers of a call's stacks; null where one is not taken.
struct StackValues {
    const Value *kernel = nullptr;
    const Value *user = nullptr;

    /// The stacks of that place in the values of an event.
    static StackValues of(const EventView &view, const StackPlaces &places) {
        return {places.kernel ? &view.values[*places.kernel] : nullptr, places.user ? &view.values[*places.user] : nullptr};
    }
};

/// The same of both: those of the kernel, and below a line that says so those of user code.
void append_call_stacks(Line &out, CallerNames &names, const StackValues &stacks);

/// One of these lines.
void append_frame(Line &out, std::string_view name);

/// The same as an array of strings; null where it is not known. `top`: a function that was called from there; may be empty.
void append_json_stack(Line &out, CallerNames &names, const Value &value, std::string_view top = {});

/// ,"stack":[...],"user_stack":[...]: those that are taken. Where user code was interrupted, the kernel's has no functions if the
/// user's is beside it.
void append_json_stacks(Line &out, CallerNames &names, const StackValues &stacks, std::string_view top = {});

/// In one line, as a caller stands behind its callee.
std::string stack_in_line(CallerNames &names, const Value &value);

/// The same line with both: the kernel's, and then that of the code from which it was entered.
std::string stacks_in_line(CallerNames &names, const StackValues &stacks);

/// The number of a stack; 0: it could not be taken, or is not asked for.
inline std::uint64_t stack_number(const Value *stack) {
    return stack && stack->captured ? stack->low : 0;
}

/// The word there is no frame, but says why there are no more.
bool is_end_of_stack(const Stack &stack, std::size_t at);

/// What is shown of it.
std::string end_of_stack(const CallerNames &names, const Stack &stack, std::size_t at);

struct StackFrame {
    std::uint32_t name; ///< its number, as CallerNames::text() takes it
    CodeSpace space = CodeSpace::kernel;
    std::optional<CodePlace> place = {}; ///< nothing of what is no place, such as "[unknown]"
    bool is_inlined = false;             ///< in the frame before, which is at the same place
    static constexpr std::uint32_t no_number = ~std::uint32_t{0};
    std::uint32_t number = no_number; ///< of the place, if the symbols have numbered it
};

/// The functions of the stacks, the outermost first, which is that of user code, without the places in them: as flame graphs have
/// them. A stack that is not known is "[unknown]", one that was cut begins with "[cut]", and one whose callers could not be found with
/// the reason, "[... no unwind table for libfoo.so]". Never empty.
std::vector<StackFrame> stack_frames(CallerNames &names, const StackValues &stacks);

/// Appends them.
void add_stack_frames(std::vector<StackFrame> &frames, CallerNames &names, const StackValues &stacks);

/// Their names alone.
std::vector<std::string> stack_functions(CallerNames &names, const StackValues &stacks);

/// The name of a function as stack_frames() has it.
std::string function_frame(std::string name, std::string_view module);

/// Whether one of these is a function of a module: "ext4_read [ext4]", but not "[user]".
bool is_of_module(std::string_view frame);

} // namespace argtrace
