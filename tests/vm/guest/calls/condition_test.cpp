// SPDX-License-Identifier: GPL-2.0-only
// Conditions on functions of the kernel: the calls that they accept are those that a session
// without conditions has recorded with that property, of the same calls.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/machine.h"
#include "support/mixed_load.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

/// A condition, and the same of what was recorded.
struct Property {
    std::string condition;
    std::function<bool(const json &args, const json &event)> holds;
};

std::string text_of(const json &value) {
    return value.is_null() ? std::string() : value.get<std::string>();
}

bool is_above(const json &value, std::uint64_t limit) {
    return !value.is_null() && value.get<std::uint64_t>() > limit;
}

bool begins(const std::string &text, const std::string &with) {
    return text.compare(0, with.size(), with) == 0;
}

bool ends(const std::string &text, const std::string &with) {
    return text.size() >= with.size() &&
           text.compare(text.size() - with.size(), with.size(), with) == 0;
}

const std::string file_values =
    "count, *pos as pos, file->f_inode->i_ino as ino, file->f_flags as flags, "
    "str(file->f_path.dentry->d_name.name) as name, file->f_inode->i_sb->s_id as fs, comm as c, "
    "tid as t";

const std::vector<Property> file_properties = {
    {"count > 100", [](const json &args, const json &) { return is_above(args["count"], 100); }},
    {"*pos == 0", [](const json &args, const json &) { return args["pos"] == 0; }},
    {"file->f_inode->i_ino & 1 && count != 4096",
     [](const json &args, const json &) {
         return args["ino"].get<std::uint64_t>() % 2 == 1 && args["count"] != 4096;
     }},
    {"file->f_path.dentry->d_name.name ~ \"*e\"",
     [](const json &args, const json &) { return ends(text_of(args["name"]), "e"); }},
    {"file->f_inode->i_sb->s_id == \"tmpfs\" || file->f_inode->i_sb->s_id == \"pipefs\"",
     [](const json &args, const json &) {
         return args["fs"] == "tmpfs" || args["fs"] == "pipefs";
     }},
    {"str(file->f_path.dentry->d_name.name) ~ \"*e*\" && count != 1",
     [](const json &args, const json &) {
         return text_of(args["name"]).find('e') != std::string::npos && args["count"] != 1;
     }},
    {"comm ~ \"arg*\" && count <= 100",
     [](const json &args, const json &event) {
         return begins(text_of(event["comm"]), "arg") && !is_above(args["count"], 100);
     }},
    {"count < 10 ? *pos >= 0 : file->f_flags & O_NONBLOCK",
     [](const json &args, const json &) {
         return is_above(args["count"], 9) ? args["flags"].get<unsigned>() & 04000
                                           : !args["pos"].is_null();
     }},
};

/// What a load in a process of its own does; its threads.
std::set<pid_t> run_a_load() {
    ThreadList threads;
    const pid_t pid = fork();
    EXPECT_GE(pid, 0);
    if (pid == 0) {
        threads.enter();
        for (int round = 0; round < 4; round++)
            mixed_load_round("/tmp/conditions", threads);
        _exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
    const std::vector<pid_t> tids = threads.all();
    return {tids.begin(), tids.end()};
}

std::unique_ptr<Background> begin_trace(const std::vector<std::string> &specs) {
    std::vector<std::string> words{"argtrace", "trace", "--json", "--buffer", "4M"};
    words.insert(words.end(), specs.begin(), specs.end());
    return std::make_unique<Background>(words);
}

void wait_for(Background &trace) {
    const auto is_tracing = [&] { return trace.err_so_far().find("tracing") != std::string::npos; };
    EXPECT_TRUE(eventually([&] { return is_tracing() || !trace.is_running(); }));
    EXPECT_TRUE(is_tracing()) << trace.err_so_far();
}

/// The events of each thread of the load, in order.
std::map<pid_t, std::vector<json>> end_trace(Background &trace, const std::set<pid_t> &threads) {
    const Outcome outcome = trace.end(SIGINT);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    const json summary = json_summary(outcome.out);
    for (const json &cause : summary["lost"])
        EXPECT_EQ(cause, 0) << summary.dump();
    EXPECT_EQ(summary["hits"].get<std::uint64_t>(),
              summary["records"].get<std::uint64_t>() + summary["filtered"].get<std::uint64_t>());
    std::map<pid_t, std::vector<json>> calls;
    for (json &event : json_lines(outcome.out))
        if (threads.count(event["tid"]))
            calls[event["tid"]].push_back(std::move(event));
    return calls;
}

TEST(Conditions, accept_what_is_recorded_without_them) {
    need_argtrace();
    run({"argtrace", "clear"});
    const std::string read = "vfs_read(" + file_values + ")",
                      write = "vfs_write(" + file_values + ")";
    const auto unfiltered = begin_trace({read, write});
    // Each session has two conditions, one for each function.
    std::vector<std::unique_ptr<Background>> filtered;
    const std::size_t sessions = file_properties.size() / 2;
    for (std::size_t i = 0; i < sessions; i++)
        filtered.push_back(begin_trace({read + " if " + file_properties[2 * i].condition,
                                        write + " if " + file_properties[2 * i + 1].condition}));
    wait_for(*unfiltered);
    for (const auto &trace : filtered)
        wait_for(*trace);
    const std::set<pid_t> threads = run_a_load();
    std::vector<std::map<pid_t, std::vector<json>>> accepted;
    for (const auto &trace : filtered)
        accepted.push_back(end_trace(*trace, threads));
    const auto calls = end_trace(*unfiltered, threads);

    std::size_t compared = 0;
    for (std::size_t i = 0; i < file_properties.size(); i++) {
        const Property &property = file_properties[i];
        const char *function = i % 2 ? "vfs_write" : "vfs_read";
        std::size_t with = 0, without = 0;
        for (const auto &[tid, events] : calls) {
            std::vector<json> found = accepted[i / 2][tid];
            found.erase(
                std::remove_if(found.begin(), found.end(),
                               [&](const json &event) { return event["func"] != function; }),
                found.end());
            std::size_t next = 0;
            for (const json &event : events) {
                if (event["func"] != function)
                    continue;
                compared++;
                if (!property.holds(event["args"], event)) {
                    without++;
                    continue;
                }
                with++;
                ASSERT_LT(next, found.size())
                    << property.condition << " did not hold for " << event.dump();
                ASSERT_EQ(found[next]["args"].dump(), event["args"].dump()) << property.condition;
                next++;
            }
            ASSERT_EQ(next, found.size())
                << property.condition << " held for " << found[next].dump();
        }
        std::printf("%zu calls with, %zu without: %s\n", with, without, property.condition.c_str());
        EXPECT_GT(with, 0u) << property.condition;
        EXPECT_GT(without, 0u) << property.condition;
    }
    EXPECT_GT(compared, 1000u);
}

} // namespace
} // namespace vmtest
