// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "export/export_file.h"
#include "export/exporter.h"
#include "export/lanes.h"
#include "export/perfetto_values.h"

namespace argtrace {

/// Calls as Perfetto's UI and trace_processor take them:
/// https://perfetto.dev/docs/reference/trace-packet-proto
///
///     process 149 (dd)                    CPUs
///         thread 149: vfs_read                CPU 0: what interrupts called there, and the idle
///         task
///                         ext4_read           CPU 1
///                                             lost calls
///
/// A call with a duration is a slice, within those that it was called in; one without is an
/// instant. Arguments are annotations below `args`; `caller`, `cpu` and `flags` stand beside them,
/// what was returned at the end of the slice.
class PerfettoExporter : public SerialExporter {
public:
    PerfettoExporter(ExportFile &file, const ExportSource &source);

    void lost(std::uint32_t cpu, std::uint64_t ts, std::uint64_t calls) override;
    void finish() override;

private:
    void event(const EventView &view) override;
    /// The end of a slice, as far as it must be kept until it is written.
    struct End {
        std::string result; // an annotation; mostly empty
    };

    struct Track {
        std::vector<std::uint64_t> ids; // of its lanes
        Lanes<End> lanes;
        std::string name;
        std::uint64_t parent = 0;
        std::uint64_t pid = 0; // of a thread's
        std::uint64_t tid = 0;
        std::uint64_t rank = 0; // of a CPU's
        std::array<char, ARGTRACE_COMM_LEN> comm{};
    };

    struct Process {
        std::uint64_t id = 0;
        std::array<char, ARGTRACE_COMM_LEN> comm{};
    };

    /// What the events of a probe have in common.
    struct Plan {
        const ProbeFormats *formats = nullptr;
        std::vector<std::uint64_t> names; // of the arguments
        std::size_t result = 0;           // which of them; none: how many there are
        std::string head;                 // category and name, encoded
    };

    void write_packet_head(std::uint64_t ts);
    void begin_trace();
    void flush_packet();
    void describe(const Track &track, std::size_t lane);
    void describe_process(std::uint32_t pid, const Process &process);
    Track &thread_track(const Event &event);
    Track &cpu_track(std::uint32_t cpu);
    Track &track_of(const Event &event);
    std::uint64_t cpus_group();
    Plan &plan_of(const Probe &probe);
    void write_end(Track &track, std::size_t lane, std::uint64_t ts, const std::string &result);
    void write_arguments(const EventView &view, const Plan &plan);
    void write_place(const Event &event, bool task);
    const std::string &caller_note(std::uint64_t address);
    const std::string &flags_note(const Event &event);
    const std::string &cpu_note(std::uint32_t cpu);

    ExportFile &file_;
    const ExportSource source_;
    CallerNames callers_;
    PerfettoValues values_;
    PerfettoNames event_names_{perfetto::interned::event_names};
    PerfettoNames categories_{perfetto::interned::categories};
    std::unordered_map<const Probe *, Plan> plans_;
    std::unordered_map<std::uint64_t, Track> threads_; // by process and thread
    std::unordered_map<std::uint32_t, Process> processes_;
    std::unordered_map<std::uint32_t, Track> cpus_;
    std::uint64_t cpus_group_ = 0; // 0: there is none yet
    std::uint64_t lost_track_ = 0;
    std::uint64_t lost_ = 0;
    std::uint64_t last_id_ = 0;
    std::uint64_t args_name_, caller_name_, cpu_name_, flags_name_, comm_name_, tid_name_,
        result_name_;
    // Annotations that most events share with others, encoded.
    std::unordered_map<std::uint64_t, std::string> caller_notes_;
    std::unordered_map<std::uint32_t, std::string> flags_notes_;
    std::unordered_map<std::uint32_t, std::string> cpu_notes_;
    ProtobufWriter note_;
    ProtobufWriter packet_; // the one being made
    ProtobufWriter out_;    // whole ones
};

} // namespace argtrace
