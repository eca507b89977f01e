// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/call_trees.h"

#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace argtrace {
namespace {

using Trees = CallTrees<std::string>;

std::string shown(const Trees::Call &call) {
    std::string text = call.payload;
    if (!call.inner.empty()) {
        text += '(';
        for (const Trees::Call &inner : call.inner)
            text += shown(inner) + (&inner == &call.inner.back() ? "" : " ");
        text += ')';
    }
    return text;
}

class CallTreesTest : public testing::Test {
protected:
    void left(const char *name, std::uint64_t begin, std::uint64_t end) {
        Event event;
        event.ts = begin;
        event.duration = end - begin;
        event.tid = 1;
        event.left = true;
        trees.add(event, name);
    }

    void add(const char *name, std::uint64_t begin, std::uint64_t end, std::uint32_t tid = 1,
             std::uint32_t cpu = 0) {
        Event event;
        event.ts = begin;
        event.duration = end - begin;
        event.tid = tid;
        event.cpu = cpu;
        trees.add(event, name);
    }

    std::string ended(std::uint64_t limit = std::numeric_limits<std::uint64_t>::max()) {
        std::string text;
        trees.take_ended(limit, [&](const Trees::Call &call) {
            text += (text.empty() ? "" : " ") + shown(call);
        });
        return text;
    }

    Trees trees;
};

TEST_F(CallTreesTest, NestByTime) {
    add("b", 2, 3);
    add("d", 5, 6);
    add("c", 4, 7);
    add("a", 1, 8);
    add("e", 9, 10);
    EXPECT_EQ(trees.calls(), 5u);
    EXPECT_EQ(ended(), "a(b c(d)) e");
    EXPECT_EQ(trees.calls(), 0u);
}

TEST_F(CallTreesTest, EachTaskHasItsOwn) {
    add("inner", 3, 4, 1);
    add("other", 2, 5, 2);
    add("outer", 1, 6, 1);
    add("idle0", 2, 3, 0, 0);
    add("idle1", 1, 4, 0, 1);
    EXPECT_EQ(ended(), "outer(inner) idle1 other idle0");
}

TEST_F(CallTreesTest, EqualTimesAreInside) {
    add("inner", 1, 1);
    add("outer", 1, 1);
    add("next", 1, 2);
    EXPECT_EQ(ended(), "next(outer(inner))");
}

TEST_F(CallTreesTest, EntriesAloneHaveNoLength) {
    Event event;
    event.ts = 5;
    event.tid = 1;
    trees.add(event, "entry");
    add("outer", 4, 6);
    EXPECT_EQ(ended(), "outer(entry)");
}

TEST_F(CallTreesTest, WaitForTheCallAround) {
    add("b", 2, 3);
    EXPECT_EQ(ended(3), "");
    add("c", 4, 5);
    EXPECT_EQ(ended(4), "b");
    add("a", 1, 8); // took longer than anybody waited
    EXPECT_EQ(ended(), "a(c)");
}

TEST_F(CallTreesTest, CallsThatWereLeftEndWithThoseThatTheyAreIn) {
    add("b", 3, 4);
    add("a", 1, 6);
    add("c", 7, 8);
    left("l", 2, 9); // which is known long after
    EXPECT_EQ(trees.calls(), 4u);
    std::uint64_t ended_at = 0;
    std::string text;
    trees.take_ended(std::numeric_limits<std::uint64_t>::max(), [&](const Trees::Call &call) {
        text += shown(call) + ' ';
        if (!call.inner.empty())
            ended_at = call.inner[0].end;
    });
    EXPECT_EQ(text, "a(l(b)) c ");
    EXPECT_EQ(ended_at, 6u);
}

TEST_F(CallTreesTest, CallsThatWereLeftHaveNestedOnesInThem) {
    add("c", 4, 5);
    left("b", 3, 7); // as they are recorded when a thread ends: the inner one first
    left("a", 2, 8);
    add("d", 9, 10);
    EXPECT_EQ(ended(), "a(b(c)) d");
}

TEST_F(CallTreesTest, WhatLeavesCallsIsInThem) {
    left("b", 2, 6);
    left("a", 1, 7);
    add("execve", 3, 8);
    add("next", 9, 10);
    EXPECT_EQ(trees.calls(), 4u);
    std::uint64_t ended_at = 0;
    std::string text;
    trees.take_ended(std::numeric_limits<std::uint64_t>::max(), [&](const Trees::Call &call) {
        text += shown(call) + ' ';
        ended_at = ended_at ? ended_at : call.end;
    });
    EXPECT_EQ(text, "a(b(execve)) next ");
    EXPECT_EQ(ended_at, 8u);
}

TEST_F(CallTreesTest, NothingIsPutIntoACallThatWasLeftLongAgo) {
    add("a", 1, 4);
    EXPECT_EQ(ended(5), "a");
    add("b", 5, 6);
    left("l", 2, 7);
    EXPECT_EQ(ended(), "l b");
}

TEST_F(CallTreesTest, ManyRandomTrees) {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        // Calls and returns of one task, as a stack machine makes them.
        std::vector<std::pair<std::uint64_t, std::string>> open;
        std::vector<std::string> expected(1);
        std::uint64_t time = 0;
        std::size_t calls = 0;
        const auto close = [&] {
            const auto [begin, name] = open.back();
            open.pop_back();
            add(name.c_str(), begin, ++time);
            std::string text = name;
            if (!expected.back().empty())
                text += '(' + expected.back() + ')';
            expected.pop_back();
            expected.back() += (expected.back().empty() ? "" : " ") + text;
        };
        for (int step = 0; step < 60; ++step) {
            if (open.empty() || random() % 2) {
                open.emplace_back(++time, std::to_string(calls++));
                expected.emplace_back();
            } else {
                close();
            }
        }
        while (!open.empty())
            close();
        EXPECT_EQ(trees.calls(), calls);
        EXPECT_EQ(ended(), expected.at(0));
    }
}

} // namespace
} // namespace argtrace
