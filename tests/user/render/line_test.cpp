// SPDX-License-Identifier: GPL-2.0-only
#include "render/line.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>

namespace argtrace {
namespace {

/// What `append` adds to a line that has text already, and gets more afterwards.
template<typename Append>
std::string appended(Append append) {
    Line line;
    line += '<';
    append(line);
    line += '>';
    return std::string(line.view());
}

/// Numbers of every length, and those around which lengths change.
template<typename Check>
void with_numbers(Check check) {
    std::mt19937_64 random(20240501);
    for (int bits = 0; bits <= 64; ++bits) {
        const std::uint64_t power = bits < 64 ? 1ull << bits : 0;
        for (std::uint64_t number : {power - 1, power, power + 1, random() >> (bits % 64)})
            check(number);
    }
    for (std::uint64_t power = 1; power < 10000000000000000000u; power *= 10) {
        for (std::uint64_t number : {power - 1, power, power + 1})
            check(number);
    }
}

TEST(Line, Numbers) {
    with_numbers([](std::uint64_t number) {
        const auto other = static_cast<std::int64_t>(number);
        EXPECT_EQ(appended([&](Line &line) { line.append_decimal(number); }),
                  fmt::format("<{}>", number));
        EXPECT_EQ(appended([&](Line &line) { line.append_signed(other); }),
                  fmt::format("<{}>", other));
        EXPECT_EQ(appended([&](Line &line) { line.append_hex(number); }),
                  fmt::format("<{:#x}>", number));
    });
    for (std::uint32_t fraction = 0; fraction < 1000000000; fraction += 99991)
        ASSERT_EQ(appended([&](Line &line) {
                      line.set_end(write_nanoseconds(line.reserve(10), fraction));
                  }),
                  fmt::format("<{:09}>", fraction));
}

TEST(Line, GrowsInTheMiddleOfAnything) {
    std::string expected;
    Line line;
    for (std::size_t size = 0; size < 300; ++size) {
        const Snippet snippet(std::string(size, 's'));
        EXPECT_EQ(snippet.view().size(), size);
        line += snippet;
        line.append_spaces(size);
        line += std::string(size, 't');
        line.append_hex(size);
        line.append_decimal(size);
        expected += std::string(size, 's') + std::string(size, ' ') + std::string(size, 't') +
                    fmt::format("{:#x}{}", size, size);
        ASSERT_EQ(line.view(), expected);
    }
    line.clear();
    EXPECT_EQ(line.view(), "");
}

} // namespace
} // namespace argtrace
