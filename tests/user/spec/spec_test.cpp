// SPDX-License-Identifier: GPL-2.0-only
#include "spec/spec.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <unistd.h>

#include "support/thrown.h"

namespace argtrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Spec parse(const std::string &text, PatternSyntax syntax = PatternSyntax::glob) {
    return parse_spec(text, syntax);
}

std::string refused_pattern(const std::string &text, PatternSyntax syntax = PatternSyntax::glob) {
    return thrown([&] { parse(text, syntax); });
}

std::vector<std::string> arguments(const Spec &spec) {
    std::vector<std::string> names;
    for (const lang::ArgumentExpression &value : spec.values.value())
        names.push_back(value.name);
    return names;
}

TEST(Spec, ANameMeansItselfEverywhere) {
    const Spec spec = parse("vfs_read");
    EXPECT_FALSE(spec.exclude);
    EXPECT_FALSE(spec.module);
    EXPECT_FALSE(spec.values);
    EXPECT_EQ(spec.pattern.kind(), Pattern::Kind::name);
    EXPECT_TRUE(spec.matches("vfs_read", ""));
    EXPECT_TRUE(spec.matches("vfs_read", "ext4"));
    EXPECT_FALSE(spec.matches("vfs_readv", ""));
}

TEST(Spec, NamesOfClonesAreNames) {
    EXPECT_TRUE(parse("split.isra.0").matches("split.isra.0", ""));
    EXPECT_EQ(parse("_RNvCs$x.llvm.12").pattern.kind(), Pattern::Kind::name);
}

TEST(Spec, MatchesTheTitleOfARecord) {
    const auto matches = [](const char *text, const char *title) {
        return parse_spec(text, PatternSyntax::glob).matches_title(title);
    };
    EXPECT_TRUE(matches("vfs_read", "vfs_read"));
    EXPECT_TRUE(matches("ext4:ext4_*", "ext4_open")) << "whose module a record does not tell";
    EXPECT_FALSE(matches("vfs_read", "t:sched:vfs_read"));
    EXPECT_TRUE(matches("t:block:block_rq_issue", "t:block:block_rq_issue"));
    EXPECT_TRUE(matches("t:block:*", "t:block:block_rq_issue"));
    EXPECT_FALSE(matches("t:block:block_rq_issue", "t:sched:block_rq_issue"));
    EXPECT_FALSE(matches("t:block:block_rq_issue", "block_rq_issue"));
    EXPECT_TRUE(matches("s:read", "s:read"));
    EXPECT_FALSE(matches("s:read", "s:ia32:read"));
}

TEST(Spec, AGlobMatchesTheWholeName) {
    const Spec spec = parse("vfs_*");
    EXPECT_EQ(spec.pattern.kind(), Pattern::Kind::glob);
    EXPECT_TRUE(spec.matches("vfs_read", ""));
    EXPECT_FALSE(spec.matches("__vfs_read", ""));
}

TEST(Spec, AModuleRestrictsIt) {
    const Spec spec = parse("ext4:*");
    EXPECT_TRUE(spec.matches("init_once", "ext4"));
    EXPECT_FALSE(spec.matches("init_once", "xfs"));
    EXPECT_FALSE(spec.matches("init_once", ""));
    EXPECT_TRUE(parse("vmlinux:init_once").matches("init_once", ""));
    EXPECT_FALSE(parse("vmlinux:init_once").matches("init_once", "ext4"));
    EXPECT_TRUE(parse("snd*:x").matches("x", "snd_hda"));
    EXPECT_TRUE(parse("snd-hda:x").matches("x", "snd_hda")) << "as modprobe calls it";
    EXPECT_EQ(parse("!ext4: init_*").title(), "ext4:init_*");
}

TEST(Spec, AnExclamationMarkExcludes) {
    const Spec spec = parse("! ext4:*_endio");
    EXPECT_TRUE(spec.exclude);
    const Spec specs[] = {spec, parse("*")};
    EXPECT_TRUE(is_excluded(specs, "bio_endio", "ext4"));
    EXPECT_FALSE(is_excluded(specs, "bio_endio", ""));
}

TEST(Spec, ArgumentsMayBeChosen) {
    EXPECT_THAT(arguments(parse("vfs_read(file, count)")), ElementsAre("file", "count"));
    EXPECT_THAT(arguments(parse("  ext4:f ( a ,b )  ")), ElementsAre("a", "b"));
    EXPECT_THAT(arguments(parse("f()")), IsEmpty());
    EXPECT_THAT(arguments(parse("f( )")), IsEmpty());
    EXPECT_THAT(arguments(parse("vfs_*(file)")), ElementsAre("file"));
}

