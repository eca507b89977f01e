// SPDX-License-Identifier: GPL-2.0-only
#include "export/pprof.h"

#include <array>
#include <vector>

#include <fmt/format.h>

#include "model/probe.h"
#include "render/stack.h"

namespace argtrace {

namespace {

constexpr std::size_t samples_max = 1 << 20;

constexpr PprofProfile::Kind count_of_calls{"calls", "count"}, count_of_ticks{"samples", "count"}, time_in_calls{"time", "nanoseconds"};

void add_tree(PprofProfile &profile, CallerNames &names, const CallNode &node, std::vector<StackFrame> &frames, const PprofProfile::Labels &labels) {
    if (node.self > 0 && !frames.empty())
        profile.add(frames, std::array{node.calls, node.self}, labels);
    for (const auto &[name, callee] : node.callees) {
        frames.push_back({names.number(name)});
        add_tree(profile, names, *callee, frames, labels);
        frames.pop_back();
    }
}

} // namespace

void PprofStackExporter::event(const EventView &view) {
    const auto stacks = events_.take(view);
    if (!stacks)
        return;
    const Event &event = *view.event;
    Sample sample{stack_number(stacks->kernel), stack_number(stacks->user), event.probe, event.context & interrupt_contexts ? 0 : event.tgid, task_frame(event)};
    if (samples_.size() == samples_max && !samples_.contains(sample))
        ++too_many_;
    else
        ++samples_[std::move(sample)];
}

void PprofStackExporter::finish() {
    events_.check();
    const bool ticks = events_.unit() == FlameGraph::Unit::ticks;
    PprofProfile profile(names_, std::span(ticks ? &count_of_ticks : &count_of_calls, 1));
    profile.set_time(begin_);
    if (!host_.empty())
        profile.add_comment("on " + host_);
    if (lost_ > 0)
        profile.add_comment(fmt::format("{} {} were lost", lost_, ticks ? "ticks" : "calls"));
    std::vector<StackFrame> frames;
    for (const auto &[sample, count] : samples_) {
        const Value kernel{sample.kernel, 0, ARGTRACE_TYPE_STACK, sample.kernel != 0}, user{sample.user, 0, ARGTRACE_TYPE_STACK, sample.user != 0};
        const StackPlaces taken = stack_places(*sample.probe);
        frames.clear();
        add_stack_frames(frames, names_, {taken.kernel ? &kernel : nullptr, taken.user ? &user : nullptr});
        if (kind_of(*sample.probe).is_call)
            frames.push_back({names_.number(function_frame(sample.probe->function, names_.module(code_place(*sample.probe))))});
        PprofProfile::Labels labels{{"comm", sample.task}};
        if (sample.pid != 0)
            labels.emplace_back("pid", fmt::format("{}", sample.pid));
        profile.add(frames, std::span(&count, 1), labels);
    }
    file_.write(profile.finish());
    file_.finish();
}

std::string PprofStackExporter::left_out() const {
    std::string text = events_.left_out();
    if (too_many_ > 0)
        text += fmt::format("{}{} calls are not in it, as there were too many different stacks", text.empty() ? "" : ", ", too_many_);
    return text;
}

void PprofTreeExporter::finish() {
    PprofProfile profile(names_, std::array{count_of_calls, time_in_calls});
    profile.set_time(begin_);
    for (const auto &[task, node] : tree_->finish().callees) {
        std::vector<StackFrame> frames;
        add_tree(profile, names_, *node, frames, {{"comm", task}});
    }
    file_.write(profile.finish());
    file_.finish();
}

} // namespace argtrace
