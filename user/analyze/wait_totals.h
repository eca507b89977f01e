// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/aggregation.h"
#include "analyze/waits.h"
#include "util/wide_number.h"

namespace argtrace {

/// By what waits are told apart.
enum class WaitKey : std::uint8_t { comm, pid, tid, state, cpu, waker };

std::string_view wait_key_name(WaitKey key);

/// "comm,state". Throws Error, which begins with `what`, on a name that is none, or twice.
std::vector<WaitKey> parse_wait_keys(std::string_view what, const std::string &text);

/// The letters of "D,S", or "DS", each once. Throws Error as above.
std::string parse_wait_states(std::string_view what, const std::string &text);

struct WaitTotal {
    std::uint64_t waits = 0;
    WideNumber blocked = 0;  ///< ns
    WideNumber runnable = 0; ///< ns
    std::uint64_t longest = 0;  ///< ns

    WideNumber time() const { return blocked + runnable; }
    void add(const Wait &wait);
    void add(const WaitTotal &more);
};

/// Waits by their keys, and by their states.
class WaitTotals {
public:
    struct Wanted {
        std::vector<WaitKey> keys = {};
        bool stacks = true;       ///< keys end with the kernel's stack,
        bool user_stacks = false; ///< that of user code,
        bool wakers = false; ///< and with the waker's name and stack
        std::uint64_t min = 0;
        std::uint64_t max = ~std::uint64_t{0};
        std::string states = {}; ///< empty: all

        bool any_stack() const { return stacks || user_stacks; }
    };

    explicit WaitTotals(Wanted wanted) : wanted_(std::move(wanted)) {}

    void add(const Wait &wait);

    /// The same with other numbers of stacks of user code, if `number` says others: waits whose keys are equal then belong together.
    std::optional<WaitTotals> with_user_stacks(const std::function<std::uint64_t(std::uint64_t)> &number) const;

    /// Begins anew, but for what was left out.
    void clear();

    /// The parts of a key: those of Wanted::keys, then the stacks, then the waker's name and stack, so far as wanted.
    using Entries = std::unordered_map<Key, WaitTotal, Aggregation::Hash>;
    const Entries &entries() const { return entries_; }
    const std::map<char, WaitTotal> &states() const { return states_; }
    const WaitTotal &all() const { return all_; }
    const Wanted &wanted() const { return wanted_; }

    /// Waits that were shorter or longer than is wanted, or in another state.
    std::uint64_t unwanted() const { return unwanted_; }

private:
    Wanted wanted_;
    Entries entries_;
    std::map<char, WaitTotal> states_;
    WaitTotal all_;
    std::uint64_t unwanted_ = 0;
};

} // namespace argtrace