TEST(Spec, ArgumentsMayBeExpressions) {
    const Spec spec =
        parse("vfs_read(path(file), count as n, *pos) if count > 64K && comm == \"dd\"");
    ASSERT_EQ(spec.values.value().size(), 3u);
    EXPECT_EQ((*spec.values)[0].name, "path(file)");
    EXPECT_EQ((*spec.values)[1].name, "n");
    EXPECT_EQ((*spec.values)[2].expression.written(), "*pos");
    ASSERT_TRUE(spec.condition);
    EXPECT_EQ(spec.condition->written(), "count > 64K && comm == \"dd\"");
    EXPECT_EQ(spec.title(), "vfs_read");
    EXPECT_EQ(parse("vfs_read(file, count)").values.value().size(), 2u);
}

TEST(Spec, AConditionNeedsNoArguments) {
    const Spec spec = parse("ext4:ext4_* if $pid == 1 ");
    EXPECT_FALSE(spec.values);
    ASSERT_TRUE(spec.condition);
    EXPECT_EQ(spec.condition->written(), "$pid == 1");
    EXPECT_TRUE(spec.matches("ext4_open", "ext4"));
    EXPECT_TRUE(parse("f()if(a)").condition);
    EXPECT_FALSE(parse("if").condition) << "a function may be called so";
    EXPECT_EQ(parse("if if x").pattern.text(), "if");
}

TEST(Spec, RegularExpressions) {
    const Spec spec = parse("^vfs_(read|write)$", PatternSyntax::regex);
    EXPECT_EQ(spec.pattern.kind(), Pattern::Kind::regex);
    EXPECT_TRUE(spec.matches("vfs_read", ""));
    EXPECT_FALSE(spec.matches("vfs_readv", ""));
    EXPECT_TRUE(parse("read", PatternSyntax::regex).matches("vfs_readv", ""));
    const Spec in_module = parse("!ext4:^a[[:digit:]]", PatternSyntax::regex);
    EXPECT_TRUE(in_module.exclude);
    EXPECT_TRUE(in_module.matches("a1", "ext4"));
    EXPECT_FALSE(in_module.matches("a1", ""));
    EXPECT_TRUE(parse("[[:digit:]]", PatternSyntax::regex).matches("a1", ""));
}

