// SPDX-License-Identifier: GPL-2.0-only
// Every function of the kernel at once, under load: the machine stays up, and the numbers at the
// end add up to the last call.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "command.h"
#include "machine.h"

namespace vmtest {
namespace {

std::uint64_t sum_of_outcomes(const nlohmann::ordered_json &line) {
    std::uint64_t sum = line["records"].get<std::uint64_t>() + line["filtered"].get<std::uint64_t>();
    for (const auto &lost : line["lost"])
        sum += lost.get<std::uint64_t>();
    return sum;
}

TEST(Scale, all_functions_at_once) {
    need_argtrace();
    ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
    const Outcome added = run({"argtrace", "add", "--buffer", "1M", "*"});
    ASSERT_EQ(added.status, 0) << added.err;

    {
        std::vector<std::unique_ptr<Background>> load;
        for (const char *script : {"while :; do ls -lR /sys/kernel /proc/sys; done",
                                   "while :; do dd if=/dev/zero of=/tmp/scale bs=4k count=50; done",
                                   "while :; do sh -c 'echo a | cat | cat'; done"})
            load.push_back(std::make_unique<Background>(
                std::vector<std::string>{"sh", "-c", script}));
        const Outcome trace = run({"argtrace", "trace", "--duration", "5"});
        EXPECT_EQ(trace.status, 0) << trace.err;
        EXPECT_GT(trace.out.size(), 100000u);
        for (const auto &one : load)
            EXPECT_TRUE(one->is_running());
    }

    // The status command makes calls itself while it reads: each line adds up at its own moment.
    const auto lines = json_lines(run({"argtrace", "status", "--json"}).out);
    ASSERT_GT(lines.size(), 30000u);
    std::uint64_t hits = 0;
    for (std::size_t i = 0; i + 1 < lines.size(); i++) {
        ASSERT_EQ(sum_of_outcomes(lines[i]), lines[i]["hits"].get<std::uint64_t>())
            << lines[i].dump();
        hits += lines[i]["hits"].get<std::uint64_t>();
    }
    EXPECT_EQ(lines.back()["hits"].get<std::uint64_t>(), hits);
    EXPECT_GT(hits, 100000u);
    std::printf("%zu functions, %llu calls\n", lines.size() - 1,
                static_cast<unsigned long long>(hits));

    const Outcome removed = run({"argtrace", "rm", "*"});
    EXPECT_EQ(removed.status, 0) << removed.err;
    EXPECT_EQ(read_file("/sys/kernel/tracing/enabled_functions"), "");
    EXPECT_EQ(run({"argtrace", "clear"}).status, 0);
    EXPECT_EQ(unload_module("argtrace"), 0);
    need_argtrace();
}

} // namespace
} // namespace vmtest
