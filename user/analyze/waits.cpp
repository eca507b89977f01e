// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/waits.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace argtrace {

namespace {

constexpr std::uint64_t task_uninterruptible = 0x2;
constexpr std::uint64_t task_report = 0x7f; // what __task_state_index() lets through
constexpr std::uint64_t task_dead = 0x80;   // of a task that will not run again
constexpr std::uint64_t task_idle = 0x402;  // uninterruptible, and not part of the load
constexpr std::uint64_t task_report_idle = task_report + 1;
constexpr std::uint64_t task_rtlock_wait = 0x1000;
constexpr std::uint64_t task_frozen = 0x8000;
constexpr std::string_view letters = "RSDTtXZPI";

} // namespace

char task_state_letter(std::uint64_t state) {
    if (state & task_dead)
        return 'X';
    std::uint64_t shown = state & task_report;
    if ((state & task_idle) == task_idle)
        shown = task_report_idle;
    if (state & (task_rtlock_wait | task_frozen))
        shown = task_uninterruptible;
    return letters[static_cast<std::size_t>(std::bit_width(shown))];
}

void WaitTracker::only(const std::vector<std::uint32_t> &pids, bool follow) {
    pids_.insert(pids.begin(), pids.end());
    all_ = false;
    follow_ = follow;
}

bool WaitTracker::wants(std::uint32_t tgid) const {
    return tgid != hidden_ && (all_ || pids_.contains(tgid));
}

void WaitTracker::switched(const Switch &change) {
    if (change.to_tid != 0 && wants(change.to_tgid))
        close(change.ts, change.to_tid);
    const char letter = task_state_letter(change.state);
    if (change.from.tid == 0 || !wants(change.from.tgid))
        return;
    if (letter == 'X') {
        open_.erase(change.from.tid);
        wakings_.erase(change.from.tid);
        seen_.erase(change.from.tid);
        return;
    }
    seen_.insert(change.from.tid);
    Wait wait;
    wait.task = change.from;
    wait.begin = wait.woken = change.ts;
    wait.cpu = change.cpu;
    wait.state = change.runnable ? 'R' : letter;
    wait.stack = change.stack;
    wait.user_stack = change.user_stack;
    open(wait);
}

void WaitTracker::open(const Wait &wait) {
    const auto [known, added] = open_.try_emplace(wait.task.tid, Open{wait});
    if (added)
        return;
    // It has run without having been switched to.
    ++(met_gap(known->second.wait) ? left_out_.lost : left_out_.incomplete);
    known->second = {wait};
}

void WaitTracker::close(std::uint64_t ts, std::uint32_t tid) {
    const auto known = open_.find(tid);
    if (known == open_.end()) {
        if (seen_.insert(tid).second)
            ++left_out_.earlier;
        else
            ++(gaps_.empty() ? left_out_.incomplete : left_out_.lost);
        return;
    }
    Open &open = known->second;
    Wait wait = open.wait;
    // Clocks of two CPUs may differ by a few nanoseconds.
    wait.end = std::max(ts, wait.woken);
    const bool incomplete = open.incomplete || (wait.state != 'R' && !wait.was_woken);
    open_.erase(known);
    seen_.insert(tid);
    if (met_gap(wait))
        ++left_out_.lost;
    else if (incomplete)
        ++left_out_.incomplete;
    else
        take_(wait);
}

void WaitTracker::waking(std::uint64_t ts, std::uint32_t tid, std::uint32_t tgid, const Waker &waker) {
    if (wants(tgid))
        wakings_.insert_or_assign(tid, Waking{ts, waker});
}

void WaitTracker::woken(std::uint32_t tid, std::uint32_t tgid) {
    if (!wants(tgid))
        return;
    const auto waking = wakings_.find(tid);
    const auto known = open_.find(tid);
    if (known != open_.end() && known->second.wait.state != 'R') {
        Open &open = known->second;
        if (waking == wakings_.end() || open.wait.was_woken) {
            open.incomplete = true;
        } else {
            // The waker may have begun before the task had left its CPU, and have waited for that.
            open.wait.woken = std::max(waking->second.ts, open.wait.begin);
            open.wait.was_woken = true;
            open.wait.waker = waking->second.waker;
        }
    }
    if (waking != wakings_.end())
        wakings_.erase(waking);
}

void WaitTracker::begun(std::uint64_t ts, std::uint32_t cpu, const Task &task, const Waker &parent) {
    if (!wants(task.tgid))
        return;
    Wait wait;
    wait.task = task;
    wait.begin = wait.woken = ts;
    wait.cpu = cpu;
    wait.is_new = true;
    wait.was_woken = true;
    wait.waker = parent;
    open_.insert_or_assign(task.tid, Open{wait}); // an earlier one of that number has ended
}

void WaitTracker::forked(std::uint32_t tgid, std::uint32_t child_tid, std::uint32_t child_tgid) {
    if (!follow_ || child_tid != child_tgid)
        return;
    if (pids_.contains(tgid))
        pids_.insert(child_tgid);
    else
        pids_.erase(child_tgid); // the number of one that has ended
}

bool WaitTracker::met_gap(const Wait &wait) const {
    return wait.end == 0 ? gaps_.meets(wait.begin) : gaps_.meets(wait.begin, wait.end);
}

WaitTracker::Waiting WaitTracker::waiting(std::uint64_t now) const {
    Waiting waiting;
    for (const auto &[tid, open] : open_) {
        if (open.incomplete || met_gap(open.wait))
            continue;
        ++waiting.tasks;
        waiting.time += std::max(now, open.wait.begin) - open.wait.begin;
    }
    return waiting;
}

} // namespace argtrace
