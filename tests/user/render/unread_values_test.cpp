// SPDX-License-Identifier: GPL-2.0-only
#include "render/unread_values.h"

#include <gtest/gtest.h>

#include "render/status.h"
#include "support/packet_builder.h"

namespace argtrace {
namespace {

class UnreadValuesTest : public testing::Test {
protected:
    static Probe probe(std::string function, std::vector<std::string> outputs) {
        Probe made;
        made.function = std::move(function);
        made.args = {test::argument("plain", ARGTRACE_TYPE_U64)};
        for (std::string &name : outputs)
            made.args.push_back(test::output(std::move(name), ARGTRACE_TYPE_U64));
        return made;
    }

    /// A call of which these outputs were read.
    void call(const Probe &of, std::vector<bool> read) {
        std::vector<Value> values(1); // the plain argument is not captured, which is another matter
        for (const bool one : read)
            values.push_back({0, 0, ARGTRACE_TYPE_U64, one});
        Event event;
        event.probe = &of;
        unread_.add(EventView{&event, values});
    }

    std::string json() const {
        std::string text;
        unread_.append_json(text);
        return text;
    }

    UnreadValues unread_;
};

TEST_F(UnreadValuesTest, NamesArgumentAndFunction) {
    const Probe open = probe("vfs_open", {"path", "file"});
    EXPECT_TRUE(unread_.empty());
    EXPECT_EQ(unread_.describe(), "");
    EXPECT_EQ(json(), "{}");
    call(open, {true, true});
    EXPECT_TRUE(unread_.empty());
    call(open, {true, false});
    call(open, {false, false});
    EXPECT_FALSE(unread_.empty());
    EXPECT_EQ(unread_.describe(), "2 of file in vfs_open, 1 of path in vfs_open");
    EXPECT_EQ(json(), R"({"vfs_open":{"file":2,"path":1}})");
}

TEST_F(UnreadValuesTest, TellsTheMostFrequentAndSumsUpTheRest) {
    const Probe first = probe("a", {"x", "y"}), second = probe("b", {"x\""}), namesake = probe("a", {"x"}), last = probe("c", {"z"});
    call(first, {false, false});
    call(first, {false, true});
    call(namesake, {false});
    for (int i = 0; i < 5; ++i)
        call(last, {false});
    call(second, {false});
    call(second, {false});
    EXPECT_EQ(unread_.describe(), "5 of z in c, 3 of x in a, 2 of x\" in b and 1 of others");
    EXPECT_EQ(json(), R"({"a":{"x":3,"y":1},"b":{"x\"":2},"c":{"z":5}})");
}

TEST_F(UnreadValuesTest, WhatIsNeverReadMayBePerCpu) {
    Probe alloc = probe("alloc", {"count", "s->slab->tid"});
    alloc.id = 3;
    call(alloc, {false, false});
    call(alloc, {false, false});
    argtrace_counts counts[2]{};
    counts[1].id = 3;
    counts[1].records = 2;
    counts[1].faults = 2;
    EXPECT_TRUE(unread_.hint(counts).starts_with("s->slab->tid could be read in no call of alloc: if a pointer in it is a per-cpu pointer, "))
        << unread_.hint(counts);
    counts[1].records = 3;
    EXPECT_EQ(unread_.hint(counts), "") << "it was read once";
    call(alloc, {false, true});
    counts[1].faults = 3;
    EXPECT_EQ(unread_.hint(counts), "") << "another one was not";
    EXPECT_EQ(unread_.hint({}), "");
}

TEST_F(UnreadValuesTest, StandBehindTheFaults) {
    const Probe open = probe("vfs_open", {"file"});
    call(open, {false});
    argtrace_counts total{};
    total.records = 1;
    total.faults = 1;
    EXPECT_EQ(trace_summary(1, total, {}, unread_),
              "1 event shown; 1 call: 1 recorded, 0 lost, 0 filtered; 1 fault: 1 of file in vfs_open");
    std::string text;
    append_summary_json(text, 1, &total, nullptr, nullptr, unread_);
    EXPECT_TRUE(text.ends_with(",\"faults\":1,\"unread\":{\"vfs_open\":{\"file\":1}}}\n")) << text;
}

} // namespace
} // namespace argtrace
