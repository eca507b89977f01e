// SPDX-License-Identifier: GPL-2.0-only
// The kernel's tracepoints, against what its own events say of the same passes.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/machine.h"
#include "support/tracefs.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;
using Passes = std::map<std::string, std::vector<std::string>>; // by event

constexpr std::array<const char *, 4> compared_events{"sched/sched_switch", "sched/sched_process_fork", "task/task_rename",
                                             "irq/irq_handler_entry"};
constexpr char first_mark[] = "events-begin", last_mark[] = "events-end";

std::string event_name(const char *event) { return std::string(event).substr(std::string(event).find('/') + 1); }

class TracepointEvents : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        ASSERT_EQ(prctl(PR_GET_NAME, own_name_), 0);
        ASSERT_EQ(write_tracefs("trace", "\n"), 0);
        enable("1");
    }
    void TearDown() override {
        enable("0");
        unpin();
        prctl(PR_SET_NAME, own_name_); // other tests know it
    }

    static void enable(const char *on) {
        for (const char *event : compared_events)
            EXPECT_EQ(write_tracefs(std::string("events/") + event + "/enable", on), 0) << event;
    }

private:
    char own_name_[16] = {}; // TASK_COMM_LEN
};

/// What is between the marks, of which the first is left out.
struct Between {
    bool begun = false, ended = false;
    Passes passes;

    void add(const std::string &name, const std::string &text) {
        if (name == "task_rename" && text.find(std::string("newcomm=") + last_mark) != text.npos)
            ended = true;
        if (begun && !ended)
            passes[name].push_back(text);
        if (name == "task_rename" && text.find(std::string("newcomm=") + first_mark) != text.npos)
            begun = true;
    }
};

// The state as the event has it: "R+" is a task that was preempted, and the states that are rare have one word.
std::string state_of(const json &args) {
    if (args["preempt"] != 0)
        return "R+";
    const auto state = args["prev_state"].get<std::uint64_t>();
    constexpr std::uint64_t idle = 0x402, reported = 0xff; // TASK_IDLE; the other bits, such as TASK_FREEZABLE, are in no event
    if ((state & idle) == idle)
        return "I";
    return (state & reported) == 0 ? "R" : (state & reported) == 1 ? "S" : (state & reported) == 2 ? "D" : "other";
}

std::string our_text(const std::string &name, const json &args) {
    std::ostringstream text;
    const auto str = [&args](const char *key) { return args[key].get<std::string>(); };
    if (name == "sched_switch")
        text << "prev_comm=" << str("prev_comm") << " prev_pid=" << args["prev_pid"] << " prev_prio=" << args["prev_prio"]
             << " prev_state=" << state_of(args) << " ==> next_comm=" << str("next_comm") << " next_pid=" << args["next_pid"]
             << " next_prio=" << args["next_prio"];
    else if (name == "sched_process_fork")
        text << "comm=" << str("comm") << " pid=" << args["pid"] << " child_comm=" << str("child_comm")
             << " child_pid=" << args["child_pid"];
    else if (name == "task_rename")
        text << "oldcomm=" << str("oldcomm") << " newcomm=" << str("newcomm") << " oom_score_adj=" << args["adj"];
    else
        text << "irq=" << args["irq"] << " name=" << str("name");
    return text.str();
}

// A state that is none of those above is only compared as such.
std::string kernels_text(const std::string &name, std::string text) {
    if (name == "task_rename")
        return text.substr(text.find("oldcomm=")); // older kernels say the pid first
    if (name != "sched_switch")
        return text;
    const std::size_t at = text.find(" prev_state=") + 12, end = text.find(" ==>");
    const std::string state = text.substr(at, end - at);
    if (state != "R+" && state != "R" && state != "S" && state != "D" && state != "I")
        text.replace(at, end - at, "other");
    return text;
}

Between kernels_passes(unsigned cpu) {
    Between between;
    std::istringstream lines(read_file(tracing_directory + "per_cpu/cpu" + std::to_string(cpu) + "/trace"));
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with('#'))
            continue;
        for (const char *event : compared_events) {
            const std::string name = event_name(event), head = ": " + name + ": ";
            const std::size_t at = line.find(head);
            if (at != line.npos)
                between.add(name, kernels_text(name, line.substr(at + head.size())));
        }
    }
    return between;
}

TEST_F(TracepointEvents, say_the_same_of_the_same_passes) {
    const unsigned cpu = cpu_count() - 1;
    Background trace({"argtrace", "trace", "--json", "--include-self",
                      "t:sched:sched_switch(str(prev->comm) as prev_comm, prev->pid as prev_pid, prev->prio as prev_prio, preempt + 0 as preempt, "
                      "prev_state + 0 as prev_state, str(next->comm) as next_comm, next->pid as next_pid, next->prio as next_prio)",
                      "t:sched:sched_process_fork(str(parent->comm) as comm, parent->pid as pid, str(child->comm) as child_comm, "
                      "child->pid as child_pid)",
                      "t:task:task_rename(str(task->comm) as oldcomm, str(comm) as newcomm, task->signal->oom_score_adj as adj)",
                      "t:irq:irq_handler_entry(irq, str(action->name) as name)"});
    ASSERT_TRUE(eventually([&] { return trace.err_so_far().find("tracing") != std::string::npos || !trace.is_running(); }));
    pin_to_cpu(cpu);
    prctl(PR_SET_NAME, first_mark);
    for (int round = 0; round < 5; ++round) {
        const pid_t child = fork();
        if (child == 0) {
            execl("/bin/true", "true", nullptr);
            _exit(1);
        }
        waitpid(child, nullptr, 0);
        std::ofstream("/dev/console") << '\n';
        usleep(2000);
    }
    prctl(PR_SET_NAME, last_mark);
    const Outcome outcome = trace.end(SIGINT);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    ASSERT_EQ(json_summary(outcome.out)["lost"]["full"], 0);

    Between ours;
    for (const json &event : json_lines(outcome.out)) {
        if (event["cpu"] != cpu)
            continue;
        const std::string func = event["func"];
        const std::string name = func.substr(func.rfind(':') + 1);
        ours.add(name, our_text(name, event["args"]));
    }
    const Between kernels = kernels_passes(cpu);
    ASSERT_TRUE(ours.ended && kernels.ended);
    EXPECT_EQ(ours.passes, kernels.passes);
    EXPECT_GE(ours.passes["sched_switch"].size(), 15u);
    EXPECT_EQ(ours.passes["sched_process_fork"].size(), 5u);
    EXPECT_GE(ours.passes["task_rename"].size(), 5u);
    for (const auto &[name, passes] : ours.passes)
        std::cout << name << ": " << passes.size() << " passes compared\n";
}

} // namespace
} // namespace vmtest
