// SPDX-License-Identifier: GPL-2.0-only
#include "spec/changes.h"

#include <gmock/gmock.h>

#include "lang/moment.h"
#include "support/lang_kernel.h"

namespace argtrace {
namespace {

using testing::ElementsAre;

std::vector<lang::ArgumentExpression> changes_of(const char *function, const std::string &values) {
    SmallKernel &kernel = SmallKernel::get();
    lang::Scope scope = kernel.scope(function);
    scope.set_result(lang::Type::of(lang::Type::Basic::void_));
    return with_changes(scope, kernel.prototype(function), lang::parse_values(values));
}

std::vector<std::string> names_of(const char *function, const std::string &values) {
    std::vector<std::string> names;
    for (const auto &value : changes_of(function, values))
        names.push_back(value.name);
    return names;
}

TEST(Changes, ArgumentsThatPointToNumbersAreFollowed) {
    EXPECT_THAT(names_of("vfs_read", "file, buf, count, pos"),
                ElementsAre("file", "buf", "count", "pos", "*pos", "*pos@ret"));
    EXPECT_THAT(names_of("vfs_read", "pos as p"), ElementsAre("p", "*p", "*p@ret"));
    EXPECT_THAT(names_of("vfs_open", "path, file"), ElementsAre("path", "file"));
}

TEST(Changes, ValuesAreFollowedThatMayChange) {
    EXPECT_THAT(names_of("vfs_read", "file->f_pos as at, str(buf), count + 1 as more, cpu"),
                ElementsAre("at", "at@ret", "str(buf)", "str(buf)@ret", "more", "cpu", "cpu@ret"));
    const auto values = changes_of("vfs_read", "*pos");
    ASSERT_EQ(values.size(), 2u);
    EXPECT_FALSE(values[0].optional);
    EXPECT_TRUE(values[1].optional);
    EXPECT_EQ(values[1].expression.written(), "(*pos)@ret");
}

TEST(Changes, NothingIsThereTwice) {
    EXPECT_THAT(names_of("vfs_read", "pos, *pos, *pos@ret"),
                ElementsAre("pos", "*pos", "*pos@ret"));
    EXPECT_THAT(names_of("vfs_read", "*pos, pos"), ElementsAre("*pos", "*pos@ret", "pos"));
    EXPECT_THAT(names_of("vfs_read", "*pos@ret as after"), ElementsAre("after"));
}

} // namespace
} // namespace argtrace
