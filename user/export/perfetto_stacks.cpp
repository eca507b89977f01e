// SPDX-License-Identifier: GPL-2.0-only
#include "export/perfetto_stacks.h"

#include <vector>

#include "export/utf8_text.h"
#include "render/stack.h"

namespace argtrace {

namespace {

using namespace perfetto;

constexpr std::string_view kernel_name = "[kernel]";

} // namespace

void PerfettoStacks::forget() {
    functions_.clear();
    paths_.clear();
    mappings_.clear();
    frames_.clear();
    stacks_.clear();
}

std::uint64_t PerfettoStacks::mapping(std::string_view module, ProtobufWriter &data) {
    if (const auto known = mappings_.find(module); known != mappings_.end())
        return known->second;
    const std::uint64_t path =
        paths_.id(module.empty() ? kernel_name : valid_utf8(module), data);
    const std::uint64_t id = mappings_.size() + 1;
    mappings_.emplace(module, id);
    const std::size_t begin = data.open(interned::mappings);
    data.number(interned::id, id);
    data.number(interned::mapping_path, path);
    data.close(begin);
    return id;
}

std::uint64_t PerfettoStacks::frame(std::string_view function, std::string_view module,
                                    ProtobufWriter &data) {
    const std::uint64_t in = mapping(module, data);
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

std::uint64_t PerfettoStacks::id(std::uint64_t stack, const Probe &probe, ProtobufWriter &data) {
    const auto [known, added] = stacks_.try_emplace({stack, &probe}, stacks_.size() + 1);
    if (!added)
        return known->second;
    std::vector<std::uint64_t> frames; // the outermost first
    for (const std::string &name : stack_functions(callers_, stack)) {
        // "ext4_read [ext4]"
        const std::size_t module = name.ends_with(']') ? name.rfind(" [") : name.npos;
        if (module == name.npos)
            frames.push_back(frame(name, "", data));
        else
            frames.push_back(frame(std::string_view(name).substr(0, module),
                                   std::string_view(name).substr(module + 2, name.size() - module - 3),
                                   data));
    }
    if (kind_of(probe).is_call) // which calls nothing
        frames.push_back(frame(probe.function, callers_.module(probe.addr), data));
    const std::size_t begin = data.open(interned::callstacks);
    data.number(interned::id, known->second);
    for (const std::uint64_t one : frames)
        data.number(interned::stack_frame, one);
    data.close(begin);
    return known->second;
}

} // namespace argtrace
