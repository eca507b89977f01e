// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/aggregation.h"
#include "btf/format.h"
#include "render/caller.h"
#include "render/stack.h"
#include "render/value_writer.h"

namespace argtrace {

/// A key of this name is that of the stack of user code, of which the innermost function is shown.
inline constexpr std::string_view user_function_key = "ufunc";

/// One of the values that calls are told apart by: what it is called, and how it is shown.
struct KeyColumn {
    std::string name;
    bool is_function = false;       ///< the name of the function that was called
    bool is_result = false;         ///< what it returned: an error is shown by its name
    const Format *format = nullptr; ///< as in ProbeFormats::argument()
    /// For a function: whether it is shown on top of the stacks of its calls, and only there.
    enum class Top : std::uint8_t { no, also, only } top = Top::no;
    bool is_user_stack = false; ///< of the stacks, it is that of user code
    std::optional<ShownAs> shown = {}; ///< how the table of calls shows it; nothing: as its type says

    /// Only the innermost function of that stack is meant.
    bool is_user_function() const { return is_user_stack && name == user_function_key; }
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

    /// "stack":[...],"user_stack":[...], each with a comma behind it; that function, unless it is empty, is on top of the first.
    void append_json_stacks(std::string &out, const StackValues &stacks, const std::string &top);

    /// Numbers are shown as the table of calls says, where a column has that.
    void set_described(bool described) { described_ = described; }

    /// What stands beside a number in JSON then; empty: nothing.
    std::string described(const KeyColumn &column, const KeyPart &part) const;

    void set_top_frames(TopFrames frames) { top_frames_ = std::move(frames); }
    /// The same calls, if some of them belong together that `all` tells apart: with user functions that are parts of their keys by name,
    /// as different stacks may have the same, and with stacks of user code by shared_stack().
    std::optional<Aggregation> with_user_stacks(const Aggregation &all, const std::vector<KeyColumn> &columns);

    /// One number for all stacks of user code with the same frames. Each that was completed after its call has one of its own beside it.
    std::uint64_t shared_stack(std::uint64_t id);

    /// The frame of the function that was called; empty: it is none.
    std::string top_frame(const KeyPart &function) const;

    /// The number of a frame's name as folded stacks have it.
    std::uint32_t folded(std::uint32_t name);

    CallerNames &names() { return names_; }

private:
    void append(Line &out, ValueWriter &values, const KeyColumn &column, const KeyPart &part);

    CallerNames &names_;
    ValueWriter texts_, json_;
    bool described_ = false;
    Line line_;
    TopFrames top_frames_;
    std::unordered_map<std::uint64_t, std::uint64_t> representatives_; // of stacks that are known by other numbers alone
    std::vector<std::uint32_t> folded_; // by the numbers of names, one more; 0: not known yet
};

} // namespace argtrace
