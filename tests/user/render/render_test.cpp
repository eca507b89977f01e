// SPDX-License-Identifier: GPL-2.0-only
#include <cstring>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "render/call.h"
#include "render/flags.h"
#include "render/json.h"
#include "render/text.h"
#include "report/symbol_table.h"
#include "support/minus.h"
#include "support/packet_builder.h"

namespace argtrace {
namespace {

using test::argument;
using test::minus;

Value ptr(std::uint64_t value) {
    return {value, 0, ARGTRACE_TYPE_PTR, true};
}

class RenderTest : public testing::Test {
protected:
    RenderTest() {
        EXPECT_TRUE(symbols.add("ffffffff81000000 T ksys_read\n"
                                "ffffffff81001000 T ksys_write\n"
                                "ffffffff81002000 T return_to_handler\n"
                                "ffffffff81003000 T arch_rethook_trampoline\n"
                                "ffffffff81004000 T ksys_pread64\n"
                                "ffffffffc0001000 t ext4_read\t[ext4]\n"
                                "ffffffffc0002000 t argtrace_return_slow\t[argtrace]\n"));
        event.ts = 2209678123;
        event.caller = 0xffffffff8100006b;
        event.probe = &probe;
        event.cpu = 1;
        event.tid = 149;
        set_comm("dd");
    }

    void set_comm(std::string_view comm) {
        event.comm = {};
        std::memcpy(event.comm.data(), comm.data(), comm.size());
    }

    EventView view() const { return {&event, values, bytes}; }

    std::string json(bool types = false) {
        std::string out;
        JsonRenderer(callers, types).event(out, view());
        return out;
    }

