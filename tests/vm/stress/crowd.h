// SPDX-License-Identifier: GPL-2.0-only
// Several processes that do random things, and what became of it all.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "uapi/argtrace.h"

namespace vmtest {

/// How often each kind of step was done and how often it was granted, over all processes.
class Tally {
public:
    explicit Tally(std::vector<std::string> kinds);
    ~Tally();
    Tally(const Tally &) = delete;
    Tally &operator=(const Tally &) = delete;

    void add(unsigned kind, bool granted);
    std::uint64_t granted(unsigned kind) const { return cells_[kind].granted; }
    void print() const;
    /// The test fails for each kind that was never granted: it would have shown nothing.
    void expect_all_granted() const;

private:
    struct Cell {
        std::uint64_t granted, refused;
    };
    std::vector<std::string> kinds_;
    Cell *cells_; // shared by the processes
};

class Random : public std::mt19937_64 {
public:
    using std::mt19937_64::mt19937_64;
    /// 0 to limit - 1.
    std::uint64_t below(std::uint64_t limit) { return (*this)() % limit; }
    bool one_in(unsigned n) { return below(n) == 0; }
    template <typename Container> auto &pick(Container &from) { return from[below(std::size(from))]; }
};

/// One of the steps, each as often as its weight says.
template <typename Steps> auto weighted(Random &random, const Steps &steps) {
    std::uint64_t sum = 0;
    for (const auto &one : steps)
        sum += one.weight;
    std::uint64_t left = random.below(sum);
    const auto *one = std::begin(steps);
    for (; left >= one->weight; one++)
        left -= one->weight;
    return one->step;
}

/// Runs `body(number)` in that many processes; the test fails if one does not end well, or
/// has failed an expectation.
void run_processes(unsigned count, const std::function<void(unsigned)> &body);

/// Functions to trace: of argtrace_test.ko and of the kernel. Addresses.
std::vector<std::uint64_t> target_addresses();

/// No session is left, no memory taken, no function armed, and the module can go.
void expect_nothing_left(const std::vector<std::string> &sessions);

} // namespace vmtest
