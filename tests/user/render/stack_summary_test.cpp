// SPDX-License-Identifier: GPL-2.0-only
#include "render/stack_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/some_stack.h"

namespace argtrace {
namespace {

constexpr std::uint64_t from_kernel = 100, from_module = 101, not_known = 102;

/// Two stacks: of a system call, and of one that went through a module.
class CodeAndStacks : public test::SomeFunctions {
public:
    std::optional<Stack> stack(std::uint64_t id, StackRoom & /*room*/) const override {
        if (id == from_kernel)
            return Stack{kernel_, false};
        return id == from_module ? std::optional(Stack{module_, true}) : std::nullopt;
    }

private:
    std::vector<std::uint64_t> kernel_{0x1010, 0x2010}, module_{0x3010, 0x2010};
};

class StacksOfCalls : public testing::Test {
protected:
    StacksOfCalls() {
        style_.statistic = Statistic::stacks;
        keys_.set_top_frames({{"ext4_get", "ext4_get [ext4]"}, {"cycles", ""}});
    }

    void call(const char *comm, const char *function, std::uint64_t stack) {
        const Value text{0, 0, ARGTRACE_TYPE_STR, true};
        all_.add_call({{text, comm}, {text, function}, {{stack, 0, ARGTRACE_TYPE_STACK, true}}});
    }

    std::string shown(StackForm form) {
        style_.stacks = form;
        std::string out;
        append_stacks(out, all_, columns_, keys_, style_);
        return out;
    }

    CodeAndStacks symbols_;
    CallerNames names_{symbols_};
    KeyText keys_{names_};
    AggregateStyle style_;
    Aggregation all_;
    std::vector<KeyColumn> columns_{{"comm"}, {"func", true, false, nullptr, KeyColumn::Top::only}, {"stack"}};
};

TEST_F(StacksOfCalls, HaveTheFunctionThatWasCalledOnTop) {
    call("dd", "vfs_read", from_kernel);
    call("dd", "vfs_read", from_kernel);
    call("dd", "vfs_write", from_kernel);
    call("cat", "ext4_get", from_module);
    call("cat", "vfs_read", not_known);
    EXPECT_EQ(shown(StackForm::folded), "dd;do_syscall_64;ksys_read;vfs_read 2\n"
                                        "cat;[cut];do_syscall_64;ext4_read [ext4];ext4_get [ext4] 1\n"
                                        "cat;[unknown];vfs_read 1\n"
                                        "dd;do_syscall_64;ksys_read;vfs_write 1\n");
    const std::string text = shown(StackForm::summary);
    EXPECT_THAT(text, testing::StartsWith("        vfs_read\n"
                                          "        ksys_read+0x10\n"
                                          "        do_syscall_64+0x10\n"
                                          "    2 calls (40.0 %), comm=dd\n\n"));
    EXPECT_THAT(text, testing::HasSubstr("\nvfs_read                                          3   60.0          3   60.0\n"));
    EXPECT_THAT(text, testing::HasSubstr("\nksys_read                                         0    0.0          3   60.0\n"));
    EXPECT_THAT(text, testing::HasSubstr("\n5 calls, 4 different stacks, 1.2 calls a stack, 3.0 frames in the mean\n"))
        << "(2 + 1) * 3 + 4 + 2 frames";
    std::string json;
    append_aggregate_json(json, all_, columns_, keys_, style_);
    EXPECT_THAT(json, testing::StartsWith("{\"func\":\"vfs_read\",\"key\":{\"comm\":\"dd\"},\"stack\":[\"vfs_read\",\"ksys_read+0x10\","
                                          "\"do_syscall_64+0x10\"],\"count\":2}\n"));
    EXPECT_THAT(json, testing::HasSubstr("\"stack\":[\"ext4_get [ext4]\",\"ext4_read+0x10 [ext4]\",\"do_syscall_64+0x10\",\"...\"]"));
    EXPECT_THAT(json, testing::HasSubstr("\"stack\":[\"vfs_read\",\"?\"]"));
}

TEST_F(StacksOfCalls, AreDividedByTheFunctionOnlyIfThatIsAskedFor) {
    call("dd", "vfs_read", from_kernel);
    columns_[1].top = KeyColumn::Top::also;
    EXPECT_EQ(shown(StackForm::folded), "dd;vfs_read;do_syscall_64;ksys_read;vfs_read 1\n");
    EXPECT_THAT(shown(StackForm::summary), testing::HasSubstr("comm=dd, vfs_read\n"));
}

TEST_F(StacksOfCalls, ThatAreTicksEndWithWhatTheyInterrupted) {
    call("dd", "cycles", from_kernel);
    EXPECT_EQ(shown(StackForm::folded), "dd;do_syscall_64;ksys_read 1\n");
}

TEST_F(StacksOfCalls, AreAFlameGraphInWhichModulesStandOut) {
    call("dd", "ext4_get", from_module);
    call("dd", "vfs_read", not_known);
    const std::string svg = shown(StackForm::svg);
    const auto colour_of = [&svg](const std::string &name) {
        const std::size_t at = svg.find("data-name=\"" + name + '"');
        EXPECT_NE(at, svg.npos) << name;
        const std::size_t fill = svg.find("fill=\"hsl(", at);
        return svg.substr(svg.find(',', fill), 5); // the saturation tells them apart
    };
    EXPECT_EQ(colour_of("ext4_get [ext4]"), colour_of("ext4_read [ext4]"));
    EXPECT_NE(colour_of("ext4_get [ext4]"), colour_of("vfs_read"));
    EXPECT_EQ(colour_of("[cut]"), colour_of("vfs_read"));
    EXPECT_EQ(colour_of("[unknown]"), colour_of("vfs_read"));
    EXPECT_NE(colour_of("dd"), colour_of("vfs_read"));
}

TEST_F(StacksOfCalls, AreAFlameGraphThatSaysWhatIsMissing) {
    call("dd", "vfs_read", from_kernel);
    EXPECT_EQ(describe(MissingStacks{}, "call"), "");
    EXPECT_EQ(describe(MissingStacks{1, 2, 3}, "tick"), "1 tick was lost, 2 ticks have no stack, 3 ticks are left out");
    style_.missing = describe(MissingStacks{12, 1}, "call");
    EXPECT_THAT(shown(StackForm::svg), testing::HasSubstr(">12 calls were lost, 1 call has no stack<"));
}

} // namespace
} // namespace argtrace
