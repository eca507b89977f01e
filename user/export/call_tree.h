// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "export/frame_tree.h"
#include "render/caller.h"

namespace argtrace {

/// Calls with durations -> a tree of who spent how many ns in what. Below the root is the name of the
/// task, or the kind of interrupt, below that are the calls, as they lay within each other.
class CallTree : public FrameTree {
public:
    explicit CallTree(const Symbols &symbols) : callers_(symbols) {}

    void add(const EventView &view) override;
    const CallNode &finish() override;
    FlameGraph::Unit unit() const override { return FlameGraph::Unit::nanoseconds; }
    std::string left_out() const override;

private:
    struct Call {
        const Probe *probe = nullptr;
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        std::uint64_t inner_time = 0; // of the calls that are in `folded` already
        std::vector<Call> inner; // the latest calls in it; each may still be found to be in another
        std::unique_ptr<CallNode> folded; // earlier ones
    };

    struct Thread {
        std::vector<Call> calls; // the latest, in none that is known
        std::string root;
    };

    void insert(Thread &thread, Call call);
    void fold_oldest(std::vector<Call> &calls, CallNode &into, std::uint64_t *time);
    void fold(const Call &call, CallNode &into);
    void merge(const CallNode &from, CallNode &into);
    void fold_thread(Thread &thread);

    CallerNames callers_;
    CallNode root_;
    std::unordered_map<std::uint64_t, Thread> threads_;
    FrameNodes nodes_;
    std::uint64_t without_duration_ = 0;
    std::uint64_t unfinished_ = 0;
};

} // namespace argtrace
