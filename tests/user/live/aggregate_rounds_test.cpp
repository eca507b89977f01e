// SPDX-License-Identifier: GPL-2.0-only
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "live/aggregate_rounds.h"
#include "support/temporary_file.h"

namespace argtrace {
namespace {

class NoSymbols : public Symbols {
public:
    std::optional<Symbol> find(CodePlace) const override { return std::nullopt; }
};

class AggregateRoundsTest : public testing::Test {
protected:
    AggregateRoundsTest() { output_.set_keys(columns_, names_); }

    void add_calls(int number) {
        for (int i = 0; i < number; ++i)
            all_.add_call({{{0, 0, ARGTRACE_TYPE_STR, true}, "vfs_read"}});
    }

    /// The lines of the counts that have been shown, each "TIME CALLS".
    std::string shown() const {
        std::ifstream file(file_.path());
        std::string text, lines;
        while (std::getline(file, text)) {
            const auto number = [&text](const std::string &name) {
                const std::size_t at = text.find('"' + name + "\":");
                return at == text.npos ? "-" : text.substr(at + name.size() + 3, text.find_first_of(",}", at) - at - name.size() - 3);
            };
            lines += number("ts") + ' ' + number("count") + '\n';
        }
        return lines;
    }

    AggregateRounds rounds() {
        return {options_, output_, [this] { return all_; }};
    }

    const test::TemporaryFile file_{""};
    NoSymbols symbols_;
    CallerNames names_{symbols_};
    std::vector<KeyColumn> columns_{{"func", true}};
    AggregateOptions options_;
    AggregateOutput output_{file_.path(), {}, true, true};
    Aggregation all_;
};

TEST_F(AggregateRoundsTest, AnIntervalShowsWhatHasComeInIt) {
    options_.interval = 100;
    AggregateRounds rounds = this->rounds();
    rounds.begin(1000);
    EXPECT_EQ(rounds.next(), 1100u);
    add_calls(2);
    EXPECT_EQ(rounds.round(1099), std::nullopt);
    EXPECT_EQ(shown(), "");
    EXPECT_EQ(rounds.round(1100), std::nullopt);
    EXPECT_EQ(shown(), "1100 2\n");
    add_calls(3);
    EXPECT_EQ(rounds.round(1200), std::nullopt);
    EXPECT_EQ(shown(), "1100 2\n1200 3\n");
    EXPECT_TRUE(rounds.finish(1250));
    EXPECT_EQ(shown(), "1100 2\n1200 3\n") << "nothing has come since";
}

TEST_F(AggregateRoundsTest, MissedIntervalsAreNotMadeUpFor) {
    options_.interval = 100;
    AggregateRounds rounds = this->rounds();
    rounds.begin(1000);
    add_calls(1);
    EXPECT_EQ(rounds.round(1350), std::nullopt);
    EXPECT_EQ(rounds.next(), 1400u);
    EXPECT_EQ(shown(), "1350 1\n");
}

TEST_F(AggregateRoundsTest, TheLastIntervalIsShownInTheEnd) {
    options_.interval = 100;
    options_.rounds = 1;
    AggregateRounds rounds = this->rounds();
    rounds.begin(1000);
    add_calls(1);
    EXPECT_EQ(rounds.round(1100), LiveLoop::End::reached);
    EXPECT_EQ(shown(), "");
    add_calls(1);
    EXPECT_TRUE(rounds.finish(1110));
    EXPECT_EQ(shown(), "1110 2\n");
}

TEST_F(AggregateRoundsTest, WithoutIntervalsAllIsShownInTheEnd) {
    AggregateRounds rounds = this->rounds();
    rounds.begin(1000);
    EXPECT_EQ(rounds.next(), std::nullopt);
    add_calls(4);
    EXPECT_EQ(rounds.round(5000), std::nullopt);
    EXPECT_TRUE(rounds.finish(6000));
    EXPECT_EQ(shown(), "- 4\n");
}

} // namespace
} // namespace argtrace
