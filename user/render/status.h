// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/counts.h"
#include "model/in_flight.h"
#include "model/probe.h"
#include "model/process_filter.h"
#include "render/unread_values.h"

namespace argtrace {

/// What else there is to say of a session.
struct SessionState {
    std::uint32_t clock = 0; ///< ARGTRACE_CLOCK_*
    ProcessFilter processes;
    std::optional<std::uint64_t> overwritten; ///< records, of a flight recorder
    ReturnsById returns = {};                 ///< calls beside those of the functions' counts
    std::optional<StackLoss> stack_loss = {}; ///< of one that takes stacks
    std::vector<InFlightFunction> in_flight = {};
    std::optional<UserStackLoss> user_stack_loss = {};
};

/// What the functions of a status are ordered by: a count, the largest first, or the name.
enum class StatusOrder { hits, records, lost, filtered, sampled, capped, faults, name };

/// Throws Error when the text is none of their names.
StatusOrder parse_status_order(const std::string &text);

// `returns` are calls beside those of `counts`.

/// Orders both alike.
void sort_status(std::vector<Probe> &probes, std::vector<argtrace_counts> &counts,
                 StatusOrder order, const ReturnsById &returns = {});

/// Takes out those that have not been called, and returns how many they were.
std::size_t drop_uncalled(std::vector<Probe> &probes, std::vector<argtrace_counts> &counts,
                          const ReturnsById &returns = {});

// The counts of a session's probes: `counts` has one for each of `probes`; what waits for modules
// to be loaded; and the session, if there is one.

/// A table for people, and below it, if there are any, one of modules. A name that would make a line longer than `line_width`,
/// which is a terminal's, stands on a line of its own above its numbers. Without it each row is one line, for programs to read.
void append_status_text(std::string &out, std::span<const Probe> probes,
                        std::span<const argtrace_counts> counts,
                        std::span<const argtrace_on_load_order> orders = {},
                        const std::optional<SessionState> &session = std::nullopt,
                        std::optional<std::size_t> line_width = std::nullopt);

/// One JSON object a line, the totals, without "func", last.
void append_status_json(std::string &out, std::span<const Probe> probes,
                        std::span<const argtrace_counts> counts,
                        std::span<const argtrace_on_load_order> orders = {},
                        const std::optional<SessionState> &session = std::nullopt);

/// "12 calls: 10 recorded, 2 lost (2 ring full), 0 filtered", then ", 3 sampled out", ", 4 capped", ", 5 overwritten since" (of a
/// flight recorder), ", 6 in flight", "; 7 faults" as far as there are any. `returns` are calls beside those of `total`.
/// `unread`: of what the faults are, behind ": ".
std::string calls_summary(const argtrace_counts &total,
                          std::optional<std::uint64_t> overwritten = std::nullopt,
                          const ReturnTotals &returns = {}, const UnreadValues &unread = {});

/// For each cause for which calls were lost, a sentence that says what can be done. `own`: the
/// session belongs to the command that is speaking; `larger`: a --buffer to try.
std::vector<std::string> loss_remedies(const argtrace_counts &total, bool flight, bool own,
                                       const std::string &larger);

/// What can be done where calls were taken elsewhere; empty if none were.
std::string taken_remedy(const ReturnTotals &returns);

/// The object that ends events in JSON: how many were shown, and what status shows as totals, null
/// where a file does not have them.
/// `returns` adds those of calls whose returns are followed, `stacks` which calls have no stack, `unread` which values could not
/// be read.
void append_summary_json(std::string &out, std::uint64_t shown, const argtrace_counts *total,
                         const ReturnTotals *returns = nullptr, const StackLoss *stacks = nullptr,
                         const UnreadValues &unread = {}, const UserStackLoss *user_stacks = nullptr);

/// ,"stacks_lost":{"full":0,...}
void append_stack_loss_json(std::string &out, const StackLoss &loss);

/// ,"user_stacks_lost":{"full":0,...},"user_stacks_incomplete":{"no_table":0,...},"user_mappings_lost":{"files":0,"processes":0,"tables":0}
void append_stack_loss_json(std::string &out, const UserStackLoss &loss);

/// "3 calls have no stack: ..."; empty if all have one.
std::string stack_loss_sentence(const StackLoss &loss);

/// "3 calls have no stack of user code: ..." and "3 stacks of user code are incomplete, which [... REASON] shows: ...", as far as there are
/// such.
std::vector<std::string> stack_loss_sentences(const UserStackLoss &loss);

/// What can be done where stacks had no room in tables with `room` of them on each CPU; empty if all had it. `own` as for
/// loss_remedies().
std::string stack_loss_remedy(const StackLoss &loss, std::uint32_t room, bool own);

/// How a trace went: "10 events shown; 12 calls: 10 recorded, 2 lost (2 ring full), 0 filtered".
std::string trace_summary(std::uint64_t shown, const argtrace_counts &total,
                          const ReturnTotals &returns = {}, const UnreadValues &unread = {});

} // namespace argtrace
