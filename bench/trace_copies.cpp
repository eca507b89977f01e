// SPDX-License-Identifier: GPL-2.0-only
//
// Makes the files that bench/report reads from a recording.
//
//     trace_copies dat RECORDING EVENTS FILE [LEVEL]   the same calls over and over; LEVEL
//     compresses
//
// Prints how many events that are.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "recording.h"

namespace {

using namespace argtrace;

std::optional<std::uint64_t> run(const std::vector<std::string> &words) {
    if (words.size() < 4 || words.size() > 5 || words[0] != "dat")
        return std::nullopt;
    std::optional<int> level;
    if (words.size() == 5)
        level = std::atoi(words[4].c_str());
    TraceWriter writer(TraceTarget(words[3]), level);
    return bench::Recording(words[1]).write(writer, std::strtoull(words[2].c_str(), nullptr, 10));
}

} // namespace

int main(int argc, char **argv) {
    try {
        const auto events = run({argv + 1, argv + argc});
        if (!events) {
            std::fputs("usage: trace_copies dat RECORDING EVENTS FILE [LEVEL]\n", stderr);
            return 2;
        }
        std::printf("%llu\n", static_cast<unsigned long long>(*events));
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "trace_copies: %s\n", error.what());
        return 1;
    }
}
