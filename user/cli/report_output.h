// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "render/trace_stats.h"
#include "report/block_writer.h"
#include "report/time_order.h"
#include "report/trace_reader.h"
#include "util/progress.h"

namespace argtrace {

inline constexpr std::uint64_t jobs_max = 1024;

// Options of `report`. They throw Error when the text is wrong.
void parse_time_range(const std::string &text, EventFilter &filter);
std::vector<std::uint32_t> parse_number_list(const std::string &what, const std::string &text);
std::vector<std::pair<std::uint32_t, std::uint32_t>> parse_cpu_list(const std::string &text);

/// A trace on its way to the output.
class ReportOutput {
public:
    /// `size` is that of the file, where it is known.
    ReportOutput(TraceReader &reader, std::string name, std::optional<std::uint64_t> size,
                 Output &output);

    /// Both are false when nobody reads the output any more.
    bool show_events(WorkerPool &workers, const BlockWriter::MakeRenderer &make,
                     std::optional<std::uint64_t> max_events);
    bool show_stats(bool json, const EventFilter &filter);

    /// A sentence for each of the functions named that the trace does not have; the trace must have
    /// been read to its end.
    std::vector<std::string> unknown_functions(const EventFilter &filter) const;

    /// The object that ends events in JSON. False as above.
    bool show_summary_json();

    /// On stderr: what was shown, lost, and is wrong with the file.
    void print_summary();

    /// Something is wrong with the file.
    bool damaged() const { return reader_.fault_count() > 0 || unreadable() > 0; }

private:
    std::uint64_t unreadable() const;
    std::optional<argtrace_counts> total() const;
    void take_duration(TraceStats &stats, const EventFilter &filter) const;
    void print_counts() const;
    void print_faults() const;
    void show_progress();

    TraceReader &reader_;
    std::string name_;
    Output &output_;
    std::uint64_t shown_ = 0;
    bool satisfied_ = false; // as many as were asked for; the rest has not been read
    std::optional<std::uint64_t> size_;
    Progress progress_;
};

} // namespace argtrace
