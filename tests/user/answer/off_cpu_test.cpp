// SPDX-License-Identifier: GPL-2.0-only
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "answer/off_cpu.h"
#include "support/temporary_file.h"

namespace argtrace {
namespace {

class NoSymbols : public Symbols {
public:
    std::optional<Symbol> find(CodePlace) const override { return std::nullopt; }
};

class OffCpuAnswerTest : public testing::Test {
protected:
    OffCpuAnswerTest() {
        options_.wanted.stacks = false;
        options_.wanted.keys = {WaitKey::tid};
        options_.json = true;
        options_.output = file_.path();
    }

    /// Thread 5 sleeps from one time to another, and is runnable for 2 ns behind that.
    static void sleep(OffCpuAnswer &answer, std::uint64_t from, std::uint64_t to) {
        WaitTracker &tracker = answer.tracker();
        tracker.switched({from, 1, {5, 5, {}}, 1, false, 0, 0, 0});
        tracker.waking(to, 5, 5, {{9, 9, {}}, 0, 0});
        tracker.woken(5, 5);
        tracker.switched({to + 2, 1, {0, 0, {}}, 0, true, 0, 5, 5});
    }

    /// The last line that was written.
    nlohmann::json last() const {
        std::ifstream file(file_.path());
        std::string line, last;
        while (std::getline(file, line))
            last = line;
        return nlohmann::json::parse(last);
    }

    const test::TemporaryFile file_{""};
    const NoSymbols symbols_;
    OffCpuOptions options_;
};

TEST_F(OffCpuAnswerTest, AnIntervalShowsWhatHasComeInIt) {
    OffCpuAnswer answer(options_, symbols_);
    EXPECT_FALSE(answer.has_waits());
    sleep(answer, 100, 150);
    EXPECT_TRUE(answer.has_waits());
    EXPECT_TRUE(answer.show_interval(1000));
    EXPECT_EQ(last().at("ts"), 1000);
    EXPECT_EQ(last().at("blocked"), 50);
    EXPECT_FALSE(answer.has_waits());
    sleep(answer, 200, 230);
    EXPECT_TRUE(answer.show_interval(2000));
    EXPECT_EQ(last().at("waits"), 1);
    EXPECT_EQ(last().at("blocked"), 30);
}

TEST_F(OffCpuAnswerTest, TheEndIsOfAllIntervals) {
    OffCpuAnswer answer(options_, symbols_);
    sleep(answer, 100, 150);
    EXPECT_TRUE(answer.show_interval(1000));
    sleep(answer, 200, 230);
    EXPECT_TRUE(answer.show());
    EXPECT_TRUE(answer.finish(3000, std::nullopt));
    const nlohmann::json end = last();
    EXPECT_EQ(end.at("waits"), 2) << end;
    EXPECT_EQ(end.at("blocked"), 80) << end;
    EXPECT_EQ(end.at("runnable"), 4) << end;
}

TEST_F(OffCpuAnswerTest, WithoutIntervalsTheEndIsOfWhatWasShown) {
    OffCpuAnswer answer(options_, symbols_);
    sleep(answer, 100, 150);
    sleep(answer, 200, 230);
    EXPECT_TRUE(answer.show());
    EXPECT_EQ(last().at("waits"), 2);
    EXPECT_TRUE(answer.finish(3000, std::nullopt));
    EXPECT_EQ(last().at("waits"), 2);
}

} // namespace
} // namespace argtrace
