// SPDX-License-Identifier: GPL-2.0-only
#include "export/call_tree.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "export/result.h"
#include "model/unfinished.h"

namespace argtrace {

namespace {

constexpr std::size_t calls_max = 64;     // that are kept apart, in one call or thread
constexpr std::size_t threads_max = 4096; // that are kept apart
constexpr std::size_t depth_max = 256; // more than a kernel's stack has room for

/// Those whose calls are nested: a thread, or interrupts of one kind on one CPU.
std::uint64_t owner_of(const Event &event) {
    if (event.context & ARGTRACE_CTX_NMI)
        return std::uint64_t{event.cpu} << 32 | std::uint64_t{1} << 63 | ARGTRACE_CTX_NMI;
    if (event.context & ARGTRACE_CTX_HARDIRQ)
        return std::uint64_t{event.cpu} << 32 | std::uint64_t{1} << 63 | ARGTRACE_CTX_HARDIRQ;
    if (event.tid == 0 || (event.context & interrupt_contexts))
        return std::uint64_t{event.cpu} << 32 | std::uint64_t{1} << 63 |
               (event.context & interrupt_contexts);
    return event.tid;
}

template<typename Call>
bool contains(const Call &outer, const Call &inner) {
    return outer.begin <= inner.begin && inner.end <= outer.end &&
           (outer.end > inner.begin || outer.begin == inner.begin);
}

} // namespace

void CallTree::merge(const CallNode &from, CallNode &into) {
    into.self += from.self;
    into.calls += from.calls;
    into.in_module |= from.in_module;
    for (const auto &[name, callee] : from.callees)
        merge(*callee, nodes_.child(into, name));
}

void CallTree::fold(const Call &call, CallNode &into) {
    CallNode &node = nodes_.child(into, call.probe->function);
    std::uint64_t inner = call.inner_time;
    for (const Call &one : call.inner) {
        inner += one.end - one.begin;
        fold(one, node);
    }
    const std::uint64_t length = call.end - call.begin;
    node.self += length - std::min(length, inner);
    ++node.calls;
    node.in_module = !callers_.module(code_place(*call.probe)).empty();
    if (call.folded)
        merge(*call.folded, node);
}

/// Half of them, so that this is not done for each.
void CallTree::fold_oldest(std::vector<Call> &calls, CallNode &into, std::uint64_t *time) {
    const auto end = calls.begin() + calls_max / 2;
    for (auto call = calls.begin(); call != end; ++call) {
        fold(*call, into);
        if (time)
            *time += call->end - call->begin;
    }
    calls.erase(calls.begin(), end);
}

void CallTree::insert(Thread &thread, Call call) {
    std::vector<Call> *level = &thread.calls;
    Call *around = nullptr;
    for (std::size_t depth = 0; depth < depth_max && !level->empty(); ++depth) {
        if (!contains(level->back(), call))
            break;
        around = &level->back();
        level = &around->inner;
    }
    // Those that it made have come before it where it lasted longer than its packet.
    auto first = level->end();
    while (first != level->begin() && contains(call, *std::prev(first)))
        --first;
    call.inner.assign(std::make_move_iterator(first), std::make_move_iterator(level->end()));
    level->erase(first, level->end());
    level->push_back(std::move(call));
    if (level->size() <= calls_max)
        return;
    if (!around)
        return fold_oldest(*level, nodes_.child(root_, thread.root), nullptr);
    if (!around->folded)
        around->folded = std::make_unique<CallNode>();
    fold_oldest(*level, *around->folded, &around->inner_time);
}

void CallTree::fold_thread(Thread &thread) {
    if (thread.calls.empty())
        return;
    CallNode &root = nodes_.child(root_, thread.root);
    for (const Call &call : thread.calls)
        fold(call, root);
    thread.calls.clear();
}

void CallTree::add(const EventView &view) {
    const Event &event = *view.event;
    if (!event.has_duration()) {
        ++(is_unfinished(event) ? unfinished_ : without_duration_);
        return;
    }
    const std::uint64_t owner = owner_of(event);
    if (threads_.size() == threads_max && !threads_.contains(owner)) {
        for (auto &[key, thread] : threads_)
            fold_thread(thread);
        threads_.clear();
    }
    Thread &thread = threads_[owner];
    std::string root = task_frame(event);
    if (root != thread.root) { // it executes another program
        fold_thread(thread);
        thread.root = std::move(root);
    }
    Call call;
    call.probe = event.probe;
    call.begin = event.ts;
    call.end = end_of(event);
    insert(thread, std::move(call));
}

const CallNode &CallTree::finish() {
    for (auto &[key, thread] : threads_)
        fold_thread(thread);
    threads_.clear();
    return root_;
}

std::string CallTree::left_out() const {
    std::string text;
    const auto add = [&text](std::uint64_t count, std::string_view what) {
        if (count > 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
    };
    add(without_duration_, "calls without a duration are not in it");
    add(unfinished_, "calls that had not returned are not in it");
    add(nodes_.merged(), "calls are counted for their callers, as there were too many different "
                         "chains of them");
    return text;
}

} // namespace argtrace
