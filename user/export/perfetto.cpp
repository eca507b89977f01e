// SPDX-License-Identifier: GPL-2.0-only
#include "export/perfetto.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "export/result.h"
#include "model/unfinished.h"
#include "util/utf8_text.h"

namespace argtrace {

namespace {

using namespace perfetto;

bool is_of_cpu(const Event &event) {
    return event.tid == 0 || (event.context & interrupt_contexts) != 0;
}

/// What a call returned; its bytes are copied.
PerfettoBlock::End end_with(const PerfettoPlan &plan, const EventView &view) {
    PerfettoBlock::End end;
    end.plan = &plan;
    if (!plan.result)
        return end;
    end.result = view.values[plan.result->index];
    if (end.result.captured && end.result.has_bytes()) {
        const auto bytes = view.bytes_of(end.result);
        end.bytes = std::make_unique<std::string>(reinterpret_cast<const char *>(bytes.data()),
                                                  bytes.size());
        end.result.low = 0;
    }
    return end;
}

} // namespace

PerfettoExporter::PerfettoExporter(ExportFile &file, WorkerPool &workers,
                                   const ExportSource &source)
    : file_(file), workers_(workers), callers_(source.symbols), plans_(callers_) {
    for (unsigned i = 0; i < workers.size(); ++i)
        writers_.push_back(
            std::make_unique<PerfettoBlockWriter>(source.symbols, plans_.common()));
    write_head(source.info);
}

PerfettoExporter::~PerfettoExporter() {
    for (Waiting &waiting : packets_)
        waiting.packets.wait();
}

/// The clocks and the machine.
void PerfettoExporter::write_head(const TraceInfo &info) {
    ProtobufWriter out;
    std::size_t begin = out.open(trace::packet);
    out.number(packet::sequence_id, perfetto_sequence);
    const std::size_t clocks = out.open(packet::clock_snapshot);
    const auto clock = [&out](std::uint64_t id, std::uint64_t time) {
        if (time == 0)
            return;
        const std::size_t one = out.open(snapshot::clock);
        out.number(snapshot::clock_id, id);
        out.number(snapshot::clock_time, time);
        out.close(one);
    };
    clock(snapshot::monotonic, info.begin_monotonic);
    clock(snapshot::boottime, info.begin_boottime);
    clock(snapshot::realtime, info.begin_realtime);
    out.number(snapshot::primary_clock, snapshot::monotonic);
    out.close(clocks);
    out.close(begin);

    begin = out.open(trace::packet);
    out.number(packet::sequence_id, perfetto_sequence);
    const std::size_t system = out.open(packet::system_info);
    const std::size_t name = out.open(system_info::utsname);
    out.text(system_info::sysname, "Linux");
    out.text(system_info::release, valid_utf8(info.kernel));
    out.text(system_info::machine, valid_utf8(info.machine));
    out.close(name);
    out.close(system);
    out.close(begin);
    file_.write(out.view());
}

void PerfettoExporter::describe(const Track &track, std::size_t lane) {
    ProtobufWriter &out = block_->tracks;
    const std::size_t whole = out.open(trace::packet);
    out.number(packet::sequence_id, perfetto_sequence);
    const std::size_t begin = out.open(packet::track_descriptor);
    out.number(track::id, track.ids[lane]);
    const std::string_view name = valid_utf8(track.name);
    if (lane > 0) { // below the first, in whose place the name stands
        out.text(track::name, name);
        out.number(track::parent, track.ids[0]);
    } else if (track.pid != 0) {
        out.number(track::parent, track.parent);
        const std::size_t thread = out.open(track::thread);
        out.number(track::thread_pid, track.pid);
        out.number(track::thread_tid, track.tid);
        out.text(track::thread_name, name);
        out.close(thread);
    } else {
        out.text(track::name, name);
        if (track.parent != 0) {
            out.number(track::parent, track.parent);
            out.number(track::rank, track.rank);
        }
    }
    out.close(begin);
    out.close(whole);
}

void PerfettoExporter::describe_process(std::uint32_t pid, const Process &process) {
    ProtobufWriter &out = block_->tracks;
    const std::size_t whole = out.open(trace::packet);
    out.number(packet::sequence_id, perfetto_sequence);
    const std::size_t begin = out.open(packet::track_descriptor);
    out.number(track::id, process.id);
    const std::size_t one = out.open(track::process);
    out.number(track::process_pid, pid);
    if (process.comm[0])
        out.text(
            track::process_name,
            valid_utf8(std::string_view(process.comm.data(),
                                        ::strnlen(process.comm.data(), process.comm.size()))));
    out.close(one);
    out.close(begin);
    out.close(whole);
}

std::uint64_t PerfettoExporter::cpus_group() {
    if (cpus_group_ == 0) {
        cpus_group_ = ++last_id_;
        ProtobufWriter &out = block_->tracks;
        const std::size_t whole = out.open(trace::packet);
        out.number(packet::sequence_id, perfetto_sequence);
        const std::size_t begin = out.open(packet::track_descriptor);
        out.number(track::id, cpus_group_);
        out.text(track::name, "CPUs");
        out.number(track::child_order, track::by_rank);
        out.close(begin);
        out.close(whole);
    }
    return cpus_group_;
}

PerfettoExporter::Track &PerfettoExporter::cpu_track(std::uint32_t cpu) {
    const auto [found, added] = cpus_.try_emplace(cpu);
    Track &track = found->second;
    if (added) {
        track.parent = cpus_group();
        track.name = cpu == unknown_cpu ? "unknown CPU" : fmt::format("CPU {}", cpu);
        track.rank = cpu + std::uint64_t{1};
        track.ids.push_back(++last_id_);
        describe(track, 0);
    }
    return track;
}

[[gnu::always_inline]] inline PerfettoExporter::Track &PerfettoExporter::thread_track(const Event &event) {
    const std::uint64_t key = std::uint64_t{event.tgid} << 32 | event.tid; // no thread has the tid 0 here
    Recent &recent = recent_threads_[event.tid % recent_threads_.size()];
    if (recent.key == key && event.has_comm(recent.track->comm)) [[likely]]
        return *recent.track;
    return find_thread_track(event, key, recent);
}

PerfettoExporter::Track &PerfettoExporter::find_thread_track(const Event &event, std::uint64_t key, Recent &recent) {
    const auto [found, added] = threads_.try_emplace(key);
    Track &track = found->second;
    recent = {key, &track};
    if (!added && event.has_comm(track.comm))
        return track;
    track.comm = event.comm;
    if (event.tgid == 0) { // not known; a process cannot be told
        track.name = fmt::format("{} {}", event.comm_view(), event.tid);
    } else {
        const auto [process, first] = processes_.try_emplace(event.tgid);
        if (first)
            process->second.id = ++last_id_;
        // Its name is that of its first thread.
        if (event.tid == event.tgid)
            process->second.comm = event.comm;
        if (first || event.tid == event.tgid)
            describe_process(event.tgid, process->second);
        track.pid = event.tgid;
        track.tid = event.tid;
        track.parent = process->second.id;
        track.name = event.comm_view();
    }
    if (added)
        track.ids.push_back(++last_id_);
    describe(track, 0);
    return track;
}

void PerfettoExporter::add_end(const Track &track, std::size_t lane, std::uint64_t ts,
                               PerfettoBlock::End end) {
    if (!end.plan) // nothing is known of it
        return;
    block_->items.push_back({PerfettoBlock::Kind::end, false, ts, track.ids[lane], block_->ends.size()});
    block_->ends.push_back(std::move(end));
}

/// Inlined into the only place that calls it.
[[gnu::always_inline]] inline void PerfettoExporter::add(const EventBlock::Entry &entry) {
    const Event &event = *entry.event;
    const PerfettoPlan &plan = plans_.find(*event.probe);
    const bool tells_task = is_of_cpu(event);
    Track &track = tells_task ? cpu_track(event.cpu) : thread_track(event);
    track.lanes.advance(event.ts, [&](std::size_t lane, auto &open) {
        add_end(track, lane, open.end, std::move(open.call));
    });
    auto kind = PerfettoBlock::Kind::instant;
    std::size_t lane = 0;
    if (event.has_duration() || event.left || is_unfinished(event)) {
        kind = PerfettoBlock::Kind::begin;
        const std::uint64_t end = event.left ? track.lanes.clip(end_of(event)) : end_of(event);
        lane = is_unfinished(event) ? track.lanes.add(event.ts, ~std::uint64_t{0}, PerfettoBlock::End())
                                : track.lanes.add(event.ts, end, end_with(plan, entry.view()));
        while (track.ids.size() <= lane) {
            track.ids.push_back(++last_id_);
            describe(track, track.ids.size() - 1);
        }
    }
    *block_->items.extend(1) = {kind, tells_task, event.ts, track.ids[lane], 0, &plan, entry};
}

void PerfettoExporter::take(EventBlock block) {
    block_->items.reserve(2 * block.events.size());
    for (const EventBlock::Entry &entry : block.events)
        add(entry);
    block_->calls = std::move(block);
    submit();
}

/// Has the packets made, and writes those before them meanwhile.
void PerfettoExporter::submit() {
    auto block = std::exchange(block_, std::make_shared<PerfettoBlock>());
    std::size_t size = block->items.size() * sizeof(PerfettoBlock::Item);
    for (const auto &batch : block->calls.batches)
        size += size_of(*batch);
    packets_.push_back({workers_.submit([this, block](unsigned worker) { return writers_[worker]->write(*block); }), size});
    block.reset();
    waiting_size_ += size;
    while (packets_.size() > 2 * std::size_t{workers_.size()} || (waiting_size_ > waiting_size_max && packets_.size() > 1))
        write_first();
}

void PerfettoExporter::write_first() {
    const ProtobufWriter packets = packets_.front().packets.get();
    waiting_size_ -= packets_.front().size;
    packets_.pop_front();
    file_.write(packets.view());
}

void PerfettoExporter::lost(std::uint32_t, std::uint64_t ts, std::uint64_t calls) {
    if (lost_track_ == 0) {
        const std::uint64_t parent = cpus_group();
        lost_track_ = ++last_id_;
        ProtobufWriter &out = block_->tracks;
        const std::size_t whole = out.open(trace::packet);
        out.number(packet::sequence_id, perfetto_sequence);
        const std::size_t begin = out.open(packet::track_descriptor);
        out.number(track::id, lost_track_);
        out.text(track::name, "lost calls");
        out.number(track::parent, parent);
        const std::size_t counter = out.open(track::counter);
        out.number(track::counter_unit, track::unit_count);
        out.close(counter);
        out.close(begin);
        out.close(whole);
    }
    lost_ += calls;
    block_->items.push_back({PerfettoBlock::Kind::counter, false, ts, lost_track_, lost_});
}

void PerfettoExporter::finish() {
    const auto close_all = [this](auto &tracks) {
        for (auto &track : tracks) {
            auto &one = track.second;
            one.lanes.finish([this, &one](std::size_t lane, auto &open) {
                add_end(one, lane, open.end, std::move(open.call));
            });
        }
    };
    close_all(threads_);
    close_all(cpus_);
    submit();
    while (!packets_.empty())
        write_first();
    file_.finish();
}

} // namespace argtrace
