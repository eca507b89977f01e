// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "export/exporter.h"
#include "model/call_node.h"
#include "render/caller.h"

namespace argtrace {

/// Calls with durations -> a tree of who spent how many ns in what. Below the root is the name of the
/// task, or the kind of interrupt, below that are the calls, as they lay within each other.
class CallTree {
public:
    explicit CallTree(const Symbols &symbols) : callers_(symbols) {}

    /// As Exporter::event().
    void add(const Event &event);

    /// Ends the calls that could still have got callers, and returns the tree.
    const CallNode &finish();

    /// Calls that are not in it: they have no duration.
    std::uint64_t without_duration() const { return without_duration_; }

    /// Calls that were counted for their callers, since there were too many different chains.
    std::uint64_t merged() const { return merged_; }

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
    CallNode &child(CallNode &node, const std::string &name);

    CallerNames callers_;
    CallNode root_;
    std::unordered_map<std::uint64_t, Thread> threads_;
    std::size_t nodes_ = 0;
    std::uint64_t without_duration_ = 0;
    std::uint64_t merged_ = 0;
};

} // namespace argtrace
