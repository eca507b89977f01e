// SPDX-License-Identifier: GPL-2.0-only
// Stacks of user code beside those of the kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyze/wait_totals.h"
#include "model/user_frame.h"
#include "render/profile.h"
#include "render/stack.h"
#include "render/stack_summary.h"
#include "render/waits.h"

namespace argtrace {
namespace {

constexpr std::uint64_t kernel_id = 100, user_id = 200, broken_id = 201, absent_id = 300;
constexpr std::uint64_t late_id = 210, late_alone_id = 211, other_late_id = 212, shared_alone_id = 213; // completed later
constexpr std::uint32_t program = ARGTRACE_OBJECT_FIRST, library = program + 1;

/// do_syscall_64 called ksys_read; a program's main() called read(), whose library has entered the kernel.
class BothSymbols : public Symbols {
public:
    std::optional<Symbol> find(CodePlace place) const override {
        if (place.space == CodeSpace::kernel)
            return place.address < 0x2000 ? Symbol{0x1000, "ksys_read", "", 0} : Symbol{0x2000, "do_syscall_64", "", 0};
        const UserFrame frame(place.address);
        if (frame.object == program)
            return Symbol{UserFrame(program, 0x1000, false).word(), "main", "", 0};
        if (frame.object == library)
            return Symbol{UserFrame(library, 0x2000, frame.exact).word(), "std::read(int, char [])", "", 0};
        return std::nullopt;
    }

    std::optional<Stack> stack(std::uint64_t id, StackRoom & /*room*/) const override {
        if (id == kernel_id)
            return Stack{kernel_, false};
        if (id == user_id)
            return Stack{user_, false, CodeSpace::user};
        if (id == late_id)
            return Stack{user_, false, CodeSpace::user, {}, user_id};
        if (id == late_alone_id || id == other_late_id) // no call has the number that they share
            return Stack{user_, false, CodeSpace::user, {}, shared_alone_id};
        return id == broken_id ? std::optional(Stack{broken_, false, CodeSpace::user}) : std::nullopt;
    }

private:
    std::vector<std::uint64_t> kernel_{0x1010, 0x2010};
    std::vector<std::uint64_t> user_{UserFrame(library, 0x2010, true).word(), UserFrame(program, 0x1020, false).word()};
    std::vector<std::uint64_t> broken_{UserFrame(ARGTRACE_OBJECT_MEMORY, 0x7f0000001234, true).word(),
                                       UserFrame(ARGTRACE_OBJECT_VDSO, 0x12, false).word(), UserFrame(77, 0x99, false).word(),
                                       UserFrame(ARGTRACE_OBJECT_END, ARGTRACE_END_NO_TABLE, false).word()};
};

Value number(std::uint64_t id, bool captured = true) {
    return {id, 0, ARGTRACE_TYPE_STACK, captured};
}

class UserStacks : public testing::Test {
protected:
    std::string lines(const StackValues &stacks) {
        Line line;
        append_call_stacks(line, names_, stacks);
        return std::string(line.view());
    }

    std::string json(const StackValues &stacks) {
        Line line;
        append_json_stacks(line, names_, stacks);
        return std::string(line.view());
    }

    const BothSymbols symbols_{};
    CallerNames names_{symbols_};
    KeyText keys_{names_};
    const Value kernel_ = number(kernel_id), user_ = number(user_id), broken_ = number(broken_id), unknown_ = number(absent_id),
                in_user_ = number(ARGTRACE_STACK_ID_USER), idle_ = number(ARGTRACE_STACK_ID_IDLE),
                no_user_ = number(ARGTRACE_STACK_ID_NO_USER);
};

TEST_F(UserStacks, FollowThoseOfTheKernelBelowABorder) {
    const std::string kernel = "        ksys_read+0x10\n        do_syscall_64+0x10\n";
    const std::string user = "        std::read(int, char [])+0x10\n        main+0x20\n";
    EXPECT_EQ(lines({&kernel_, nullptr}), kernel);
    EXPECT_EQ(lines({nullptr, &user_}), user);
    EXPECT_EQ(lines({&kernel_, &user_}), kernel + "        --- user ---\n" + user);
    EXPECT_EQ(lines({&in_user_, &user_}), "        --- user ---\n" + user);
    EXPECT_EQ(lines({&in_user_, nullptr}), "        [user]\n");
    EXPECT_EQ(lines({&kernel_, &no_user_}), kernel) << "a task of the kernel's";
    EXPECT_EQ(lines({nullptr, &no_user_}), "        [kernel]\n");
    EXPECT_EQ(lines({&kernel_, &unknown_}), kernel + "        --- user ---\n        ?\n");
}

TEST_F(UserStacks, SayWhatIsKnownOfPlacesWithoutAName) {
    EXPECT_EQ(lines({nullptr, &broken_}), "        [anonymous]+0x7f0000001234\n"
                                          "        [vdso]+0x12\n"
                                          "        [object 77]+0x99\n"
                                          "        [... no unwind table]\n");
}

/// At the place in main() two functions are inlined.
class InlinedSymbols : public BothSymbols {
public:
    explicit InlinedSymbols(bool lines) : lines_(lines) {}

