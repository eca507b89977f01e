// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "analyze/aggregation.h"
#include "btf/format.h"
#include "render/caller.h"
#include "render/value_writer.h"

namespace argtrace {

/// One of the values that calls are told apart by: what it is called, and how it is shown.
struct KeyColumn {
    std::string name;
    bool is_function = false;       ///< the name of the function that was called
    bool is_result = false;         ///< what it returned: an error is shown by its name
    const Format *format = nullptr; ///< as in ProbeFormats::argument()
    /// For a function: whether it is shown on top of the stacks of its calls, and only there.
    enum class Top : std::uint8_t { no, also, only } top = Top::no;
};

/// What functions are called on top of stacks, where that is not their name alone: "ext4_read [ext4]". Empty: they are no frame.
using TopFrames = std::unordered_map<std::string, std::string>;

/// Adds what a function is called there: its name alone, once functions of several modules have it.
void add_top_frame(TopFrames &frames, const std::string &function, const std::string &frame);

/// That of return addresses: a function and the place in it.
const Format *caller_format();

/// Parts of keys as arguments are shown, except that text has no quotes in a table.
class KeyText {
public:
    /// The names stay the caller's.
    explicit KeyText(CallerNames &names);

    std::string text(const KeyColumn &column, const KeyPart &part);
    void append_json(std::string &out, const KeyColumn &column, const KeyPart &part);

    /// A stack with that function on top, unless it is empty.
    void append_json_stack(std::string &out, const KeyPart &part, const std::string &top);

    void set_top_frames(TopFrames frames) { top_frames_ = std::move(frames); }
    /// The frame of the function that was called; empty: it is none.
    std::string top_frame(const KeyPart &function) const;

    CallerNames &names() { return names_; }

private:
    void append(Line &out, ValueWriter &values, const KeyColumn &column, const KeyPart &part);

    CallerNames &names_;
    ValueWriter texts_, json_;
    Line line_;
    TopFrames top_frames_;
};

} // namespace argtrace
