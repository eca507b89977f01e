// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

namespace argtrace::bench {

/// Stacks of user code that are all different: what it takes to give names to many frames.
///
/// Twenty processes have 2,000 functions each, of which every one calls four others, and stacks are 32 frames deep. Two functions in three have
/// names of C++; at one place in four a function is inlined.
class UserStacks {
public:
    static constexpr unsigned nr_processes = 20, nr_functions = 2000, nr_calls = 4, nr_frames = 32;

    /// `likely`, as programs are: of these calls one is made most of the time, so that stacks have many callers in common. Otherwise all are as
    /// likely, which is the worst case, as hardly two stacks have more in common than the outermost frames.
    explicit UserStacks(bool likely) : likely_(likely) {}

    /// One that there was not yet, as a chunk of a recording has it: the number, which is returned, the length, and the frames.
    std::uint64_t add(std::vector<std::uint64_t> &words, unsigned process);

    /// The lines of a recording for the programs, and for the places in one of them.
    static std::string objects();
    static std::string places(unsigned process);

private:
    unsigned next_call();

    bool likely_;
    std::mt19937_64 random_{20261127};
    std::unordered_set<std::uint64_t> known_;
};

} // namespace argtrace::bench
