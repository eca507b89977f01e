// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/event_expression.h"

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/packet_builder.h"
#include "support/thrown.h"
#include "util/error.h"

namespace argtrace {
namespace {

/// Ticks as they are recorded: of dd (pid 11, tid 12) on CPU 3, with uid, a text and a number that may be negative.
class RecordedTick : public testing::Test {
protected:
    RecordedTick() {
        probe_.function = "cycles";
        probe_.kind = ARGTRACE_KIND_TIMER;
        probe_.args = {test::argument("uid", ARGTRACE_TYPE_U32), test::argument("name", ARGTRACE_TYPE_STR),
                       test::argument("nice", ARGTRACE_TYPE_S32), test::argument("big", ARGTRACE_TYPE_U64)};
        Event event;
        event.probe = &probe_;
        event.tid = 12;
        event.tgid = 11;
        event.cpu = 3;
        std::memcpy(event.comm.data(), "dd", 2);
        batch_.events.push_back(event);
        set("etc/passwd", -5, 0xffffffff, ~std::uint64_t{0});
    }

    void set(const std::string &name, std::int64_t nice, std::uint64_t uid, std::uint64_t big) {
        batch_.values.clear();
        const auto text = std::as_bytes(std::span(name));
        batch_.bytes.assign(text.begin(), text.end());
        batch_.values.push_back({uid, 0, ARGTRACE_TYPE_U32, true});
        batch_.values.push_back({0, name.size(), ARGTRACE_TYPE_STR, true});
        batch_.values.push_back({static_cast<std::uint64_t>(nice), 0, ARGTRACE_TYPE_S32, true});
        batch_.values.push_back({big, 0, ARGTRACE_TYPE_U64, true});
    }

    bool holds(const std::string &text) {
        EventExpression condition(lang::parse_condition(text));
        EXPECT_EQ(condition.check(probe_), "") << text;
        return condition.holds(batch_.view(batch_.events.front()));
    }

    std::string error(const std::string &text) {
        return thrown([&] {
            EventExpression condition(lang::parse_condition(text));
            condition.check(probe_);
        });
    }