TEST(SpecError, PointsAtTheCharacter) {
    EXPECT_EQ(refused_pattern("vfs_read[0]"),
              "'[' has no meaning here: functions are separated by blanks, and with --regex a "
              "pattern may have brackets\n"
              "  vfs_read[0]\n"
              "          ^");
    EXPECT_EQ(refused_pattern("vfs read"),
              "a function's name has no blanks in it: write the name alone, without types, and "
              "each SPEC as a word of its own\n"
              "  vfs read\n"
              "     ^");
    EXPECT_EQ(refused_pattern("/vfs_read"), "'/' cannot be part of a function's name\n"
                                            "  /vfs_read\n"
                                            "  ^");
    EXPECT_EQ(refused_pattern("ext4: -a"), "'-' cannot be part of a function's name\n"
                                           "  ext4: -a\n"
                                           "        ^");
    EXPECT_EQ(refused_pattern("vfs_read(file count)"),
              "'count' cannot follow what is recorded: an operator is missing, or a comma\n"
              "  vfs_read(file count)\n"
              "                ^");
    EXPECT_EQ(refused_pattern("vfs_read(file->)"), "a member's name is missing before ')'\n"
                                                   "  vfs_read(file->)\n"
                                                   "                 ^");
    EXPECT_EQ(refused_pattern("vfs_read(file,,count)"), "an argument is missing before ','\n"
                                                        "  vfs_read(file,,count)\n"
                                                        "                ^");
    EXPECT_EQ(refused_pattern("vfs_read(file, )"), "an argument is missing before ')'\n"
                                                   "  vfs_read(file, )\n"
                                                   "                 ^");
    EXPECT_EQ(refused_pattern("vfs_read if"), "a condition is missing\n"
                                              "  vfs_read if\n"
                                              "             ^");
    EXPECT_EQ(refused_pattern("vfs_read(file) if pid == 1 )"), "this ')' has no '('\n"
                                                               "  vfs_read(file) if pid == 1 )\n"
                                                               "                             ^");
    EXPECT_EQ(refused_pattern("!vfs_read if pid == 1"), "what is excluded has no condition\n"
                                                        "  !vfs_read if pid == 1\n"
                                                        "            ^");
    EXPECT_EQ(refused_pattern("vfs_read(file"), "')' is missing\n"
                                                "  vfs_read(file\n"
                                                "               ^");
    EXPECT_EQ(refused_pattern("vfs_read(file,"), "')' is missing\n"
                                                 "  vfs_read(file,\n"
                                                 "                ^");
    EXPECT_EQ(refused_pattern("vfs_read(file) x"),
              "nothing can follow the arguments but 'if' and a condition\n"
              "  vfs_read(file) x\n"
              "                 ^");
    EXPECT_EQ(refused_pattern("!vfs_read(file)"), "what is excluded has no arguments to choose\n"
                                                  "  !vfs_read(file)\n"
                                                  "           ^");
    EXPECT_EQ(refused_pattern("!!vfs_read"), "one '!' is enough\n"
                                             "  !!vfs_read\n"
                                             "   ^");
    EXPECT_EQ(refused_pattern(":vfs_read"),
              "a module's name is missing before ':'; the kernel itself is vmlinux\n"
              "  :vfs_read\n"
              "  ^");
    EXPECT_EQ(refused_pattern("ext4:"),
              "a function's name is missing; all of that module are 'ext4:*'\n"
              "  ext4:\n"
              "       ^");
    EXPECT_EQ(refused_pattern("ext4:a:b"),
              "there is one ':' in a SPEC, between module and function\n"
              "  ext4:a:b\n"
              "        ^");
    EXPECT_EQ(refused_pattern("(file)"), "a function's name is missing; all of them are '*'\n"
                                         "  (file)\n"
                                         "  ^");
    EXPECT_EQ(refused_pattern(""), "a function's name is missing; all of them are '*'\n"
                                   "  \n"
                                   "  ^");
    EXPECT_EQ(refused_pattern("!@list"), "a list can only stand alone: '@FILE'\n"
                                         "  !@list\n"
                                         "   ^");
    EXPECT_EQ(refused_pattern("^vfs_"), "'^' begins a regular expression: add --regex to use them\n"
                                        "  ^vfs_\n"
                                        "  ^");
}

/// The sentence alone, without the SPEC and the caret.
std::string refusal_of(const std::string &text) {
    const std::string all = refused_pattern(text);
    return all.substr(0, all.find('\n'));
}

TEST(SpecError, AnswersTheHandsOfOtherTools) {
    EXPECT_EQ(refused_pattern("vfs_read,vfs_write"),
              "functions are separated by blanks, not by commas\n"
              "  vfs_read,vfs_write\n"
              "          ^");
    EXPECT_THAT(refusal_of("[vfs_read,vfs_write]"), testing::HasSubstr("separated by blanks"));
    EXPECT_THAT(refusal_of("vfs_{read,write}"), testing::HasSubstr("separated by blanks"));
    EXPECT_EQ(refused_pattern("struct file"),
              "this is a type, and a function is wanted: `argtrace list | grep -w TYPE` shows "
              "those that take one\n"
              "  struct file\n"
              "        ^");
    EXPECT_EQ(refusal_of("vfs_read+0x10"),
              "a function is traced where it begins: there is no offset to give");
    EXPECT_EQ(refusal_of("event:sched:sched_switch"),
              "'event:': a tracepoint is t:GROUP:NAME: `argtrace list 't:*'` shows them");
    EXPECT_EQ(refusal_of("kernel:"), "kernel: the kernel itself is vmlinux: 'vmlinux:*'");
}

TEST(SpecError, NamesEveryWordThatIsWrong) {
    const std::string words[] = {"vfs_read,x", "vfs_write", "^tcp"};
    const std::string all = thrown([&] { parse_specs(words, PatternSyntax::glob); });
    EXPECT_THAT(all, testing::HasSubstr("not by commas\n  vfs_read,x\n          ^\n'^' begins"));
}

