// SPDX-License-Identifier: GPL-2.0-only
#include "lang/lexer.h"

#include <vector>

#include <gmock/gmock.h>

#include "support/thrown.h"

namespace argtrace::lang {
namespace {

using testing::ElementsAre;
using Kind = Token::Kind;

std::vector<Kind> kinds(std::string_view text) {
    std::vector<Kind> found;
    Lexer lexer(text);
    for (Token token = lexer.next(); token.kind != Kind::end; token = lexer.next())
        found.push_back(token.kind);
    return found;
}

std::uint64_t value(std::string_view text) {
    Lexer lexer(text);
    const Token token = lexer.next();
    EXPECT_EQ(token.size, text.size()) << text;
    EXPECT_TRUE(token.kind == Kind::number || token.kind == Kind::character) << text;
    return token.value;
}

std::string text_of(std::string_view text) {
    Lexer lexer(text);
    const Token token = lexer.next();
    EXPECT_EQ(token.kind, Kind::string);
    return token.text;
}

std::string refused_token(const std::string &text) {
    return thrown([&] { kinds(text); });
}

TEST(Lexer, TakesTheLongestOperator) {
    EXPECT_THAT(kinds("a->b.c"),
                ElementsAre(Kind::name, Kind::arrow, Kind::name, Kind::dot, Kind::name));
    EXPECT_THAT(kinds("<<=<"), ElementsAre(Kind::shift_left, Kind::other, Kind::less));
    EXPECT_THAT(kinds("!~!=!"),
                ElementsAre(Kind::exclamation_tilde, Kind::not_equal, Kind::exclamation));
    EXPECT_THAT(kinds("&&&|||"),
                ElementsAre(Kind::and_and, Kind::ampersand, Kind::or_or, Kind::pipe));
    EXPECT_THAT(kinds("a ? b:c"),
                ElementsAre(Kind::name, Kind::question, Kind::name, Kind::colon, Kind::name));
    EXPECT_THAT(kinds("x-1"), ElementsAre(Kind::name, Kind::minus, Kind::number));
}

TEST(Lexer, SaysWhereTokensAre) {
    Lexer lexer("(ab, $pid", 1);
    const Token first = lexer.next();
    EXPECT_EQ(first.at, 1u);
    EXPECT_EQ(first.size, 2u);
    EXPECT_EQ(first.text, "ab");
    EXPECT_EQ(lexer.next().at, 3u);
    EXPECT_EQ(lexer.next().text, "$pid");
    EXPECT_EQ(lexer.next().kind, Kind::end);
    EXPECT_EQ(lexer.next().kind, Kind::end);
}

TEST(Lexer, ReadsNumbers) {
    EXPECT_EQ(value("0"), 0u);
    EXPECT_EQ(value("1234"), 1234u);
    EXPECT_EQ(value("0x1fF"), 0x1ffu);
    EXPECT_EQ(value("0b1011"), 11u);
    EXPECT_EQ(value("0755"), 0755u);
    EXPECT_EQ(value("18446744073709551615"), ~std::uint64_t{0});
    EXPECT_EQ(value("64K"), 65536u);
    EXPECT_EQ(value("3M"), 3u << 20);
    EXPECT_EQ(value("2G"), 2ull << 30);
    EXPECT_EQ(value("1T"), 1ull << 40);
    EXPECT_EQ(value("7ns"), 7u);
    EXPECT_EQ(value("10us"), 10000u);
    EXPECT_EQ(value("10ms"), 10000000u);
    EXPECT_EQ(value("3s"), 3000000000u);
}

TEST(Lexer, ReadsSuffixesOfTypes) {
    for (const char *text : {"1u", "1U", "1ul", "1lu", "1ULL", "1llu"})
        EXPECT_EQ(value(text), 1u) << text;
    EXPECT_TRUE(Lexer("1u").next().has_u);
    EXPECT_FALSE(Lexer("1u").next().has_l);
    EXPECT_TRUE(Lexer("1llu").next().has_u);
    EXPECT_TRUE(Lexer("1llu").next().has_l);
    EXPECT_TRUE(Lexer("12").next().is_decimal);
    EXPECT_FALSE(Lexer("0x12").next().is_decimal);
    EXPECT_FALSE(Lexer("012").next().is_decimal);
}

TEST(Lexer, ReadsCharactersAndStrings) {
    EXPECT_EQ(value("'a'"), 97u);
    EXPECT_EQ(value("'\\n'"), 10u);
    EXPECT_EQ(value("'\\0'"), 0u);
    EXPECT_EQ(value("'\\''"), 39u);
    EXPECT_EQ(value("'\\x7f'"), 127u);
    EXPECT_EQ(value("'\\xff'"), ~std::uint64_t{0}) << "char is signed";
    EXPECT_EQ(text_of(R"("a\tb\\c\"d")"), "a\tb\\c\"d");
    EXPECT_EQ(text_of(R"("\101\x42\e")"), "AB\x1b");
    EXPECT_EQ(text_of(R"("")"), "");
}

TEST(LexerError, PointsAtTheCharacter) {
    EXPECT_EQ(refused_token("a + 12abc"),
              "'abc' cannot follow a number; sizes have K, M, G or T, times ns, us, ms or s\n"
              "  a + 12abc\n"
              "        ^");
    EXPECT_EQ(refused_token("089"),
              "'8' is no octal digit, and a number that begins with 0 is octal\n"
              "  089\n"
              "   ^");
    EXPECT_EQ(refused_token("18446744073709551616"), "this number has more than 64 bits\n"
                                                     "  18446744073709551616\n"
                                                     "  ^");
    EXPECT_EQ(refused_token("17179869184G"), "this number has more than 64 bits\n"
                                             "  17179869184G\n"
                                             "  ^");
    EXPECT_EQ(refused_token("0x"), "'0x' is no number\n  0x\n  ^");
    EXPECT_EQ(refused_token("1.5ms"),
              "sizes and times are whole numbers: 'ms' cannot follow a fraction\n"
              "  1.5ms\n"
              "     ^");
    EXPECT_EQ(refused_token("1.5x"),
              "'x' cannot follow a number with a fraction or an exponent\n"
              "  1.5x\n"
              "     ^");
    EXPECT_EQ(refused_token("1e999"),
              "this number is too large, or too near to 0, for a double\n"
              "  1e999\n"
              "  ^");
    EXPECT_EQ(refused_token("comm == \"sh"), "the closing \" is missing\n"
                                             "  comm == \"sh\n"
                                             "          ^");
    EXPECT_EQ(refused_token("'ab'"), "between ' ' is one character; text stands between \" \"\n"
                                     "  'ab'\n"
                                     "  ^");
    EXPECT_EQ(refused_token("''"), "a character is missing between the quotes\n  ''\n  ^");
    EXPECT_EQ(refused_token(R"("\q")"),
              "'\\' begins an escape, such as \\n; for itself it stands twice\n"
              "  \"\\q\"\n"
              "   ^");
    EXPECT_EQ(refused_token("$1"), "'$' stands before a builtin's name, as in $pid\n  $1\n  ^");
}

} // namespace
} // namespace argtrace::lang
