// SPDX-License-Identifier: GPL-2.0-only
#include <gmock/gmock.h>

#include <vector>

#include "session/stack_reader.h"

namespace argtrace {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t top = 0xffffffffffffffff; // its place is the last of all entries

class StackTables : public testing::Test {
protected:
    StackTable view() const { return {&control_, entries_.data(), words_.data(), 64, 8}; }

    void put(std::size_t place, std::uint64_t id, std::uint64_t where) { entries_[place] = {id, where}; }

    static std::uint64_t where(std::uint64_t first, std::uint64_t count, bool cut = false) {
        return first | count << ARGTRACE_STACK_COUNT_SHIFT | (cut ? ARGTRACE_STACK_CUT : 0);
    }

    argtrace_stacks_control control_{};
    std::vector<argtrace_stack_entry> entries_ = std::vector<argtrace_stack_entry>(64);
    std::vector<std::uint64_t> words_{10, 11, 12, 13, 14, 15, 16, 17};
};

TEST_F(StackTables, AreSearchedFromWhereTheNumberSays) {
    put(0, 1, where(0, 2));
    put(15, 2, where(2, 1, true));
    put(16, 3, where(3, 1));
    put(1, top, where(5, 3)); // two behind the last one
    const auto first = view().find(1), second = view().find(2), wrapped = view().find(top);
    ASSERT_TRUE(first && second && wrapped);
    EXPECT_THAT(first->addresses, ElementsAre(10, 11));
    EXPECT_FALSE(first->cut);
    EXPECT_THAT(second->addresses, ElementsAre(12));
    EXPECT_TRUE(second->cut);
    EXPECT_THAT(wrapped->addresses, ElementsAre(15, 16, 17));
    EXPECT_FALSE(view().find(3)) << "too far from where it belongs";
    EXPECT_FALSE(view().find(4));
}

TEST_F(StackTables, GiveNothingThatIsNotWrittenOrNotThere) {
    put(0, 1, 0);
    put(1, 2, where(6, 3));
    put(2, 3, where(9, 1));
    for (const std::uint64_t id : {1, 2, 3})
        EXPECT_FALSE(view().find(id)) << id;
}

TEST_F(StackTables, HaveAliases) {
    put(0, 1, where(0, 1) | ARGTRACE_STACK_ALIAS);
    put(1, 2, where(1, 1) | ARGTRACE_STACK_ALIAS | ARGTRACE_STACK_PENDING);
    const auto complete = view().find(1), pending = view().find(2);
    ASSERT_TRUE(complete && pending);
    EXPECT_EQ(complete->target, 10u);
    EXPECT_FALSE(complete->pending);
    EXPECT_TRUE(complete->addresses.empty());
    EXPECT_EQ(pending->target, 11u);
    EXPECT_TRUE(pending->pending);
}

} // namespace
} // namespace argtrace
