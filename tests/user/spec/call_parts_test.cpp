// SPDX-License-Identifier: GPL-2.0-only
#include "spec/call_parts.h"

#include <gmock/gmock.h>

#include "util/error.h"

namespace argtrace {
namespace {

using testing::ElementsAre;

TEST(CallParts, WhatIsReadIsAListOfExpressions) {
    EXPECT_THAT(parse_fetches("*it", false), ElementsAre(Fetch{"*it", "value", false}));
    EXPECT_THAT(parse_fetches(" array(it, n) , text(it[0].p, it[0].n) as \"[0].p\" ,only(a, b > 1) as c", true),
                ElementsAre(Fetch{"array(it, n)", "value", true}, Fetch{"text(it[0].p, it[0].n)", "[0].p", true}, Fetch{"only(a, b > 1)", "c", true}));
    EXPECT_THAT(parse_fetches("flags(it, \"A, B)\")", false), ElementsAre(Fetch{"flags(it, \"A, B)\")", "value", false}));
    EXPECT_THROW(parse_fetches("", false), Error);
    EXPECT_THROW(parse_fetches("*it,", false), Error);
    EXPECT_THROW(parse_fetches("*it as \"\"", false), Error);
}

TEST(CallParts, ACharacterCountsOutsideOfBracketsAndLiterals) {
    EXPECT_EQ(find_outside("a(b, c), d", ','), 7u);
    EXPECT_EQ(find_outside("a[b, {c}]", ','), std::string::npos);
    EXPECT_EQ(find_outside("\",\" ',' \"\\\",\", x", ','), 13u);
    EXPECT_EQ(find_outside("f(a {b(c)}) = d", ')', 2), 10u);
}

TEST(CallParts, ANameThatIsAMemberIsAnother) {
    EXPECT_EQ(with_name("text(buf, count)", "count", "len"), "text(buf, len)");
    EXPECT_EQ(with_name("a->count + count + b.count + counts + x.y -> count", "count", "n"), "a->count + n + b.count + counts + x.y -> count");
    EXPECT_EQ(with_name("*(struct count *)it == \"count\"", "count", "n"), "*(struct count *)it == \"count\"");
    EXPECT_TRUE(has_name("ret > 0", "ret"));
    EXPECT_FALSE(has_name("it->ret + rets", "ret"));
}

} // namespace
} // namespace argtrace
