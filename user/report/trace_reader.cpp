// SPDX-License-Identifier: GPL-2.0-only
#include "report/trace_reader.h"

#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "analyze/open_calls.h"
#include "decode/running.h"
#include "spec/calls.h"
#include "uapi/probe.h"
#include "util/error.h"

namespace argtrace {

namespace {

constexpr std::size_t faults_kept = 4;

/// How many items are under way at a time: enough that no worker waits, and no more.
std::size_t window(const WorkerPool &workers) {
    return 4 * std::size_t{workers.size()} + 4;
}

std::string_view text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// The structs that fill `bytes`; nothing when the last is cut off.
template<typename T>
std::optional<std::vector<T>> array_of(std::span<const std::byte> bytes) {
    if (bytes.size() % sizeof(T) != 0)
        return std::nullopt;
    std::vector<T> array(bytes.size() / sizeof(T));
    if (!array.empty())
        std::memcpy(array.data(), bytes.data(), bytes.size());
    return array;
}

/// How many structs argtrace_probe lie in `bytes`, as far as their sizes can be followed.
std::size_t count_probes(std::span<const std::byte> bytes) {
    std::size_t count = 0;
    argtrace_probe header;
    while (bytes.size() >= sizeof(header)) {
        std::memcpy(&header, bytes.data(), sizeof(header));
        ++count;
        if (header.size < sizeof(header) || header.size > bytes.size())
            return count;
        bytes = bytes.subspan(header.size);
    }
    return count + !bytes.empty();
}

} // namespace

TraceReader::TraceReader(int fd, const std::string &name, WorkerPool &workers, const DecodeJob &job)
    : chunks_(fd), workers_(workers), job_(job) {
    symbols_.set_naming(job.naming);
    job_.schema = &schema_;
    const FileStatus status = chunks_.open();
    if (status == FileStatus::cannot_read)
        throw Error(fmt::format("{}: cannot be read: {}", name, std::strerror(chunks_.error())));
    if (status == FileStatus::unsupported_version)
        throw Error(fmt::format("{}: the file has version {} of the format, this argtrace reads "
                                "version {}: use the argtrace that wrote it",
                                name, chunks_.version(), file_version));
    if (status != FileStatus::ok)
        throw Error(fmt::format("{}: {}", name, describe(status)));
    while (!ended_ && first_) // info() must be known from the start
        ended_ = !read_chunk();
    Calls::choose_machine(info_.machine);
    if (ended_)
        finish();
}

TraceReader::~TraceReader() {
    for (Pending &pending : pending_) {
        if (pending.packet.valid())
            pending.packet.wait();
    }
}

bool TraceReader::would_wait() const {
    return pending_.empty() && !ended_ && chunks_.would_wait();
}

std::shared_ptr<TraceItem> TraceReader::next() {
    for (;;) {
        while (!ended_ && pending_.size() < window(workers_) &&
               (pending_.empty() || !chunks_.would_wait())) {
            ended_ = !read_chunk();
            if (ended_)
                finish();
        }
        if (pending_.empty())
            return nullptr;
        Pending front = std::move(pending_.front());
        pending_.pop_front();
        if (front.packet.valid())
            front.item->packet = std::make_shared<DecodedPacket>(front.packet.get());
        if (!front.item->packet)
            return front.item;
        note(*front.item->packet, front.offset);
        if (front.item->packet->status == FileStatus::ok)
            return front.item;
    }
}

void TraceReader::fault(FileStatus status, std::uint64_t offset) {
    ++fault_count_;
    if (faults_.size() < faults_kept)
        faults_.push_back({status, offset});
}

/// Reads one more chunk and takes what it says, or puts it to what is under way. False at the end.
bool TraceReader::read_chunk() {
    Chunk chunk;
    if (!chunks_.next(chunk))
        return false;
    if (complete_) {
        fault(FileStatus::data_behind_end, chunk.offset);
        return false;
    }
    if (std::exchange(first_, false) != (chunk.type() == ChunkType::info))
        fault(FileStatus::misplaced_info, chunk.offset);
    if (chunk.type() == ChunkType::packet)
        take_packet(std::move(chunk));
    else
        interpret(chunk);
    return true;
}

/// The last chunk has been read.
void TraceReader::finish() {
    const FileStatus status = chunks_.status();
    if (status == FileStatus::ok) {
        if (!complete_)
            fault(FileStatus::cut_short, chunks_.offset());
    } else {
        fault(complete_ ? FileStatus::data_behind_end : status, chunks_.offset());
    }
}

void TraceReader::interpret(const Chunk &chunk) {
    const auto type = chunk.type();
    if (type < ChunkType::info || type > ChunkType::places)
        return; // of a later version
    const Payload payload = unpack(chunk);
    if (payload.status != FileStatus::ok)
        return fault(payload.status, chunk.offset);
    switch (type) {
    case ChunkType::info:
        return take_info(payload, chunk.offset);
    case ChunkType::probes:
        return take_probes(payload.bytes, chunk.offset);
    case ChunkType::symbols:
        if (!symbols_.add(text(payload.bytes)))
            fault(FileStatus::bad_symbols, chunk.offset);
        return;
    case ChunkType::stacks:
        if (!symbols_.add_stacks(payload.bytes))
            fault(FileStatus::bad_stacks, chunk.offset);
        return;
    case ChunkType::objects:
        if (!symbols_.add_objects(text(payload.bytes)))
            fault(FileStatus::bad_objects, chunk.offset);
        return;
    case ChunkType::places:
        if (!symbols_.add_places(text(payload.bytes)))
            fault(FileStatus::bad_places, chunk.offset);
        return;
    case ChunkType::running:
        return take_running(payload.bytes, chunk.offset);
    case ChunkType::mark: {
        auto item = std::make_shared<TraceItem>();
        if (payload.bytes.size() != sizeof(item->mark))
            return fault(FileStatus::bad_mark, chunk.offset);
        std::memcpy(&item->mark, payload.bytes.data(), sizeof(item->mark));
        pending_.push_back({std::move(item), {}, chunk.offset});
        return;
    }
    case ChunkType::counts:
        return take_counts(payload.bytes, chunk.offset);
    case ChunkType::loss:
        return take_loss(payload.bytes, chunk.offset);
    case ChunkType::span:
        return take_span(payload.bytes, chunk.offset);
    case ChunkType::end:
        return take_end(payload.bytes, chunk.offset);
    case ChunkType::packet:
        break;
    }
}

void TraceReader::take_info(const Payload &payload, std::uint64_t offset) {
    if (auto info = info_from_json(text(payload.bytes)))
        info_ = std::move(*info);
    else
        fault(FileStatus::bad_info, offset);
}

void TraceReader::take_probes(std::span<const std::byte> bytes, std::uint64_t offset) {
    for (const Pending &pending : pending_) { // they read the schema
        if (pending.packet.valid())
            pending.packet.wait();
    }
    try {
        for (Probe &probe : parse_probes(bytes, count_probes(bytes)))
            schema_.add(std::move(probe));
    } catch (const Error &) {
        fault(FileStatus::bad_probes, offset);
    }
}

void TraceReader::take_counts(std::span<const std::byte> bytes, std::uint64_t offset) {
    if (auto counts = array_of<argtrace_counts>(bytes))
        counts_ = std::move(*counts);
    else
        fault(FileStatus::bad_counts, offset);
}

void TraceReader::take_loss(std::span<const std::byte> bytes, std::uint64_t offset) {
    const auto loss = array_of<CpuLoss>(bytes);
    if (!loss)
        return fault(FileStatus::bad_loss, offset);
    for (const CpuLoss &cpu : *loss) {
        if (cpu.cpu >= file_cpus_max)
            return fault(FileStatus::bad_loss, offset);
    }
    // What the packets say of it is no newer: they are under way, or behind us.
    for (const CpuLoss &cpu : *loss)
        loss_[cpu.cpu] = cpu.lost;
}

void TraceReader::take_running(std::span<const std::byte> bytes, std::uint64_t offset) {
    RunningHead head;
    if (bytes.size() < sizeof(head))
        return fault(FileStatus::bad_running, offset);
    std::memcpy(&head, bytes.data(), sizeof(head));
    const auto calls = array_of<argtrace_in_flight_call>(bytes.subspan(sizeof(head)));
    if (!calls || head.call_size != sizeof(argtrace_in_flight_call))
        return fault(FileStatus::bad_running, offset);
    argtrace_in_flight moment{};
    moment.clock = head.clock;
    moment.ns = head.ns;
    moment.mult = head.mult;
    running_ = decode_running(moment, *calls, schema_);
    if (!job_.filter->cpus.empty()) // on which they began is not known
        running_.batch.clear();
    job_.filter->apply(running_.batch);
    running_tasks_.clear();
    for (const Event &event : running_.batch.events)
        running_tasks_.insert(event.task());
}

/// Removes from the calls that had not returned when they were looked for those that have been recorded since.
void TraceReader::drop_returned(const EventBatch &batch) {
    std::vector<Event> &calls = running_.batch.events;
    for (const Event &event : batch.events) {
        if (event.duration == Event::unknown_duration || !running_tasks_.contains(event.task()))
            continue;
        const std::uint64_t begin = running_.beginning(event.clock, event.duration);
        std::erase_if(calls, [&](const Event &call) {
            return call.task() == event.task() && OpenCall(call).is(event.probe, begin);
        });
    }
}

void TraceReader::take_span(std::span<const std::byte> bytes, std::uint64_t offset) {
    RecordedSpan span;
    if (bytes.size() != sizeof(span))
        return fault(FileStatus::bad_span, offset);
    std::memcpy(&span, bytes.data(), sizeof(span));
    if (span.begin > span.end)
        return fault(FileStatus::bad_span, offset);
    span_ = span;
}

void TraceReader::take_end(std::span<const std::byte> bytes, std::uint64_t offset) {
    EndOfFile end;
    complete_ = true;
    if (bytes.size() != sizeof(end))
        return fault(FileStatus::bad_end, offset);
    std::memcpy(&end, bytes.data(), sizeof(end));
    if (end.packets != packets_ || end.bytes != offset)
        fault(FileStatus::packets_missing, offset);
}

void TraceReader::take_packet(Chunk chunk) {
    ++packets_;
    Pending pending{std::make_shared<TraceItem>(), {}, chunk.offset};
    PacketPrefix prefix{};
    if (chunk.payload.size() >= sizeof(prefix))
        std::memcpy(&prefix, chunk.payload.data(), sizeof(prefix));
    if ((chunk.header.flags & chunk_part) && prefix.cpu < file_cpus_max) {
        pending.item->packet =
            std::make_shared<DecodedPacket>(parts_[prefix.cpu].decode(chunk, job_));
    } else {
        parts_.erase(prefix.cpu);
        pending.packet = workers_.submit(
            [chunk = std::move(chunk), job = job_](unsigned) { return decode_packet(chunk, job); });
    }
    pending_.push_back(std::move(pending));
}

void TraceReader::note(const DecodedPacket &packet, std::uint64_t offset) {
    if (packet.status != FileStatus::ok)
        return fault(packet.status, offset);
    unreadable_.records += packet.unreadable.records;
    unreadable_.packets += packet.unreadable.packets;
    if (packet.unreadable.why != DecodeStatus::ok)
        unreadable_.why = packet.unreadable.why;

    if (!running_.batch.events.empty()) [[unlikely]]
        drop_returned(packet.batch);
    Cpu &cpu = cpus_[packet.cpu];
    cpu.events += packet.decoded;
    if (!packet.lost) // a part of one that has been counted
        return;
    if (cpu.packets > 0 && packet.seq > cpu.last_seq)
        cpu.missing += packet.seq - cpu.last_seq - 1;
    ++cpu.packets;
    cpu.last_seq = packet.seq;
    if (!cpu.first_lost)
        cpu.first_lost = packet.lost;
    if (*packet.lost >= *cpu.first_lost)
        cpu.lost = *packet.lost - *cpu.first_lost;
}

} // namespace argtrace
