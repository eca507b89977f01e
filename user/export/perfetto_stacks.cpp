// SPDX-License-Identifier: GPL-2.0-only
#include "export/perfetto_stacks.h"

#include <vector>

#include "export/utf8_text.h"
#include "model/timer.h"
#include "render/stack.h"

namespace argtrace {

namespace {

using namespace perfetto;

constexpr std::string_view kernel_name = "[kernel]";
constexpr std::string_view user_name = "[user]";

} // namespace

void PerfettoStacks::forget() {
    functions_.clear();
    paths_.clear();
    mappings_.clear();
    places_.clear();
    frames_.clear();
    stacks_.clear();
}

std::uint64_t PerfettoStacks::mapping(CodeSpace space, std::string_view module, ProtobufWriter &data) {
    const auto [known, added] = mappings_.try_emplace({space, std::string(module)}, mappings_.size() + 1);
    if (!added)
        return known->second;
    const std::uint64_t path =
        paths_.id(!module.empty() ? valid_utf8(module) : space == CodeSpace::user ? user_name : kernel_name, data);
    const std::size_t begin = data.open(interned::mappings);
    data.number(interned::id, known->second);
    data.number(interned::mapping_path, path);
    data.close(begin);
    return known->second;
}

std::uint64_t PerfettoStacks::frame(CodeSpace space, std::string_view function, std::string_view module,
                                    ProtobufWriter &data) {
    const std::uint64_t in = mapping(space, module, data);
    const std::uint64_t name = functions_.id(valid_utf8(function), data);
    const auto [known, added] = frames_.try_emplace({in, name}, frames_.size() + 1);
    if (added) {
        const std::size_t begin = data.open(interned::frames);
        data.number(interned::id, known->second);
        data.number(interned::frame_function, name);
        data.number(interned::frame_mapping, in);
        data.close(begin);
    }
    return known->second;
}

/// The outermost first.
const std::vector<std::uint64_t> &PerfettoStacks::frames_at(CodePlace place, ProtobufWriter &data) {
    const auto [known, added] = places_.try_emplace(place);
    if (!added)
        return known->second;
    const auto &frames = callers_.frames(place);
    for (auto at = frames.rbegin(); at != frames.rend(); ++at) {
        const std::string_view name = at->function; // "ext4_read [ext4]"
        const std::size_t module = place.space == CodeSpace::kernel && name.ends_with(']') ? name.rfind(" [") : name.npos;
        known->second.push_back(module != name.npos
                                    ? frame(place.space, name.substr(0, module), name.substr(module + 2, name.size() - module - 3), data)
                                    : frame(place.space, name, callers_.object(place), data));
    }
    return known->second;
}

/// The outermost first.
void PerfettoStacks::add_frames(const Value &stack, CodeSpace space, std::vector<std::uint64_t> &frames, ProtobufWriter &data) {
    const auto add_mark = [&](std::string_view mark) { frames.push_back(frame(space, mark, "", data)); };
    if (const std::string_view mark = stack_mark(stack.low); !mark.empty()) {
        add_mark(mark);
    } else if (const auto found = callers_.stack(stack.low)) {
        if (found->cut)
            add_mark("[cut]");
        for (auto address = found->addresses.rbegin(); address != found->addresses.rend(); ++address)
            for (const std::uint64_t one : frames_at({found->space, *address}, data))
                frames.push_back(one);
    } else {
        add_mark("[unknown]");
    }
}

std::uint64_t PerfettoStacks::id(const StackValues &stacks, const Probe &probe, ProtobufWriter &data) {
    const auto id_of = [](const Value *stack) { return stack && stack->captured ? stack->low : 0; };
    const auto [known, added] = stacks_.try_emplace({id_of(stacks.kernel), id_of(stacks.user), &probe}, stacks_.size() + 1);
    if (!added)
        return known->second;
    std::vector<std::uint64_t> frames;
    if (stacks.user && stacks.user->captured && stacks.user->low != ARGTRACE_STACK_ID_NO_USER)
        add_frames(*stacks.user, CodeSpace::user, frames, data);
    // Where user code was interrupted, its own stack says where, if it was taken.
    if (stacks.kernel && stacks.kernel->captured && !(stacks.user && stacks.kernel->low == ARGTRACE_STACK_ID_USER))
        add_frames(*stacks.kernel, CodeSpace::kernel, frames, data);
    if (kind_of(probe).is_call)
        frames.push_back(frame(code_place(probe).space, probe.function, callers_.module(code_place(probe)), data));
    const std::size_t begin = data.open(interned::callstacks);
    data.number(interned::id, known->second);
    for (const std::uint64_t one : frames)
        data.number(interned::stack_frame, one);
    data.close(begin);
    return known->second;
}

} // namespace argtrace
