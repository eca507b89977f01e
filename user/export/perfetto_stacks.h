// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "export/perfetto_fields.h"
#include "export/perfetto_names.h"
#include "model/probe.h"
#include "render/caller.h"
#include "render/stack.h"
#include "util/protobuf.h"

namespace argtrace {

/// Stacks as Perfetto's callstacks: each different one of a block is interned once, and so are its frames, which are
/// functions in a mapping for the kernel, for a module, or for the file that user code is in. A place is named when its frame is written, once in a block.
class PerfettoStacks {
public:
    /// The names stay the caller's.
    explicit PerfettoStacks(CallerNames &callers) : callers_(callers) {}

    /// Another block begins.
    void forget();

    /// The number of the stack in which that function was called, which is its innermost frame, or of a tick's. What is new
    /// goes to `data`.
    std::uint64_t id(const StackValues &stacks, const Probe &probe, ProtobufWriter &data);

private:
    const std::vector<std::uint64_t> &frames_at(CodePlace place, ProtobufWriter &data);
    std::uint64_t frame(std::uint64_t mapping, std::string_view function, std::uint64_t address, ProtobufWriter &data);
    void add_frames(const Value &stack, CodeSpace space, std::vector<std::uint64_t> &frames, ProtobufWriter &data);
    std::uint64_t mapping(CodeSpace space, std::string_view module, ProtobufWriter &data);
    std::uint64_t mapping(std::uint32_t number, const CodeObject &object, ProtobufWriter &data);

    CallerNames &callers_;
    PerfettoNames functions_{perfetto::interned::function_names};
    PerfettoNames paths_{perfetto::interned::mapping_paths};
    PerfettoNames build_ids_{perfetto::interned::build_ids};
    std::map<std::pair<CodeSpace, std::string>, std::uint64_t> mappings_; // by space and module
    std::map<std::uint32_t, std::uint64_t> objects_; // the mappings of these
    std::unordered_map<CodePlace, std::vector<std::uint64_t>, CodePlace::Hash> places_; // the frames of these
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::uint64_t> frames_; // by mapping, function and address
    std::map<std::tuple<std::uint64_t, std::uint64_t, const Probe *>, std::uint64_t> stacks_; // by both numbers
};

} // namespace argtrace
