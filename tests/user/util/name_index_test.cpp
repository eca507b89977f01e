// SPDX-License-Identifier: GPL-2.0-only
#include "util/name_index.h"

#include <gtest/gtest.h>

#include <string>

namespace argtrace {
namespace {

std::vector<std::uint32_t> places_of(const NameIndex &index, std::string_view name,
                                     const std::vector<std::string> &names) {
    std::vector<std::uint32_t> places;
    index.for_each_candidate(name, [&](std::uint32_t i) {
        if (names.at(i) == name)
            places.push_back(i);
    });
    return places;
}

TEST(NameIndex, FindsEveryPlaceOfANameInOrder) {
    std::vector<std::string> names;
    for (int i = 0; i < 3000; i++)
        names.push_back("f" + std::to_string(i % 1000));
    const NameIndex index(names.size(), [&](std::size_t i) { return std::string_view(names[i]); });
    for (std::uint32_t i = 0; i < 1000; i++)
        EXPECT_EQ(places_of(index, names[i], names),
                  (std::vector<std::uint32_t>{i, i + 1000, i + 2000}));
    EXPECT_TRUE(places_of(index, "f1000", names).empty());
}

TEST(NameIndex, OfNothingFindsNothing) {
    const std::vector<std::string> none;
    EXPECT_TRUE(places_of(NameIndex(), "f", none).empty());
    EXPECT_TRUE(places_of(NameIndex(0, [](std::size_t) { return ""; }), "f", none).empty());
}

} // namespace
} // namespace argtrace