    SymbolTable symbols;
    CallerNames callers{symbols};
    Probe probe = test::vfs_read();
    std::vector<Value> values = {ptr(0xff1e1afafffb5e40),
                                 ptr(0x161738f0),
                                 {4096, 0, ARGTRACE_TYPE_U64, true},
                                 ptr(0xff7a852e804b3cd8)};
    std::vector<std::byte> bytes;
    Event event;
};

TEST_F(RenderTest, TextAsInTheDesign) {
    TextRenderer renderer(callers, true);
    std::string out;
    renderer.begin(out, 2000000000);
    renderer.event(out, view());
    EXPECT_EQ(out,
              "TIME            COMM            TID  CPU FLAGS  FUNCTION\n"
              "2.209678123     dd              149  1   ....   vfs_read(file=0xff1e1afafffb5e40, "
              "buf=0x161738f0, count=4096, pos=0xff7a852e804b3cd8) <- ksys_read+0x6b\n");
}

TEST_F(RenderTest, TextWithoutHeaderAndCaller) {
    TextRenderer renderer(callers, false);
    event.caller = 0;
    probe.args.clear();
    values.clear();
    std::string out;
    renderer.begin(out, 0);
    renderer.event(out, view());
    EXPECT_EQ(out, "2.209678123     dd              149  1   ....   vfs_read()\n");
}

TEST_F(RenderTest, FunctionsWhosePrototypeWasGuessedAreMarked) {
    probe.function = "vfs_read.isra.0";
    probe.forced = true;
    TextRenderer renderer(callers, false);
    std::string out;
    renderer.event(out, view());
    EXPECT_NE(out.find(" vfs_read.isra.0~(file=0x"), out.npos) << out;
    EXPECT_NE(json().find(R"("func":"vfs_read.isra.0","forced":true,"caller":)"), out.npos)
        << json();
}

TEST_F(RenderTest, JsonNamesTheProcessAndTheModule) {
    EXPECT_NE(json().find(R"("pid":null,"tid":149,"comm":"dd",)"), std::string::npos) << json();
    JsonRenderer renderer(callers, false);
    for (const std::uint32_t tgid : {140u, 141u}) { // the same thread, for all that the record says
        event.tgid = tgid;
        std::string out;
        renderer.event(out, view());
        EXPECT_NE(out.find(fmt::format(R"("pid":{},"tid":149,)", tgid)), out.npos) << out;
    }
    event.tid = event.tgid = 0; // the idle task
    EXPECT_NE(json().find(R"("pid":0,"tid":0,)"), std::string::npos) << json();

    EXPECT_EQ(json().find("module"), std::string::npos) << json();
    probe.addr = 0xffffffffc0001000;
    EXPECT_NE(json().find(R"("func":"vfs_read","module":"ext4","caller":)"), std::string::npos)
        << json();
}

TEST_F(RenderTest, ColumnsStayAligned) {
    TextRenderer renderer(callers, true);
    std::string out;
    renderer.begin(out, 12345678000000000); // a long uptime
    event.ts = 12345678000000005;
    renderer.event(out, view());
    std::string line = out.substr(out.find('\n') + 1);
    EXPECT_EQ(out.find("COMM"), line.find("dd"));
    EXPECT_EQ(out.find("FLAGS"), line.find("...."));
    EXPECT_EQ(line.substr(0, 19), "12345678.000000005 ");

    set_comm("kworker/u16:12e");
    event.tid = 1234567;
    event.cpu = 4095;
    out.clear();
    renderer.event(out, view());
    std::size_t wide = out.find("vfs_read");
    set_comm("dd");
    event.tid = 1;
    event.cpu = 0;
    out.clear();
    renderer.event(out, view());
    EXPECT_EQ(out.find("vfs_read"), wide);
}

// More of each than a renderer keeps at hand, and some that share a place there.
TEST_F(RenderTest, ManyTasksCallersAndProbes) {
    std::string listed;
    for (unsigned i = 0; i < 20000; ++i)
        listed += fmt::format("{:x} T f{}\n", 0xffffffff82000000 + i * 16, i);
    SymbolTable many;
    EXPECT_TRUE(many.add(listed));
    CallerNames names(many);
    std::vector<Probe> probes(600, test::vfs_read());
    for (std::size_t i = 0; i < probes.size(); ++i) {
        probes[i].function = fmt::format("probe{}", i);
        probes[i].id = static_cast<std::uint32_t>(i % 300);
    }
    TextRenderer renderer(names, false);
    JsonRenderer objects(names, false);
    for (unsigned round = 0; round < 20000; ++round) {
        const unsigned one = round * 7919 % 20000;
        event.probe = &probes[one % probes.size()];
        event.tid = 1000 + one % 5000;
        event.caller = 0xffffffff82000000 + one * 16 + 1;
        set_comm(fmt::format("task{:05}", one % 3));
        std::string line, object;
        renderer.event(line, view());
        objects.event(object, view());
        ASSERT_NE(line.find(fmt::format(" task{:05}       {} 1   ....   probe{}(", one % 3,
                                        event.tid, one % probes.size())),
                  line.npos)
            << line;
        ASSERT_TRUE(line.ends_with(fmt::format(") <- f{}+0x1\n", one))) << line;
        ASSERT_NE(object.find(fmt::format(R"("tid":{},"comm":"task{:05}",)", event.tid, one % 3)),
                  object.npos)
            << object;
        ASSERT_NE(object.find(fmt::format(R"("func":"probe{}","caller":"f{}+0x1")",
                                          one % probes.size(), one)),
                  object.npos)
            << object;
    }
}

// A function of user code has no caller, and its stack begins in the next line all the same.
TEST_F(RenderTest, StacksAreBelowTheirCall) {
    probe.function = "u:app:run";
    probe.args = {test::output("user_stack", ARGTRACE_TYPE_STACK, 8, std::string(user_stack_name))};
    probe.kind = ARGTRACE_KIND_USER;
    event.caller = 0;
    values = {{ARGTRACE_STACK_ID_NO_USER, 0, ARGTRACE_TYPE_STACK, true}};
    TextRenderer renderer(callers, false);
    std::string out;
    renderer.event(out, view());
    EXPECT_TRUE(out.ends_with(" u:app:run()\n        [kernel]\n")) << out;
}

// What the result means stands in its place, in JSON beside it.
TEST_F(RenderTest, ResultsAreWhatTheyMean) {
    probe.function = "u:app:name";
    probe.args = {test::output("ret.value", ARGTRACE_TYPE_STR, 64, "char *"), test::output("ret", ARGTRACE_TYPE_PTR, 8, "char *")};
    probe.kind = ARGTRACE_KIND_USER;
    probe.flags = ARGTRACE_PROBE_RETURN;
    probe.args[1].loc = ARGTRACE_LOC_RETURN;
    const std::string_view text = "root";
    bytes.resize(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    Value name{0, text.size(), ARGTRACE_TYPE_STR, true};
    values = {name, ptr(0x7fff1000)};
    event.duration = 5000;
    TextRenderer renderer(callers, false);
    std::string out;
    renderer.event(out, view());
    EXPECT_NE(out.find("u:app:name() = \"root\" <"), out.npos) << out;
    EXPECT_NE(json().find(R"("args":{},"ret":"0x7fff1000","ret.value":"root",)"), std::string::npos) << json();
}

TEST_F(RenderTest, TimesOfAnyOrder) {
    TextRenderer renderer(callers, false);
    for (std::uint64_t ts : {0ull, 999999999ull, 1000000000ull, 5ull, 4294967296ull, ~0ull, 1ull}) {
        event.ts = ts;
        std::string out;
        renderer.event(out, view());
        EXPECT_EQ(out.substr(0, out.find(' ')),
                  fmt::format("{}.{:09}", ts / 1000000000, ts % 1000000000));
    }
}

TEST_F(RenderTest, CommInText) {
    TextRenderer renderer(callers, false);
    auto comm = [&](std::string_view text) {
        set_comm(text);
        std::string out;
        renderer.event(out, view());
        return out.substr(16, out.find(" 149") - 16);
    };
    EXPECT_EQ(comm("a\n\x1b[1m"), "a\\x0a\\x1b[1m   ");
    EXPECT_EQ(comm("\xff\x7f"), "\\xff\\x7f       ");
    EXPECT_EQ(comm("\xc2\x9b"
                   "z"),
              "\\xc2\\x9bz      ");
    EXPECT_EQ(comm("").substr(0, 5), "<...>");
    EXPECT_EQ(comm("\xc3\xa9t\xc3\xa9").substr(0, 5), "\xc3\xa9t\xc3\xa9");
}

TEST(TextValue, EachType) {
    auto text = [](std::uint8_t type, std::uint64_t low, std::uint64_t high = 0) {
        Line out;
        append_text_value(out, {low, high, type, true});
        return std::string(out.view());
    };
    EXPECT_EQ(text(ARGTRACE_TYPE_U8, 200), "200");
    EXPECT_EQ(text(ARGTRACE_TYPE_S8, minus(-128)), "-128");
    EXPECT_EQ(text(ARGTRACE_TYPE_U64, ~0ull), "18446744073709551615");
    EXPECT_EQ(text(ARGTRACE_TYPE_S64, 1ull << 63), "-9223372036854775808");
    EXPECT_EQ(text(ARGTRACE_TYPE_U128, ~0ull, ~0ull), "340282366920938463463374607431768211455");
    EXPECT_EQ(text(ARGTRACE_TYPE_S128, ~0ull, ~0ull), "-1");
    EXPECT_EQ(text(ARGTRACE_TYPE_BOOL, 0), "false");
    EXPECT_EQ(text(ARGTRACE_TYPE_BOOL, 255), "true");
    EXPECT_EQ(text(ARGTRACE_TYPE_PTR, 0), "0x0");
    EXPECT_EQ(text(ARGTRACE_TYPE_PTR, 0xff7a852e804b3cd8), "0xff7a852e804b3cd8");
    EXPECT_EQ(text(ARGTRACE_TYPE_CHAR, 'a'), "'a'");
    EXPECT_EQ(text(ARGTRACE_TYPE_CHAR, '\n'), "'\\n'");
    EXPECT_EQ(text(ARGTRACE_TYPE_CHAR, '\0'), "'\\0'");
    EXPECT_EQ(text(ARGTRACE_TYPE_CHAR, '\''), "'\\''");
    EXPECT_EQ(text(ARGTRACE_TYPE_CHAR, '\\'), "'\\\\'");
    EXPECT_EQ(text(ARGTRACE_TYPE_CHAR, 5), "'\\x05'");
    EXPECT_EQ(text(ARGTRACE_TYPE_CHAR, minus(-1)), "'\\xff'");
    EXPECT_EQ(text(ARGTRACE_TYPE_UCHAR, 0xff), "'\\xff'");

    Line out;
    append_text_value(out, Value{});
    EXPECT_EQ(out.view(), "?");
}

TEST(JsonValue, EachType) {
    auto json = [](std::uint8_t type, std::uint64_t low) {
        Line out;
        append_json_value(out, {low, 0, type, true});
        return std::string(out.view());
    };
    EXPECT_EQ(json(ARGTRACE_TYPE_U64, ~0ull), "18446744073709551615");
    EXPECT_EQ(json(ARGTRACE_TYPE_S16, minus(-30000)), "-30000");
    EXPECT_EQ(json(ARGTRACE_TYPE_BOOL, 2), "true");
    EXPECT_EQ(json(ARGTRACE_TYPE_BOOL, 0), "false");
    EXPECT_EQ(json(ARGTRACE_TYPE_PTR, 0), "\"0x0\"");
    EXPECT_EQ(json(ARGTRACE_TYPE_CHAR, minus(-1)), "-1");
    EXPECT_EQ(json(ARGTRACE_TYPE_CHAR, 'a'), "97");
    EXPECT_EQ(json(ARGTRACE_TYPE_UCHAR, 255), "255");
    Line out;
    append_json_value(out, Value{});
    EXPECT_EQ(out.view(), "null");
}

TEST_F(RenderTest, JsonAsInTheIssue) {
    event.tgid = 140;
    EXPECT_EQ(json(), "{\"ts\":2209678123,\"cpu\":1,\"pid\":140,\"tid\":149,\"comm\":\"dd\","
                      "\"flags\":\"....\",\"func\":\"vfs_read\",\"caller\":\"ksys_read+0x6b\","
                      "\"args\":{\"file\":\"0xff1e1afafffb5e40\",\"buf\":\"0x161738f0\","
                      "\"count\":4096,\"pos\":\"0xff7a852e804b3cd8\"}}\n");
}

TEST_F(RenderTest, JsonTypes) {
    auto object = nlohmann::ordered_json::parse(json(true));
    EXPECT_EQ(object["types"].dump(), "{\"file\":\"struct file *\",\"buf\":\"char *\","
                                      "\"count\":\"size_t\",\"pos\":\"loff_t *\"}");
}

TEST_F(RenderTest, JsonOfWhatIsMissing) {
    event.caller = 0;
    values[2] = Value{};
    auto object = nlohmann::json::parse(json());
    EXPECT_TRUE(object["caller"].is_null());
    EXPECT_TRUE(object["args"]["count"].is_null());
    EXPECT_EQ(object["args"].size(), 4u);
}

TEST_F(RenderTest, JsonIsValidWhateverComm) {
    for (std::string_view comm : {"\"\\/", "\xff\xfe", "a\x01\n\t\x1f\x7f", "\xed\xa0\x80", "\xc3",
                                  "\xf0\x9f\x98\x80", "0123456789abcdef", ""}) {
        set_comm(comm);
        std::string line = json();
        EXPECT_EQ(line.find('\n'), line.size() - 1);
        nlohmann::json object;
        ASSERT_NO_THROW(object = nlohmann::json::parse(line)) << line;
        if (comm.size() == 16 || comm[0] == '"') {
            EXPECT_EQ(object["comm"], comm);
        }
    }
    set_comm("a\xff"
             "b");
    EXPECT_EQ(nlohmann::json::parse(json())["comm"], "a\xef\xbf\xbd"
                                                     "b");
}

TEST_F(RenderTest, Callers) {
    EXPECT_EQ(callers.name(kernel_place(0xffffffff81000000)), "ksys_read+0x0");
    EXPECT_EQ(callers.name(kernel_place(0xffffffff8100106b)), "ksys_write+0x6b");
    EXPECT_EQ(callers.name(kernel_place(0xffffffffc000104a)), "ext4_read+0x4a [ext4]");
    EXPECT_EQ(callers.name(kernel_place(0x1234)), "0x1234");
    EXPECT_EQ(callers.name(kernel_place(0xffffffffc8000000)), "0xffffffffc8000000"); // far beyond the last one
    const SymbolTable none;
    EXPECT_EQ(CallerNames(none).name(kernel_place(0xffffffff81000000)), "0xffffffff81000000");
}

TEST_F(RenderTest, CallersOfAnotherSpaceHaveNamesOfTheirOwn) {
    constexpr CodeSpace another{1};
    SymbolTable both;
    both.add("1000 100 t of_kernel\n");
    both.add("1000 100 t of_another\n", another);
    CallerNames names(both);
    TextRenderer renderer(names, false);
    const auto end_of = [&](CodeSpace space) {
        event.caller = 0x1010;
        event.caller_space = space;
        std::string text;
        renderer.event(text, view());
        return text.substr(text.find(" <- "));
    };
    EXPECT_EQ(end_of(CodeSpace::kernel), " <- of_kernel+0x10\n");
    EXPECT_EQ(end_of(another), " <- of_another+0x10\n");
    EXPECT_EQ(end_of(CodeSpace::kernel), " <- of_kernel+0x10\n");
}

TEST_F(RenderTest, OurOwnCodeIsNoCaller) {
    EXPECT_EQ(callers.name(kernel_place(0xffffffffc0002062)), "?");
}

TEST_F(RenderTest, CallersThatOtherTracersTookThePlaceOf) {
    for (const std::uint64_t trampoline : {0xffffffff81002000, 0xffffffff81003000}) {
        event.caller = trampoline;
        EXPECT_EQ(callers.name(kernel_place(trampoline)), "?");
        std::string text;
        TextRenderer(callers, false).event(text, view());
        EXPECT_TRUE(text.ends_with(" <- ?\n")) << text;
        EXPECT_TRUE(nlohmann::json::parse(json())["caller"].is_null()) << json();
        // As the value of an argument it is what it is.
        EXPECT_EQ(callers.function(kernel_place(trampoline)), trampoline == 0xffffffff81002000
                                                    ? "return_to_handler"
                                                    : "arch_rethook_trampoline");
    }
}

TEST(Flags, AsFtraceShowsThem) {
    auto text = [](unsigned context, unsigned preempt = 0) {
        return std::string(std::string_view(
            flags_column(static_cast<std::uint8_t>(context), static_cast<std::uint8_t>(preempt))));
    };
    EXPECT_EQ(text(0), "....");
    EXPECT_EQ(text(ARGTRACE_CTX_IRQS_OFF), "d...");
    EXPECT_EQ(text(ARGTRACE_CTX_BH_OFF), "b...");
    EXPECT_EQ(text(ARGTRACE_CTX_IRQS_OFF | ARGTRACE_CTX_BH_OFF), "D...");
    EXPECT_EQ(text(ARGTRACE_CTX_NEED_RESCHED), ".n..");
    EXPECT_EQ(text(ARGTRACE_CTX_PREEMPT_RESCHED), ".p..");
    EXPECT_EQ(text(ARGTRACE_CTX_NEED_RESCHED | ARGTRACE_CTX_PREEMPT_RESCHED), ".N..");
    constexpr std::uint8_t lazy = ARGTRACE_CTX_NEED_RESCHED_LAZY;
    EXPECT_EQ(text(lazy), ".l..");
    EXPECT_EQ(text(lazy | ARGTRACE_CTX_PREEMPT_RESCHED), ".L..");
    EXPECT_EQ(text(lazy | ARGTRACE_CTX_NEED_RESCHED), ".b..");
    EXPECT_EQ(text(lazy | ARGTRACE_CTX_NEED_RESCHED | ARGTRACE_CTX_PREEMPT_RESCHED), ".B..");
    EXPECT_EQ(text(ARGTRACE_CTX_SOFTIRQ), "..s.");
    EXPECT_EQ(text(ARGTRACE_CTX_HARDIRQ), "..h.");
    EXPECT_EQ(text(ARGTRACE_CTX_HARDIRQ | ARGTRACE_CTX_SOFTIRQ), "..H.");
    EXPECT_EQ(text(ARGTRACE_CTX_NMI | ARGTRACE_CTX_SOFTIRQ), "..z.");
    EXPECT_EQ(text(ARGTRACE_CTX_NMI | ARGTRACE_CTX_HARDIRQ), "..Z.");
    EXPECT_EQ(text(0, 1), "...1");
    EXPECT_EQ(text(0, 10), "...a");
    EXPECT_EQ(text(0, 15), "...f");
    EXPECT_EQ(text(0, 200), "...f");
    EXPECT_EQ(text(ARGTRACE_CTX_IRQS_OFF | ARGTRACE_CTX_HARDIRQ, 2), "d.h2");
}

class OutcomeTest : public RenderTest {
protected:
    OutcomeTest() {
        probe.flags = ARGTRACE_PROBE_RETURN;
        probe.args.resize(1);
        values.resize(1);
        event.duration = 1834;
    }

    void returns(std::uint8_t type, const Value &value) {
        probe.args.resize(1);
        probe.args.push_back(argument("ret", type, "ssize_t"));
        probe.args.back().loc = ARGTRACE_LOC_RETURN;
        values.resize(1);
        values.push_back(value);
    }

    std::string text() {
        std::string out;
        TextRenderer(callers, false).event(out, view());
        return out.substr(out.find(')'));
    }

    std::string outcome() {
        const std::string line = json();
        EXPECT_TRUE(nlohmann::json::accept(line)) << line;
        return line.substr(line.find("}", line.find("args")));
    }
};

TEST_F(OutcomeTest, ResultAndDuration) {
    returns(ARGTRACE_TYPE_S64, {832, 0, ARGTRACE_TYPE_S64, true});
    EXPECT_EQ(text(), ") = 832 <1.83us> <- ksys_read+0x6b\n");
    EXPECT_EQ(outcome(), "},\"ret\":832,\"duration\":1834}\n");
    EXPECT_EQ(json(true).substr(json(true).find("\"types\"")),
              "\"types\":{\"file\":\"struct file *\"},\"ret\":832,\"duration\":1834}\n");
}

TEST_F(OutcomeTest, ErrorsHaveNames) {
    returns(ARGTRACE_TYPE_S32, {minus(-2), 0, ARGTRACE_TYPE_S32, true});
    EXPECT_EQ(text(), ") = -ENOENT <1.83us> <- ksys_read+0x6b\n");
    EXPECT_EQ(outcome(), "},\"ret\":\"-ENOENT\",\"duration\":1834}\n");
    returns(ARGTRACE_TYPE_PTR, ptr(minus(-12)));
    EXPECT_EQ(text(), ") = -ENOMEM <1.83us> <- ksys_read+0x6b\n");
    EXPECT_EQ(outcome(), "},\"ret\":\"-ENOMEM\",\"duration\":1834}\n");
    returns(ARGTRACE_TYPE_S32, {minus(-5000), 0, ARGTRACE_TYPE_S32, true});
    EXPECT_EQ(outcome(), "},\"ret\":-5000,\"duration\":1834}\n");
    returns(ARGTRACE_TYPE_S8, {minus(-2), 0, ARGTRACE_TYPE_S8, true});
    EXPECT_EQ(outcome(), "},\"ret\":-2,\"duration\":1834}\n") << "too small for an error";
}

TEST_F(OutcomeTest, CallsThatWereLeftHaveNone) {
    event.left = true;
    EXPECT_EQ(text(), ") <left within 1.83us> <- ksys_read+0x6b\n");
    EXPECT_EQ(outcome(), "},\"ret\":null,\"duration\":null,\"left_within\":1834}\n");
    returns(ARGTRACE_TYPE_S64, {});
    EXPECT_EQ(text(), ") = ? <left within 1.83us> <- ksys_read+0x6b\n");
    EXPECT_EQ(outcome(), "},\"ret\":null,\"duration\":null,\"left_within\":1834}\n");
}

TEST_F(OutcomeTest, ValuesThatChangeAreOneInText) {
    const auto computed = [this](const char *name, std::int64_t number) {
        probe.args.push_back(argument(name, ARGTRACE_TYPE_S64, "loff_t"));
        probe.args.back().loc = ARGTRACE_LOC_PROGRAM;
        values.push_back({static_cast<std::uint64_t>(number), 0, ARGTRACE_TYPE_S64, true});
    };
    probe.args.clear();
    values.clear();
    computed("*pos", 0);
    computed("*pos@ret", 832);
    computed("a", 7);
    computed("a@ret", 7);
    computed("b", 1);
    computed("bb@ret", 2);
    computed("c", 5);
    computed("c@ret", 5);
    values.back().captured = false;
    std::string out;
    TextRenderer(callers, false).event(out, view());
    EXPECT_THAT(out, testing::HasSubstr("(*pos=0 -> 832, a=7, b=1, bb@ret=2, c=5 -> ?) <1.83us>"));
    Line tree;
    ValueWriter writer(callers, ValueWriter::Style::text);
    append_call_arguments(tree, writer, view());
    EXPECT_EQ(tree.view(), "(*pos=0 -> 832, a=7, b=1, bb@ret=2, c=5 -> ?)");
    EXPECT_THAT(json(), testing::HasSubstr("\"*pos\":0,\"*pos@ret\":832,\"a\":7,\"a@ret\":7,"));
}

TEST_F(OutcomeTest, TextsThatChangeAreOneInText) {
    probe.args.clear();
    values.clear();
    const std::string_view texts[]{"old", "new", "same", "same"};
    const char *const names[]{"t", "t@ret", "u", "u@ret"};
    for (std::size_t i = 0; i < 4; ++i) {
        probe.args.push_back(argument(names[i], ARGTRACE_TYPE_STR, "char *"));
        probe.args.back().loc = ARGTRACE_LOC_PROGRAM;
        values.push_back({bytes.size(), texts[i].size(), ARGTRACE_TYPE_STR, true});
        const auto *begin = reinterpret_cast<const std::byte *>(texts[i].data());
        bytes.insert(bytes.end(), begin, begin + texts[i].size());
    }
    std::string out;
    TextRenderer(callers, false).event(out, view());
    EXPECT_THAT(out, testing::HasSubstr("(t=\"old\" -> \"new\", u=\"same\") <1.83us>"));
}

TEST_F(OutcomeTest, NothingIsNull) {
    EXPECT_EQ(text(), ") <1.83us> <- ksys_read+0x6b\n");
    EXPECT_EQ(outcome(), "},\"ret\":null,\"duration\":1834}\n");
}

TEST_F(OutcomeTest, FunctionsWithoutReturnsAreAsBefore) {
    probe.flags = 0;
    EXPECT_EQ(text(), ") <- ksys_read+0x6b\n");
    EXPECT_EQ(outcome(), "}}\n");
}

} // namespace
} // namespace argtrace
