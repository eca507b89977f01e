// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/event.h"
#include "spec/calls.h"

namespace argtrace {

// What -d shows of numbers that are passed to a system call or a function, by the table of calls:
//
//     s:openat(dfd=AT_FDCWD, filename="/etc/passwd", flags=O_RDONLY|O_CLOEXEC) = 3
//
// The table is that of the tool that shows the call, not of the one that recorded it.

/// Whether a part is called so, or as that with a number: "value.2".
bool is_numbered(std::string_view name, std::string_view part);

/// The rows of one probe.
class DescribedCall {
public:
    /// Both must outlive it.
    DescribedCall(const Probe &probe, const Calls &calls);

    /// Which row an event has, and whether that is sure: if an argument that decides it was not recorded, it is the last, most general one.
    struct Choice {
        const CallRow *row = nullptr;
        bool is_sure = false;
    };
    Choice choose(const EventView &view) const;

    /// How the row shows a value of the event, an argument or the result, and the number that it is. No way: as its type says.
    struct Shown {
        const ShownAs *as = nullptr;
        std::uint64_t number = 0;
    };
    Shown shown(const Choice &choice, const EventView &view, std::size_t value) const;

    /// The name alone that it has there; empty if it has none. What JSON has in place of the number, where that is another than the type says.
    std::string name(const Choice &choice, const EventView &view, std::size_t value) const;
    std::string number(const Choice &choice, const EventView &view, std::size_t value) const;

    /// Whether the row has had something read behind that argument, or the result, which the call had to succeed for if it is read at its
    /// return. Where it is NULL there is nothing.
    bool has_fetched(const Choice &choice, const EventView &view, std::size_t value) const;

    /// The same of a part of what was read of the argument.
    bool has_part(const Choice &choice, const EventView &view, std::size_t argument, std::string_view name) const;

    /// What a value stands for that was read behind an argument, by its name or by that with a number, as "value.2" of another row: for the
    /// argument, for what this was before the call, behind it; or in the place of a part of it.
    enum class Role : std::uint8_t { part, whole, before, path };
    Role role(std::size_t value) const { return roles_[value]; }

    /// Whether it is what the row has read. What another row has read, of which nothing is there in this call, is not empty but none.
    bool is_of_row(const Choice &choice, std::size_t value) const {
        const std::vector<bool> &readers = read_by_[value];
        return !choice.row || !choice.is_sure || readers.empty() || readers[static_cast<std::size_t>(choice.row - rows_->data())];
    }

    /// How the row shows the numbers that the argument leads to, if that is an address behind which something was read; else null.
    const ShownAs *shown_behind(const Choice &choice, std::size_t argument) const { return cell(choice.row, argument).behind; }

    bool is_syscall() const { return is_syscall_; }

    /// Whether the table knows the call, or one of its arguments.
    bool is_known() const { return rows_ || !std::ranges::all_of(otherwise_, [](const ShownAs *as) { return as == nullptr; }); }

    /// Whether the call does not look at that argument.
    bool is_hidden(const Choice &choice, std::size_t argument) const { return choice.is_sure && cell(choice.row, argument).is_hidden; }

private:
    /// What a row says of a value.
    struct Cell {
        const ShownAs *as = nullptr;
        const ShownAs *behind = nullptr; ///< see shown_behind()
        const std::vector<Fetch> *fetches = nullptr;
        bool is_hidden = false;
    };
    /// What it asks of a value: of none where that was not recorded.
    struct Test {
        std::optional<std::size_t> value;
        const NumberTest *test;
    };

    const Cell &cell(const CallRow *row, std::size_t value) const {
        const std::size_t index = row ? static_cast<std::size_t>(row - rows_->data()) + 1 : 0;
        return cells_[index * probe_.args.size() + value];
    }
    Shown number_shown(const Choice &choice, const EventView &view, std::size_t value) const;
    Cell make_cell(const CallRow *row, std::size_t value) const;
    std::vector<Test> make_tests(const CallRow &row) const;
    const ShownAs *shown_as(const CallRow *row, std::size_t value) const;
    std::vector<std::vector<std::string>> names_read(std::size_t value) const;
    void describe_parts(std::size_t argument, std::size_t first, std::size_t count);
    bool was_read(const Fetch &fetch, const EventView &view) const;
    const std::vector<Fetch> *fetches(const CallRow *row, std::size_t value) const;

    const Probe &probe_;
    const std::vector<CallRow> *rows_;
    bool is_syscall_;
    std::vector<std::optional<std::size_t>> positions_; // of a system call's arguments, by value
    std::vector<const ShownAs *> otherwise_; // of a function's, where no row names them
    std::vector<Cell> cells_;                // of no row, then of each, all values
    std::vector<std::vector<Test>> tests_;   // of each row
    std::vector<Role> roles_;                // by value
    std::vector<std::vector<bool>> read_by_; // by value: whether each row reads it; of an argument of which no row reads anything: none
};

} // namespace argtrace
