// SPDX-License-Identifier: GPL-2.0-only

// What the table of calls has read: which expressions it makes of a line, and in which calls they are to be read.

#include "spec/call_fetches.h"

#include <gmock/gmock.h>

#include "lang/expression_error.h"

namespace argtrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class CallFetches : public testing::Test {
protected:
    using Named = std::vector<std::pair<std::string, std::string>>;

    Named fetched(const std::string &table, const char *title, std::vector<std::string> names, std::optional<std::uint32_t> parameter) {
        Calls calls;
        std::vector<std::string> wrong;
        calls.add(table, "mine", wrong);
        EXPECT_THAT(wrong, IsEmpty());
        Prototype prototype;
        prototype.function = title;
        for (const std::string &name : names)
            prototype.parameters.emplace_back().name = name;
        const std::vector<CallRow> *rows = calls.rows(title);
        if (!rows)
            return {{"no rows", ""}};
        Named named;
        for (const lang::ArgumentExpression &value : fetched_values(*rows, prototype, parameter)) {
            EXPECT_TRUE(value.optional && value.lenient && value.named);
            EXPECT_EQ(value.subject, parameter ? names[*parameter] : "ret");
            named.emplace_back(value.name, value.expression.written());
        }
        return named;
    }
};

TEST_F(CallFetches, AreReadAtTheEntryOrOfWhatACallHasWritten) {
    const char *table = "s:read(fd: int, buf: addr out {text(it, ret)}, count: size)\n"
                        "s:stat(name: addr {str(it)}, st: addr out {*it})\n";
    EXPECT_THAT(fetched(table, "s:read", {"fd", "buf", "count"}, 0), IsEmpty());
    EXPECT_THAT(fetched(table, "s:read", {"fd", "buf", "count"}, 1), ElementsAre(Pair("buf.value", "(text(it, ret))@ret")));
    EXPECT_THAT(fetched(table, "s:stat", {"name", "st"}, 0), ElementsAre(Pair("name.value", "str(it)")));
    EXPECT_THAT(fetched(table, "s:stat", {"name", "st"}, 1), ElementsAre(Pair("st.value", "(only(*it, ret >= 0 && (it != 0)))@ret")));
}

TEST_F(CallFetches, OfACallThatFailsOrChangesWhatIsThere) {
    const char *table = "s:sleep(t: addr {*it}, left: addr failed {only(*it, ret == -4)}, other: addr failed {*it})\n"
                        "s:accept(fd: int, len: int inout {*it})\n";
    const std::vector<std::string> names{"t", "left", "other"};
    EXPECT_THAT(fetched(table, "s:sleep", names, 1), ElementsAre(Pair("left.value", "(only(*it, ret == -4))@ret")));
    EXPECT_THAT(fetched(table, "s:sleep", names, 2), ElementsAre(Pair("other.value", "(only(*it, ret < 0 && (it != 0)))@ret")));
    EXPECT_THAT(fetched(table, "s:accept", {"fd", "len"}, 1),
                ElementsAre(Pair("len.value", "(only(*it, ret >= 0 && (it != 0)))@ret"), Pair("len.before", "only(*it, it != 0)")));
}

TEST_F(CallFetches, OfRowsThatCompareNumbers) {
    EXPECT_THAT(fetched("s:name(a: addr, len: int > 64)\ns:name(a: addr {text(it, len)}, len: int)\n", "s:name", {"a", "len"}, 0),
                ElementsAre(Pair("a.value", "only(text(it, len), (!((unsigned long)len > 64)))")));
    EXPECT_THAT(fetched("s:name(a: addr {str(it)}, len: int != 8)\ns:name(a: addr, len: int)\n", "s:name", {"a", "len"}, 0),
                ElementsAre(Pair("a.value", "only(str(it), (!((int)len == (int)0x8)))")));
}

TEST_F(CallFetches, OfANameStandForAllThatIsShownAsIt) {
    const char *table = "values fd else int: AT=-100\n"
                        "means fd: {path(fd(it)) as path}\n"
                        "s:dup(old: fd, new: int) = fd\n";
    EXPECT_THAT(fetched(table, "s:dup", {"old", "new"}, 0), ElementsAre(Pair("old.path", "path(fd(it))")));
    EXPECT_THAT(fetched(table, "s:dup", {"old", "new"}, 1), IsEmpty());
    EXPECT_THAT(fetched(table, "s:dup", {"old", "new"}, std::nullopt), ElementsAre(Pair("ret.path", "path(fd(it))")));
}

