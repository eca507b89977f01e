// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "render/caller.h"
#include "render/stack.h"
#include "util/protobuf.h"

namespace argtrace {

/// What the names of such files end in.
inline constexpr std::string_view pprof_suffix = ".pb.gz";

/// A profile in pprof's format (https://github.com/google/pprof/blob/main/proto/profile.proto): samples by stacks of places, which are
/// in mapped files, and whose functions have files and lines where these are known.
class PprofProfile {
public:
    struct Kind {
        std::string_view type, unit;
    };

    /// Each sample has a value of each kind; the last is the one that is shown first. The names stay the caller's.
    PprofProfile(CallerNames &names, std::span<const Kind> kinds);

    /// What a sample is told apart by, beside its stack: numbers are those.
    using Labels = std::vector<std::pair<std::string, std::string>>;

    /// Frames as stack_frames() has them, the outermost first. Samples of one stack and the same labels should come as one.
    void add(std::span<const StackFrame> frames, std::span<const std::uint64_t> values, const Labels &labels);

    /// When it was made, ns of CLOCK_REALTIME.
    void set_time(std::uint64_t realtime) { time_ = realtime; }
    void add_comment(std::string_view comment);

    /// All of it, compressed by gzip as its readers expect.
    std::string finish();

private:
    std::uint64_t text(std::string_view text);
    void write_kind(unsigned field, const Kind &kind);
    std::uint64_t mapping(CodePlace place);
    std::uint64_t function(std::string_view name, std::string_view file);
    std::uint64_t location_at(CodePlace place);
    std::uint64_t location_named(std::string_view name);

    CallerNames &names_;
    ProtobufWriter out_;
    std::unordered_map<std::string, std::uint64_t> texts_;
    std::vector<const std::string *> texts_in_order_;
    std::map<std::uint32_t, std::uint64_t> mappings_; // by object; that of the kernel by number 0
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> functions_; // by name and file
    std::unordered_map<CodePlace, std::uint64_t, CodePlace::Hash> locations_;
    std::unordered_map<std::string, std::uint64_t> named_locations_;
    std::uint64_t time_ = 0;
};

} // namespace argtrace
