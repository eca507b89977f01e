// SPDX-License-Identifier: GPL-2.0-only
#include "export/perfetto.h"

#include <bit>
#include <csignal>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "render/flags.h"
#include "model/user_frame.h"
#include "support/perfetto_reader.h"
#include "support/some_calls.h"
#include "support/trace_builder.h"
#include "support/unzip.h"
#include "util/error.h"

namespace argtrace {
namespace {

using namespace test;

std::string bytes_of(int fd) {
    const FileBytes bytes = contents(fd);
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// What `fill(exporter)` makes.
template<typename Fill>
std::string exported(Fill fill, const Symbols &symbols = NoSymbols(),
                     ExportFile::Compression compression = ExportFile::Compression::none,
                     unsigned threads = 0) {
    const Fd fd = memory_file();
    WorkerPool workers(threads);
    ExportFile file(fd.get(), "memory", workers, compression);
    TraceInfo info = some_info();
    info.begin_boottime = 5000;
    PerfettoExporter exporter(file, workers, {info, symbols});
    fill(exporter);
    std::string bytes = bytes_of(fd.get());
    EXPECT_EQ(bytes.size(), file.size());
    return bytes;
}

/// The same of these events, in one block.
std::string exported_events(const EventBatch &batch, const Symbols &symbols) {
    return exported(
        [&batch](Exporter &exporter) {
            EventBlock block;
            for (const Event &event : batch.events)
                block.events.push_back({&batch, &event});
            exporter.take(std::move(block));
            exporter.finish();
        },
        symbols);
}

PerfettoTrace trace_of(const SomeCalls &calls) {
    return PerfettoTrace(exported([&](Exporter &exporter) { calls.give(exporter); }));
}

TEST(Perfetto, CallsNestOnATrackBelowTheirProcess) {
    SomeCalls calls;
    calls.call("vfs_read", 2000, 100, {101, 100, 3, 0, "cat"});
    calls.call("ext4_read", 2010, 90, {101, 100, 3, 0, "cat"}); // ends with its caller
    calls.call("copy", 2010, 20, {101, 100, 1, 0, "cat"});
    calls.call("copy", 2030, 5, {101, 100, 1, 0, "cat"});
    const PerfettoTrace trace = trace_of(calls);
    std::vector<std::string> text;
    for (const PerfettoTrace::Item &item : trace.items)
        text.push_back(fmt::format("{} {} {}", item.ts, item.type, item.name));
    EXPECT_THAT(text,
                testing::ElementsAre("2000 1 vfs_read", "2010 1 ext4_read", "2010 1 copy",
                                     "2030 2 ", "2030 1 copy", "2035 2 ", "2100 2 ", "2100 2 "));
    const PerfettoTrace::Track &thread = trace.tracks.at(trace.items[0].track);
    EXPECT_EQ(thread.name, "cat");
    EXPECT_EQ(thread.tid, 101u);
    EXPECT_EQ(thread.pid, 100u);
    EXPECT_TRUE(trace.tracks.at(thread.parent).is_process);
    EXPECT_EQ(trace.tracks.at(thread.parent).pid, 100u);
    EXPECT_EQ(trace.tracks.at(thread.parent).name, "") << "its first thread was not seen";
    EXPECT_EQ(trace.items[0].category, "kernel");
    EXPECT_THAT(trace.items[0].notes,
                testing::ElementsAre("args.n=u1", "caller=\"0xffffffff81000010\"", "cpu=u3",
                                     "flags=\"....\""));
}

TEST(Perfetto, ClocksLineUp) {
    SomeCalls calls;
    const PerfettoTrace trace = trace_of(calls);
    EXPECT_EQ(trace.primary_clock, 3u);
    EXPECT_EQ(trace.clocks, (std::map<std::uint64_t, std::uint64_t>{
                                {1, 1700000000123456789}, {3, 1000}, {6, 5000}}));
}

TEST(Perfetto, InterruptsAndTheIdleTaskAreOfTheirCpu) {
    SomeCalls calls;
    calls.call("vfs_read", 100, 100, {7, 7, 2, 0, "dd"});
    calls.call("timer", 120, 20, {7, 7, 2, ARGTRACE_CTX_HARDIRQ, "dd"});
    calls.call("softirq", 125, 5, {7, 7, 2, ARGTRACE_CTX_SOFTIRQ, "dd"});
    calls.instant("idle", 300, {0, 0, 0, 0, "swapper/0"});
    calls.instant("vfs_open", 310, {7, 7, 0, ARGTRACE_CTX_IRQS_OFF, "dd"});
    const PerfettoTrace trace = trace_of(calls);
    std::map<std::string, std::string> places;
    for (const PerfettoTrace::Item &item : trace.items) {
        const PerfettoTrace::Track &track = trace.tracks.at(item.track);
        if (!item.name.empty())
            places[item.name] =
                fmt::format("{}/{} {}", track.parent ? trace.tracks.at(track.parent).name : "",
                            track.name, track.rank);
    }
    EXPECT_EQ(places, (std::map<std::string, std::string>{{"vfs_read", "dd/dd 0"},
                                                          {"timer", "CPUs/CPU 2 3"},
                                                          {"softirq", "CPUs/CPU 2 3"},
                                                          {"idle", "CPUs/CPU 0 1"},
                                                          {"vfs_open", "dd/dd 0"}}));
    for (const auto &[id, track] : trace.tracks)
        EXPECT_EQ(track.order, track.name == "CPUs" ? 3u : 0u);
    EXPECT_THAT(trace.items[1].notes, testing::IsSupersetOf({"comm=\"dd\"", "tid=u7"}));
}

TEST(Perfetto, NamesThatChangeAndProcessesThatAreNotKnown) {
    SomeCalls calls;
    calls.instant("f", 10, {7, 7, 0, 0, "bash"});
    calls.instant("f", 20, {7, 7, 0, 0, "dd"}); // has executed another program
    calls.instant("f", 30, {9, 0, 0, 0, ""});
    calls.instant("f", 40, {8, 7, 0, 0, "worker \xff"});
    const PerfettoTrace trace = trace_of(calls);
    ASSERT_EQ(trace.items.size(), 4u);
    EXPECT_EQ(trace.items[0].track, trace.items[1].track);
    EXPECT_EQ(trace.tracks.at(trace.items[1].track).name, "dd");
    EXPECT_EQ(trace.tracks.at(trace.tracks.at(trace.items[1].track).parent).name, "dd");
    EXPECT_EQ(trace.tracks.at(trace.items[2].track).name, " 9");
    EXPECT_EQ(trace.tracks.at(trace.items[2].track).parent, 0u);
    EXPECT_EQ(trace.tracks.at(trace.items[3].track).name, "worker \xef\xbf\xbd");
    EXPECT_EQ(trace.tracks.at(trace.items[3].track).parent,
              trace.tracks.at(trace.items[0].track).parent);
}

TEST(Perfetto, ValuesKeepTheirTypes) {
    Probe probe;
    probe.id = 1;
    probe.function = "f";
    probe.args = {argument("file", ARGTRACE_TYPE_PTR, "struct file *"),
                  argument("error", ARGTRACE_TYPE_PTR, "struct file *"),
                  argument("s", ARGTRACE_TYPE_S32, "int"),
                  argument("b", ARGTRACE_TYPE_BOOL, "bool"),
                  argument("wide", ARGTRACE_TYPE_U128, "u128"),
                  output("name", ARGTRACE_TYPE_STR),
                  output("path", ARGTRACE_TYPE_PATH),
                  not_captured("big"),
                  output("f", ARGTRACE_TYPE_F32),
                  output("d", ARGTRACE_TYPE_F64),
                  test::returned(ARGTRACE_TYPE_S64)};
    EventBatch batch;
    const std::string_view text = "a\xfe";
    batch.bytes.assign(reinterpret_cast<const std::byte *>(text.data()),
                       reinterpret_cast<const std::byte *>(text.data() + text.size()));
    for (const auto &[type, low, high] :
         {std::tuple<std::uint8_t, std::uint64_t, std::uint64_t>{ARGTRACE_TYPE_PTR, 0xff10, 0},
          {ARGTRACE_TYPE_PTR, ~std::uint64_t{1}, 0},
          {ARGTRACE_TYPE_S32, ~std::uint64_t{6}, 0},
          {ARGTRACE_TYPE_BOOL, 1, 0},
          {ARGTRACE_TYPE_U128, 1, 1},
          {ARGTRACE_TYPE_STR, 0, 2},
          {ARGTRACE_TYPE_PATH, 0, 1},
          {ARGTRACE_TYPE_END, 0, 0},
          {ARGTRACE_TYPE_F32, std::bit_cast<std::uint32_t>(-0.5f), 0},
          {ARGTRACE_TYPE_F64, std::bit_cast<std::uint64_t>(1.25), 0},
          {ARGTRACE_TYPE_S64, ~std::uint64_t{0}, 0}})
        batch.values.push_back({low, high, type, type != ARGTRACE_TYPE_END, false});
    Event event;
    event.ts = 10;
    event.duration = 5;
    event.probe = &probe;
    event.tid = event.tgid = 5;
    batch.events.push_back(event);
    const PerfettoTrace trace(exported([&](Exporter &exporter) {
        give_event(exporter, batch, batch.events[0]);
        exporter.finish();
    }));
    ASSERT_EQ(trace.items.size(), 2u);
    EXPECT_THAT(trace.items[0].notes,
                testing::ElementsAre("args.file=p0xff10", "args.error=\"-ENOENT\"", "args.s=s-7",
                                     "args.b=true", "args.wide=\"18446744073709551617\"",
                                     "args.name='a\xef\xbf\xbd'", "args.path='a'", "args.f=f-0.500000",
                                     "args.d=f1.250000", "cpu=u0", "flags=\"....\""));
    EXPECT_THAT(trace.items[1].notes, testing::ElementsAre("return=s-1"));
}

/// Calls that come again and again, and differ in one thing each.
TEST(Perfetto, CallsThatAreAlikeAreToldApart) {
    Probe probe;
    probe.id = 1;
    probe.function = "f";
    probe.args = {argument("p", ARGTRACE_TYPE_PTR, "void *"), argument("n", ARGTRACE_TYPE_U32, "u32")};
    Probe other = probe;
    other.id = 2;
    other.function = "g";
    EventBatch batch;
    batch.values.push_back({}); // so that no call has the first
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> shared_values;
    std::vector<std::string> expected;
    std::mt19937 random(5);
    for (unsigned i = 0; i < 5000; ++i) {
        Event event;
        event.ts = 1000 + i;
        event.probe = random() % 4 ? &probe : &other;
        event.tid = event.tgid = 5 + static_cast<std::uint32_t>(random() % 2);
        event.caller = random() % 4 ? 0xffffffff81000010 : random() % 2 ? 0xffffffff81000020 : 0;
        event.cpu = static_cast<std::uint32_t>(random() % 3);
        event.context = random() % 4 ? 0 : ARGTRACE_CTX_IRQS_OFF;
        event.preempt = static_cast<std::uint8_t>(random() % 4 == 0);
        const std::uint64_t pointer = random() % 4 ? 0xff10 : random() % 2 ? 0 : ~std::uint64_t{1};
        const std::uint64_t n = random() % 2;
        const bool captured = random() % 8 != 0;
        // Some have values of their own, others share those of an earlier one.
        std::uint32_t &shared = shared_values[{pointer, captured ? n : 2}];
        if (shared == 0 || random() % 8 == 0)
            shared = static_cast<std::uint32_t>(batch.values.size());
        event.first_value = shared;
        batch.values.push_back({pointer, 0, ARGTRACE_TYPE_PTR, true, false});
        batch.values.push_back({captured ? n : 0, 0, captured ? std::uint8_t{ARGTRACE_TYPE_U32} : std::uint8_t{ARGTRACE_TYPE_END}, captured, false});
        batch.events.push_back(event);
        const std::string address = pointer == 0xff10 ? "p0xff10" : pointer ? "\"-ENOENT\"" : "p0x0";
        expected.push_back(fmt::format("{} args.p={}{}{} cpu=u{} flags=\"{}\"", event.probe->function, address,
                                       captured ? fmt::format(" args.n=u{}", n) : "",
                                       event.caller ? fmt::format(" caller=\"{:#x}\"", event.caller) : "", event.cpu,
                                       std::string_view(flags_column(event.context, event.preempt))));
    }
    for (const unsigned threads : {0u, 2u}) {
        const PerfettoTrace trace(exported(
            [&](Exporter &exporter) {
                EventBlock block;
                for (const Event &event : batch.events) {
                    block.events.push_back({&batch, &event});
                    if (block.events.size() == 2000)
                        exporter.take(std::exchange(block, {}));
                }
                exporter.take(std::move(block));
                exporter.finish();
            },
            NoSymbols(), ExportFile::Compression::none, threads));
        std::vector<std::string> found;
        for (const auto &item : trace.items)
            found.push_back(fmt::format("{} {}", item.name, fmt::join(item.notes, " ")));
        EXPECT_EQ(found, expected);
    }
}

TEST(Perfetto, StacksAreCallstacks) {
    Probe probe;
    probe.id = 1;
    probe.addr = 0x1000;
    probe.function = "vfs_read";
    probe.args = {argument("file", ARGTRACE_TYPE_PTR, "struct file *"),
                  output("stack", ARGTRACE_TYPE_STACK), test::returned(ARGTRACE_TYPE_S64)};
    EventBatch batch;
    for (const std::uint64_t stack : {1, 20, 30, 20, 0}) {
        Event event;
        event.ts = 10 + batch.events.size();
        event.probe = &probe;
        event.tid = event.tgid = 5;
        event.first_value = static_cast<std::uint32_t>(batch.values.size());
        batch.values.push_back({0xff10, 0, ARGTRACE_TYPE_PTR, true, false});
        batch.values.push_back({stack, 0, ARGTRACE_TYPE_STACK, stack != 0, false});
        batch.values.push_back({});
        batch.events.push_back(event);
    }
    const PerfettoTrace trace(exported_events(batch, SomeStacks()));
    std::vector<std::string> stacks;
    for (const PerfettoTrace::Item &item : trace.items) {
        stacks.push_back(item.stack);
        EXPECT_THAT(item.notes,
                    testing::ElementsAre("args.file=p0xff10", "cpu=u0", "flags=\"....\""));
    }
    EXPECT_THAT(stacks,
                testing::ElementsAre(
                    "[kernel]:ksys_read [kernel]:vfs_read",
                    "[kernel]:[cut] [kernel]:ksys_read ext4:ext4_read [kernel]:vfs_read",
                    "[kernel]:[unknown] [kernel]:vfs_read",
                    "[kernel]:[cut] [kernel]:ksys_read ext4:ext4_read [kernel]:vfs_read", ""));
}

TEST(Perfetto, TicksAreOnTheThreadThatTheyInterruptedWithItsCallstack) {
    Probe probe;
    probe.id = 1;
    probe.kind = ARGTRACE_KIND_TIMER;
    probe.function = "cycles";
    probe.args = {output("stack", ARGTRACE_TYPE_STACK)};
    EventBatch batch;
    for (const std::uint64_t stack : {1, ARGTRACE_STACK_ID_USER, ARGTRACE_STACK_ID_IDLE}) {
        Event event;
        event.ts = 10 + batch.events.size();
        event.probe = &probe;
        event.tid = event.tgid = 5;
        event.first_value = static_cast<std::uint32_t>(batch.values.size());
        batch.values.push_back({stack, 0, ARGTRACE_TYPE_STACK, true, false});
        batch.events.push_back(event);
    }
    const PerfettoTrace trace(exported_events(batch, SomeStacks()));
    std::vector<std::string> stacks;
    for (const PerfettoTrace::Item &item : trace.items)
        stacks.push_back(item.stack);
    EXPECT_THAT(stacks, testing::ElementsAre("[kernel]:ksys_read", "[kernel]:[user]", "[kernel]:[idle]"));
}

TEST(Perfetto, UserCodeIsBelowTheKernelInMappingsOfItsOwn) {
    struct : SomeStacks {
        std::optional<Symbol> find(CodePlace place) const override {
            return place.space == CodeSpace::user ? Symbol{UserFrame(16, 0, false).word(), "main", "", 0} : SomeStacks::find(place);
        }
        std::optional<Stack> stack(std::uint64_t id, StackRoom &room) const override {
            return id == 40 ? Stack{user_, false, CodeSpace::user} : SomeStacks::stack(id, room);
        }
        std::optional<CodeObject> object(std::uint32_t number) const override {
            return number == 16 ? std::optional(CodeObject{"/bin/a", "abcd01", {{0, 0x400000, 0x1000}}}) : std::nullopt;
        }
        std::vector<std::uint64_t> user_{UserFrame(16, 0x10, false).word(), UserFrame(ARGTRACE_OBJECT_END, 0, false).word()};
    } symbols;
    Probe probe;
    probe.id = 1;
    probe.kind = ARGTRACE_KIND_TIMER;
    probe.function = "cycles";
    probe.args = {output("stack", ARGTRACE_TYPE_STACK), output("user_stack", ARGTRACE_TYPE_STACK)};
    probe.args[1].type_name = user_stack_name;
    EventBatch batch;
    for (const std::uint64_t stack : {1, ARGTRACE_STACK_ID_USER}) {
        Event event;
        event.ts = 10 + batch.events.size();
        event.probe = &probe;
        event.tid = event.tgid = 5;
        event.first_value = static_cast<std::uint32_t>(batch.values.size());
        batch.values.push_back({stack, 0, ARGTRACE_TYPE_STACK, true, false});
        batch.values.push_back({40, 0, ARGTRACE_TYPE_STACK, true, false});
        batch.events.push_back(event);
    }
    const PerfettoTrace trace(exported_events(batch, symbols));
    std::vector<std::string> stacks;
    for (const PerfettoTrace::Item &item : trace.items)
        stacks.push_back(item.stack);
    EXPECT_THAT(stacks, testing::ElementsAre("[user]:[... no unwind table for a] /bin/a:main [kernel]:ksys_read", "[user]:[... no unwind table for a] /bin/a:main"));
}

TEST(Perfetto, UserCodeHasBuildIdsAddressesAndInlinedFrames) {
    struct : SomeStacks {
        std::optional<Symbol> find(CodePlace place) const override {
            return place.space == CodeSpace::user ? Symbol{UserFrame(16, 0, false).word(), "main", "", 0} : SomeStacks::find(place);
        }
        std::optional<Stack> stack(std::uint64_t, StackRoom & /*room*/) const override { return Stack{user_, false, CodeSpace::user}; }
        std::optional<CodeObject> object(std::uint32_t) const override { return CodeObject{"/bin/a", "abcd01", {{0x1000, 0x401000, 0x1000}}}; }
        std::vector<SourceFrame> source(CodePlace) const override { return {{"get", "", 0}, {"main", "", 0}}; }
        std::vector<std::uint64_t> user_{UserFrame(16, 0x1010, false).word()};
    } symbols;
    Probe probe;
    probe.id = 1;
    probe.kind = ARGTRACE_KIND_TIMER;
    probe.function = "cycles";
    probe.args = {output("user_stack", ARGTRACE_TYPE_STACK)};
    probe.args[0].type_name = user_stack_name;
    EventBatch batch;
    Event event;
    event.ts = 10;
    event.probe = &probe;
    event.tid = event.tgid = 5;
    batch.values.push_back({40, 0, ARGTRACE_TYPE_STACK, true, false});
    batch.events.push_back(event);
    const PerfettoTrace trace(exported_events(batch, symbols));
    ASSERT_EQ(trace.items.size(), 1u);
    EXPECT_EQ(trace.items[0].stack, "/bin/a:main /bin/a:get (inlined)");
    ASSERT_EQ(trace.interned.at(19).size(), 1u);
    ASSERT_EQ(trace.interned.at(16).size(), 1u);
    const ProtobufMessage mapping(trace.interned.at(19)[0]), build_id(trace.interned.at(16)[0]);
    EXPECT_EQ(mapping.number(2), build_id.number(1));
    EXPECT_EQ(build_id.text(2), "\xab\xcd\x01");
    EXPECT_EQ(mapping.number(4), 0x401000u);
    EXPECT_EQ(mapping.number(5), 0x402000u);
    EXPECT_EQ(mapping.number(6), 0x400000u);
    EXPECT_EQ(mapping.number(8), 0x1000u);
    ASSERT_EQ(trace.interned.at(6).size(), 2u);
    for (const std::string &frame : trace.interned.at(6))
        EXPECT_EQ(ProtobufMessage(frame).number(4), 0x401010u);
}

TEST(Perfetto, LossIsACounter) {
    SomeCalls calls;
    const PerfettoTrace trace(exported([&](Exporter &exporter) {
        exporter.lost(1, 500, 3);
        exporter.lost(0, 700, 4);
        exporter.finish();
    }));
    ASSERT_EQ(trace.items.size(), 2u);
    EXPECT_EQ(trace.items[0].type, 4u);
    EXPECT_EQ(trace.items[0].counter, 3u);
    EXPECT_EQ(trace.items[1].ts, 700u);
    EXPECT_EQ(trace.items[1].counter, 7u);
    EXPECT_EQ(trace.tracks.at(trace.items[0].track).name, "lost calls");
}

TEST(Perfetto, ACallThatComesBehindThoseItMade) {
    SomeCalls calls;
    calls.call("inner", 100, 10);
    calls.call("inner", 120, 10);
    calls.call("outer", 50, 100); // as it returned last, and lasted longer than its packet
    const PerfettoTrace trace(exported([&](Exporter &exporter) {
        for (const Event &event : calls.batch().events)
            give_event(exporter, calls.batch(), event);
        exporter.finish();
    }));
    const auto slices = trace.slices();
    ASSERT_EQ(slices.size(), 3u);
    for (const auto &slice : slices)
        EXPECT_EQ(slice.depth, slice.number == 3 ? 0u : 1u);
}

TEST(Perfetto, ACallThatComesBehindOneThatBeganAtTheSameMoment) {
    for (const bool closed : {false, true}) {
        for (const bool within : {false, true}) {
            SomeCalls calls;
            if (within)
                calls.call("around", 50, 500);
            calls.call("inner", 100, 10);
            if (closed)
                calls.call("other", 120, 10);
            calls.call("outer", 100, 100); // a reader that sorts by time finds it behind the inner one
            const PerfettoTrace trace(exported([&](Exporter &exporter) {
                for (const Event &event : calls.batch().events)
                    give_event(exporter, calls.batch(), event);
                exporter.finish();
            }));
            for (const auto &slice : trace.slices()) {
                const Event &event = calls.batch().events[slice.number - 1];
                EXPECT_EQ(slice.begin, event.ts);
                EXPECT_EQ(slice.end, event.ts + event.duration) << event.probe->function << closed << within;
            }
        }
    }
}

TEST(Perfetto, ACallThatWasLeftEndsWithTheOneThatItIsIn) {
    SomeCalls calls;
    calls.call("around", 50, 500);
    calls.call("left", 100, 1000);
    calls.call("inner", 120, 10);
    calls.call("later", 700, 10);
    EventBatch batch = calls.batch();
    batch.events[1].left = true;
    const PerfettoTrace trace(exported([&](Exporter &exporter) {
        for (const Event &event : batch.events)
            give_event(exporter, batch, event);
        exporter.finish();
    }));
    std::vector<std::uint64_t> ends;
    for (const auto &slice : trace.slices())
        ends.push_back(slice.end);
    std::ranges::sort(ends);
    EXPECT_THAT(ends, testing::ElementsAre(130, 550, 550, 710));
}

TEST(Perfetto, CallsThatHadNotReturnedStayOpen) {
    SomeCalls calls;
    const SomeCalls::Place cat{101, 100, 3, 0, "cat"};
    calls.call("vfs_open", 500, 100, cat);
    calls.call("ext4_read", 1010, 20, cat);
    calls.call("copy", 1015, 5, cat);
    calls.unfinished("vfs_read", 1000, cat); // behind what it has made, as it is known last
    calls.unfinished("schedule", 1050, cat);
    const PerfettoTrace trace(exported([&](Exporter &exporter) {
        for (const Event &event : calls.batch().events)
            give_event(exporter, calls.batch(), event);
        exporter.finish();
    }));
    std::vector<std::string> found;
    for (const auto &slice : trace.slices(2))
        found.push_back(fmt::format("{}: {} to {} at {}", slice.number, slice.begin,
                                    static_cast<std::int64_t>(slice.end), slice.depth));
    EXPECT_THAT(found, testing::UnorderedElementsAre("1: 500 to 600 at 0", "2: 1010 to 1030 at 1", "3: 1015 to 1020 at 2",
                                                     "4: 1000 to -1 at 0", "5: 1050 to -1 at 1"));
    for (const auto &item : trace.items) {
        EXPECT_EQ(item.track, trace.items[0].track);
        if (item.name == "vfs_read") {
            EXPECT_THAT(item.notes, testing::ElementsAre("args.n=u4", "caller=\"0xffffffff81000010\"", "flags=\"....\""))
                << "on which CPU it began is not known";
        }
    }
}

TEST(Perfetto, RandomCallsWithinThoseThatHadNotReturned) {
    std::mt19937 random(4);
    for (int round = 0; round < 60; ++round) {
        SomeCalls calls;
        std::size_t unfinished = 0;
        for (std::uint32_t tid = 1; tid <= 3; ++tid) {
            const SomeCalls::Place place{tid, tid, tid % 2, 0, "t"};
            calls.nest(random, place, 1000, 1050, 3);
            std::uint64_t begin = 1060; // behind all that has returned, or around some of it
            for (std::size_t depth = random() % 4; depth > 0; --depth, ++unfinished) {
                calls.nest(random, place, begin + 2, begin + 40, 2);
                calls.unfinished("u", begin, place);
                begin += 50;
            }
        }
        const auto slices = PerfettoTrace(exported([&](Exporter &exporter) {
                                for (const bool last : {false, true})
                                    for (const Event *event : calls.in_order())
                                        if (is_unfinished(*event) == last)
                                            give_event(exporter, calls.batch(), *event);
                                exporter.finish();
                            })).slices(unfinished);
        ASSERT_EQ(slices.size(), calls.batch().events.size());
        for (const auto &slice : slices) {
            const Event &event = calls.batch().events[slice.number - 1];
            EXPECT_EQ(slice.begin, event.ts);
            EXPECT_EQ(slice.end, event.has_duration() ? event.ts + event.duration : ~0ul);
            std::size_t around = 0; // of these at least
            for (const Event &other : calls.batch().events)
                around += is_unfinished(other) && other.tid == event.tid && other.ts < event.ts;
            EXPECT_GE(slice.depth, around) << "round " << round;
            if (is_unfinished(event)) {
                EXPECT_EQ(slice.depth, around) << "round " << round;
            }
        }
    }
}

TEST(Perfetto, ATimeThatOverflowsIsAnEndAllTheSame) {
    SomeCalls calls;
    calls.call("f", 100, ~std::uint64_t{0} - 1);
    calls.call("g", 200, 5);
    EXPECT_EQ(trace_of(calls).slices().size(), 2u);
}

/// How many calls on the same track are around that one.
std::size_t depth_of(const Event &event, const std::vector<const Event *> &order,
                     const std::function<std::uint64_t(const Event &)> &track) {
    std::size_t depth = 0;
    const std::uint64_t end = event.has_duration() ? event.ts + event.duration : event.ts;
    for (const Event *other : order) {
        if (other == &event)
            break;
        depth += other->has_duration() && track(*other) == track(event) &&
                 other->ts + other->duration >= end && other->ts + other->duration > event.ts;
    }
    return depth;
}

TEST(Perfetto, RandomCallsNestAsTheyWere) {
    std::mt19937 random(1);
    for (int round = 0; round < 60; ++round) {
        SomeCalls calls;
        for (std::uint32_t tid = 1; tid <= 3; ++tid)
            calls.nest(random, {tid, tid, tid % 2, 0, "t"}, 1000 + random() % 5, 1060, 4);
        calls.nest(random, {1, 1, 1, ARGTRACE_CTX_HARDIRQ, "t"}, 1010, 1040, 3);
        const auto track = [](const Event &event) {
            return event.context ? 1000 + event.cpu : event.tid;
        };
        const std::vector<const Event *> order = calls.in_order();
        std::map<std::uint64_t, const Event *> by_number;
        for (const Event *event : order)
            by_number[calls.number_of(*event)] = event;
        const auto slices = trace_of(calls).slices();
        ASSERT_EQ(slices.size(), order.size());
        for (const PerfettoTrace::Slice &slice : slices) {
            const Event &event = *by_number.at(slice.number);
            EXPECT_EQ(slice.begin, event.ts);
            EXPECT_EQ(slice.end, event.has_duration() ? event.ts + event.duration : ~0ul);
            EXPECT_EQ(slice.depth, depth_of(event, order, track)) << "round " << round;
        }
    }
}

TEST(Perfetto, RandomCallsThatOverlapAreAllThere) {
    std::mt19937 random(2);
    SomeCalls calls;
    constexpr unsigned count = 100000;
    for (unsigned i = 0; i < count; ++i) {
        const auto tid = static_cast<std::uint32_t>(random() % 20);
        const SomeCalls::Place place{tid, tid % 3, static_cast<std::uint32_t>(random() % 4),
                                     static_cast<std::uint8_t>(random() % 4 ? 0 : random()), "t"};
        const std::uint64_t ts = 1000 + random() % 40000;
        if (random() % 5 == 0)
            calls.instant("i", ts, place);
        else
            calls.call("f", ts, random() % (random() % 50 ? 30 : 3000), place);
    }
    const auto slices = trace_of(calls).slices();
    ASSERT_EQ(slices.size(), count);
    std::set<std::uint64_t> numbers;
    std::map<std::uint64_t, std::uint32_t> threads; // of tracks
    for (const PerfettoTrace::Slice &slice : slices) {
        const Event &event = calls.batch().events[slice.number - 1];
        EXPECT_TRUE(numbers.insert(slice.number).second);
        ASSERT_EQ(slice.begin, event.ts);
        ASSERT_EQ(slice.end, event.has_duration() ? event.ts + event.duration : ~0ul);
        const bool of_cpu =
            event.tid == 0 ||
            event.context & (ARGTRACE_CTX_HARDIRQ | ARGTRACE_CTX_SOFTIRQ | ARGTRACE_CTX_NMI);
        const std::uint32_t owner = of_cpu ? 100 + event.cpu : event.tid;
        EXPECT_EQ(threads.try_emplace(slice.track, owner).first->second, owner);
    }
}

TEST(Perfetto, CompressedItIsTheSame) {
    std::mt19937 random(3);
    SomeCalls calls;
    for (unsigned i = 0; i < 60; ++i)
        calls.nest(random, {i + 1, i + 1, 0, 0, "t"}, 1000, 3000, 4);
    const auto give = [&](Exporter &exporter) { calls.give(exporter); };
    const std::string plain = exported(give);
    ASSERT_GT(plain.size(), 3u << 20) << "several blocks";
    EXPECT_EQ(exported(give, NoSymbols(), ExportFile::Compression::none, 2) == plain, true)
        << "whoever has written which block";
    for (const unsigned threads : {0u, 2u}) {
        const std::string zipped =
            exported(give, NoSymbols(), ExportFile::Compression::gzip, threads);
        EXPECT_LT(zipped.size(), plain.size() / 3);
        EXPECT_EQ(unzip(zipped) == plain, true);
    }
    EXPECT_EQ(unzip(exported([](Exporter &exporter) { exporter.finish(); }, NoSymbols(),
                             ExportFile::Compression::gzip)),
              exported([](Exporter &exporter) { exporter.finish(); }));
}

TEST(Protobuf, NumbersOfAnySize) {
    for (unsigned bits = 0; bits <= 64; ++bits) {
        const std::uint64_t least = bits ? std::uint64_t{1} << (bits - 1) : 0;
        for (const std::uint64_t number : {least, least + least / 3, least + (least - (bits > 0))}) {
            std::string expected;
            std::uint64_t rest = number;
            for (; rest >= 0x80; rest >>= 7)
                expected += static_cast<char>(rest | 0x80);
            expected += static_cast<char>(rest);
            char bytes[varint_size_max];
            char *const end = write_varint(bytes, number);
            EXPECT_EQ(std::string(+bytes, end), expected) << number;
        }
    }
}

TEST(Protobuf, MessagesOfAnyLength) {
    for (const std::size_t length : {0ul, 127ul, 16383ul, 16384ul, 3000000ul}) {
        ProtobufWriter writer;
        const std::string text(length, 'x');
        const std::size_t outer = writer.open(5);
        const std::size_t inner = writer.open(300);
        writer.raw(text);
        writer.close(inner);
        writer.number(7, ~std::uint64_t{0});
        writer.close(outer);
        const std::string bytes(writer.view());
        const ProtobufMessage message(bytes);
        ASSERT_EQ(message.fields.size(), 1u);
        const ProtobufMessage read = message.message(5);
        EXPECT_EQ(read.text(300) == text, true);
        EXPECT_EQ(read.number(7), ~std::uint64_t{0});
    }
}

TEST(ExportFile, WithoutAReader) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ::close(ends[0]);
    const Fd fd(ends[1]);
    WorkerPool workers(0);
    ExportFile file(fd.get(), "x", workers);
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    EXPECT_THROW(file.write("something"), Error);
    std::signal(SIGPIPE, before);
}

} // namespace
} // namespace argtrace
