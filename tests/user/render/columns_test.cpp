// SPDX-License-Identifier: GPL-2.0-only
// What the columns of text are, and what TIME has.
#include "render/columns.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <gmock/gmock.h>

#include "support/packet_builder.h"
#include "support/some_stack.h"
#include "render/text.h"
#include "report/symbol_table.h"
#include "support/thrown.h"

namespace argtrace {
namespace {

class ColumnsTest : public testing::Test {
protected:
    ColumnsTest() {
        event.ts = 2209678123;
        event.tid = 149;
        event.cpu = 1;
        event.probe = &probe;
        std::memcpy(event.comm.data(), "dd", 2);
    }

    EventView view() const { return {&event, values}; }

    SymbolTable symbols;
    CallerNames callers{symbols};
    Probe probe = test::vfs_read();
    std::vector<Value> values = {{0xff1e1afafffb5e40, 0, ARGTRACE_TYPE_PTR, true},
                                 {0x161738f0, 0, ARGTRACE_TYPE_PTR, true},
                                 {4096, 0, ARGTRACE_TYPE_U64, true},
                                 {0xff7a852e804b3cd8, 0, ARGTRACE_TYPE_PTR, true}};
    Event event;
};

TEST_F(ColumnsTest, TimesAsDifferences) {
    TextRenderer text(callers, false, {TimeStyle::delta});
    ColumnRenderer columns(callers, parse_columns("-f", "time,func"), false, {TimeStyle::delta});
    for (Renderer *renderer : {static_cast<Renderer *>(&text), static_cast<Renderer *>(&columns)}) {
        const auto time = [&](std::uint64_t ts) {
            event.ts = ts;
            std::string out;
            renderer->event(out, view());
            return out.substr(0, out.find(' '));
        };
        EXPECT_EQ(time(7000000000), "0.000000000");
        EXPECT_EQ(time(7000000123), "0.000000123");
        EXPECT_EQ(time(19000000123), "12.000000000");
        renderer->follow(18000000123);
        EXPECT_EQ(time(20000000123), "2.000000000") << "another renderer wrote the one before";
        EXPECT_EQ(time(20000000113), "-0.000000010");
    }
}

TEST_F(ColumnsTest, TimesOfDay) {
    ::setenv("TZ", "UTC0", 1);
    ::tzset();
    // The monotonic clock had 5 s at 2026-11-22 21:59:59.5.
    const TimeFormat format{TimeStyle::wall, 5000000000, 1795384799500000000};
    TextRenderer text(callers, true, format);
    std::string out;
    text.begin(out, 5000000000);
    event.ts = 5000000000;
    text.event(out, view());
    event.ts = 5500000001;
    text.event(out, view());
    event.ts = 4000000000; // recorded before
    text.event(out, view());
    EXPECT_THAT(out, testing::StartsWith("TIME               COMM            TID  "));
    EXPECT_THAT(out, testing::HasSubstr("\n21:59:59.500000000 dd              149 "));
    EXPECT_THAT(out, testing::HasSubstr("\n22:00:00.000000001 dd "));
    EXPECT_THAT(out, testing::HasSubstr("\n21:59:58.500000000 dd "));
}

TEST_F(ColumnsTest, FewerColumnsForNarrowTerminals) {
    ColumnRenderer renderer(callers, narrow_columns(), true);
    std::string out;
    renderer.begin(out, 2000000000);
    std::memcpy(event.comm.data(), "kworker/u16:12e", 15);
    renderer.event(out, view());
    EXPECT_EQ(out, "TIME            COMM            TID  FUNC ARGS\n"
                   "2.209678123     kworker/u16:12e 149  vfs_read(file=0xff1e1afafffb5e40, "
                   "buf=0x161738f0, count=4096, pos=0xff7a852e804b3cd8)\n");
}

TEST_F(ColumnsTest, MeaningsStandInThePlaceOfArguments) {
    probe.args[3].name = "pos";
    const auto add = [this](const char *name, std::uint8_t type, const Value &value) {
        Argument argument;
        argument.loc = ARGTRACE_LOC_PROGRAM;
        argument.type = type;
        argument.size = 8;
        argument.name = name;
        const auto at = std::find_if(probe.args.rbegin(), probe.args.rend(), [&](const auto &one) {
                            return argument.name.starts_with(one.name);
                        }).base();
        values.insert(values.begin() + (at - probe.args.begin()), value);
        probe.args.insert(at, std::move(argument));
    };
    const std::string text = "passwd";
    std::vector<std::byte> bytes;
    for (const char c : text)
        bytes.push_back(static_cast<std::byte>(c));
    add("file.path", ARGTRACE_TYPE_STR, {0, text.size(), ARGTRACE_TYPE_STR, true});
    add("buf.ino", ARGTRACE_TYPE_U64, {7, 0, ARGTRACE_TYPE_U64, true});
    add("buf.ino.size", ARGTRACE_TYPE_U64, {});
    add("pos.value", ARGTRACE_TYPE_U64, {4096, 0, ARGTRACE_TYPE_U64, true});
    const auto shown = [&] {
        const EventView view{&event, values, bytes};
        std::string one, other;
        TextRenderer(callers, false, {}).event(one, view);
        ColumnRenderer(callers, parse_columns("-f", "func,args"), false).event(other, view);
        EXPECT_THAT(one, testing::HasSubstr(other.substr(other.find('('), other.size() - 1 -
                                                                             other.find('('))));
        return other;
    };
    EXPECT_EQ(shown(), "vfs_read(file=\"passwd\", buf={ino=7, ino.size=?}, count=4096, "
                       "pos={4096})\n");
    values[1].captured = false; // of the file
    values.back().captured = false; // of pos
    EXPECT_EQ(shown(), "vfs_read(file=0xff1e1afafffb5e40, buf={ino=7, ino.size=?}, count=4096, "
                       "pos=0xff7a852e804b3cd8)\n");
}

TEST(Columns, AreChosenByName) {
    EXPECT_THAT(parse_columns("--fields", "func,args"),
                testing::ElementsAre(Column::func, Column::args));
    EXPECT_EQ(parse_columns("--fields", "all").size(), 12u);
    EXPECT_EQ(
        thrown([] { parse_columns("--fields", "time,fun"); }),
        "--fields: there is no column 'fun' (did you mean func?); the columns are time, comm, "
        "pid, tid, cpu, flags, func, args, ret, duration, caller, stack");
}

TEST_F(ColumnsTest, ResultAndDuration) {
    ColumnRenderer renderer(callers, parse_columns("-f", "func,ret,duration"), true);
    std::string out;
    renderer.begin(out, 0);
    renderer.event(out, view());
    probe.flags = ARGTRACE_PROBE_RETURN;
    probe.args.back().loc = ARGTRACE_LOC_RETURN;
    event.duration = 999;
    renderer.event(out, view());
    EXPECT_EQ(out, "FUNC RET DURATION\nvfs_read - -\nvfs_read 0xff7a852e804b3cd8 999ns\n");
}

class ColumnsOfStacks : public ColumnsTest {
protected:
    ColumnsOfStacks() {
        probe.args.push_back(test::argument("stack", ARGTRACE_TYPE_STACK));
        values.push_back({test::SomeStack::id, 0, ARGTRACE_TYPE_STACK, true});
    }

