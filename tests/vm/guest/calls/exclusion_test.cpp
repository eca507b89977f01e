// SPDX-License-Identifier: GPL-2.0-only
// ARGTRACE_READER_EXCLUDE_SELF: the own calls of the reader, or of one who looks, and nobody else's.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/actor.h"
#include "support/command.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"

namespace vmtest {
namespace {

TEST(Exclusion, ends_with_the_process_though_another_holds_its_file) {
    need_argtrace();
    need_test_module();
    RawDevice device;
    ASSERT_EQ(device.session("", 4096, 4), 0);
    ASSERT_EQ(device.add(RawProbe::words(address_of("at_four"), 4, "at_four").bytes(), 1), 0);

    const pid_t reader = fork();
    if (reader == 0) {
        if (device.reader(ARGTRACE_READER_EXCLUDE_SELF) != 0)
            _exit(1);
        call_functions("burst", 3);
        _exit(0);
    }
    int status = 1;
    ASSERT_EQ(waitpid(reader, &status, 0), reader);
    ASSERT_EQ(status, 0);
    ASSERT_EQ(device.counts().at(0).filtered, 3u);

    Actor namesake(reader);
    ASSERT_EQ(namesake.pid(), reader);
    namesake.call(5);
    EXPECT_EQ(device.counts().at(0).filtered, 3u) << "it has nothing to do with the reader";
    EXPECT_EQ(hits(device.counts().at(0)), 8u);

    // The file is still the reader, and may exclude a process again.
    EXPECT_EQ(device.reader(ARGTRACE_READER_EXCLUDE_SELF), 0);
    call_functions("burst", 2);
    EXPECT_EQ(device.counts().at(0).filtered, 5u);
}

/// What is recorded and filtered while that runs, by the totals of status before and after.
std::pair<std::int64_t, std::int64_t> recorded_and_filtered(const std::vector<std::string> &words) {
    const auto totals = [] {
        const std::string out = run({"argtrace", "status", "--json"}).out;
        const std::size_t line = out.rfind("\n{") + 1;
        const auto object = nlohmann::json::parse(out.substr(line), nullptr, false);
        EXPECT_TRUE(object.contains("hits")) << out;
        return std::pair(object.value("records", std::int64_t{0}), object.value("filtered", std::int64_t{0}));
    };
    // Another status comes between any two.
    const auto first = totals(), second = totals();
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    const auto third = totals();
    return {third.first - second.first - (second.first - first.first), third.second - second.second - (second.second - first.second)};
}

// A flight recorder would be full of the calls of those who look at it.
TEST(Exclusion, looking_at_a_flight_recorder_is_not_recorded) {
    need_argtrace();
    run({"argtrace", "clear"});
    const Outcome added = run({"argtrace", "add", "--flight", "s:ioctl"});
    ASSERT_EQ(added.status, 0) << added.err;
    // Before the session can be told whose calls are to be left out, the tool has asked for two versions and bound to the session.
    constexpr std::int64_t to_begin = 4;
    for (std::vector<std::string> words : {std::vector<std::string>{"argtrace", "status"}, {"argtrace", "snapshot", "-o", "/tmp/look.dat"}}) {
        const auto [recorded, filtered] = recorded_and_filtered(words);
        EXPECT_EQ(recorded, to_begin) << words[1];
        EXPECT_GT(filtered, 3) << words[1];
        words.push_back("--include-self");
        const auto [all, none] = recorded_and_filtered(words);
        EXPECT_EQ(all, recorded + filtered - 1) << words[1] << " does not ask to be left out";
        EXPECT_EQ(none, 0) << words[1];
    }
    unlink("/tmp/look.dat");
    run({"argtrace", "clear"});
}

} // namespace
} // namespace vmtest