    std::vector<SourceFrame> source(CodePlace place) const override {
        if (place.space == CodeSpace::kernel || UserFrame(place.address).object != program)
            return {};
        std::vector<SourceFrame> frames{{"a::get()", "/src/a/get.h", 12}, {"", "", 0}, {"main", "main.c", 34}};
        for (SourceFrame &frame : frames)
            if (!lines_)
                frame = {frame.function, "", 0};
        return frames;
    }

private:
    bool lines_;
};

TEST_F(UserStacks, HaveInlinedFunctionsAsFramesOfTheirOwn) {
    const InlinedSymbols symbols(false);
    CallerNames names(symbols);
    Line line;
    append_stack(line, names, user_);
    EXPECT_EQ(line.view(), "        std::read(int, char [])+0x10\n"
                           "        a::get() (inlined)\n"
                           "        ?? (inlined)\n"
                           "        main+0x20\n");
    EXPECT_THAT(stack_functions(names, {nullptr, &user_}),
                testing::ElementsAre("main", "?? (inlined)", "a::get() (inlined)", "std::read(int, char [])"));
}

TEST_F(UserStacks, HaveLinesWhereTheyAreTold) {
    const InlinedSymbols symbols(true);
    CallerNames names(symbols);
    Line line;
    append_stack(line, names, user_);
    EXPECT_EQ(line.view(), "        std::read(int, char [])+0x10\n"
                           "        a::get() (inlined) at get.h:12\n"
                           "        ?? (inlined)\n"
                           "        main+0x20 at main.c:34\n");
    EXPECT_THAT(stack_functions(names, {nullptr, &user_}), testing::ElementsAre("main at main.c:34", "?? (inlined)", "a::get() (inlined) at get.h:12",
                                                                               "std::read(int, char [])"));
}

/// A name that moves the cursor, and a file of such a name: whoever runs a program chooses them.
TEST_F(UserStacks, AreShownWithoutControlCharacters) {
    struct : Symbols {
        std::optional<Symbol> find(CodePlace) const override { return Symbol{UserFrame(program, 0x1000, false).word(), "\033[2Jf", "", 0}; }
        std::vector<SourceFrame> source(CodePlace) const override { return {{"\ng", "a\rb", 1}, {"f", "/\x9b", 2}}; }
    } symbols;
    CallerNames names(symbols);
    const auto &frames = names.frames(user_place(UserFrame(program, 0x1001, false).word()));
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_EQ(frames[0].name, "\\x0ag (inlined) at a\\x0db:1");
    EXPECT_EQ(frames[1].name, "\\x1b[2Jf+0x1 at \\x9b:2");
}

TEST_F(UserStacks, AreAMemberOfTheirOwnInJson) {
    EXPECT_EQ(json({&kernel_, &user_}), R"(,"stack":["ksys_read+0x10","do_syscall_64+0x10"],)"
                                        R"("user_stack":["std::read(int, char [])+0x10","main+0x20"])");
    EXPECT_EQ(json({&in_user_, &user_}), R"(,"stack":[],"user_stack":["std::read(int, char [])+0x10","main+0x20"])");
    EXPECT_EQ(json({&kernel_, &no_user_}), R"(,"stack":["ksys_read+0x10","do_syscall_64+0x10"],"user_stack":[])");
    EXPECT_EQ(json({nullptr, &unknown_}), R"(,"user_stack":null)");
    EXPECT_EQ(json({nullptr, nullptr}), "");
}

TEST_F(UserStacks, AreTheRootOfFrames) {
    using testing::ElementsAre;
    EXPECT_THAT(stack_functions(names_, {&kernel_, &user_}), ElementsAre("main", "std::read(int, char [])", "do_syscall_64", "ksys_read"));
    EXPECT_THAT(stack_functions(names_, {&in_user_, &user_}), ElementsAre("main", "std::read(int, char [])"));
    EXPECT_THAT(stack_functions(names_, {&idle_, &no_user_}), ElementsAre("[idle]"));
    EXPECT_THAT(stack_functions(names_, {&kernel_, &no_user_}), ElementsAre("do_syscall_64", "ksys_read"));
    EXPECT_THAT(stack_functions(names_, {nullptr, &no_user_}), ElementsAre("[kernel]"));
    EXPECT_THAT(stack_functions(names_, {&in_user_, &unknown_}), ElementsAre("[unknown]"));
    EXPECT_THAT(stack_functions(names_, {nullptr, &broken_}), ElementsAre("[... no unwind table]", "[object 77]", "[vdso]", "[anonymous]"));
    EXPECT_EQ(stack_frames(names_, {&kernel_, &user_})[1].space, CodeSpace::user);
    EXPECT_EQ(stack_frames(names_, {&kernel_, &user_})[2].space, CodeSpace::kernel);
}

TEST_F(UserStacks, InOneLine) {
    EXPECT_EQ(stacks_in_line(names_, {&kernel_, &user_}),
              "ksys_read+0x10 <- do_syscall_64+0x10 <- std::read(int, char [])+0x10 <- main+0x20");
    EXPECT_EQ(stacks_in_line(names_, {&kernel_, &no_user_}), "ksys_read+0x10 <- do_syscall_64+0x10");
    EXPECT_EQ(stacks_in_line(names_, {&in_user_, &user_}), "std::read(int, char [])+0x10 <- main+0x20");
}

TEST_F(UserStacks, SayWhyTheyEndAndWhere) {
    struct : Symbols {
        std::optional<Symbol> find(CodePlace) const override { return std::nullopt; }
        std::optional<CodeObject> object(std::uint32_t number) const override {
            return number == library ? std::optional(CodeObject{"/lib/libfoo\n.so", ""}) : std::nullopt;
        }
    } symbols;
    const CallerNames names(symbols);
    const auto end = [&names](argtrace_end reason, std::optional<UserFrame> innermore = UserFrame(library, 0x10, true)) {
        return names.end(UserFrame(ARGTRACE_OBJECT_END, reason, false).word(), innermore ? std::optional(innermore->word()) : std::nullopt);
    };
    EXPECT_EQ(end(ARGTRACE_END_NO_TABLE), "[... no unwind table for libfoo\\x0a.so]");
    EXPECT_EQ(end(ARGTRACE_END_NO_TABLE, UserFrame(ARGTRACE_OBJECT_MEMORY, 0x7f00, true)), "[... no unwind table for [anonymous]]");
    EXPECT_EQ(end(ARGTRACE_END_NO_TABLE, UserFrame(program, 0x10, true)), "[... no unwind table]");
    EXPECT_EQ(end(ARGTRACE_END_NO_RULE), "[... no unwind rule in libfoo\\x0a.so]");
    EXPECT_EQ(end(ARGTRACE_END_UNREADABLE), "[... stack memory not readable]");
    EXPECT_EQ(end(ARGTRACE_END_NO_CALL), "[... no return address in libfoo\\x0a.so]");
    EXPECT_EQ(end(ARGTRACE_END_UNMAPPED, std::nullopt), "[... mappings not known]");
    EXPECT_EQ(end(ARGTRACE_END_32_BIT, std::nullopt), "[... 32-bit code]");
    EXPECT_EQ(end(static_cast<argtrace_end>(ARGTRACE_END_COUNT)), "[...]");
}

class CountedUserStacks : public UserStacks {
protected:
    CountedUserStacks() {
        columns_.back().is_user_stack = true;
        style_.statistic = Statistic::stacks;
        style_.stack = both_stacks;
        for (int i = 0; i < 3; ++i)
            tick(kernel_, user_);
        tick(in_user_, user_);
    }