TEST(SpecError, PointsIntoRegularExpressions) {
    // These repeat repetitions: a million copies and more.
    for (const char *large : {"((a{100}){100}){100}", "((((a{30}){30}){30}){30}){30}", "(a*{300}b?){300}"})
        EXPECT_THAT(refused_pattern(large, PatternSyntax::regex), testing::StartsWith("this is no regular expression: ")) << large;
    // These are the same as one repetition, or repeat little.
    std::string nested(21, '(');
    nested += 'a';
    for (int i = 0; i < 21; ++i)
        nested += ")+";
    for (const std::string &small : {"a" + std::string(40, '+'), nested, std::string("^[+*{(]+$"), std::string("[]+++++++++++++++++++++]"),
                                     std::string("(a+b+){20}"), std::string("x{1,255}"), std::string("\\+\\+\\+\\+")})
        EXPECT_EQ(refused_pattern(small, PatternSyntax::regex), "") << small;
    EXPECT_THAT(refused_pattern("!vfs_(read", PatternSyntax::regex),
                testing::AllOf(testing::StartsWith("this is no regular expression: "),
                               testing::EndsWith("\n  !vfs_(read\n   ^")));
    EXPECT_EQ(refused_pattern("ext4:", PatternSyntax::regex), "a regular expression is missing\n"
                                                              "  ext4:\n"
                                                              "       ^");
}

TEST(SpecError, CountsCharactersNotBytes) {
    EXPECT_EQ(refused_pattern("\tf(\xc3\xa4)"), "an operand is missing before '\xc3\xa4'\n"
                                                "  \tf(\xc3\xa4)\n"
                                                "  \t  ^");
    const Spec spec = parse("f (a)");
    EXPECT_STREQ(error_in(spec, spec.values->at(0).expression.at(), "s").what(), "s\n  f (a)\n     ^");
}

class SpecFile : public testing::Test {
protected:
    void TearDown() override { std::filesystem::remove(path); }

    std::vector<Spec> parse(const std::string &content) {
        std::ofstream(path) << content;
        const std::string words[] = {"first", "@" + path};
        return parse_specs(words, PatternSyntax::glob);
    }

    const std::string path = testing::TempDir() + "argtrace_spec_test_" + std::to_string(getpid());
};

TEST_F(SpecFile, HasOneSpecALine) {
    std::vector<std::string> titles;
    for (const Spec &spec : parse("# reads\nvfs_read(file) # this one\n\n  \n!ext4:*\r\nlast"))
        titles.push_back(spec.title());
    EXPECT_THAT(titles, ElementsAre("first", "vfs_read", "ext4:*", "last"));
}

TEST_F(SpecFile, ErrorsNameFileAndLine) {
    EXPECT_EQ(thrown([this] { parse("vfs_read\n\n  vfs write # no\n"); }),
              path + ":3: a function's name has no blanks in it: write the name alone, without "
                     "types, and each SPEC as a word of its own\n"
                     "    vfs write \n"
                     "       ^");
    EXPECT_EQ(thrown([this] { parse("@other\n"); }),
              path + ":1: a list can only stand alone: '@FILE'\n  @other\n  ^");
}

TEST_F(SpecFile, ThatIsMissingIsAnError) {
    const std::string words[] = {"@/nonexistent/list"};
    EXPECT_EQ(thrown([&] { parse_specs(words, PatternSyntax::glob); }),
              "@/nonexistent/list: the list cannot be read: No such file or directory");
}

TEST(Spec, AnEqualsSignAsksForTheReturn) {
    EXPECT_TRUE(parse("vfs_read=").returns);
    EXPECT_TRUE(parse("vfs_read()=").returns);
    EXPECT_TRUE(parse("ext4:ext4_*(a) =").returns);
    EXPECT_FALSE(parse("vfs_read()").returns);
    const Spec both = parse("vfs_read()=if count > 3");
    EXPECT_TRUE(both.returns);
    EXPECT_EQ(both.condition.value().written(), "count > 3");
    EXPECT_EQ(refused_pattern("!vfs_read="), "what is excluded returns nothing that is recorded\n"
                                             "  !vfs_read=\n"
                                             "           ^");
    EXPECT_EQ(refused_pattern("vfs_read=5"), "nothing can follow '=' but 'if' and a condition\n"
                                             "  vfs_read=5\n"
                                             "           ^");
}

// A kind whose names are those of programs, as it may be one day: paths, C++ and Go.
constexpr ProbeKind kinds_with_users[] = {
    function_kind,
    {
        .number = 99,
        .noun = "user function",
        .prefixes = {"u:"},
        .qualifier = Qualifier::group,
        .qualifier_characters = "/.-+~@",
        .name_characters = ".$:~<>@/()",
        .is_quoted = true,
        .no_qualifier = "a path is missing",
    },
};