    Probe probe_;
    EventBatch batch_;
};

TEST_F(RecordedTick, HasWhatEveryEventHas) {
    for (const char *yes : {"comm == \"dd\"", "\"dd\" == comm", "comm != \"d\"", "comm ~ \"d*\"", "comm !~ \"*x*\"", "pid == 11",
                            "$tid == 12", "cpu == 3", "cpu", "name == \"etc/passwd\"", "name ~ \"*/passwd\"",
                            "name ~ \"etc*wd\"", "name ~ \"e?c/*\""})
        EXPECT_TRUE(holds(yes)) << yes;
    for (const char *no : {"comm == \"ddx\"", "comm == \"\"", "comm ~ \"dd?\"", "pid == 12", "cpu < 3", "!cpu", "name !~ \"e*\""})
        EXPECT_FALSE(holds(no)) << no;
}

TEST_F(RecordedTick, OperatorsAreThoseOfC) {
    for (const char *yes :
         {"pid + 1 == tid", "pid * 2 - 1 == 21", "23 / pid == 2", "23 % pid == 1", "(cpu & 1) == 1", "(cpu | 4) == 7",
          "(cpu ^ 1) == 2", "1 << cpu == 8", "64 >> cpu == 8", "pid < tid", "tid > pid", "pid <= 11", "tid >= 12", "cpu != 2",
          "pid == 11 && tid == 12", "pid == 1 || tid == 12", "!(pid == 1)", "-pid == 0 - 11", "~cpu == -4", "+cpu == 3",
          "pid == 11 ? tid == 12 : 0", "'a' == 97", "0x10 == 16", "pid == 1 || pid == 11 && tid == 12"})
        EXPECT_TRUE(holds(yes)) << yes;
    for (const char *no : {"pid > tid", "pid >= 12", "pid == 11 && tid == 1", "0", "pid == 11 ? 0 : 1"})
        EXPECT_FALSE(holds(no)) << no;
}

TEST_F(RecordedTick, NumbersAreConvertedAsInC) {
    EXPECT_TRUE(holds("nice == -5"));
    EXPECT_TRUE(holds("nice < 0"));
    EXPECT_TRUE(holds("uid == -1")) << "both are unsigned int";
    EXPECT_TRUE(holds("uid > 0"));
    EXPECT_FALSE(holds("uid < 0"));
    EXPECT_TRUE(holds("big == -1")) << "both are unsigned long";
    EXPECT_FALSE(holds("uid == -1L")) << "long holds all of unsigned int";
    EXPECT_TRUE(holds("nice > 1U")) << "both are unsigned int";
    EXPECT_FALSE(holds("uid + 1")) << "it wraps";
    EXPECT_TRUE(holds("uid + 1L"));
    EXPECT_TRUE(holds("nice >> 1 == -3"));
}

TEST_F(RecordedTick, DoesNotMatchByWhatCouldNotBeRead) {
    batch_.values[0].captured = false;
    batch_.values[1].captured = false;
    EXPECT_FALSE(holds("uid == 0"));
    EXPECT_FALSE(holds("uid != 0"));
    EXPECT_FALSE(holds("name == \"\""));
    EXPECT_FALSE(holds("!uid"));
    EXPECT_TRUE(holds("pid == 11 || uid == 0")) << "nobody has asked for it";
    EXPECT_FALSE(holds("1 / (cpu - 3) == 0")) << "nor by a division by zero";
    EXPECT_FALSE(holds("1 / (cpu - 3) != 0"));
}

TEST_F(RecordedTick, LacksWhatWasNotRecorded) {
    EventExpression condition(lang::parse_condition("pid == 1 && cgroup == 7"));
    EXPECT_EQ(condition.check(probe_), "cgroup");
    EXPECT_TRUE(holds("pid == SIGSEGV")) << "a constant of the kernel's interface";
}

TEST_F(RecordedTick, MakesSenseOrIsRefused) {
    EXPECT_NE(error("task->pid == 1").find("task->pid is not known of what has been recorded"), std::string::npos);
    EXPECT_NE(error("str(name) == \"a\"").find("str(name) is not known"), std::string::npos);
    EXPECT_NE(error("*big == 1").find("*big is not known"), std::string::npos);
    EXPECT_NE(error("comm").find("comm is a text"), std::string::npos);
    EXPECT_NE(error("comm + 1 == 2").find("comm is a text"), std::string::npos);
    EXPECT_NE(error("comm == 1").find("comm is a text, and is compared with a number"), std::string::npos);
    EXPECT_NE(error("pid ~ \"1*\"").find("pid is no text"), std::string::npos);
    EXPECT_NE(error("comm ~ name").find("stands a glob in quotes"), std::string::npos);
    EXPECT_NE(error("comm ~ \"[ab]*\"").find("a glob may have * and ? alone"), std::string::npos);
    EXPECT_NE(error("comm < \"b\"").find("comm is a text"), std::string::npos);
    EXPECT_NE(error("!comm").find("comm is a text"), std::string::npos);
}

TEST_F(RecordedTick, ProbesAreToldApart) {
    Probe other = probe_;
    other.args.pop_back();
    std::swap(other.args[0], other.args[2]);
    EventExpression condition(lang::parse_condition("nice == -5"));
    EXPECT_EQ(condition.check(probe_), "");
    EXPECT_TRUE(condition.holds(batch_.view(batch_.events.front())));
    EXPECT_EQ(condition.check(other), "");
    EventBatch batch = batch_;
    batch.events.front().probe = &other;
    EXPECT_FALSE(condition.holds(batch.view(batch.events.front()))) << "there it is 0xffffffff";
    EXPECT_EQ(condition.check(probe_), "");
    EXPECT_TRUE(condition.holds(batch_.view(batch_.events.front())));
}

} // namespace
} // namespace argtrace