    void tick(const Value &kernel, const Value &user) {
        all_.add_call({{{0, 0, ARGTRACE_TYPE_STR, true}, "dd"}, {kernel}, {user}});
    }

    std::string shown(StackForm form) {
        style_.stacks = form;
        std::string out;
        append_stacks(out, all_, columns_, keys_, style_);
        return out;
    }

    AggregateStyle style_;
    Aggregation all_;
    std::vector<KeyColumn> columns_{{"comm"}, {"stack"}, {"ustack"}};
};

TEST_F(CountedUserStacks, FoldedTheKernelStandsOnTheUser) {
    EXPECT_EQ(shown(StackForm::folded), "dd;main;std::read(int, char []);do_syscall_64;ksys_read 3\n"
                                        "dd;main;std::read(int, char []) 1\n");
}

TEST_F(CountedUserStacks, SummaryHasBoth) {
    const std::string text = shown(StackForm::summary);
    EXPECT_THAT(text, testing::StartsWith("        ksys_read+0x10\n"
                                          "        do_syscall_64+0x10\n"
                                          "        --- user ---\n"
                                          "        std::read(int, char [])+0x10\n"
                                          "        main+0x20\n"
                                          "    3 calls (75.0 %), comm=dd\n"));
    EXPECT_THAT(text, testing::HasSubstr("\n4 calls, 2 different stacks, 2.0 calls a stack, 3.5 frames in the mean\n"));
}

TEST_F(CountedUserStacks, ProfileHasNoUserAsAWhole) {
    const std::string table = shown(StackForm::functions);
    EXPECT_EQ(table, "comm=dd: 4 ticks (100.0 %)\n"
                     "      SELF      %      TOTAL      %  FUNCTION\n"
                     "         3   75.0          3   75.0  ksys_read\n"
                     "         1   25.0          4  100.0  std::read(int, char [])\n"
                     "         0    0.0          4  100.0  main\n"
                     "         0    0.0          3   75.0  do_syscall_64\n");
}

TEST_F(CountedUserStacks, JsonHasBoth) {
    std::string out;
    append_aggregate_json(out, all_, columns_, keys_, style_);
    EXPECT_THAT(out, testing::StartsWith(R"({"key":{"comm":"dd"},"stack":["ksys_read+0x10","do_syscall_64+0x10"],)"
                                         R"("user_stack":["std::read(int, char [])+0x10","main+0x20"],"count":3})"));
}

TEST_F(CountedUserStacks, FlameGraphTellsThemByColour) {
    const std::string svg = shown(StackForm::svg);
    const auto colour_of = [&svg](const std::string &name) {
        const std::size_t at = svg.find("data-name=\"" + name + '"');
        EXPECT_NE(at, svg.npos) << name;
        const std::size_t fill = svg.find("fill=\"hsl(", at);
        return svg.substr(svg.find(',', fill), 5);
    };
    EXPECT_EQ(colour_of("main"), colour_of("std::read(int, char [])"));
    EXPECT_NE(colour_of("main"), colour_of("ksys_read"));
    EXPECT_NE(colour_of("main"), colour_of("dd"));
}

TEST_F(CountedUserStacks, ByTheInnermostFunctionOfUserCode) {
    std::vector<KeyColumn> columns{{"ufunc"}, {"stack"}};
    columns[0].is_user_stack = true;
    Aggregation all;
    all.add_call({{user_}, {kernel_}});
    all.add_call({{number(broken_id)}, {kernel_}});
    all.add_call({{no_user_}, {kernel_}});
    all.add_call({{user_}, {in_user_}});
    const auto named = keys_.with_user_stacks(all, columns);
    ASSERT_TRUE(named);
    EXPECT_EQ(named->calls(), 4u);
    std::map<std::string, std::uint64_t> counts;
    for (const auto &[key, entry] : named->entries())
        counts[key[0].text] += entry.total.count;
    EXPECT_THAT(counts, testing::ElementsAre(testing::Pair("[anonymous]", 1), testing::Pair("[kernel]", 1),
                                             testing::Pair("std::read(int, char [])", 2)));
}

/// Each has a number of its own, and is a row together with the others.
TEST_F(UserStacks, ThatWereCompletedLaterAreOneRow) {
    std::vector<KeyColumn> columns{{"stack"}, {"ustack"}};
    columns[1].is_user_stack = true;
    Aggregation all;
    all.add_call({{kernel_}, {user_}});
    all.add_call({{kernel_}, {broken_}});
    all.add_call({{kernel_}, {no_user_}});
    EXPECT_FALSE(keys_.with_user_stacks(all, columns)) << "none of them was";
    all.add_call({{kernel_}, {number(late_id)}});
    all.add_call({{kernel_}, {number(late_alone_id)}});
    all.add_call({{kernel_}, {number(other_late_id)}});
    const auto shared = keys_.with_user_stacks(all, columns);
    ASSERT_TRUE(shared);
    std::multiset<std::uint64_t> counts;
    for (const auto &[key, entry] : shared->entries())
        counts.insert(entry.total.count);
    EXPECT_THAT(counts, testing::ElementsAre(1, 1, 2, 2));
}

TEST_F(UserStacks, ThatWereCompletedLaterAreOneWait) {
    WaitTotals totals({.keys = {WaitKey::cpu}, .stacks = true, .user_stacks = true});
    Wait wait;
    wait.begin = 1000;
    wait.woken = wait.end = 3000;
    wait.state = 'S';
    wait.stack = kernel_id;
    wait.user_stack = user_id;
    totals.add(wait);
    const auto number = [this](std::uint64_t id) { return keys_.shared_stack(id); };
    EXPECT_FALSE(totals.with_user_stacks(number));
    wait.user_stack = late_id;
    totals.add(wait);
    const auto shared = totals.with_user_stacks(number);
    ASSERT_TRUE(shared);
    ASSERT_EQ(shared->entries().size(), 1u);
    EXPECT_EQ(shared->entries().begin()->second.waits, 2u);
    EXPECT_EQ(shared->all().waits, 2u);
}

TEST_F(UserStacks, OfWaits) {
    WaitTotals totals({.keys = {}, .stacks = true, .user_stacks = true});
    Wait wait;
    wait.begin = 1000;
    wait.woken = wait.end = 3000;
    wait.state = 'S';
    wait.stack = kernel_id;
    wait.user_stack = user_id;
    totals.add(wait);
    std::string folded, json;
    append_waits(folded, totals, keys_, {.form = StackForm::folded});
    EXPECT_EQ(folded, "main;std::read(int, char []);do_syscall_64;ksys_read 2000\n");
    append_waits_json(json, totals, keys_, {});
    EXPECT_THAT(json, testing::HasSubstr(R"("stack":["ksys_read+0x10","do_syscall_64+0x10"],"user_stack":["std::read(int, char [])+0x10",)"));
    WaitTotals user({.keys = {}, .stacks = false, .user_stacks = true});
    user.add(wait);
    folded.clear();
    append_waits(folded, user, keys_, {.form = StackForm::folded});
    EXPECT_EQ(folded, "main;std::read(int, char []) 2000\n");
}

TEST(UserFrames, AreWordsThatNoAddressOfTheKernelIs) {
    const UserFrame frame(library, 0x1234, true);
    EXPECT_EQ(frame.word() >> 62, 1u);
    const UserFrame same(frame.word());
    EXPECT_EQ(same.object, library);
    EXPECT_EQ(same.offset, 0x1234u);
    EXPECT_TRUE(same.exact);
    EXPECT_EQ(same.inside(), 0x1234u);
    EXPECT_EQ(UserFrame(library, 0x1234, false).inside(), 0x1233u);
    EXPECT_EQ(UserFrame(library, 0, false).inside(), 0u);
}

TEST(StackPlaces, AreToldByTheirTypesBehindAllOtherArguments) {
    Probe probe;
    const auto add = [&probe](const char *name, std::uint8_t type, std::string_view type_name) {
        Argument argument;
        argument.name = name;
        argument.type = type;
        argument.type_name = type_name;
        argument.loc = ARGTRACE_LOC_PROGRAM;
        probe.args.push_back(argument);
    };
    add("count", ARGTRACE_TYPE_U64, "u64");
    EXPECT_FALSE(stack_places(probe).any());
    add("stack", ARGTRACE_TYPE_STACK, "stack");
    EXPECT_EQ(stack_places(probe).kernel, 1u);
    EXPECT_FALSE(stack_places(probe).user);
    EXPECT_EQ(named_stacks(probe), kernel_stack);
    add("user_stack", ARGTRACE_TYPE_STACK, user_stack_name);
    EXPECT_EQ(stack_places(probe).kernel, 1u);
    EXPECT_EQ(stack_places(probe).user, 2u);
    EXPECT_EQ(named_stacks(probe), both_stacks);
    EXPECT_EQ(shown_arguments(probe), 1u);
    probe.args.erase(probe.args.begin() + 1);
    EXPECT_FALSE(stack_places(probe).kernel);
    EXPECT_EQ(stack_places(probe).user, 1u);
    EXPECT_EQ(shown_arguments(probe), 1u);
}

} // namespace
} // namespace argtrace