    std::string shown(std::vector<Column> columns) {
        ColumnRenderer renderer(names, std::move(columns), false);
        std::string out;
        renderer.event(out, view());
        return out;
    }

    test::SomeStack functions;
    CallerNames names{functions};
};

TEST_F(ColumnsOfStacks, HaveThemBelowTheLineOrInIt) {
    EXPECT_EQ(shown(parse_columns("-f", "tid,func")), "149  vfs_read\n"
                                                      "        ext4_read+0x10 [ext4]\n"
                                                      "        ksys_read+0x20\n");
    EXPECT_EQ(shown(parse_columns("-f", "stack,tid,func")), std::string(test::SomeStack::text) + " 149  vfs_read\n");
    EXPECT_THAT(shown(narrow_columns()), testing::EndsWith(")\n        ext4_read+0x10 [ext4]\n        ksys_read+0x20\n"));
    const std::string all = shown(parse_columns("-f", "all"));
    EXPECT_THAT(all, testing::EndsWith(std::string(" ") + test::SomeStack::text + "\n"));
    EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 1);
}

TEST_F(ColumnsOfStacks, SayWhereThereIsNone) {
    values.back().captured = false;
    EXPECT_EQ(shown(parse_columns("-f", "func,stack")), "vfs_read ?\n");
    EXPECT_EQ(shown(parse_columns("-f", "func")), "vfs_read\n        ?\n");
    probe = test::vfs_read(); // of a function whose stacks are not recorded
    values.pop_back();
    EXPECT_EQ(shown(parse_columns("-f", "func,stack")), "vfs_read -\n");
    EXPECT_EQ(shown(parse_columns("-f", "func")), "vfs_read\n");
}

} // namespace
} // namespace argtrace
