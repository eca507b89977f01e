// SPDX-License-Identifier: GPL-2.0-only
// That a case can fail, and says why.
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include "cases/case.h"

namespace cases {
namespace {

std::string parse_error(const std::string &text) {
    try {
        parse_cases("x.case", text);
    } catch (const std::runtime_error &error) {
        return error.what();
    }
    return "none";
}

/// What is wrong with the only case of the text.
std::string wrong(const std::string &lines) {
    const auto all = parse_cases("x.case", "case one\n" + lines);
    const Environment environment{"/dev/null", getenv("PATH"), 5};
    return run_case(all.at(0), environment).value_or("nothing");
}

TEST(CaseFormat, all_that_a_case_can_say) {
    const auto all = parse_cases("x.case", "# A comment.\n"
                                           "needs /dev/null\n"
                                           "\n"
                                           "case one\n"
                                           "needs no kernel\n"
                                           "needs no /nowhere\n"
                                           "run true\n"
                                           "run echo  two; exit 3\n"
                                           "status 3\n"
                                           "out  two\n"
                                           "err~ x+\n"
                                           "out ...\n"
                                           "case two\n"
                                           "needs x86-64\n"
                                           "run false\n");
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].name, "one");
    EXPECT_EQ(all[0].line, 4);
    EXPECT_FALSE(all[0].needs_kernel);
    ASSERT_EQ(all[0].needs.size(), 2u);
    EXPECT_TRUE(all[0].needs[0].present);
    EXPECT_FALSE(all[0].needs[1].present);
    ASSERT_EQ(all[0].steps.size(), 2u);
    EXPECT_EQ(all[0].steps[1].line, 8);
    EXPECT_EQ(all[0].steps[1].command, "echo  two; exit 3");
    EXPECT_EQ(all[0].steps[1].status, 3);
    ASSERT_EQ(all[0].steps[1].out.size(), 2u);
    EXPECT_EQ(all[0].steps[1].out[0].text, " two");
    EXPECT_EQ(all[0].steps[1].out[1].kind, Expected::Kind::any_lines);
    EXPECT_EQ(all[0].steps[1].err.size(), 1u);
    EXPECT_FALSE(all[0].needs_x86_64);
    EXPECT_TRUE(all[1].needs_kernel);
    EXPECT_TRUE(all[1].needs_x86_64);
#ifdef __x86_64__
    EXPECT_FALSE(unmet_need(all[1]));
#else
    EXPECT_EQ(unmet_need(all[1]), "it names registers or functions of x86-64");
#endif
    EXPECT_EQ(all[1].needs.size(), 1u);
}

TEST(CaseFormat, mistakes_are_refused) {
    EXPECT_EQ(parse_error("run true\n"), "x.case:1: a command belongs to a case");
    EXPECT_EQ(parse_error("case one\ncase two\nrun true\n"), "x.case:2: the case one runs nothing");
    EXPECT_EQ(parse_error("case one\nrun true\ncase one\nrun true\n"),
              "x.case:3: there is another case one");
    EXPECT_EQ(parse_error("case One\n"),
              "x.case:1: a case has a name of a-z, 0-9 and _, not 'One'");
    EXPECT_EQ(parse_error("case one\nrnu true\n"),
              "x.case:2: 'rnu' is not one of case, needs, run, status, out, out~, err, err~");
    EXPECT_EQ(parse_error("case one\nout x\n"),
              "x.case:2: what is expected comes after the command that it is expected of");
    EXPECT_EQ(parse_error("case one\nrun true\nstatus -1\n"),
              "x.case:3: a status is a number from 0 to 255, not '-1'");
    EXPECT_EQ(parse_error("case one\nrun true\nneeds /x\n"),
              "x.case:3: needs come before the first command");
    EXPECT_EQ(parse_error("needs 6.1\n"),
              "x.case:1: needs /PATH, no /PATH, no kernel, or x86-64; not '6.1'");
    EXPECT_NE(parse_error("case one\nrun true\nout~ (\n"), "none");
}

TEST(CaseFormat, a_stream_is_compared_whole) {
    EXPECT_EQ(wrong("run echo one; echo two >&2\nout one\nerr two\n"), "nothing");
    EXPECT_EQ(wrong("run printf 'a\\nb\\nc\\n'\nout ...\nout~ [bc]\nout c\nout ...\n"), "nothing");
    EXPECT_EQ(wrong("run true\nout ...\n"), "nothing");
    EXPECT_EQ(wrong("run echo one\n"), "x.case:2: echo one\n  stdout: 'one' is not expected\n"
                                       "  its stdout:\n    one\n  its stderr:\n");
    EXPECT_NE(wrong("run echo one\nout one\nout two\n").find("no line is 'two'"),
              std::string::npos);
    EXPECT_NE(wrong("run echo one\nout~ on\n").find("no line is 'on'"), std::string::npos);
    EXPECT_NE(wrong("run printf one\nout one\n").find("no line is 'one'"), std::string::npos);
    EXPECT_NE(wrong("run echo one >&2\nout ...\n").find("stderr: 'one' is not expected"),
              std::string::npos);
}

TEST(CaseFormat, status_and_order_of_commands) {
    EXPECT_EQ(wrong("run exit 3\nstatus 3\n"), "nothing");
    EXPECT_NE(wrong("run exit 3\n").find("exit status 3, expected 0"), std::string::npos);
    EXPECT_EQ(wrong("run kill -9 $$\nstatus 137\n"), "nothing");
    EXPECT_EQ(wrong("run touch here\nrun ls\nout here\n"), "nothing");
    EXPECT_NE(wrong("run false\nrun echo ran >&2\n").find("x.case:2: false"), std::string::npos);
}

TEST(CaseFormat, what_does_not_end_is_ended) {
    const auto all = parse_cases("x.case", "case one\nrun sleep 100 & sleep 100\n");
    EXPECT_NE(run_case(all[0], {"/dev/null", getenv("PATH"), 0})
                  .value_or("")
                  .find("did not end within 0 s"),
              std::string::npos);
}

TEST(CaseFormat, needs) {
    const auto met =
        parse_cases("x.case", "case one\nneeds /dev/null\nneeds no /nowhere\nrun true\n");
    EXPECT_EQ(unmet_need(met[0]), std::nullopt);
    const auto missing = parse_cases("x.case", "case one\nneeds /nowhere\nrun true\n");
    EXPECT_EQ(unmet_need(missing[0]), "/nowhere does not exist here");
    const auto present = parse_cases("x.case", "case one\nneeds no /dev/null\nrun true\n");
    EXPECT_EQ(unmet_need(present[0]), "/dev/null exists here");
}

} // namespace
} // namespace cases
