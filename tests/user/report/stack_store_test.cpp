// SPDX-License-Identifier: GPL-2.0-only
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "model/user_frame.h"
#include "report/stack_store.h"

namespace argtrace {
namespace {

using Addresses = std::vector<std::uint64_t>;

TEST(StackStore, GivesBackWhatItWasGiven) {
    std::mt19937_64 random(17);
    StackStore store;
    std::map<std::uint64_t, std::pair<Addresses, bool>> expected;
    for (int i = 0; i < 30000; ++i) {
        Addresses addresses(1 + random() % 40);
        for (std::uint64_t &address : addresses) // few and many different ones, of the kernel and of user code
            address = random() % 3 == 0 ? random() % 100 : 0xffffffff81000000 + random() % 300000;
        const std::uint64_t id = random() % 40000 << 40; // some come again, with other addresses
        const bool cut = random() % 2;
        store.add(id, std::as_bytes(std::span(addresses)), cut);
        expected.try_emplace(id, addresses, cut);
    }
    // Larger than what is allocated at a time.
    Addresses large(1 << 20);
    for (std::uint64_t &address : large)
        address = random();
    store.add(5, std::as_bytes(std::span(large)), false);
    expected[5] = {large, false};
    store.add(6, std::as_bytes(std::span(large).first(2)), true);
    expected[6] = {{large[0], large[1]}, true};

    StackRoom room;
    std::map<std::uint32_t, std::uint64_t> numbered;
    for (const auto &[id, stack] : expected) {
        const auto found = store.find(id, room);
        ASSERT_TRUE(found) << id;
        EXPECT_TRUE(std::ranges::equal(found->addresses, stack.first)) << id;
        EXPECT_EQ(found->cut, stack.second) << id;
        ASSERT_EQ(found->numbers.size(), found->addresses.size());
        for (std::size_t i = 0; i < found->numbers.size(); ++i)
            EXPECT_EQ(numbered.try_emplace(found->numbers[i], found->addresses[i]).first->second, found->addresses[i]);
    }
    EXPECT_EQ(numbered.rbegin()->first + 1, numbered.size()) << "the numbers are small ones";
    EXPECT_FALSE(store.find(7, room));
    EXPECT_FALSE(StackStore().find(0, room));
}

TEST(StackStore, OneThatWasCompletedLaterTakesThePlaceOfWhatWasKnown) {
    const auto frame = [](std::uint64_t offset) { return UserFrame(16, offset, false).word(); };
    const auto end = [](argtrace_end reason) { return UserFrame(ARGTRACE_OBJECT_END, reason, false).word(); };
    const Addresses unreadable{frame(1), frame(2), end(ARGTRACE_END_UNREADABLE)}, no_call{frame(1), end(ARGTRACE_END_NO_CALL)},
        complete{frame(1), frame(2), frame(3)};
    StackStore store;
    const auto add = [&store](std::uint64_t id, const Addresses &addresses) { store.add(id, std::as_bytes(std::span(addresses)), false); };
    StackRoom room;
    const auto find = [&](std::uint64_t id) {
        const auto found = store.find(id, room);
        return found ? Addresses(found->addresses.begin(), found->addresses.end()) : Addresses();
    };
    add(1, unreadable);
    add(2, no_call);
    add(3, complete);
    EXPECT_EQ(find(1), unreadable);
    for (const std::uint64_t id : {1, 2, 3})
        add(id, complete);
    add(3, unreadable);
    EXPECT_EQ(find(1), complete);
    EXPECT_EQ(find(2), no_call);
    EXPECT_EQ(find(3), complete);
    EXPECT_EQ(store.find(1, room)->id, store.find(3, room)->id);
    EXPECT_NE(store.find(1, room)->id, store.find(2, room)->id);
}

} // namespace
} // namespace argtrace
