// SPDX-License-Identifier: GPL-2.0-only
#include "render/pprof.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "model/user_frame.h"
#include "util/gzip.h"
#include "util/utf8_text.h"
#include "util/visible.h"

namespace argtrace {

namespace {

// The numbers of fields in profile.proto.
namespace profile {
enum : unsigned {
    sample_type = 1,
    sample = 2,
    mapping = 3,
    location = 4,
    function = 5,
    strings = 6,
    time = 9,
    comment = 13,
    default_type = 14,
};
}
namespace value_type {
enum : unsigned { type = 1, unit = 2 };
}
namespace sample {
enum : unsigned { location = 1, value = 2, label = 3 };
}
namespace label {
enum : unsigned { key = 1, text = 2, number = 3 };
}
namespace mapping_of {
enum : unsigned {
    id = 1,
    start = 2,
    limit = 3,
    offset = 4,
    file = 5,
    build_id = 6,
    has_functions = 7,
    has_files = 8,
    has_lines = 9,
    has_inlined = 10,
};
}
namespace location_of {
enum : unsigned { id = 1, mapping = 2, address = 3, line = 4 };
}
namespace line_of {
enum : unsigned { function = 1, line = 2 };
}
namespace function_of {
enum : unsigned { id = 1, name = 2, system_name = 3, file = 4 };
}

constexpr std::string_view kernel_file = "[kernel.kallsyms]"; // as perf calls it
constexpr std::uint32_t kernel_object = 0;                    // no frame of user code is in it
constexpr std::size_t piece = 1 << 16;                        // that is compressed at a time

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    return problem == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// As far as names tell: no shared library, nor the vdso.
bool is_program(const CodeObject &object) {
    const std::string_view name = shown_name(object);
    return !name.starts_with('[') && !name.ends_with(".so") && name.find(".so.") == name.npos;
}

} // namespace

PprofProfile::PprofProfile(CallerNames &names, std::span<const Kind> kinds) : names_(names) {
    text(""); // the first of all must be empty
    for (const Kind &kind : kinds)
        write_kind(profile::sample_type, kind);
    out_.number(profile::default_type, text(kinds.back().type));
}

void PprofProfile::write_kind(unsigned field, const Kind &kind) {
    const std::size_t begin = out_.open(field);
    out_.number(value_type::type, text(kind.type));
    out_.number(value_type::unit, text(kind.unit));
    out_.close(begin);
}

void PprofProfile::add_comment(std::string_view comment) {
    out_.number(profile::comment, text(comment));
}

/// That of the object that a place is in; null: it is in none.
PprofProfile::Mapping *PprofProfile::mapping(CodePlace place) {
    const std::uint32_t number = place.space == CodeSpace::kernel ? kernel_object : UserFrame(place.address).object;
    const auto object = names_.object(place);
    if (place.space == CodeSpace::user && !object)
        return nullptr;
    const auto [known, added] = mappings_.try_emplace(number);
    Mapping &mapping = known->second;
    if (!added)
        return &mapping;
    mapping.id = mappings_.size();
    mapping.kind = !object ? Mapping::Kind::kernel : is_program(*object) ? Mapping::Kind::program : Mapping::Kind::library;
    ProtobufWriter message;
    message.number(mapping_of::id, mapping.id);
    if (object && !object->segments.empty()) {
        const CodeSegment &first = object->segments.front(), &last = object->segments.back();
        message.number(mapping_of::start, first.address);
        message.number(mapping_of::limit, last.address + last.size);
        message.number(mapping_of::offset, first.offset);
    }
    message.number(mapping_of::file, text(object ? visible_text(object->path) : kernel_file));
    if (object)
        message.number(mapping_of::build_id, text(object->build_id));
    // Nothing is left for readers to look up.
    for (const unsigned what : {mapping_of::has_functions, mapping_of::has_files, mapping_of::has_lines, mapping_of::has_inlined})
        message.number(what, 1);
    mapping.message = message.view();
    return &mapping;
}

std::uint64_t PprofProfile::function(std::string_view name, std::string_view file) {
    const std::uint64_t name_text = text(name), file_text = text(file);
    const auto [known, added] = functions_.try_emplace({name_text, file_text}, functions_.size() + 1);
    if (!added)
        return known->second;
    const std::size_t begin = out_.open(profile::function);
    out_.number(function_of::id, known->second);
    out_.number(function_of::name, name_text);
    out_.number(function_of::system_name, name_text);
    out_.number(function_of::file, file_text);
    out_.close(begin);
    return known->second;
}

const PprofProfile::Location &PprofProfile::location_at(const StackFrame &frame) {
    if (frame.number != StackFrame::no_number && frame.number >= locations_by_number_.size())
        locations_by_number_.resize(std::max<std::size_t>(frame.number + 1, 2 * locations_by_number_.size()));
    Location &location =
        frame.number != StackFrame::no_number ? locations_by_number_[frame.number] : locations_by_place_[*frame.place];
    if (location.id == 0)
        write_location(location, *frame.place);
    return location;
}

void PprofProfile::write_location(Location &location, CodePlace place) {
    location = {++locations_, mapping(place)};
    std::vector<std::pair<std::uint64_t, int>> lines;
    for (const CallerNames::Frame &frame : names_.look_up_frames(place))
        lines.emplace_back(function(frame.source.function, frame.source.file), frame.source.line);
    const auto object = names_.object(place);
    const std::uint64_t offset = place.space == CodeSpace::kernel ? place.address : UserFrame(place.address).offset;
    const std::size_t begin = out_.open(profile::location);
    out_.number(location_of::id, location.id);
    out_.number(location_of::mapping, location.mapping ? location.mapping->id : 0);
    out_.number(location_of::address, object ? address_in(*object, offset) : offset);
    for (const auto &[number, line] : lines) {
        const std::size_t line_begin = out_.open(location_of::line);
        out_.number(line_of::function, number);
        out_.number(line_of::line, static_cast<std::uint64_t>(line));
        out_.close(line_begin);
    }
    out_.close(begin);
}

/// What is no place, such as a function that was called, or the end of a stack that is incomplete.
std::uint64_t PprofProfile::location_named(std::uint32_t name) {
    const auto [known, added] = named_locations_.try_emplace(name, 0);
    if (!added)
        return known->second;
    known->second = ++locations_;
    const std::uint64_t number = function(names_.text(name), "");
    const std::size_t begin = out_.open(profile::location);
    out_.number(location_of::id, known->second);
    const std::size_t line_begin = out_.open(location_of::line);
    out_.number(line_of::function, number);
    out_.close(line_begin);
    out_.close(begin);
    return known->second;
}

void PprofProfile::add(std::span<const StackFrame> frames, std::span<const std::uint64_t> values, const Labels &labels) {
    location_ids_.clear(); // the innermost first
    for (std::size_t i = frames.size(); i-- > 0;) {
        const StackFrame &frame = frames[i];
        if (frame.is_inlined) // whose location is that of the frame before
            continue;
        if (!frame.place) {
            location_ids_.push_back(location_named(frame.name));
            continue;
        }
        const Location &location = location_at(frame);
        location_ids_.push_back(location.id);
        if (location.mapping)
            location.mapping->frames += values.front();
    }
    std::vector<std::pair<std::uint64_t, std::uint64_t>> texts;
    for (const auto &[key, value] : labels) {
        const std::uint64_t key_text = text(key); // arguments are evaluated in any order, and texts numbered in this one
        texts.emplace_back(key_text, whole_number(value) ? 0 : text(value));
    }
    const std::size_t begin = out_.open(profile::sample);
    for (const std::uint64_t location : location_ids_)
        out_.number(sample::location, location);
    for (const std::uint64_t value : values)
        out_.number(sample::value, value);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const std::size_t label_begin = out_.open(sample::label);
        out_.number(label::key, texts[i].first);
        if (const auto number = whole_number(labels[i].second))
            out_.signed_number(label::number, *number);
        else
            out_.number(label::text, texts[i].second);
        out_.close(label_begin);
    }
    out_.close(begin);
    if (out_.size() > piece)
        drain();
}

void PprofProfile::drain() {
    packed_.add(out_.view());
    out_.clear();
}

std::string PprofProfile::finish() {
    std::vector<const Mapping *> order;
    for (const auto &[object, mapping] : mappings_)
        order.push_back(&mapping);
    std::stable_sort(order.begin(), order.end(), [](const Mapping *a, const Mapping *b) {
        return a->kind != b->kind ? a->kind < b->kind : a->frames > b->frames;
    });
    for (const Mapping *mapping : order)
        out_.text(profile::mapping, mapping->message);
    for (std::uint32_t number = 0; number < texts_.size(); ++number) {
        out_.text(profile::strings, valid_utf8(texts_[number]));
        if (out_.size() > piece)
            drain();
    }
    if (time_ > 0)
        out_.number(profile::time, time_);
    drain();
    return packed_.finish();
}

} // namespace argtrace
