// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "decode/schema.h"
#include "file/chunk_reader.h"
#include "file/info.h"
#include "model/running_calls.h"
#include "report/decoded_packet.h"
#include "report/symbol_table.h"
#include "util/worker_pool.h"

namespace argtrace {

/// What is wrong with a file, and where.
struct FileFault {
    FileStatus status = FileStatus::ok;
    std::uint64_t offset = 0;
};

/// What comes next in a trace file: a packet, or with none a mark.
struct TraceItem {
    std::shared_ptr<DecodedPacket> packet;
    std::uint64_t mark = 0; ///< all events older than it have come
};

/// Goes through a trace file, or a stream of that form. The packets are decoded by workers, some
/// ahead of the one that is handed out, and come in the order of the file.
class TraceReader {
public:
    /// The descriptor and the workers stay the caller's. Throws Error when the file cannot be
    /// read at all; `name` is for the user.
    TraceReader(int fd, const std::string &name, WorkerPool &workers, const DecodeJob &job);
    ~TraceReader();

    /// The next item, or nothing at the end.
    std::shared_ptr<TraceItem> next();

    /// next() would have to wait for more of the stream.
    bool would_wait() const;

    const TraceInfo &info() const { return info_; }
    const Schema &schema() const { return schema_; }
    const SymbolTable &symbols() const { return symbols_; }

    /// By probe id, from the end of the file.
    const std::vector<argtrace_counts> &counts() const { return counts_; }

    /// When calls were recorded, from the end of the file; nothing where it does not say so.
    const std::optional<RecordedSpan> &span() const { return span_; }

    /// Calls that had not returned when recording ended, of those that are wanted; known once next() has come to the end.
    const RunningCalls &running() const { return running_; }

    /// The end that the writer has put there was reached.
    bool complete() const { return complete_; }

    /// By CPU, what is known by now.
    struct Cpu {
        std::uint64_t packets = 0;
        std::uint64_t missing = 0; ///< packets between others that are not in the file
        std::uint64_t events = 0;
        std::uint64_t lost = 0; ///< calls that its ring was too full for, as far as packets tell
        std::uint64_t last_seq = 0;
        std::optional<std::uint64_t> first_lost; ///< the ring's count in its first packet
    };
    const std::map<std::uint32_t, Cpu> &cpus() const { return cpus_; }

    /// The same by the end of the file, which knows better; empty when it was not reached.
    const std::map<std::uint32_t, std::uint64_t> &loss() const { return loss_; }

    Unreadable unreadable() const { return unreadable_; }

    /// The first faults, and how many there were.
    const std::vector<FileFault> &faults() const { return faults_; }
    std::uint64_t fault_count() const { return fault_count_; }

    /// Bytes gone through.
    std::uint64_t offset() const { return chunks_.offset(); }

private:
    struct Pending {
        std::shared_ptr<TraceItem> item;
        std::future<DecodedPacket> packet; // of one that a worker decodes
        std::uint64_t offset = 0;
    };

    void fault(FileStatus status, std::uint64_t offset);
    bool read_chunk();
    void finish();
    void interpret(const Chunk &chunk);
    void take_info(const Payload &payload, std::uint64_t offset);
    void take_probes(std::span<const std::byte> bytes, std::uint64_t offset);
    void take_counts(std::span<const std::byte> bytes, std::uint64_t offset);
    void take_loss(std::span<const std::byte> bytes, std::uint64_t offset);
    void take_running(std::span<const std::byte> bytes, std::uint64_t offset);
    void drop_returned(const EventBatch &batch);
    void take_span(std::span<const std::byte> bytes, std::uint64_t offset);
    void take_end(std::span<const std::byte> bytes, std::uint64_t offset);
    void take_packet(Chunk chunk);
    void note(const DecodedPacket &packet, std::uint64_t offset);

    ChunkReader chunks_;
    WorkerPool &workers_;
    DecodeJob job_;
    Schema schema_;
    SymbolTable symbols_;
    TraceInfo info_;
    std::vector<argtrace_counts> counts_;
    std::map<std::uint32_t, Cpu> cpus_;
    std::map<std::uint32_t, std::uint64_t> loss_;
    std::map<std::uint32_t, PartDecoder> parts_;
    std::deque<Pending> pending_;
    std::optional<RecordedSpan> span_;
    RunningCalls running_;
    std::unordered_set<std::uint64_t> running_tasks_; // which make these calls
    Unreadable unreadable_;
    std::vector<FileFault> faults_;
    std::uint64_t fault_count_ = 0;
    std::uint64_t packets_ = 0;
    bool first_ = true;
    bool ended_ = false;
    bool complete_ = false;
};

} // namespace argtrace
