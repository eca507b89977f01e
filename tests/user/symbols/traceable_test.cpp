// SPDX-License-Identifier: GPL-2.0-only
#include "symbols/traceable.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <unistd.h>

#include "support/thrown.h"

namespace argtrace {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char *functions_text = "vfs_write\n"
                                       "vfs_read\n"
                                       "__ftrace_invalid_address___64\n"
                                       "init_once [ext4]\n"
                                       "init_once\n"
                                       "init_once\n";

constexpr const char *addresses_text = "ffffffff81000044 vfs_write\n"
                                       "ffffffff81000000 vfs_read\n"
                                       "ffffffff81000080 __ftrace_invalid_address___64\n"
                                       "ffffffffc0000004 init_once [ext4]\n";

// A directory that looks like tracefs, or like its empty mount point.
class TracefsDirectory {
public:
    explicit TracefsDirectory(const char *name, const char *functions = nullptr, const char *addresses = nullptr)
        : path_(testing::TempDir() + "argtrace_traceable_test_" + std::to_string(getpid()) + name) {
        std::filesystem::create_directories(path_);
        if (functions)
            std::ofstream(file()) << functions;
        if (addresses)
            std::ofstream(file() + "_addrs") << addresses;
    }
    ~TracefsDirectory() { std::filesystem::remove_all(path_); }
    const std::string &path() const { return path_; }
    std::string file() const { return path_ + "/available_filter_functions"; }

private:
    std::string path_;
};

TEST(Traceable, ListsFunctionsByNameAndModule) {
    const Traceable traceable = Traceable::parse(functions_text);
    EXPECT_EQ(traceable.all(), (std::vector<TraceableFunction>{{"init_once", ""},
                                                               {"init_once", ""},
                                                               {"init_once", "ext4"},
                                                               {"vfs_read", ""},
                                                               {"vfs_write", ""}}));
}

TEST(Traceable, KnowsWhatItContains) {
    const Traceable traceable = Traceable::parse(functions_text);
    EXPECT_TRUE(traceable.contains("vfs_read"));
    EXPECT_TRUE(traceable.contains("init_once", "ext4"));
    EXPECT_FALSE(traceable.contains("vfs_read", "ext4"));
    EXPECT_FALSE(traceable.contains("init_once", "xfs"));
    EXPECT_FALSE(traceable.contains("vfs_rea"));
    EXPECT_FALSE(traceable.contains("__ftrace_invalid_address___64"));
}

TEST(Traceable, KnowsWhereFunctionsAreIfTheKernelTells) {
    const Traceable traceable = Traceable::parse(addresses_text);
    EXPECT_EQ(traceable.all(), (std::vector<TraceableFunction>{{"init_once", "ext4"}, {"vfs_read", ""}, {"vfs_write", ""}}));
    ASSERT_TRUE(traceable.has_addresses());
    EXPECT_TRUE(traceable.contains_between(0xffffffff81000000, 0xffffffff81000040));
    EXPECT_TRUE(traceable.contains_between(0xffffffff81000040, 0xffffffff81000080));
    EXPECT_TRUE(traceable.contains_between(0xffffffffc0000000, ~0ull));
    EXPECT_FALSE(traceable.contains_between(0xffffffff81000040, 0xffffffff81000044)) << "that is the next one's";
    EXPECT_FALSE(traceable.contains_between(0xffffffff81000010, 0xffffffff81000080)) << "too far behind";
    EXPECT_FALSE(traceable.contains_between(0xffffffff81000080, 0xffffffff810000c0)) << "overridden";
    EXPECT_FALSE(traceable.contains_between(0xffffffffc0000010, ~0ull)) << "behind the last";
    EXPECT_FALSE(Traceable::parse(functions_text).has_addresses());
}

TEST(Traceable, StaysValidWhenItIsMoved) {
    Traceable traceable = Traceable::parse("a\n");
    const Traceable moved = std::move(traceable);
    traceable = Traceable::parse("b\n");
    EXPECT_TRUE(moved.contains("a"));
}

TEST(Traceable, LoadsTheFirstDirectoryThatHasIt) {
    const TracefsDirectory empty("empty");
    const TracefsDirectory mounted("mounted", functions_text);
    const std::string directories[] = {empty.path(), mounted.path()};
    EXPECT_EQ(Traceable::load(directories).all().size(), 5u);
}

TEST(Traceable, LoadsTheAddressesWhereTheKernelHasThem) {
    const TracefsDirectory both("both", functions_text, addresses_text);
    const std::string directories[] = {both.path()};
    const Traceable traceable = Traceable::load(directories);
    EXPECT_TRUE(traceable.has_addresses());
    EXPECT_EQ(traceable.all().size(), 3u);
}

TEST(Traceable, SaysHowToMountTracefs) {
    const TracefsDirectory empty("unmounted");
    const std::string directories[] = {empty.path(), "/nonexistent"};
    EXPECT_THAT(thrown([&] { Traceable::load(directories); }),
                AllOf(HasSubstr("tracefs is not mounted"),
                      HasSubstr("mount -t tracefs tracefs /sys/kernel/tracing")));
}

TEST(Traceable, SaysThatPermissionIsMissing) {
    const TracefsDirectory closed("closed", functions_text);
    std::filesystem::permissions(closed.file(), std::filesystem::perms::none);
    const std::string directories[] = {closed.path()};
    const uid_t user = geteuid();
    // Root may read everything.
    ASSERT_TRUE(user != 0 || seteuid(65534) == 0);
    const std::string sentence = thrown([&] { Traceable::load(directories); });
    ASSERT_TRUE(user != 0 || seteuid(user) == 0);
    EXPECT_THAT(sentence, AllOf(HasSubstr("no permission"), HasSubstr("run argtrace as root")));
}

} // namespace
} // namespace argtrace
