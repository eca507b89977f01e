// SPDX-License-Identifier: GPL-2.0-only
#include "export/perfetto.h"

#include <algorithm>

#include <fmt/format.h>

#include "export/result.h"
#include "export/utf8_text.h"
#include "render/flags.h"

namespace argtrace {

namespace {

using namespace perfetto;

constexpr std::uint64_t sequence = 1;
constexpr std::size_t out_size = 256 * 1024;

// More than a kernel has callers of what is traced at a time; a broken file may have any number.
constexpr std::size_t caller_notes_max = 1 << 16;

void append_number(ProtobufWriter &out, std::uint64_t name, std::uint64_t value) {
    const std::size_t begin = out.open(perfetto::event::annotation);
    out.number(annotation::name_id, name);
    out.number(annotation::unsigned_integer, value);
    out.close(begin);
}

bool is_of_cpu(const Event &event) {
    return event.tid == 0 || (event.context & interrupt_contexts) != 0;
}

} // namespace

PerfettoExporter::PerfettoExporter(ExportFile &file, const ExportSource &source)
    : file_(file), source_(source), callers_(source.symbols), values_(callers_),
      args_name_(values_.name("args")), caller_name_(values_.name("caller")),
      cpu_name_(values_.name("cpu")), flags_name_(values_.name("flags")),
      comm_name_(values_.name("comm")), tid_name_(values_.name("tid")),
      result_name_(values_.name("return")) {
    begin_trace();
}

/// The clocks, the machine, and what all packets have in common.
void PerfettoExporter::begin_trace() {
    const TraceInfo &info = source_.info;
    std::size_t begin = out_.open(trace::packet);
    out_.number(packet::sequence_id, sequence);
    out_.number(packet::sequence_flags, packet::state_cleared);
    const std::size_t defaults = out_.open(packet::defaults);
    out_.number(packet_defaults::timestamp_clock, snapshot::monotonic);
    out_.close(defaults);
    out_.close(begin);

    begin = out_.open(trace::packet);
    out_.number(packet::sequence_id, sequence);
    const std::size_t clocks = out_.open(packet::clock_snapshot);
    const auto clock = [this](std::uint64_t id, std::uint64_t time) {
        if (time == 0)
            return;
        const std::size_t one = out_.open(snapshot::clock);
        out_.number(snapshot::clock_id, id);
        out_.number(snapshot::clock_time, time);
        out_.close(one);
    };
    clock(snapshot::monotonic, info.begin_monotonic);
    clock(snapshot::boottime, info.begin_boottime);
    clock(snapshot::realtime, info.begin_realtime);
    out_.number(snapshot::primary_clock, snapshot::monotonic);
    out_.close(clocks);
    out_.close(begin);

    begin = out_.open(trace::packet);
    out_.number(packet::sequence_id, sequence);
    const std::size_t system = out_.open(packet::system_info);
    const std::size_t name = out_.open(system_info::utsname);
    out_.text(system_info::sysname, "Linux");
    out_.text(system_info::release, valid_utf8(info.kernel));
    out_.text(system_info::machine, valid_utf8(info.machine));
    out_.close(name);
    out_.close(system);
    out_.close(begin);
}

/// The packet goes out, behind the strings that are new in it.
void PerfettoExporter::flush_packet() {
    ProtobufWriter &interned = values_.interned();
    if (!interned.empty()) {
        const std::size_t begin = out_.open(trace::packet);
        out_.number(packet::sequence_id, sequence);
        out_.number(packet::sequence_flags, packet::needs_state);
        out_.text(packet::interned_data, interned.view());
        out_.close(begin);
        interned.clear();
    }
    out_.text(trace::packet, packet_.view());
    packet_.clear();
    if (out_.size() >= out_size) {
        file_.write(out_.view());
        out_.clear();
    }
}

void PerfettoExporter::write_packet_head(std::uint64_t ts) {
    packet_.number(packet::timestamp, ts);
    packet_.number(packet::sequence_id, sequence);
    packet_.number(packet::sequence_flags, packet::needs_state);
}

void PerfettoExporter::describe(const Track &track, std::size_t lane) {
    packet_.number(packet::sequence_id, sequence);
    const std::size_t begin = packet_.open(packet::track_descriptor);
    packet_.number(track::id, track.ids[lane]);
    const std::string_view name = valid_utf8(track.name);
    if (lane > 0) { // below the first, in whose place the name stands
        packet_.text(track::name, name);
        packet_.number(track::parent, track.ids[0]);
    } else if (track.pid != 0) {
        packet_.number(track::parent, track.parent);
        const std::size_t thread = packet_.open(track::thread);
        packet_.number(track::thread_pid, track.pid);
        packet_.number(track::thread_tid, track.tid);
        packet_.text(track::thread_name, name);
        packet_.close(thread);
    } else {
        packet_.text(track::name, name);
        if (track.parent != 0) {
            packet_.number(track::parent, track.parent);
            packet_.number(track::rank, track.rank);
        }
    }
    packet_.close(begin);
    flush_packet();
}

void PerfettoExporter::describe_process(std::uint32_t pid, const Process &process) {
    packet_.number(packet::sequence_id, sequence);
    const std::size_t begin = packet_.open(packet::track_descriptor);
    packet_.number(track::id, process.id);
    const std::size_t one = packet_.open(track::process);
    packet_.number(track::process_pid, pid);
    if (process.comm[0])
        packet_.text(
            track::process_name,
            valid_utf8(std::string_view(process.comm.data(),
                                        ::strnlen(process.comm.data(), process.comm.size()))));
    packet_.close(one);
    packet_.close(begin);
    flush_packet();
}

std::uint64_t PerfettoExporter::cpus_group() {
    if (cpus_group_ == 0) {
        cpus_group_ = ++last_id_;
        packet_.number(packet::sequence_id, sequence);
        const std::size_t begin = packet_.open(packet::track_descriptor);
        packet_.number(track::id, cpus_group_);
        packet_.text(track::name, "CPUs");
        packet_.number(track::child_order, track::by_rank);
        packet_.close(begin);
        flush_packet();
    }
    return cpus_group_;
}

PerfettoExporter::Track &PerfettoExporter::cpu_track(std::uint32_t cpu) {
    const auto [found, added] = cpus_.try_emplace(cpu);
    Track &track = found->second;
    if (added) {
        track.parent = cpus_group();
        track.name = fmt::format("CPU {}", cpu);
        track.rank = cpu + std::uint64_t{1};
        track.ids.push_back(++last_id_);
        describe(track, 0);
    }
    return track;
}

PerfettoExporter::Track &PerfettoExporter::thread_track(const Event &event) {
    const auto [found, added] = threads_.try_emplace(std::uint64_t{event.tgid} << 32 | event.tid);
    Track &track = found->second;
    if (!added && event.has_comm(track.comm)) [[likely]]
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

PerfettoExporter::Track &PerfettoExporter::track_of(const Event &event) {
    return is_of_cpu(event) ? cpu_track(event.cpu) : thread_track(event);
}

PerfettoExporter::Plan &PerfettoExporter::plan_of(const Probe &probe) {
    const auto [found, added] = plans_.try_emplace(&probe);
    Plan &plan = found->second;
    if (!added) [[likely]]
        return plan;
    plan.formats = &values_.formats(probe);
    for (const Argument &argument : probe.args)
        plan.names.push_back(values_.name(valid_utf8(argument.name)));
    plan.result = result_index(probe).value_or(probe.args.size());
    const std::string module = callers_.module(probe.addr);
    ProtobufWriter head;
    head.number(perfetto::event::category,
                categories_.id(module.empty() ? "kernel" : module, values_.interned()));
    // As many numbers as a kernel has functions: there are always enough.
    head.number(perfetto::event::name, event_names_.id(probe.function, values_.interned()));
    plan.head = head.view();
    return plan;
}

void PerfettoExporter::write_end(Track &track, std::size_t lane, std::uint64_t ts,
                                 const std::string &result) {
    write_packet_head(ts);
    const std::size_t begin = packet_.open(packet::track_event);
    packet_.number(perfetto::event::type, perfetto::event::slice_end);
    packet_.number(perfetto::event::track, track.ids[lane]);
    packet_.raw(result);
    packet_.close(begin);
    flush_packet();
}

void PerfettoExporter::write_arguments(const EventView &view, const Plan &plan) {
    if (view.values.size() == (plan.result < view.values.size() ? 1 : 0))
        return;
    const std::size_t begin = packet_.open(perfetto::event::annotation);
    packet_.number(annotation::name_id, args_name_);
    for (std::size_t i = 0; i < view.values.size(); ++i) {
        if (i != plan.result)
            values_.append(packet_, annotation::entry, plan.names[i], view, view.values[i],
                           plan.formats->argument(i));
    }
    packet_.close(begin);
}

const std::string &PerfettoExporter::caller_note(std::uint64_t address) {
    if (caller_notes_.size() >= caller_notes_max && !caller_notes_.contains(address))
        caller_notes_.clear();
    std::string &note = caller_notes_[address];
    if (note.empty()) {
        note_.clear();
        values_.append_string(note_, perfetto::event::annotation, caller_name_,
                              callers_.name(address));
        note = note_.view();
    }
    return note;
}

const std::string &PerfettoExporter::flags_note(const Event &event) {
    std::string &note = flags_notes_[std::uint32_t{event.context} << 8 | event.preempt];
    if (note.empty()) {
        note_.clear();
        values_.append_string(note_, perfetto::event::annotation, flags_name_,
                              flags_column(event.context, event.preempt));
        note = note_.view();
    }
    return note;
}

const std::string &PerfettoExporter::cpu_note(std::uint32_t cpu) {
    std::string &note = cpu_notes_[cpu];
    if (note.empty()) {
        note_.clear();
        append_number(note_, cpu_name_, cpu);
        note = note_.view();
    }
    return note;
}

void PerfettoExporter::write_place(const Event &event, bool task) {
    if (event.caller != 0)
        packet_.raw(caller_note(event.caller));
    packet_.raw(cpu_note(event.cpu));
    packet_.raw(flags_note(event));
    if (task) {
        values_.append_string(packet_, perfetto::event::annotation, comm_name_,
                              valid_utf8(event.comm_view()));
        append_number(packet_, tid_name_, event.tid);
    }
}

void PerfettoExporter::event(const EventView &view) {
    const Event &event = *view.event;
    const Plan &plan = plan_of(*event.probe);
    Track &track = track_of(event);
    track.lanes.advance(event.ts, [&](std::size_t lane, const auto &open) {
        write_end(track, lane, open.end, open.call.result);
    });
    std::size_t lane = 0;
    if (event.has_duration()) {
        End end;
        if (plan.result < view.values.size()) {
            ProtobufWriter result;
            values_.append(result, perfetto::event::annotation, result_name_, view,
                           view.values[plan.result], plan.formats->argument(plan.result));
            end.result = result.view();
        }
        lane = track.lanes.add(event.ts, end_of(event), std::move(end));
        while (track.ids.size() <= lane) {
            track.ids.push_back(++last_id_);
            describe(track, track.ids.size() - 1);
        }
    }
    write_packet_head(event.ts);
    const std::size_t begin = packet_.open(packet::track_event);
    packet_.number(perfetto::event::type,
                   event.has_duration() ? perfetto::event::slice_begin : perfetto::event::instant);
    packet_.raw(plan.head);
    packet_.number(perfetto::event::track, track.ids[lane]);
    write_arguments(view, plan);
    write_place(event, is_of_cpu(event));
    packet_.close(begin);
    flush_packet();
}

void PerfettoExporter::lost(std::uint32_t, std::uint64_t ts, std::uint64_t calls) {
    if (lost_track_ == 0) {
        const std::uint64_t parent = cpus_group();
        lost_track_ = ++last_id_;
        packet_.number(packet::sequence_id, sequence);
        const std::size_t begin = packet_.open(packet::track_descriptor);
        packet_.number(track::id, lost_track_);
        packet_.text(track::name, "lost calls");
        packet_.number(track::parent, parent);
        const std::size_t counter = packet_.open(track::counter);
        packet_.number(track::counter_unit, track::unit_count);
        packet_.close(counter);
        packet_.close(begin);
        flush_packet();
    }
    lost_ += calls;
    write_packet_head(ts);
    const std::size_t begin = packet_.open(packet::track_event);
    packet_.number(perfetto::event::type, perfetto::event::counter_value);
    packet_.number(perfetto::event::track, lost_track_);
    packet_.number(perfetto::event::counter, lost_);
    packet_.close(begin);
    flush_packet();
}

void PerfettoExporter::finish() {
    const auto close_all = [this](auto &tracks) {
        for (auto &track : tracks) {
            auto &one = track.second;
            one.lanes.finish([this, &one](std::size_t lane, const auto &open) {
                write_end(one, lane, open.end, open.call.result);
            });
        }
    };
    close_all(threads_);
    close_all(cpus_);
    file_.write(out_.view());
    out_.clear();
    file_.finish();
}

} // namespace argtrace
