// SPDX-License-Identifier: GPL-2.0-only
#include "export/perfetto_stacks.h"

#include <vector>

#include "model/timer.h"
#include "model/user_frame.h"
#include "render/stack.h"
#include "util/hex.h"
#include "util/utf8_text.h"

namespace argtrace {

namespace {

using namespace perfetto;

constexpr std::string_view kernel_name = "[kernel]";
constexpr std::string_view user_name = "[user]";

/// Perfetto's build ids are bytes.
std::string bytes_of_hex(std::string_view digits) {
    std::string bytes;
    for (; digits.size() >= 2; digits.remove_prefix(2))
        bytes += static_cast<char>(parse_hex(digits.substr(0, 2)).value_or(0));
    return bytes;
}

} // namespace

void PerfettoStacks::forget() {
    functions_.clear();
    paths_.clear();
    mappings_.clear();
    objects_.clear();
    build_ids_.clear();
    places_.clear();
    frames_.clear();
    stacks_.clear();
}

std::uint64_t PerfettoStacks::mapping(CodeSpace space, std::string_view module, ProtobufWriter &data) {
    const auto [known, added] = mappings_.try_emplace({space, std::string(module)}, mappings_.size() + objects_.size() + 1);
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

std::uint64_t PerfettoStacks::mapping(std::uint32_t number, const CodeObject &object, ProtobufWriter &data) {
    const auto [known, added] = objects_.try_emplace(number, mappings_.size() + objects_.size() + 1);
    if (!added)
        return known->second;
    const std::uint64_t path = paths_.id(valid_utf8(object.path), data);
    const std::uint64_t build_id = object.build_id.empty() ? 0 : build_ids_.id(bytes_of_hex(object.build_id), data);
    const std::size_t begin = data.open(interned::mappings);
    data.number(interned::id, known->second);
    if (build_id != 0)
        data.number(interned::mapping_build_id, build_id);
    if (!object.segments.empty()) {
        const CodeSegment &first = object.segments.front(), &last = object.segments.back();
        data.number(interned::mapping_start, first.address);
        data.number(interned::mapping_end, last.address + last.size);
        data.number(interned::mapping_offset, first.offset);
        data.number(interned::mapping_bias, first.address - first.offset);
    }
    data.number(interned::mapping_path, path);
    data.close(begin);
    return known->second;
}

std::uint64_t PerfettoStacks::frame(std::uint64_t in, std::string_view function, std::uint64_t address, ProtobufWriter &data) {
    const std::uint64_t name = functions_.id(valid_utf8(function), data);
    const auto [known, added] = frames_.try_emplace({in, name, address}, frames_.size() + 1);
    if (added) {
        const std::size_t begin = data.open(interned::frames);
        data.number(interned::id, known->second);
        data.number(interned::frame_function, name);
        data.number(interned::frame_mapping, in);
        if (address != 0)
            data.number(interned::frame_address, address);
        data.close(begin);
    }
    return known->second;
}

/// The outermost first.
const std::vector<std::uint64_t> &PerfettoStacks::frames_at(CodePlace place, ProtobufWriter &data) {
    const auto [known, added] = places_.try_emplace(place);
    if (!added)
        return known->second;
    const UserFrame user(place.address);
    const auto object = callers_.object(place);
    const std::uint64_t address = object ? address_in(*object, user.offset) : 0;
    const auto &frames = callers_.frames(place);
    for (auto at = frames.rbegin(); at != frames.rend(); ++at) {
        std::string_view name = at->function, module; // "ext4_read [ext4]"
        if (const std::size_t begin = name.rfind(" ["); place.space == CodeSpace::kernel && name.ends_with(']') && begin != name.npos) {
            module = name.substr(begin + 2, name.size() - begin - 3);
            name = name.substr(0, begin);
        }
        const std::uint64_t in = object ? mapping(user.object, *object, data) : mapping(place.space, module, data);
        known->second.push_back(frame(in, name, address, data));
    }
    return known->second;
}

/// The outermost first.
void PerfettoStacks::add_frames(const Value &stack, CodeSpace space, std::vector<std::uint64_t> &frames, ProtobufWriter &data) {
    const auto add_mark = [&](std::string_view mark) { frames.push_back(frame(mapping(space, "", data), mark, 0, data)); };
    if (const std::string_view mark = stack_mark(stack.low); !mark.empty()) {
        add_mark(mark);
    } else if (const auto found = callers_.stack(stack.low)) {
        if (found->cut)
            add_mark("[cut]");
        for (std::size_t i = found->addresses.size(); i-- > 0;) {
            if (is_end_of_stack(*found, i)) {
                add_mark(end_of_stack(callers_, *found, i));
                continue;
            }
            for (const std::uint64_t one : frames_at({found->space, found->addresses[i]}, data))
                frames.push_back(one);
        }
    } else {
        add_mark("[unknown]");
    }
}

std::uint64_t PerfettoStacks::id(const StackValues &stacks, const Probe &probe, ProtobufWriter &data) {
    const auto [known, added] = stacks_.try_emplace({stack_number(stacks.kernel), stack_number(stacks.user), &probe}, stacks_.size() + 1);
    if (!added)
        return known->second;
    std::vector<std::uint64_t> frames;
    if (stacks.user && stacks.user->captured && stacks.user->low != ARGTRACE_STACK_ID_NO_USER)
        add_frames(*stacks.user, CodeSpace::user, frames, data);
    // Where user code was interrupted, its own stack says where, if it was taken.
    if (stacks.kernel && stacks.kernel->captured && !(stacks.user && stacks.kernel->low == ARGTRACE_STACK_ID_USER))
        add_frames(*stacks.kernel, CodeSpace::kernel, frames, data);
    if (kind_of(probe).is_call)
        frames.push_back(frame(mapping(code_place(probe).space, callers_.module(code_place(probe)), data), probe.function, 0, data));
    const std::size_t begin = data.open(interned::callstacks);
    data.number(interned::id, known->second);
    for (const std::uint64_t one : frames)
        data.number(interned::stack_frame, one);
    data.close(begin);
    return known->second;
}

} // namespace argtrace
