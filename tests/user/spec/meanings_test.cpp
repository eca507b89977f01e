// SPDX-License-Identifier: GPL-2.0-only
#include "spec/meanings.h"

#include <gmock/gmock.h>

#include "spec/capture.h"
#include "support/lang_kernel.h"

namespace argtrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class MeaningsTest : public testing::Test {
protected:
    void add(const std::string &text) {
        meanings.add(text, "mine", wrong);
    }

    // "path=path(it)" of each value that such a parameter means.
    std::vector<std::string> of(const char *function, std::uint32_t parameter) {
        std::vector<std::string> found;
        for (const auto &value : meanings.of(SmallKernel::get().scope(function), parameter)) {
            EXPECT_EQ(value.subject,
                      SmallKernel::get().scope(function).parameters()[parameter].place.name);
            found.push_back(fmt::format("{}={}", value.name, value.expression.written()));
        }
        return found;
    }

    Meanings meanings;
    std::vector<std::string> wrong;
};

TEST_F(MeaningsTest, AreFoundByType) {
    add("# a comment\n"
        "\n"
        "struct file *: it->f_flags, it->f_inode->i_ino as number\n"
        "  struct path*:it->dentry\r\n"
        "loff_t *: *it\n");
    EXPECT_THAT(wrong, IsEmpty());
    EXPECT_THAT(of("vfs_read", 0),
                ElementsAre("f_flags=it->f_flags", "number=it->f_inode->i_ino"));
    EXPECT_THAT(of("vfs_open", 0), ElementsAre("dentry=it->dentry")) << "const is no matter";
    EXPECT_THAT(of("vfs_read", 3), ElementsAre("value=*it"));
    EXPECT_THAT(of("vfs_read", 2), IsEmpty());
}

TEST_F(MeaningsTest, ConstCountsWhereItIsWritten) {
    add("const struct path *: it->mnt\n"
        "struct path *: it->dentry\n"
        "const struct file *: it->f_pos\n");
    EXPECT_THAT(of("vfs_open", 0), ElementsAre("mnt=it->mnt"));
    EXPECT_THAT(of("vfs_open", 1), IsEmpty());
}

TEST_F(MeaningsTest, NamesAreThoseOfMembers) {
    add("struct file *: path(it), str(it->f_inode->i_sb->s_id), (int)it->f_pos, flags(it->f_flags, \"O_*\"), it->f_flags + 1\n"
        "struct file *: path(&it->f_path), it->f_inode->i_sb->s_id[3]\n");
    EXPECT_THAT(wrong, IsEmpty());
    std::vector<std::string> names;
    for (const auto &row : meanings.rows())
        for (const auto &value : row.values)
            names.push_back(value.name);
    EXPECT_THAT(names, ElementsAre("path", "s_id", "f_pos", "flags", "value", "path", "s_id"));
}

TEST_F(MeaningsTest, TheFirstThatCanBeResolvedIsTaken) {
    add("struct file *: it->f_gone\n"
        "struct file *: it->f_pos\n"
        "struct file *: it->f_flags\n"
        "struct path *: it->gone\n");
    EXPECT_THAT(of("vfs_read", 0), ElementsAre("f_pos=it->f_pos"));
    EXPECT_THAT(of("vfs_open", 0), IsEmpty());
}

TEST_F(MeaningsTest, OwnLinesOfWhichNoneCanBeResolvedAreTold) {
    add("struct file *: it->f_gone\n"
        "struct file *: it->f_pos\n"
        "struct path *: it->dentri\n"
        "struct path *: it->gone\n"
        "struct inode *: it->gone\n");
    meanings.add("struct path *: it->mnt\nloff_t *: it->gone\n", "shipped", wrong, true);
    EXPECT_THAT(of("vfs_read", 0), ElementsAre("f_pos=it->f_pos"));
    EXPECT_THAT(of("vfs_read", 3), IsEmpty());
    EXPECT_THAT(meanings.unresolved(), IsEmpty());
    for (int i = 0; i < 2; ++i)
        EXPECT_THAT(of("vfs_open", 0), ElementsAre("mnt=it->mnt"));
    EXPECT_THAT(meanings.unresolved(), ElementsAre("mine:3: const struct path has no dentri; did you mean dentry?\n"
                                                   "  struct path *: it->dentri\n"
                                                   "                     ^"));
}

TEST_F(MeaningsTest, ATypeMayHaveNone) {
    add("struct file *:\n"
        "struct file *: it->f_pos\n");
    EXPECT_THAT(of("vfs_read", 0), IsEmpty());
    EXPECT_THAT(wrong, IsEmpty());
}

TEST_F(MeaningsTest, WrongLinesAreNamedAndTheOthersStand) {
    add("struct file * it->f_pos\n"
        ": it\n"
        "struct file *: it-\n"
        "struct file *: it->f_pos\n"
        "  struct *: it\n"
        "struct path *: it->mnt as end, it->dentry, it->dentry->d_parent as end\n");
    ASSERT_EQ(wrong.size(), 5u);
    EXPECT_EQ(wrong[0], "mine:1: a line is TYPE: EXPR [as NAME], ..., as in 'struct file *: "
                        "path(it)'");
    EXPECT_EQ(wrong[1], "mine:2: a type is missing before ':'\n"
                        "  : it\n"
                        "  ^");
    EXPECT_EQ(wrong[3], "mine:5: the name of the struct is missing before '*'\n"
                        "    struct *: it\n"
                        "           ^");
    EXPECT_EQ(wrong[4], "mine:6: two values have the name end: give this one another with 'as NAME'\n"
                        "  struct path *: it->mnt as end, it->dentry, it->dentry->d_parent as end\n"
                        "                                             ^");
    EXPECT_EQ(wrong[2], "mine:3: something is missing here: an operand\n"
                        "  struct file *: it-\n"
                        "                    ^");
    EXPECT_THAT(of("vfs_read", 0), ElementsAre("f_pos=it->f_pos"));
}

TEST_F(MeaningsTest, WhatIsShippedIsWellFormedAndOfManyTypes) {
    meanings.add(shipped_meanings, "shipped", wrong);
    EXPECT_THAT(wrong, IsEmpty());
    EXPECT_GE(meanings.rows().size(), 40u);
}

} // namespace
} // namespace argtrace