TEST_F(CallFetches, OfFunctionsAreKnownByTheNameOfTheArgument) {
    const char *table = "flags foll:\n"
                        "means foll: {flags(it, FOLL_WRITE) as flags}\n"
                        "pin(start: addr, gup_flags: foll)\n";
    EXPECT_THAT(fetched(table, "pin", {"gup_flags", "start"}, 0), ElementsAre(Pair("gup_flags.flags", "flags(it, FOLL_WRITE)")));
    EXPECT_THAT(fetched(table, "pin", {"gup_flags", "start"}, 1), IsEmpty());
}

TEST_F(CallFetches, GoByTheNamesThatTheKernelHas) {
    EXPECT_THAT(fetched("s:write(fd: int, buf: addr {text(it, count)}, count: size)\n", "s:write", {"fd", "data", "len"}, 1),
                ElementsAre(Pair("data.value", "text(it, len)")));
}

TEST_F(CallFetches, OfOneOfSeveralRowsAreReadInItsCallsAlone) {
    const char *table = "values cmd: GET=1 SET=2 PUT=3\n"
                        "s:ctl(cmd: cmd = GET|SET, arg: addr {*(int *)it})\n"
                        "s:ctl(cmd: cmd = PUT, arg: addr {str(it)})\n"
                        "s:ctl(cmd: cmd, arg: addr {buf(it, 8)})\n";
    EXPECT_THAT(fetched(table, "s:ctl", {"cmd", "arg"}, 1),
                ElementsAre(Pair("arg.value", "only(*(int *)it, it != 0 && ((((int)cmd == (int)0x1 || (int)cmd == (int)0x2))))"),
                            Pair("arg.value.2", "only(str(it), (((int)cmd == (int)0x3)))"),
                            Pair("arg.value.3", "only(buf(it, 8), (!(((int)cmd == (int)0x1 || (int)cmd == (int)0x2)) && !(((int)cmd == (int)0x3))))")));
    // The same in all rows needs no condition.
    EXPECT_THAT(fetched("flags f: A=1\ns:o(name: addr {str(it)}, f: f & A, mode: octal)\ns:o(name: addr {str(it)}, f: f)\n", "s:o",
                        {"name", "f", "mode"}, 0),
                ElementsAre(Pair("name.value", "str(it)")));
}

TEST_F(CallFetches, Of32BitCallsDoNotDependOnALayout) {
    const char *table = "s:stat(name: addr {str(it)}, st: addr out {*it}, v: addr {array(it, name)}, w: addr {it->a}, x: addr {head(it, 2)})\n";
    const std::vector<std::string> names{"name", "st", "v", "w", "x"};
    EXPECT_THAT(fetched(table, "s:ia32:stat", names, 0), ElementsAre(Pair("name.value", "str(it)")));
    for (std::uint32_t parameter = 1; parameter < names.size(); ++parameter) {
        EXPECT_THAT(fetched(table, "s:ia32:stat", names, parameter), IsEmpty());
        EXPECT_EQ(fetched(table, "s:stat", names, parameter).size(), names[parameter] == "v" ? 2u : 1u);
    }
}

TEST_F(CallFetches, OfTheShippedTableAreExpressions) {
    for (const auto &[title, rows] : Calls::shared().all_rows()) {
        if (!title.starts_with("s:"))
            continue;
        Prototype prototype;
        prototype.function = title;
        for (const CallRow &row : rows)
            for (std::size_t i = prototype.parameters.size(); i < row.arguments.size(); ++i)
                prototype.parameters.emplace_back().name = row.arguments[i].name;
        for (std::uint32_t parameter = 0; parameter < prototype.parameters.size(); ++parameter)
            EXPECT_NO_THROW(fetched_values(rows, prototype, parameter)) << title;
        EXPECT_NO_THROW(fetched_values(rows, prototype, std::nullopt)) << title;
    }
}

TEST_F(CallFetches, LinesThatAreWrongAreNamed) {
    for (const auto &[line, sentence] : {
             std::pair("s:f(a: addr {*it)", "CALL(ARGUMENT: SHOWN, ...)"),
             std::pair("s:f(a: addr {*it} x)", "'}' is missing, or something follows it"),
             std::pair("s:f(a: addr,)", "an argument has no name"),
             std::pair("s:f(a: addr {})", "{EXPR [as NAME], ...}"),
             std::pair("means fdx: {*it}", "are called 'fdx'"),
             std::pair("means int: *it", "[out|inout|failed] {EXPR [as NAME], ...}"),
             std::pair("struct s(a: nothing)", "are called 'nothing'"),
             std::pair("struct s(, b)", "a member has no name"),
         }) {
        Calls calls;
        std::vector<std::string> wrong;
        calls.add(line, "mine", wrong);
        EXPECT_THAT(wrong, ElementsAre(HasSubstr(sentence))) << line;
    }
}

} // namespace
} // namespace argtrace
