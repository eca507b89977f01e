// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "export/export_file.h"
#include "export/exporter.h"
#include "export/lanes.h"
#include "export/perfetto_block.h"
#include "export/perfetto_plan.h"
#include "util/worker_pool.h"

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
/// A call with a duration is a slice, within those that it was called in; one that had not returned is a slice without an end; any
/// other is an instant. Arguments are annotations below `args`; `caller`, `cpu` and `flags` stand beside them,
/// what was returned at the end of the slice.
///
/// Which calls are on which track is found out here, one after the other; the packets are made by workers,
/// a block at a time.
class PerfettoExporter : public Exporter {
public:
    /// The workers stay the caller's.
    PerfettoExporter(ExportFile &file, WorkerPool &workers, const ExportSource &source);
    ~PerfettoExporter() override;

    void take(EventBlock block) override;
    void lost(std::uint32_t cpu, std::uint64_t ts, std::uint64_t calls) override;
    void finish() override;

private:
    struct Track {
        std::vector<std::uint64_t> ids; // of its lanes
        Lanes<PerfettoBlock::End> lanes;
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

    struct Waiting {
        std::future<ProtobufWriter> packets;
        std::size_t size = 0; // bytes that the block keeps
    };

    struct Recent {
        std::uint64_t key = 0;
        Track *track = nullptr;
    };

    void write_head(const TraceInfo &info);
    void describe(const Track &track, std::size_t lane);
    void describe_process(std::uint32_t pid, const Process &process);
    Track &thread_track(const Event &event);
    Track &find_thread_track(const Event &event, std::uint64_t key, Recent &recent);
    Track &cpu_track(std::uint32_t cpu);
    std::uint64_t cpus_group();
    void add(const EventBlock::Entry &entry);
    void add_end(const Track &track, std::size_t lane, std::uint64_t ts, PerfettoBlock::End end);
    void submit();
    void write_first();

    ExportFile &file_;
    WorkerPool &workers_;
    CallerNames callers_;
    PerfettoPlans plans_;
    std::vector<std::unique_ptr<PerfettoBlockWriter>> writers_; // by worker
    std::unordered_map<std::uint64_t, Track> threads_; // by process and thread
    std::array<Recent, 256> recent_threads_{};
    std::unordered_map<std::uint32_t, Process> processes_;
    std::unordered_map<std::uint32_t, Track> cpus_;
    std::uint64_t cpus_group_ = 0; // 0: there is none yet
    std::uint64_t lost_track_ = 0;
    std::uint64_t lost_ = 0;
    std::uint64_t last_id_ = 0;
    std::shared_ptr<PerfettoBlock> block_ = std::make_shared<PerfettoBlock>();
    std::deque<Waiting> packets_;
    std::size_t waiting_size_ = 0; // of all of them
};

} // namespace argtrace
