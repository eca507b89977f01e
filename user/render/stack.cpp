// SPDX-License-Identifier: GPL-2.0-only
#include "render/stack.h"

#include <string_view>
#include <utility>

#include "model/timer.h"
#include "model/user_frame.h"
#include "render/json.h"

namespace argtrace {

namespace {

constexpr std::string_view indent = "        ";
constexpr std::string_view cut_mark = "...";
constexpr std::string_view user_border = "--- user ---";
constexpr std::string_view no_user_code = "[kernel]"; // in place of its stack, where nothing else stands for it

/// What stands for a stack that is none; empty: it is one.
std::string_view mark_of(const Value &value) {
    return value.captured ? stack_mark(value.low) : std::string_view();
}

std::optional<Stack> stack_of(CallerNames &names, const Value &value) {
    return value.captured ? names.stack(value.low) : std::nullopt;
}

bool has_no_user_code(const Value &value) {
    return value.captured && value.low == ARGTRACE_STACK_ID_NO_USER;
}

/// The kernel's part has nothing to show: the user's says which user code was interrupted.
bool is_user_alone(const StackValues &stacks) {
    return !stacks.kernel || (stacks.user && stacks.kernel->captured && stacks.kernel->low == ARGTRACE_STACK_ID_USER);
}

/// Calls `append` with the name of each function. argtrace's own trampoline is none: it stands between a function
/// whose return is followed and its caller.
template<typename Append>
void for_each_name(const Stack &stack, CallerNames &names, const Append &append) {
    for (std::size_t i = 0; i < stack.addresses.size(); ++i) {
        if (is_end_of_stack(stack, i)) {
            append(end_of_stack(names, stack, i));
            continue;
        }
        for (const CallerNames::Frame &frame : names.frames({stack.space, stack.addresses[i]}))
            append(frame.name);
    }
    if (stack.cut)
        append(cut_mark);
}

} // namespace

bool is_end_of_stack(const Stack &stack, std::size_t at) {
    return stack.space == CodeSpace::user && UserFrame(stack.addresses[at]).is_end();
}

std::string end_of_stack(const CallerNames &names, const Stack &stack, std::size_t at) {
    return names.end(stack.addresses[at], at > 0 ? std::optional(stack.addresses[at - 1]) : std::nullopt);
}

void append_frame(Line &out, std::string_view name) {
    out += indent;
    out += name;
    out += '\n';
}

void append_stack(Line &out, CallerNames &names, const Value &value) {
    const auto append = [&out](std::string_view name) { append_frame(out, name); };
    if (const std::string_view mark = mark_of(value); !mark.empty())
        append(mark);
    else if (const auto stack = stack_of(names, value))
        for_each_name(*stack, names, append);
    else
        append(CallerNames::unknown);
}

void append_call_stacks(Line &out, CallerNames &names, const StackValues &stacks) {
    const bool alone = is_user_alone(stacks);
    if (!alone)
        append_stack(out, names, *stacks.kernel);
    if (!stacks.user)
        return;
    if (has_no_user_code(*stacks.user)) {
        if (alone)
            append_frame(out, no_user_code);
        return;
    }
    if (stacks.kernel)
        append_frame(out, user_border);
    append_stack(out, names, *stacks.user);
}

void append_json_stack(Line &out, CallerNames &names, const Value &value, std::string_view top) {
    if (const std::string_view mark = mark_of(value); !mark.empty()) {
        out += '[';
        append_json_string(out, mark);
        out += ']';
        return;
    }
    if (has_no_user_code(value)) {
        out += "[]";
        return;
    }
    const auto stack = stack_of(names, value);
    if (!stack && top.empty()) {
        out += "null";
        return;
    }
    out += '[';
    std::string_view separator;
    const auto append = [&](std::string_view name) {
        out += separator;
        separator = ",";
        append_json_string(out, name);
    };
    if (!top.empty())
        append(top);
    if (stack)
        for_each_name(*stack, names, append);
    else
        append(CallerNames::unknown);
    out += ']';
}

void append_json_stacks(Line &out, CallerNames &names, const StackValues &stacks, std::string_view top) {
    if (stacks.kernel) {
        out += ",\"stack\":";
        if (is_user_alone(stacks))
            out += "[]";
        else
            append_json_stack(out, names, *stacks.kernel, top);
    }
    if (stacks.user) {
        out += ",\"user_stack\":";
        append_json_stack(out, names, *stacks.user);
    }
}

std::string stack_in_line(CallerNames &names, const Value &value) {
    if (has_no_user_code(value))
        return std::string(no_user_code);
    if (const std::string_view mark = mark_of(value); !mark.empty())
        return std::string(mark);
    const auto stack = stack_of(names, value);
    if (!stack)
        return std::string(CallerNames::unknown);
    std::string text;
    for_each_name(*stack, names, [&text](std::string_view name) {
        text += text.empty() ? "" : " <- ";
        text += name;
    });
    return text;
}

std::string stacks_in_line(CallerNames &names, const StackValues &stacks) {
    if (!stacks.user)
        return stack_in_line(names, *stacks.kernel);
    if (is_user_alone(stacks))
        return stack_in_line(names, *stacks.user);
    std::string text = stack_in_line(names, *stacks.kernel);
    if (!has_no_user_code(*stacks.user))
        text += " <- " + stack_in_line(names, *stacks.user);
    return text;
}

namespace {

void add_frames_of(std::vector<StackFrame> &frames, CallerNames &names, const Value &value, CodeSpace space) {
    if (const std::string_view mark = mark_of(value); !mark.empty()) {
        frames.push_back({names.number(mark)});
        return;
    }
    const auto stack = stack_of(names, value);
    if (!stack) {
        frames.push_back({names.number("[unknown]"), space});
        return;
    }
    if (stack->cut)
        frames.push_back({names.number("[cut]"), stack->space});
    frames.reserve(frames.size() + stack->addresses.size());
    for (std::size_t i = stack->addresses.size(); i-- > 0;) {
        const CodePlace place{stack->space, stack->addresses[i]};
        if (is_end_of_stack(*stack, i)) {
            frames.push_back({names.number(end_of_stack(names, *stack, i)), stack->space});
            continue;
        }
        const bool numbered = !stack->numbers.empty();
        const std::uint32_t number = numbered ? stack->numbers[i] : StackFrame::no_number;
        const auto functions = numbered ? names.functions(place, number) : names.functions(place);
        for (auto function = functions.rbegin(); function != functions.rend(); ++function)
            frames.push_back({*function, stack->space, place, function != functions.rbegin(), number});
    }
}

} // namespace

void add_stack_frames(std::vector<StackFrame> &frames, CallerNames &names, const StackValues &stacks) {
    const std::size_t before = frames.size();
    if (stacks.user && !has_no_user_code(*stacks.user))
        add_frames_of(frames, names, *stacks.user, CodeSpace::user);
    if (!is_user_alone(stacks))
        add_frames_of(frames, names, *stacks.kernel, CodeSpace::kernel);
    if (frames.size() == before)
        frames.push_back({names.number(no_user_code)});
}

std::vector<StackFrame> stack_frames(CallerNames &names, const StackValues &stacks) {
    std::vector<StackFrame> frames;
    add_stack_frames(frames, names, stacks);
    return frames;
}

std::vector<std::string> stack_functions(CallerNames &names, const StackValues &stacks) {
    std::vector<std::string> functions;
    for (const StackFrame &frame : stack_frames(names, stacks))
        functions.push_back(names.text(frame.name));
    return functions;
}

std::string function_frame(std::string name, std::string_view module) {
    if (!module.empty())
        name.append(" [").append(module).append("]");
    return name;
}

bool is_of_module(std::string_view frame) {
    return frame.ends_with(']') && frame.find(" [") != frame.npos;
}

} // namespace argtrace