Spec parse_user(const std::string &text) {
    return parse_spec(text, PatternSyntax::glob, {}, kinds_with_users);
}

/// "[QUALIFIER][NAME]"
std::string parts_of(const Spec &spec) {
    return "[" + (spec.module ? spec.module->text : "") + "][" + spec.pattern.text() + "]";
}

TEST(SpecOfPrograms, QualifiersArePaths) {
    EXPECT_EQ(parts_of(parse_user("u:/usr/lib/x86_64-linux-gnu/libstdc++.so.6:malloc")),
              "[/usr/lib/x86_64-linux-gnu/libstdc++.so.6][malloc]");
    const Spec quoted = parse_user("!u:'/tmp/a b:c/*':f");
    EXPECT_TRUE(quoted.exclude);
    EXPECT_EQ(parts_of(quoted), "[/tmp/a b:c/*][f]");
    EXPECT_TRUE(quoted.module->matches("/tmp/a b:c/*"));
    EXPECT_FALSE(quoted.module->matches("/tmp/a b:c/d")) << "it is no glob";
    EXPECT_TRUE(parse_user("u:/bin/*:f").module->matches("/bin/x"));
    EXPECT_EQ(parts_of(parse_user("u:f")), "[][f]");
    EXPECT_EQ(parse_user("f").kind->number, ARGTRACE_KIND_ENTRY);
}

TEST(SpecOfPrograms, NamesOfCxx) {
    EXPECT_EQ(parts_of(parse_user("u:/bin/x:ns::Class::~Class")), "[/bin/x][ns::Class::~Class]");
    EXPECT_EQ(parts_of(parse_user("u:/bin/x:ns::V<int>::f(count) if count > 3")), "[/bin/x][ns::V<int>::f]");
    const Spec spec = parse_user("u:/path/to/binary:'ns::Class::f(int, char const*)'(a, b)= if a > 3");
    EXPECT_EQ(parts_of(spec), "[/path/to/binary][ns::Class::f(int, char const*)]");
    EXPECT_EQ(spec.pattern.kind(), Pattern::Kind::name) << "in spite of the asterisk";
    EXPECT_THAT(arguments(spec), ElementsAre("a", "b"));
    EXPECT_TRUE(spec.returns);
    EXPECT_EQ(spec.condition.value().written(), "a > 3");
    EXPECT_EQ(parts_of(parse_user("u:'ns::f(int)'")), "[][ns::f(int)]") << "a name, and no path";
    EXPECT_EQ(parts_of(parse_user("u:/bin/x:'operator\"\" _ms'")), "[/bin/x][operator\"\" _ms]");
    EXPECT_TRUE(parse_user("u:/bin/x:ns::*").pattern.matches("ns::f(int)"));
}

TEST(SpecOfPrograms, NamesOfGo) {
    const Spec spec = parse_user("u:/bin/x:net/http.(*T).M(n)");
    EXPECT_EQ(parts_of(spec), "[/bin/x][net/http.(*T).M]");
    EXPECT_EQ(spec.pattern.kind(), Pattern::Kind::name);
    EXPECT_FALSE(spec.pattern.matches("net/http.(*Tee).M"));
    EXPECT_THAT(arguments(spec), ElementsAre("n"));
    EXPECT_EQ(parts_of(parse_user("u:pkg.(*T).M")), "[][pkg.(*T).M]");
    const Spec all = parse_user("u:pkg.(*T).*");
    EXPECT_EQ(all.pattern.kind(), Pattern::Kind::glob);
    EXPECT_TRUE(all.pattern.matches("pkg.(*T).M"));
}

TEST(SpecOfPrograms, QuotesAreClosed) {
    EXPECT_EQ(thrown([] { parse_user("u:/bin/x:'ns::f"); }), "the quotes that begin here are not closed\n"
                                                           "  u:/bin/x:'ns::f\n"
                                                           "           ^");
    EXPECT_EQ(thrown([] { parse_user("u:/bin/x:''"); }), "there is nothing between the quotes\n"
                                                       "  u:/bin/x:''\n"
                                                       "           ^");
    EXPECT_NE(thrown([] { parse_user("u:/bin/x:'f'g"); }), "");
}

TEST(Spec, NamesOfTheKernelHaveNoQuotes) {
    EXPECT_EQ(refused_pattern("\"vfs_read\""), "'\"' cannot be part of a function's name\n"
                                               "  \"vfs_read\"\n"
                                               "  ^");
}

} // namespace
} // namespace argtrace
