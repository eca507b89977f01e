// SPDX-License-Identifier: GPL-2.0-only
#include "model/probe_kind.h"

#include <iterator>
#include <ostream>

#include <gtest/gtest.h>

namespace argtrace {

void PrintTo(const Title &title, std::ostream *out) {
    *out << title.kind->noun << " \"" << title.qualifier << "\" \"" << title.name << '"';
}

bool operator==(const Title &a, const Title &b) {
    return *a.kind == *b.kind && a.qualifier == b.qualifier && a.name == b.name;
}

namespace {

// What functions of programs will need: paths before the ':', and the names of C++, Rust and Go behind it.
constexpr ProbeKind kinds[] = {
    function_kind,
    {.number = 99, .noun = "user function", .prefixes = {"u:"}, .qualifier = Qualifier::group, .is_quoted = true},
};
constexpr const ProbeKind &user_kind = kinds[1];

Title split_user(std::string_view title) {
    return split_title(title, kinds);
}

TEST(ProbeKind, IsFoundByItsNumber) {
    for (std::uint16_t i = 0; i <= ARGTRACE_KIND_USER; ++i)
        EXPECT_EQ(probe_kinds[i].number, i);
    EXPECT_EQ(kind_of(ARGTRACE_KIND_SYSCALL), syscall_kind);
    EXPECT_EQ(kind_of(1000), function_kind) << "of a module that is newer";
}

TEST(ProbeKind, TitlesAreSplit) {
    EXPECT_EQ(split_title("vfs_read"), (Title{&function_kind, "", "vfs_read"}));
    EXPECT_EQ(split_title("t:sched:sched_switch"), (Title{&tracepoint_kind, "sched", "sched_switch"}));
    EXPECT_EQ(split_title("t:pelt_cfs_tp"), (Title{&tracepoint_kind, "", "pelt_cfs_tp"}));
    EXPECT_EQ(split_title("s:ia32:openat"), (Title{&syscall_kind, "ia32", "openat"}));
    EXPECT_EQ(split_title("cycles"), (Title{&function_kind, "", "cycles"})) << "which its record's kind tells";
}

TEST(ProbeKind, NamesMayHaveAnyCharacters) {
    EXPECT_EQ(split_user("u:/usr/lib/libc.so.6:malloc"), (Title{&user_kind, "/usr/lib/libc.so.6", "malloc"}));
    EXPECT_EQ(split_user("u:/path/to/binary:ns::Class::f(int)"), (Title{&user_kind, "/path/to/binary", "ns::Class::f(int)"}));
    EXPECT_EQ(split_user("u:/bin/x:main.(*T).M"), (Title{&user_kind, "/bin/x", "main.(*T).M"}));
    EXPECT_EQ(split_user("u:/bin/x:operator\"\" _ms"), (Title{&user_kind, "/bin/x", "operator\"\" _ms"}));
    EXPECT_EQ(split_user("u:\"/a:b/c\":ns::f"), (Title{&user_kind, "/a:b/c", "ns::f"}));
}

TEST(ProbeKind, TitlesAreMadeOfTheirParts) {
    for (const Title title : {Title{&user_kind, "/path/to/binary", "ns::Class::f(int)"}, Title{&user_kind, "/a:b/c", "ns::f"},
                              Title{&user_kind, "/a:\"b\"/c", "'f'"}, Title{&user_kind, "", "f"}})
        EXPECT_EQ(split_user(title_of(*title.kind, title.qualifier, title.name)), title);
    EXPECT_EQ(title_of(user_kind, "/a:b/c", "ns::f"), "u:\"/a:b/c\":ns::f");
    EXPECT_EQ(title_of(tracepoint_kind, "sched", "sched_switch"), "t:sched:sched_switch");
    EXPECT_EQ(title_of(function_kind, "", "vfs_read"), "vfs_read");
}

TEST(ProbeKind, WhatIsInQuotes) {
    EXPECT_EQ(quoted_part("\"a b\":c"), "a b");
    EXPECT_EQ(quoted_part("'a\"b'"), "a\"b");
    EXPECT_EQ(quoted_part("''"), "");
    EXPECT_EQ(quoted_part("'a"), std::nullopt);
    EXPECT_EQ(quoted_part("a'b'"), std::nullopt);
    EXPECT_EQ(quoted_part(""), std::nullopt);
}

} // namespace
} // namespace argtrace
