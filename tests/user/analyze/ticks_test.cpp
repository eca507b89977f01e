// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/ticks.h"

#include <gtest/gtest.h>

#include "uapi/argtrace.h"

namespace argtrace {
namespace {

KeyPart stack_part(std::uint64_t id, bool captured = true) {
    return {{id, 0, ARGTRACE_TYPE_STACK, captured}};
}

KeyPart comm_part(const char *comm) {
    return {{0, 0, ARGTRACE_TYPE_STR, true}, comm};
}

TEST(Ticks, ThoseOfIdleCpusAreSetAside) {
    Aggregation all;
    for (int i = 0; i < 3; ++i)
        all.add_call({comm_part("dd"), stack_part(100)});
    all.add_call({comm_part("dd"), stack_part(ARGTRACE_STACK_ID_USER)});
    all.add_call({comm_part("swapper/0"), stack_part(ARGTRACE_STACK_ID_IDLE)});
    all.add_call({comm_part("swapper/1"), stack_part(ARGTRACE_STACK_ID_IDLE)});
    const Ticks ticks = split_ticks(all);
    EXPECT_EQ(ticks.idle, 2u);
    EXPECT_EQ(ticks.busy.calls(), 4u);
    ASSERT_EQ(ticks.busy.entries().size(), 2u);
    EXPECT_EQ(ticks.busy.entries().at({comm_part("dd"), stack_part(100)}).total.count, 3u);
    EXPECT_EQ(ticks.busy.entries().at({comm_part("dd"), stack_part(ARGTRACE_STACK_ID_USER)}).total.count, 1u);
}

TEST(Ticks, OneWithoutAStackIsNoneOfAnIdleCpu) {
    Aggregation all;
    all.add_call({stack_part(ARGTRACE_STACK_ID_IDLE, false)});
    // Another part of the key may have the same number.
    all.add_call({stack_part(ARGTRACE_STACK_ID_IDLE), stack_part(100)});
    const Ticks ticks = split_ticks(all);
    EXPECT_EQ(ticks.idle, 0u);
    EXPECT_EQ(ticks.busy.calls(), 2u);
}

TEST(Ticks, WithAUserStackBehindTheKernels) {
    Aggregation all;
    all.add_call({stack_part(ARGTRACE_STACK_ID_IDLE), stack_part(ARGTRACE_STACK_ID_NO_USER)});
    all.add_call({stack_part(100), stack_part(200)});
    all.add_call({stack_part(101), stack_part(200)});
    const Ticks both = split_ticks(all, both_stacks, both_stacks);
    EXPECT_EQ(both.idle, 1u);
    EXPECT_EQ(both.busy.entries().size(), 2u);
    const Ticks user = split_ticks(all, both_stacks, user_stack);
    EXPECT_EQ(user.idle, 1u);
    ASSERT_EQ(user.busy.entries().size(), 1u);
    EXPECT_EQ(user.busy.entries().at({stack_part(200)}).total.count, 2u);
}

TEST(Ticks, NoneAreNone) {
    const Ticks ticks = split_ticks(Aggregation());
    EXPECT_EQ(ticks.idle, 0u);
    EXPECT_TRUE(ticks.busy.entries().empty());
}

} // namespace
} // namespace argtrace
