// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/call_parts.h"
#include "spec/named_values.h"

namespace argtrace {

/// The table that comes with the tool, in the form of Calls::add(); see calls.table.
extern const std::string_view shipped_calls;

struct CallStruct;

/// How calls.table has a number shown: by names, and where none fits by a form; or a struct, by the members of a line.
struct ShownAs {
    const NamedValues *values = nullptr;
    NumberForm form = NumberForm::typed;
    const CallStruct *structure = nullptr;

    /// Empty: as its type says.
    std::string text(std::uint64_t value) const;

    bool operator==(const ShownAs &) const = default;
};

/// What calls.table asks of a number: whether it is one of those named, has all bits of one of them, and so on.
struct NumberTest {
    enum class Kind { none, is, is_not, has, lacks, less, greater };

    Kind kind = Kind::none;
    std::vector<NamedValues::Known> values = {};

    bool accepts(std::uint64_t value) const;
};

/// What the arguments of a system call or of a function are, of those calls in which some of them have certain values.
class CallRow {
public:
    struct Argument {
        std::string name;
        ShownAs shown = {};
        NumberTest test = {};
        std::vector<Fetch> fetches = {};
        bool is_ignored = false; ///< the call does not look at it, though at one behind it
    };

    /// That of a function which is called so; null: the row has none.
    const Argument *argument(std::string_view name) const;

    std::vector<Argument> arguments; ///< of a system call all that it looks at; of a function those that the table knows
    ShownAs result = {};
    std::vector<Fetch> result_fetches = {};
    bool shipped = false;
    std::string source; ///< "FILE:LINE"
};

/// A number in bytes that no type describes, or all that there are: int[2], int[], char[].
struct RawPart {
    std::uint32_t bytes = 0;
    bool is_big_endian = false;
    bool is_text = false;
    std::optional<std::uint32_t> index = std::nullopt; ///< of the number; none: all of them

    /// Nothing if it is the path of a member.
    static std::optional<RawPart> parse(std::string_view path);

    /// The number with that index; nothing if the bytes do not have it.
    std::optional<std::uint64_t> number(std::span<const std::byte> data, std::uint32_t at) const;
    bool is_there(std::span<const std::byte> data) const { return data.size() / bytes > index.value_or(0); }
};

/// The member in which structs that follow each other say how many bytes each takes, and at a multiple of what the next begins.
struct RecordLength {
    std::string member;
    std::uint32_t alignment = 1;
};

/// What the members of a struct are shown as that calls take. Others are not shown, but for "..." in their place if `has_more`.
struct CallStruct {
    /// What a member must be for another to be shown.
    struct Condition {
        std::string path;
        NumberTest test;
        std::optional<RawPart> raw = std::nullopt;
    };
    struct Member {
        std::string path; ///< where it is: "sa_mask", or in another member "_sifields._kill._pid"
        std::string name; ///< what it is called
        ShownAs shown = {};
        std::vector<Condition> conditions = {}; ///< all of which must hold
        std::optional<RawPart> raw = std::nullopt; ///< it is no member, but in the bytes behind the struct

        bool is_whole = false; ///< it is shown in place of the whole struct
    };
    std::vector<Member> members;
    bool has_more = false;
};

/// What numbers that are passed to system calls and functions are called, and which system calls belong together.
class Calls {
public:
    Calls(); ///< of the machine that we run on
    explicit Calls(std::string_view machine) : machine_(machine) {}

    /// Adds the lines of a table that are of this kind, see is_line(). Rows of the user's own stand before those that are shipped, whatever
    /// was added first. A sentence for each line that is wrong is added to `wrong`; `source` is the table's name in it.
    void add(std::string_view text, const std::string &source, std::vector<std::string> &wrong, bool shipped = false);

    /// The user's own tables and the one that comes with the tool, read once.
    static const Calls &shared();

    /// From now on shared() has the constants of that machine, of `uname -m`, whose recording is read; where it is not known, those of ours.
    /// Nobody may have a reference to shared() then, unless it has been the same machine before.
    static void choose_machine(std::string_view machine);

    /// Sentences for what is wrong in them.
    static const std::vector<std::string> &wrong_lines();

    /// Whether a line of a table is one of calls; others say what types mean (spec/meanings.h).
    static bool is_line(std::string_view line);

    /// The rows of what has that title (model/probe_kind.h), in their order: that is the first whose arguments accept their values. A 32-bit
    /// call that has none of its own has those of the 64-bit call of its name, and a function those of the first glob that matches it. Null:
    /// there are none.
    const std::vector<CallRow> *rows(std::string_view title) const;

    /// Those of the rows of a function that name the argument: its own, or the row of "*" where none of its own does; null: none names it.
    const std::vector<CallRow> *rows_naming(std::string_view argument, const std::vector<CallRow> *own) const;

    /// The names of the system calls of "%network"; null: there is no such class.
    const std::vector<std::string> *members(std::string_view name) const;
    std::vector<std::string_view> classes() const;

    /// Null: its members are shown by their types.
    const CallStruct *structure(std::string_view name) const;

    /// How long those structs say that they are which follow each other in records(); null: the table does not know.
    const RecordLength *record_length(std::string_view name) const;

    const NamedValues *values(std::string_view name) const;

    /// How an argument of a function is shown that none of the function's rows names: as the row of "*" has it by its name, or by its type.
    const ShownAs *otherwise(std::string_view name, std::string_view type) const;

    /// By which name of `flags` or `values` an argument is shown, in some calls at least, of a function or system call that has those rows,
    /// or none; empty: by none that has constants.
    std::string_view names_of(const std::vector<CallRow> *rows, bool is_function, std::string_view name, std::string_view type) const;
    const std::map<std::string, std::unique_ptr<NamedValues>, std::less<>> &all_values() const { return values_; }
    const std::map<std::string, std::vector<CallRow>, std::less<>> &all_rows() const { return rows_; }

private:
    std::string machine_;

    void add_values(std::string_view line);
    void add_parts(std::string_view line);
    void add_class(std::string_view line);
    void add_fetches(std::string_view line);
    void add_struct(std::string_view line);
    CallStruct::Member member_of(std::string_view text, const CallStruct &before) const;
    void add_records(std::string_view line);
    void add_type(std::string_view line);
    void add_row(std::string_view line, const std::string &place, bool shipped);
    CallRow::Argument argument_of(std::string_view text) const;
    static std::vector<Fetch> own_fetches(std::string_view &text);
    std::vector<Fetch> fetches_of(std::string_view shown, std::vector<Fetch> own) const;
    ShownAs shown_as(std::string_view name) const;

    std::map<std::string, std::unique_ptr<NamedValues>, std::less<>> values_;
    std::map<std::string, std::vector<CallRow>, std::less<>> rows_;
    std::map<std::string, std::vector<Fetch>, std::less<>> fetches_; // by the name of values
    std::map<std::string, CallStruct, std::less<>> structs_;
    std::map<std::string, RecordLength, std::less<>> records_;
    std::map<std::string, ShownAs, std::less<>> types_;
    std::vector<std::string> globs_; // of functions, in their order; where in rows_
    std::map<std::string, std::vector<std::string>, std::less<>> classes_;
};

} // namespace argtrace
