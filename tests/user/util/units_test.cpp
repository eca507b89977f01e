// SPDX-License-Identifier: GPL-2.0-only
#include "util/units.h"

#include <gtest/gtest.h>

#include "util/error.h"
#include "util/utf8.h"

namespace argtrace {
namespace {

TEST(Units, Sizes) {
    EXPECT_EQ(parse_size("-b", "1"), 1u);
    EXPECT_EQ(parse_size("-b", "65536"), 65536u);
    EXPECT_EQ(parse_size("-b", "64K"), 65536u);
    EXPECT_EQ(parse_size("-b", "64k"), 65536u);
    EXPECT_EQ(parse_size("-b", "64KiB"), 65536u);
    EXPECT_EQ(parse_size("-b", "4MB"), 4u << 20);
    EXPECT_EQ(parse_size("-b", "16G"), 16ull << 30);
    EXPECT_EQ(parse_size("-b", "512B"), 512u);
    for (const char *bad : {"", "0", "0K", "K", "-1", "-4M", "+4M", "4T", "4 M", " 4M", "4.5M",
                            "4Mx", "4Ki", "0x10", "18446744073709551616", "18014398509481984K"})
        EXPECT_THROW(parse_size("-b", bad), Error) << bad;
}

TEST(Units, TheSentenceNamesTheOptionAndTheText) {
    try {
        parse_size("--buffer", "lots");
        FAIL();
    } catch (const Error &error) {
        EXPECT_STREQ(error.what(), "--buffer takes a size such as 64K, 4M or 1G, not 'lots'");
    }
}

TEST(Units, SizesAsText) {
    EXPECT_EQ(format_size(0), "0");
    EXPECT_EQ(format_size(1000), "1000");
    EXPECT_EQ(format_size(65536), "64K");
    EXPECT_EQ(format_size(4u << 20), "4M");
    EXPECT_EQ(format_size((4u << 20) + 1024), "4097K");
    EXPECT_EQ(format_size(3ull << 30), "3G");
}

TEST(Units, Counts) {
    EXPECT_EQ(parse_count("-n", "1"), 1u);
    EXPECT_EQ(parse_count("-n", "18446744073709551615"), ~0ull);
    for (const char *bad : {"", "0", "-1", "1.5", "ten", "1k", "18446744073709551616"})
        EXPECT_THROW(parse_count("-n", bad), Error) << bad;
}

TEST(Units, Durations) {
    EXPECT_EQ(parse_duration("--duration", "2"), 2000000000u);
    EXPECT_EQ(parse_duration("--duration", "0.25"), 250000000u);
    EXPECT_EQ(parse_duration("--duration", ".5"), 500000000u);
    EXPECT_EQ(parse_duration("--duration", "500ms"), 500000000u);
    EXPECT_EQ(parse_duration("--duration", "20us"), 20000u);
    EXPECT_EQ(parse_duration("--duration", "10s"), 10000000000u);
    EXPECT_EQ(parse_duration("--duration", "1.5m"), 90000000000u);
    EXPECT_EQ(parse_duration("--duration", "1min"), 60000000000u);
    EXPECT_EQ(parse_duration("--duration", "2h"), 7200000000000u);
    for (const char *bad :
         {"", "0", "0.0", "-1", "1x", "1 s", "s", "0ms", "400d", "9000h", "nan", "inf", "1e300", "1e3", "99999999999", "ten"})
        EXPECT_THROW(parse_duration("--duration", bad), Error) << bad;
}

TEST(Utf8, WellFormed) {
    EXPECT_EQ(utf8_length("a"), 1u);
    EXPECT_EQ(utf8_length("\xc3\xa9x"), 2u);
    EXPECT_EQ(utf8_length("\xe2\x82\xac"), 3u);
    EXPECT_EQ(utf8_length("\xf0\x9f\x98\x80"), 4u);
    EXPECT_EQ(utf8_length("\xf4\x8f\xbf\xbf"), 4u);
}

TEST(Utf8, Malformed) {
    for (const char *bad : {"", "\x80", "\xff", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3(",
                            "\xe0\x80\x80", "\xed\xa0\x80", "\xe2\x82", "\xf0\x80\x80\x80",
                            "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf0\x9f\x98"})
        EXPECT_EQ(utf8_length(bad), 0u) << bad;
}

TEST(Units, DurationsHaveThreeDigits) {
    const std::vector<std::pair<std::uint64_t, std::string>> durations{
        {0, "0ns"},           {832, "832ns"},          {999, "999ns"},
        {1000, "1.00us"},     {1834, "1.83us"},        {9994, "9.99us"},
        {1004, "1.00us"},     {1005, "1.01us"},        {9995, "10.0us"},     {99949, "99.9us"},
        {9996, "10.0us"},     {99960, "100us"},        {999499, "999us"},
        {999500, "1.00ms"},   {12340000, "12.3ms"},    {1200000000, "1.20s"},
        {125000000000, "125s"}, {7200000000000, "7200s"}};
    for (const auto &[nanoseconds, text] : durations)
        EXPECT_EQ(format_duration(nanoseconds), text) << nanoseconds;
    EXPECT_EQ(format_duration(WideNumber{1} << 70), "1180591620717s"); // a sum
}

TEST(Units, SpansAreExact) {
    const std::vector<std::pair<std::string, std::string>> spans{
        {"10", "10s"}, {"0.5", "500ms"}, {"90", "90s"}, {"1.5m", "90s"}, {"120", "2m"}, {"2h", "2h"}, {"0.0000125", "12500ns"}, {"7us", "7us"}};
    for (const auto &[written, text] : spans)
        EXPECT_EQ(format_span(parse_duration("--duration", written)), text) << written;
    EXPECT_EQ(format_span(0), "0ns");
}

} // namespace
} // namespace argtrace
