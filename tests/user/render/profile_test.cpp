// SPDX-License-Identifier: GPL-2.0-only
#include "render/profile.h"

#include <vector>

#include <gtest/gtest.h>

#include "model/timer.h"

namespace argtrace {
namespace {

constexpr std::uint64_t read_stack = 100, recursive_stack = 200;

/// do_syscall_64 calls ksys_read; and a function calls itself.
class ProfileSymbols : public Symbols {
public:
    std::optional<Symbol> find(CodePlace place) const override {
        const std::uint64_t addr = place.address;
        static constexpr Symbol symbols[] = {{0x0, "zero", "", 0},
                                             {0x100, "ksys_read", "", 0},
                                             {0x200, "do_syscall_64", "", 0},
                                             {0x300, "walk", "ext4", 0}};
        return addr < 0x400 ? std::optional(symbols[addr / 0x100]) : std::nullopt;
    }

    std::optional<Stack> stack(std::uint64_t id, StackRoom & /*room*/) const override {
        if (id == read_stack)
            return Stack{read_, false};
        return id == recursive_stack ? std::optional(Stack{recursive_, false}) : std::nullopt;
    }

private:
    std::vector<std::uint64_t> read_{0x110, 0x210}, recursive_{0x310, 0x320, 0x330, 0x210};
};

class Profile : public testing::Test {
protected:
    void tick(const char *comm, std::uint64_t stack, int times) {
        Key key;
        if (columns_.size() > 1)
            key.push_back({{0, 0, ARGTRACE_TYPE_STR, true}, comm});
        key.push_back({{stack, 0, ARGTRACE_TYPE_STACK, true}});
        for (int i = 0; i < times; ++i)
            all_.add_call(key);
    }

    std::string shown(std::optional<std::size_t> top = std::nullopt) {
        AggregateStyle style;
        style.top = top;
        std::string out;
        append_profile(out, all_, columns_, keys_, style);
        return out;
    }

    ProfileSymbols symbols_;
    CallerNames names_{symbols_};
    KeyText keys_{names_};
    std::vector<KeyColumn> columns_{{"stack"}};
    Aggregation all_;
};

TEST_F(Profile, SelfIsTheInnermostFunctionAndTotalAllOfTheStack) {
    tick("", read_stack, 6);
    tick("", recursive_stack, 3);
    tick("", ARGTRACE_STACK_ID_USER, 1);
    EXPECT_EQ(shown(), "      SELF      %      TOTAL      %  FUNCTION\n"
                       "         6   60.0          6   60.0  ksys_read\n"
                       "         3   30.0          3   30.0  walk [ext4]\n"
                       "         1   10.0          1   10.0  [user]\n"
                       "         0    0.0          9   90.0  do_syscall_64\n")
        << "what is recursive counts once";
}

TEST_F(Profile, JsonHasAnObjectForEachFunction) {
    columns_ = {{"comm"}, {"stack"}};
    tick("dd", read_stack, 6);
    tick("dd", ARGTRACE_STACK_ID_USER, 1);
    tick("cat", recursive_stack, 3);
    std::string out;
    append_profile_json(out, all_, columns_, keys_, {});
    EXPECT_EQ(out, "{\"key\":{\"comm\":\"dd\"},\"function\":\"ksys_read\",\"self\":6,\"total\":6}\n"
                   "{\"key\":{\"comm\":\"dd\"},\"function\":\"[user]\",\"self\":1,\"total\":1}\n"
                   "{\"key\":{\"comm\":\"dd\"},\"function\":\"do_syscall_64\",\"self\":0,\"total\":6}\n"
                   "{\"key\":{\"comm\":\"cat\"},\"function\":\"walk [ext4]\",\"self\":3,\"total\":3}\n"
                   "{\"key\":{\"comm\":\"cat\"},\"function\":\"do_syscall_64\",\"self\":0,\"total\":3}\n");
}

TEST_F(Profile, JsonOfAnIntervalBeginsWithItsTime) {
    tick("", read_stack, 6);
    AggregateStyle style;
    style.top = 1;
    std::string out;
    append_profile_json(out, all_, columns_, keys_, style, "\"ts\":17");
    EXPECT_EQ(out, "{\"ts\":17,\"function\":\"ksys_read\",\"self\":6,\"total\":6}\n");
}

TEST_F(Profile, TopSaysHowMuchItLeavesOut) {
    tick("", read_stack, 6);
    tick("", recursive_stack, 3);
    EXPECT_EQ(shown(1), "      SELF      %      TOTAL      %  FUNCTION\n"
                        "         6   66.7          6   66.7  ksys_read\n"
                        "                                     ... and 2 more\n");
}

TEST_F(Profile, AStackThatIsNotKnownIsATickAllTheSame) {
    tick("", 300, 2);
    EXPECT_EQ(shown(), "      SELF      %      TOTAL      %  FUNCTION\n"
                       "         2  100.0          2  100.0  [unknown]\n");
}

TEST_F(Profile, EachGroupHasATableWithSharesOfAllTicks) {
    columns_ = {{"comm"}, {"stack"}};
    tick("dd", read_stack, 1);
    tick("cat", read_stack, 2);
    tick("cat", ARGTRACE_STACK_ID_USER, 1);
    EXPECT_EQ(shown(), "comm=cat: 3 ticks (75.0 %)\n"
                       "      SELF      %      TOTAL      %  FUNCTION\n"
                       "         2   50.0          2   50.0  ksys_read\n"
                       "         1   25.0          1   25.0  [user]\n"
                       "         0    0.0          2   50.0  do_syscall_64\n"
                       "\n"
                       "comm=dd: 1 tick (25.0 %)\n"
                       "      SELF      %      TOTAL      %  FUNCTION\n"
                       "         1   25.0          1   25.0  ksys_read\n"
                       "         0    0.0          1   25.0  do_syscall_64\n");
}

argtrace_counts some_counts() {
    argtrace_counts counts{};
    counts.records = 10;
    counts.filtered = 4;
    counts.lost[ARGTRACE_LOST_FULL] = 2;
    return counts;
}

TEST(TickTotals, TellWhereEveryTickHasGone) {
    argtrace_counts counts = some_counts();
    EXPECT_EQ(tick_totals(counts, 3), "16 ticks: 7 counted, 3 idle, 4 filtered, 2 lost");
    EXPECT_EQ(recorded_ticks(counts), "16 ticks: 10 recorded, 4 filtered, 2 lost");
    counts.sampled = 5;
    counts.capped = 6;
    counts.faults = 1;
    EXPECT_EQ(tick_totals(counts, 3),
              "27 ticks: 7 counted, 3 idle, 4 filtered, 2 lost, 5 sampled out, 6 capped; 1 fault");
    EXPECT_EQ(recorded_ticks(counts), "27 ticks: 10 recorded, 4 filtered, 2 lost, 5 sampled out, 6 capped; 1 fault");
    std::string json;
    append_tick_totals_json(json, counts, 3);
    EXPECT_EQ(json, "{\"ticks\":27,\"counted\":7,\"idle\":3,\"filtered\":4,\"sampled\":5,\"capped\":6,\"lost\":2,"
                    "\"faults\":1}\n");
}

TEST(TickTotals, OneIsNoMany) {
    argtrace_counts counts{};
    counts.records = 1;
    EXPECT_EQ(tick_totals(counts, 0), "1 tick: 1 counted, 0 idle, 0 filtered, 0 lost");
}

} // namespace
} // namespace argtrace
