// SPDX-License-Identifier: GPL-2.0-only
// The kernel's own fprobe event with $arg* and argtrace on the same calls of vfs_read.
#include <gtest/gtest.h>
#include <signal.h>

#include <regex>
#include <sstream>

#include "support/command.h"
#include "support/machine.h"
#include "support/tracefs.h"

namespace vmtest {
namespace {

using CallLines = std::vector<std::string>;

/// "file=0x.. buf=0x.. count=N pos=0x.." of each event of that process, in order.
CallLines fprobe_calls(pid_t pid) {
    CallLines calls;
    std::istringstream lines(read_file(tracing_directory + "trace"));
    std::string line;
    const std::regex event("-" + std::to_string(pid) +
                           R"( .* at_vfs_read: \(vfs_read.*\) file=(\S+) buf=(\S+) count=(\S+) )"
                           R"(pos=(\S+))");
    std::smatch match;
    while (std::getline(lines, line)) {
        if (!std::regex_search(line, match, event))
            continue;
        // fprobe prints integers whose sign it does not know in hexadecimal.
        calls.push_back("file=" + match[1].str() + " buf=" + match[2].str() + " count=" +
                        std::to_string(std::stoull(match[3].str(), nullptr, 0)) +
                        " pos=" + match[4].str());
    }
    return calls;
}

CallLines argtrace_calls(const std::string &out, pid_t pid) {
    CallLines calls;
    for (const auto &event : json_lines(out)) {
        if (event["tid"] != pid)
            continue;
        const auto &args = event["args"];
        calls.push_back("file=" + args["file"].get<std::string>() +
                        " buf=" + args["buf"].get<std::string>() +
                        " count=" + std::to_string(args["count"].get<std::uint64_t>()) +
                        " pos=" + args["pos"].get<std::string>());
    }
    return calls;
}

TEST(Fprobe, sees_the_same_arguments_in_the_same_calls) {
    if (!has_fprobe())
        GTEST_SKIP() << "this kernel is built without CONFIG_FPROBE: it has no fprobe events";
    need_argtrace();
    Background trace({"argtrace", "trace", "--json", "--buffer", "16M", "vfs_read"});
    ASSERT_TRUE(eventually([] { return is_armed("vfs_read"); }));
    // Not earlier: an fprobe event arms its function when it is created.
    EXPECT_EQ(write_tracefs("dynamic_events", "f:at_vfs_read vfs_read $arg*\n"), 0);
    EXPECT_EQ(write_tracefs("events/fprobes/at_vfs_read/enable", "1"), 0);

    // Both tracers see the process from its first call to its last: it starts after them and ends before.
    Background load({"dd", "if=/dev/zero", "of=/dev/null", "bs=3333", "count=200"});
    const pid_t pid = load.pid();
    ASSERT_EQ(load.wait().status, 0);

    EXPECT_EQ(write_tracefs("tracing_on", "0"), 0);
    const Outcome outcome = trace.end(SIGINT);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const CallLines theirs = fprobe_calls(pid), ours = argtrace_calls(outcome.out, pid);

    EXPECT_EQ(write_tracefs("events/fprobes/at_vfs_read/enable", "0"), 0);
    EXPECT_EQ(write_tracefs("tracing_on", "1"), 0);
    EXPECT_EQ(write_tracefs("dynamic_events", "-:fprobes/at_vfs_read\n"), 0);
    EXPECT_FALSE(is_armed("vfs_read"));

    EXPECT_GE(ours.size(), 200u);
    EXPECT_EQ(ours, theirs);
    std::printf("compared %zu calls\n", ours.size());
}

} // namespace
} // namespace vmtest
