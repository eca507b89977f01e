// SPDX-License-Identifier: GPL-2.0-only
#include "render/top.h"

#include <gtest/gtest.h>

#include "support/thrown.h"

namespace argtrace {
namespace {

Key top_key(const char *function, std::uint64_t error) {
    return {{{0, 0, ARGTRACE_TYPE_STR, true}, function}, {{error, 0, ARGTRACE_TYPE_U64, true}}};
}

Aggregation busy_functions() {
    Aggregation all(Buckets{Buckets::Kind::log2});
    for (int i = 0; i < 10; ++i)
        all.add_value(top_key("vfs_read", 0), 1000);
    all.add_value(top_key("vfs_read", 1), 5000);
    all.add_value(top_key("vfs_open", 0), 2000000);
    return all;
}

TEST(Top, ShowsWhatIsCalledMost) {
    std::string text;
    append_top(text, busy_functions(), 2000000000, {});
    EXPECT_EQ(text,
              "FUNC                                                             CALLS   PER SEC\n"
              "vfs_read                                                            11         6\n"
              "vfs_open                                                             1         0\n");
}

TEST(Top, KnowsErrorsAndDurations) {
    TopStyle style;
    style.has_durations = true;
    style.order = TopOrder::total;
    std::string text;
    append_top(text, busy_functions(), 1000000000, style);
    EXPECT_EQ(text,
              "FUNC                      CALLS   PER SEC ERRORS   TOTAL    MEAN     P99     MAX\n"
              "vfs_open                      1         1      0  2.00ms  2.00ms  2.00ms  2.00ms\n"
              "vfs_read                     11        11      1  15.0us  1.36us  5.00us  5.00us\n");
    style.part = "read";
    style.rows = 1;
    text.clear();
    append_top(text, busy_functions(), 0, style);
    EXPECT_EQ(text,
              "FUNC                      CALLS   PER SEC ERRORS   TOTAL    MEAN     P99     MAX\n"
              "vfs_read                     11         0      1  15.0us  1.36us  5.00us  5.00us\n");
}

TEST(Top, IsNumbersInJson) {
    std::string text;
    append_top_json(text, busy_functions(), 2000000000, {}, 17);
    EXPECT_EQ(text, "{\"ts\":17,\"func\":\"vfs_read\",\"count\":11,\"per_second\":5.5}\n"
                    "{\"ts\":17,\"func\":\"vfs_open\",\"count\":1,\"per_second\":0.5}\n");
    TopStyle style;
    style.has_durations = true;
    style.rows = 1;
    text.clear();
    append_top_json(text, busy_functions(), 1000000000, style, 17);
    EXPECT_EQ(text, "{\"ts\":17,\"func\":\"vfs_read\",\"count\":11,\"per_second\":11.0,\"errors\":1,\"sum\":15000,\"avg\":1363,"
                    "\"p99\":5000,\"max\":5000}\n");
}

TEST(Top, OrdersFollowEachOther) {
    TopOrder order = TopOrder::calls;
    std::string names;
    for (int i = 0; i < 7; ++i) {
        names += std::string(top_order_name(order)) + ' ';
        order = next_top_order(order, true);
    }
    EXPECT_EQ(names, "calls errors total mean p99 name calls ");
    EXPECT_EQ(next_top_order(TopOrder::calls, false), TopOrder::name);
    EXPECT_EQ(next_top_order(TopOrder::name, false), TopOrder::calls);
    EXPECT_EQ(parse_top_order("p99"), TopOrder::p99);
    EXPECT_EQ(thrown([] { parse_top_order("x"); }),
              "--sort takes calls, errors, total, mean, p99, name, not 'x'");
}

} // namespace
} // namespace argtrace
