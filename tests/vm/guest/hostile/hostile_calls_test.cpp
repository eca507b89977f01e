// SPDX-License-Identifier: GPL-2.0-only
// Traces random system calls with hostile arguments (programs/hostile_calls.c) with -d: every call is counted once, every record is
// shown, and the output is valid text or JSON, whatever is in the memory that the arguments lead to. scripts/vm checks that the kernel
// log is clean.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/command.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

constexpr unsigned calls_each = 200;

/// Whether the line is valid UTF-8 without control characters. The tool must escape everything else before it reaches a terminal.
bool is_clean(std::string_view line) {
    for (std::size_t i = 0; i < line.size(); i++) {
        const auto byte = static_cast<unsigned char>(line[i]);
        if (byte < 0x20 || byte == 0x7f)
            return false;
        if (byte < 0x80)
            continue;
        const std::size_t more = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc2 ? 1 : 0;
        if (more == 0 || byte > 0xf4)
            return false;
        for (std::size_t left = more; left > 0; left--)
            if (++i >= line.size() || (static_cast<unsigned char>(line[i]) & 0xc0) != 0x80)
                return false;
    }
    return true;
}

/// What a trace says of itself at its end: how many events were shown, how many calls there were, and the sum of all that became of them.
struct Counts {
    std::uint64_t shown = 0, calls = 0, recorded = 0, accounted = 0;
};

class HostileCalls : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        seed_ = test_seed();
        std::cout << "seed " << seed_ << ", " << batches_ << " batches" << std::endl;
        run({"argtrace", "clear"});
    }
    void TearDown() override {
        run({"argtrace", "clear"});
        run({"sh", "-c", "rm -rf /tmp/hostile.*"});
    }

    /// Traces the program's calls to its end. The program writes the number of calls it has begun to /tmp/hostile.said.
    Outcome trace(const std::vector<std::string> &options, std::uint64_t seed) const {
        std::vector<std::string> words{"argtrace", "trace", "-d", "-r", "--buffer", "4M"};
        words.insert(words.end(), options.begin(), options.end());
        for (const char *word : {"s:*", "-F", "--", "sh", "-c"})
            words.emplace_back(word);
        words.push_back("exec /root/hostile_calls " + std::to_string(seed) + ' ' + std::to_string(batches_) + ' ' +
                        std::to_string(calls_each) + " >/tmp/hostile.said");
        return run(words);
    }

    /// "argtrace: 6 events shown; 34 calls: 23 recorded, 1 lost (1 ring full), 10 filtered, 1 in flight; 3 faults: ...".
    static Counts counts_of(const std::string &said) {
        static const std::regex sentence("(\\d+) events? shown; (\\d+) calls?: (\\d+) recorded([^;\n]*)"), other(", (\\d+) ");
        std::smatch found;
        if (!std::regex_search(said, found, sentence)) {
            ADD_FAILURE() << said;
            return {};
        }
        Counts counts{std::stoull(found[1]), std::stoull(found[2]), std::stoull(found[3]), std::stoull(found[3])};
        // Causes of loss are parts of its number.
        const std::string rest = std::regex_replace(found[4].str(), std::regex("\\([^)]*\\)"), "");
        for (std::sregex_iterator one(rest.begin(), rest.end(), other), end; one != end; ++one)
            counts.accounted += std::stoull((*one)[1]);
        return counts;
    }

    static Counts counts_of(const json &summary) {
        Counts counts{summary["shown"], summary["hits"], summary["records"], summary["records"]};
        for (const char *key : {"filtered", "sampled", "capped", "in_flight"})
            counts.accounted += summary.value(key, std::uint64_t{0});
        for (const char *key : {"lost", "unfollowed"}) {
            const json &causes = summary[key];
            for (auto cause = causes.begin(); cause != causes.end(); ++cause)
                counts.accounted += cause.value().get<std::uint64_t>();
        }
        return counts;
    }

    /// Every call has one outcome, and every record was shown.
    static void expect_that_it_adds_up(const Counts &counts, std::size_t lines) {
        EXPECT_EQ(counts.calls, counts.accounted);
        EXPECT_EQ(counts.shown, counts.recorded);
        EXPECT_EQ(lines, counts.recorded);
    }

    /// Not all can be: some calls have no function that can be traced.
    void expect_that_most_were_traced(const Counts &counts) const {
        std::uint64_t begun = 0;
        std::istringstream(read_file("/tmp/hostile.said")) >> begun;
        std::cout << begun << " calls with hostile arguments; of " << counts.calls << " of the whole machine " << counts.recorded << " are recorded\n";
        EXPECT_GT(begun, batches_ * calls_each / 4);
        EXPECT_GT(counts.recorded, begun / 2);
    }

    const std::uint64_t batches_ = std::max<std::uint64_t>(stress_steps(is_long_run() ? 400 : 40) * 3 / 4, 10);
    std::uint64_t seed_ = 0;
};

TEST_F(HostileCalls, are_shown_as_text) {
    const Outcome outcome = trace({}, seed_);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::size_t lines = 0;
    std::istringstream text(outcome.out);
    for (std::string line; std::getline(text, line);) {
        ASSERT_TRUE(is_clean(line)) << line;
        lines += line.find("   s:") != line.npos;
    }
    const Counts counts = counts_of(outcome.err);
    expect_that_it_adds_up(counts, lines);
    expect_that_most_were_traced(counts);
}

TEST_F(HostileCalls, are_shown_as_json) {
    const Outcome outcome = trace({"--json"}, seed_ + 1);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const std::vector<json> events = json_lines(outcome.out);
    for (const json &event : events)
        ASSERT_TRUE(event["func"].get<std::string>().starts_with("s:")) << event;
    const Counts counts = counts_of(json_summary(outcome.out));
    expect_that_it_adds_up(counts, events.size());
    expect_that_most_were_traced(counts);
}

} // namespace
} // namespace vmtest
