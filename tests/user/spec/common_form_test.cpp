// SPDX-License-Identifier: GPL-2.0-only
#include "spec/common_form.h"

#include <gtest/gtest.h>

namespace argtrace {
namespace {

class CommonFormTest : public testing::Test {
protected:
    /// What the calls of these show of an argument in that register; nothing: of what they return.
    std::optional<ShownAs> form(const std::vector<std::string> &titles, std::optional<std::uint8_t> index, const std::string &name) {
        CommonForm common(Calls::shared());
        for (const std::string &title : titles) {
            Probe probe;
            probe.function = title;
            Argument argument;
            argument.loc = index ? ARGTRACE_LOC_REG : ARGTRACE_LOC_RETURN;
            argument.index = index.value_or(0);
            argument.name = name;
            common.add(probe, argument);
        }
        return common.form();
    }
};

TEST_F(CommonFormTest, IsThatOfAllRows) {
    const auto flags = form({"s:openat"}, 2, "flags");
    ASSERT_TRUE(flags);
    EXPECT_EQ(flags->text(0x80000), "O_RDONLY|O_CLOEXEC");
    EXPECT_EQ(form({"s:fcntl"}, 1, "cmd").value_or(ShownAs()).text(3), "F_GETFL");
    EXPECT_FALSE(form({"s:fcntl"}, 2, "arg")) << "what it is depends on the command";
    EXPECT_EQ(form({"s:socket"}, 0, "family").value_or(ShownAs()).text(2), "AF_INET");
}

TEST_F(CommonFormTest, IsThatOfAllFunctions) {
    EXPECT_TRUE(form({"s:openat", "s:open"}, {}, "ret")) << "a descriptor";
    EXPECT_FALSE(form({"s:openat", "s:socket"}, 1, "filename"));
    EXPECT_FALSE(form({"s:openat", "vfs_no_such_function"}, 2, "flags"));
}

} // namespace
} // namespace argtrace
