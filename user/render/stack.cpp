// SPDX-License-Identifier: GPL-2.0-only
#include "render/stack.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "model/timer.h"
#include "render/json.h"

namespace argtrace {

namespace {

constexpr std::string_view indent = "        ";
constexpr std::string_view cut_mark = "...";

/// What stands for a stack that is none; empty: it is one.
std::string_view mark_of(const Value &value) {
    return value.captured ? stack_mark(value.low) : std::string_view();
}

std::optional<Stack> stack_of(const CallerNames &names, const Value &value) {
    return value.captured ? names.stack(value.low) : std::nullopt;
}

/// Calls `append` with the name of each function. argtrace's own trampoline is none: it stands between a function
/// whose return is followed and its caller.
template<typename Append>
void for_each_name(const Stack &stack, CallerNames &names, const Append &append) {
    for (const std::uint64_t address : stack.addresses) {
        if (const std::string &name = names.name({stack.space, address}); name != CallerNames::unknown)
            append(name);
    }
    if (stack.cut)
        append(cut_mark);
}

} // namespace

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

void append_json_stack(Line &out, CallerNames &names, const Value &value, std::string_view top) {
    if (const std::string_view mark = mark_of(value); !mark.empty()) {
        out += '[';
        append_json_string(out, mark);
        out += ']';
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

std::string stack_in_line(CallerNames &names, const Value &value) {
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

std::vector<std::string> stack_functions(CallerNames &names, std::uint64_t id) {
    if (const std::string_view mark = stack_mark(id); !mark.empty())
        return {std::string(mark)};
    const auto stack = names.stack(id);
    if (!stack)
        return {"[unknown]"};
    std::vector<std::string> functions;
    if (stack->cut)
        functions.emplace_back("[cut]");
    for (auto address = stack->addresses.rbegin(); address != stack->addresses.rend(); ++address) {
        std::string function = function_at(names, {stack->space, *address});
        if (!function.empty())
            functions.push_back(std::move(function));
    }
    return functions;
}

std::string function_at(CallerNames &names, CodePlace place) {
    const std::string_view name = names.name(place); // "ext4_read+0x10 [ext4]"
    if (name == CallerNames::unknown)
        return {};
    const std::size_t offset = name.rfind("+0x");
    if (offset == name.npos)
        return std::string(name);
    const std::size_t module = std::min(name.find(' '), name.size());
    return std::string(name.substr(0, offset)).append(name.substr(module));
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
