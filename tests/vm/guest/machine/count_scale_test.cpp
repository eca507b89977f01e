// SPDX-License-Identifier: GPL-2.0-only
// Calls of every function of the kernel, counted under load: what is in the answer and what is not comes to all calls.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/command.h"
#include "support/machine.h"
#include "support/mixed_load.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

constexpr std::uint64_t calls_counted = 5000;

/// The answer to what was called in that time, and as often as calls_counted says at_four.
struct CountOfAll {
    std::map<std::string, std::uint64_t> functions; // all keys of each
    std::uint64_t keys = 0;
    json totals;
};

CountOfAll count_all(std::vector<std::string> words) {
    need_argtrace();
    need_test_module();
    CountOfAll answer;
    words.insert(words.begin(), {"argtrace", "count", "--json"});
    words.emplace_back("*");
    Background command(words);
    // Arming takes seconds, and on the sanitizer kernel a minute.
    for (int i = 0; i < 20 && command.err_so_far().find("until Ctrl-C") == std::string::npos && command.is_running(); ++i)
        eventually([&] { return command.err_so_far().find("until Ctrl-C") != std::string::npos || !command.is_running(); });
    EXPECT_TRUE(command.is_running()) << command.err_so_far();
    {
        MixedLoad load(is_long_run() ? 3 : 1);
        std::this_thread::sleep_for(std::chrono::seconds(is_long_run() ? 60 : 4));
        call_functions("burst", calls_counted);
        EXPECT_GT(load.stop(), 0u);
    }
    const Outcome outcome = command.end(SIGINT);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
        const json object = json::parse(line, nullptr, false);
        EXPECT_FALSE(object.is_discarded()) << line;
        if (object.contains("calls")) {
            answer.totals = object;
            continue;
        }
        answer.functions[object["func"]] += object["count"].get<std::uint64_t>();
        ++answer.keys;
    }
    std::printf("%llu keys; %s\n", static_cast<unsigned long long>(answer.keys), answer.totals.dump().c_str());
    return answer;
}

/// Every call is in a key, or counted as what kept it from there.
void expect_that_all_is_there(const CountOfAll &answer) {
    ASSERT_TRUE(answer.totals.is_object());
    std::uint64_t in_keys = 0;
    for (const auto &[function, count] : answer.functions)
        in_keys += count;
    const auto total = [&answer](const char *name) { return answer.totals.value(name, std::uint64_t{0}); };
    EXPECT_EQ(in_keys, total("added"));
    EXPECT_EQ(in_keys + total("overflow") + total("filtered") + total("lost"), total("calls")) << answer.totals;
    EXPECT_GT(total("calls"), 100000u);
    // Interrupts that come while argtrace itself calls what is counted.
    EXPECT_LE(total("lost") * 100, total("calls")) << answer.totals;
}

TEST(Scale, calls_of_all_functions_are_counted) {
    CountOfAll answer = count_all({"--by", "func"});
    ASSERT_NO_FATAL_FAILURE(expect_that_all_is_there(answer));
    EXPECT_EQ(answer.functions["at_four"], calls_counted);
    EXPECT_EQ(answer.totals["overflow"], 0u) << "no map is needed";
    EXPECT_GT(answer.functions.size(), 500u);
    EXPECT_EQ(answer.keys, answer.functions.size());
}

TEST(ScaleOfMaps, calls_that_a_map_has_no_room_for_are_counted) {
    CountOfAll answer = count_all({"--by", "func,$comm", "--map-size", "512"});
    ASSERT_NO_FATAL_FAILURE(expect_that_all_is_there(answer));
    EXPECT_GT(answer.totals["overflow"], 0u);
    EXPECT_LE(answer.keys, 512 * cpu_count());
}

} // namespace
} // namespace vmtest
