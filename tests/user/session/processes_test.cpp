// SPDX-License-Identifier: GPL-2.0-only
#include "session/processes.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "file/info.h"
#include "render/trace_info.h"
#include "support/thrown.h"

namespace argtrace {
namespace {

using Pids = std::vector<std::uint32_t>;

TEST(Processes, NumbersAreReadAndAddUp) {
    Pids pids;
    parse_pids("-p", "12", pids);
    EXPECT_EQ(pids, Pids{12});
    parse_pids("-p", "34,12,2147483647", pids);
    EXPECT_EQ(pids, (Pids{12, 34, 2147483647})) << "each of them once";
}

TEST(Processes, WhatIsNoNumberOfAProcess) {
    for (const char *bad : {"",
                            ",",
                            "0",
                            "-1",
                            "+1",
                            "12,",
                            ",12",
                            "12,,34",
                            "12 34",
                            "12, 34",
                            " 12",
                            "12 ",
                            "1x",
                            "x",
                            "0x10",
                            "1.5",
                            "2147483648",
                            "4294967297",
                            "99999999999999999999",
                            "12,0",
                            "1-3"}) {
        Pids pids;
        EXPECT_EQ(thrown([&] { parse_pids("-p", bad, pids); }),
                  std::string("-p takes the numbers of processes, such as 12 or 12,34, not '") +
                      bad + "'");
    }
}

TEST(Processes, InWords) {
    EXPECT_EQ(describe({{}, false}), "all processes");
    EXPECT_EQ(describe({{12}, false}), "process 12");
    EXPECT_EQ(describe({{12}, true}), "process 12 and its children");
    EXPECT_EQ(describe({{12, 34, 5}, false}), "processes 12, 34, 5");
    EXPECT_EQ(describe({{12, 34}, true}), "processes 12, 34 and their children");
}

TEST(Processes, AThreadIsNoProcess) {
    std::atomic<pid_t> tid = 0;
    std::atomic<bool> done = false;
    std::thread thread([&] {
        tid = static_cast<pid_t>(::syscall(SYS_gettid));
        done.wait(false);
    });
    while (tid == 0)
        std::this_thread::yield();
    const std::string process = std::to_string(::getpid());
    EXPECT_EQ(no_process(static_cast<std::uint32_t>(tid)).what(),
              std::to_string(tid) + ": is a thread of process " + process +
                  ", whose threads can only be traced together: use -p " + process);
    done = true;
    done.notify_all();
    thread.join();
    EXPECT_STREQ(no_process(2147483647).what(), "2147483647: no such process");
}

TEST(Processes, StandInAFile) {
    TraceInfo info;
    info.processes = {12, 34};
    info.children = true;
    EXPECT_EQ(info_from_json(to_json(info)), info);
    EXPECT_FALSE(info_from_json(R"({"processes":["12"]})"));
    EXPECT_FALSE(info_from_json(R"({"processes":[-1]})"));
    EXPECT_FALSE(info_from_json(R"({"processes":12})"));
    EXPECT_FALSE(info_from_json(R"({"children":1})"));
    EXPECT_TRUE(info_from_json("{}")->processes.empty()) << "of an older file";

    std::string out;
    append_trace_info_text(out, info);
    EXPECT_NE(out.find("\ncalls of                processes 12, 34 and their children\n"), out.npos)
        << out;
}

} // namespace
} // namespace argtrace
