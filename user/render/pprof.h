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
#include "util/gzip.h"
#include "util/interned_texts.h"
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

    /// All of it, compressed by gzip as its readers expect. The program that samples have the most frames in is the first mapping, which
    /// pprof calls the main file; libraries are behind programs, and the kernel is the last.
    std::string finish();

private:
    std::uint64_t text(std::string_view text) { return texts_.number(text); }
    void write_kind(unsigned field, const Kind &kind);
    struct Mapping {
        std::uint64_t id = 0;
        enum class Kind : std::uint8_t { program, library, kernel } kind = Kind::program;
        std::uint64_t frames = 0; ///< of samples, each as often as the first of its values says
        std::string message;
    };
    struct Location {
        std::uint64_t id = 0; ///< 0: there is none yet
        Mapping *mapping = nullptr;
    };

    Mapping *mapping(CodePlace place);
    const Location &location_at(const StackFrame &frame);
    void write_location(Location &location, CodePlace place);
    void drain();
    std::uint64_t function(std::string_view name, std::string_view file);
    std::uint64_t location_named(std::uint32_t name);

    CallerNames &names_;
    ProtobufWriter out_;
    GzipWriter packed_;
    InternedTexts texts_;
    std::map<std::uint32_t, Mapping> mappings_; // by object; that of the kernel by number 0
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> functions_; // by name and file
    std::unordered_map<CodePlace, Location, CodePlace::Hash> locations_by_place_;
    std::vector<Location> locations_by_number_; // of places that the symbols have numbered
    std::unordered_map<std::uint32_t, std::uint64_t> named_locations_; // of what is no place, by the number of its name
    std::uint64_t locations_ = 0;
    std::vector<std::uint64_t> location_ids_; // of a sample
    std::uint64_t time_ = 0;
};

} // namespace argtrace
