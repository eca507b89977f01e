// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyze/loss_gaps.h"
#include "uapi/argtrace.h"

namespace argtrace {

using Comm = std::array<char, ARGTRACE_COMM_LEN>;

struct Task {
    std::uint32_t tid = 0; ///< 0: the idle task of a CPU
    std::uint32_t tgid = 0;
    Comm comm{};
};

/// The letter that the kernel shows for a state of a task (TASK_* of include/linux/sched.h, which Linux has numbered alike since
/// 6.1), as task_state_to_char() chooses it: S, D, I and so on; R is one that could run, X one that has ended.
char task_state_letter(std::uint64_t state);

/// The task that woke another, and from where.
struct Waker {
    Task task;
    std::uint64_t stack = 0; ///< its number; 0: not known
    std::uint8_t context = 0; ///< ARGTRACE_CTX_*: in an interrupt it was not the task
};

/// A task that was off its CPU, in ns: blocked from `begin` to `woken`, and from there on to `end` runnable, but waiting for a CPU.
struct Wait {
    Task task;
    std::uint64_t begin = 0;
    std::uint64_t woken = 0; ///< `begin`, of a task that could have gone on
    std::uint64_t end = 0;
    std::uint32_t cpu = 0; ///< that it left
    char state = 'R';
    std::uint64_t stack = 0; ///< where it gave up the CPU; 0: not known
    std::uint64_t user_stack = 0; ///< and where its code had entered the kernel
    bool is_new = false;     ///< it had not run yet
    bool was_woken = false;  ///< by `waker`
    Waker waker;

    std::uint64_t blocked() const { return woken - begin; }
    std::uint64_t runnable() const { return end - woken; }
    std::uint64_t duration() const { return end - begin; }
};

/// Makes waits of what the scheduler's tracepoints say, in the order of time. What does not fit together, because a part of it is
/// missing, becomes no wait, and is counted.
class WaitTracker {
public:
    using Take = std::function<void(const Wait &)>;

    explicit WaitTracker(Take take) : take_(std::move(take)) {}

    /// Only waits of these processes, and of those that they start if they are followed. Before anything else.
    void only(const std::vector<std::uint32_t> &pids, bool follow);
    /// No waits of that process.
    void hide(std::uint32_t pid) { hidden_ = pid; }

    struct Switch {
        std::uint64_t ts = 0;
        std::uint32_t cpu = 0;
        Task from;
        std::uint64_t state = 0; ///< of `from`, TASK_*
        bool runnable = false;   ///< it could have gone on: it was preempted, or a signal is pending
        std::uint64_t stack = 0;
        std::uint32_t to_tid = 0;
        std::uint32_t to_tgid = 0;
        std::uint64_t user_stack = 0;
    };
    void switched(const Switch &change);

    /// sched_waking: `waker` has begun to wake a task; it is awake with sched_wakeup, which may come from another CPU.
    void waking(std::uint64_t ts, std::uint32_t tid, std::uint32_t tgid, const Waker &waker);
    void woken(std::uint32_t tid, std::uint32_t tgid);

    /// sched_wakeup_new: a task that has never run becomes runnable.
    void begun(std::uint64_t ts, std::uint32_t cpu, const Task &task, const Waker &parent);

    /// sched_process_fork: a process starts another one, or a thread (with its own tgid).
    void forked(std::uint32_t tgid, std::uint32_t child_tid, std::uint32_t child_tgid);

    /// Between these times records were lost, of whatever task: what was waiting then becomes no wait. Said before anything that has
    /// happened after `from` is.
    void lost(std::uint64_t from, std::uint64_t to) { gaps_.add(from, to); }

    /// Waits that are none.
    struct LeftOut {
        std::uint64_t earlier = 0;    ///< begun before the first record
        std::uint64_t lost = 0;       ///< records were lost meanwhile
        std::uint64_t incomplete = 0; ///< a record is missing for which there is no such explanation
    };
    const LeftOut &left_out() const { return left_out_; }

    /// Tasks that are waiting still, and for how long they have been by that time, in all.
    struct Waiting {
        std::uint64_t tasks = 0;
        std::uint64_t time = 0;
    };
    Waiting waiting(std::uint64_t now) const;

private:
    struct Open {
        Wait wait;
        bool incomplete = false;
    };
    struct Waking {
        std::uint64_t ts;
        Waker waker;
    };
    bool wants(std::uint32_t tgid) const;
    void open(const Wait &wait);
    void close(std::uint64_t ts, std::uint32_t tid);
    bool met_gap(const Wait &wait) const;

    Take take_;
    std::unordered_set<std::uint32_t> pids_;
    bool all_ = true;
    bool follow_ = false;
    std::uint32_t hidden_ = 0;
    std::unordered_map<std::uint32_t, Open> open_;      // by tid
    std::unordered_map<std::uint32_t, Waking> wakings_; // by tid; sched_wakeup is to come
    std::unordered_set<std::uint32_t> seen_;            // tids that have run
    LossGaps gaps_;
    LeftOut left_out_;
};

} // namespace argtrace
