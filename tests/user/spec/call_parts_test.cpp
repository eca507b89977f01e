// SPDX-License-Identifier: GPL-2.0-only
#include "spec/call_parts.h"

#include <gmock/gmock.h>

#include "util/error.h"

namespace argtrace {
namespace {

using testing::ElementsAre;

using When = Fetch::When;

TEST(CallParts, WhatIsReadIsAListOfExpressions) {
    EXPECT_THAT(parse_fetches("*it", When::entry), ElementsAre(Fetch{"*it", "value", When::entry}));
    EXPECT_THAT(parse_fetches(" array(it, n) , text(it[0].p, it[0].n) as \"[0].p\" ,only(a, b > 1) as c", When::success),
                ElementsAre(Fetch{"array(it, n)", "value", When::success}, Fetch{"on_page(array(it, n))", "value", When::success},
                            Fetch{"text(it[0].p, it[0].n)", "[0].p", When::success},
                            Fetch{"only(a, b > 1)", "c", When::success}));
    EXPECT_THAT(parse_fetches("flags(it, \"A, B)\")", When::entry), ElementsAre(Fetch{"flags(it, \"A, B)\")", "value", When::entry}));
    EXPECT_THROW(parse_fetches("", When::entry), Error);
    EXPECT_THROW(parse_fetches("*it,", When::entry), Error);
    EXPECT_THROW(parse_fetches("*it as \"\"", When::entry), Error);
}

TEST(CallParts, WhatHasTheResultIsReadAtTheReturn) {
    EXPECT_THAT(parse_fetches("array(it, n), text(it[0].p, ret) as \"[0].p\"", When::entry),
                ElementsAre(Fetch{"array(it, n)", "value", When::entry}, Fetch{"on_page(array(it, n))", "value", When::entry},
                            Fetch{"text(it[0].p, ret)", "[0].p", When::success}));
    EXPECT_THAT(parse_fetches("only(*it, ret == -4)", When::failure), ElementsAre(Fetch{"only(*it, ret == -4)", "value", When::failure}));
}

TEST(CallParts, OfAnArrayTheFirstPageIsReadAsWell) {
    EXPECT_THAT(parse_fetches("pointers(it)", When::entry), ElementsAre(Fetch{"pointers(it)", "value", When::entry}, Fetch{"on_page(pointers(it))", "value", When::entry}));
    EXPECT_THAT(parse_fetches("array(it, 2)", When::entry), ElementsAre(Fetch{"array(it, 2)", "value", When::entry})) << "the call takes both or none";
    EXPECT_THAT(parse_fetches("array(it, 2) as x", When::entry), ElementsAre(Fetch{"array(it, 2)", "x", When::entry}));
    EXPECT_THAT(parse_fetches("array(it, n) as x", When::entry), ElementsAre(Fetch{"array(it, n)", "x", When::entry})) << "a part is there once";
}

TEST(CallParts, RoomIsWhatThereWasWhenTheCallWasMade) {
    EXPECT_THAT(parse_fetches("buf(it, ret), *len as room", When::success), ElementsAre(Fetch{"buf(it, ret)", "value", When::success}, Fetch{"*len", "room", When::entry}));
}

TEST(CallParts, WhatACallChangesIsReadTwice) {
    EXPECT_THAT(parse_fetches("*it", When::both), ElementsAre(Fetch{"*it", "value", When::success}, Fetch{"*it", "before", When::entry}));
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
