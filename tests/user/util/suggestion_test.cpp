// SPDX-License-Identifier: GPL-2.0-only
#include "util/suggestion.h"

#include <gmock/gmock.h>

namespace argtrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view known[] = {
    "jread",       "vfs_read",         "ksys_read",     "vfs_readv",          "spread_out",
    "kernel_read", "__x64_sys_read",   "read_pages",    "vfs_fsync",          "do_fsync",
    "tcp_sendmsg", "kill_pid",         "vfs_read.cold", "tcp_sendmsg_locked", "vfs_fsync",
    "schedule",    "schedule_timeout",
};

std::vector<std::string_view> suggested(std::string_view word) {
    return suggest(word, known, "__x64_sys_").names;
}

TEST(Suggest, WholeWordsComeBeforeLetters) {
    EXPECT_THAT(suggested("read"),
                ElementsAre("vfs_read", "ksys_read", "kernel_read", "__x64_sys_read"));
    EXPECT_EQ(suggest("read", known).others, 2u) << "read_pages, vfs_read.cold";
    EXPECT_THAT(suggested("kill"), ElementsAre("kill_pid"));
    EXPECT_THAT(suggested("fsync"), ElementsAre("vfs_fsync", "do_fsync")) << "each once";
}

TEST(Suggest, FunctionsOfSystemCallsAreThoseOfTheMachine) {
    constexpr std::string_view functions[] = {"vfs_read", "__x64_sys_read", "my_old_read"};
    EXPECT_THAT(suggest("read", functions, "__x64_sys_").names, ElementsAre("vfs_read", "__x64_sys_read", "my_old_read"));
    EXPECT_THAT(suggest("read", functions, "__arm64_sys_").names, ElementsAre("vfs_read", "my_old_read", "__x64_sys_read"));
    constexpr std::string_view calls[] = {"do_sys_read", "__x64_sys_read"};
    EXPECT_THAT(suggest("sys_read", calls, "__x64_sys_").names, ElementsAre("__x64_sys_read", "do_sys_read"));
}

TEST(Suggest, CaseMakesNoDifference) {
    EXPECT_THAT(suggested("VFS_READ"), ElementsAre("vfs_read"));
    EXPECT_THAT(suggested("Kill"), ElementsAre("kill_pid"));
    EXPECT_THAT(suggested("VFS_RAED"), ElementsAre("vfs_read"));
}

TEST(Suggest, PartsOfWordsComeNext) {
    EXPECT_THAT(suggested("schedul"), ElementsAre("schedule", "schedule_timeout"));
    EXPECT_THAT(suggested("sendmsg_lock"), ElementsAre("tcp_sendmsg_locked"));
    EXPECT_THAT(suggested("vfs_read_"), ElementsAre("vfs_read"));
}

TEST(Suggest, MisspellingsComeLast) {
    EXPECT_THAT(suggested("tcp_sendmgs"), ElementsAre("tcp_sendmsg"));
    EXPECT_THAT(suggested("nothing_like_it_at_all"), IsEmpty());
    EXPECT_THAT(suggested("re"), IsEmpty()) << "it is in too many";
    EXPECT_THAT(suggested(""), IsEmpty());
}

TEST(DidYouMean, IsAQuestion) {
    EXPECT_EQ(did_you_mean(Suggestion{}), "");
    EXPECT_EQ(did_you_mean(Suggestion{{"a"}, 0}), "; did you mean a?");
    EXPECT_EQ(did_you_mean(Suggestion{{"a", "b", "c"}, 0}), "; did you mean a, b or c?");
    EXPECT_EQ(did_you_mean(Suggestion{{"a", "b"}, 7}, "Kill", true),
              "; did you mean a, b, or one of 7 more (`argtrace list '*kill*'`)?");
    EXPECT_EQ(did_you_mean(Suggestion{{"a", "b"}, 7}), "; did you mean a, b, or one of 7 more?");
}

} // namespace
} // namespace argtrace
