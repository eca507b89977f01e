// SPDX-License-Identifier: GPL-2.0-only
#include "export/flame.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <regex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export/call_tree.h"
#include "export/folded.h"
#include "export/stack_tree.h"
#include "support/some_calls.h"
#include "model/user_frame.h"
#include "support/some_stack.h"
#include "support/trace_builder.h"
#include "util/error.h"

namespace argtrace {
namespace {

using namespace test;

template<typename Make, typename Fill>
std::string made(Make make, Fill fill, std::string *left_out = nullptr) {
    const Fd fd = memory_file();
    WorkerPool workers(0);
    ExportFile file(fd.get(), "memory", workers);
    const TraceInfo info = some_info();
    const NoSymbols symbols;
    auto exporter = make(file, ExportSource{info, symbols});
    fill(exporter);
    if (left_out)
        *left_out = exporter.left_out();
    const FileBytes bytes = contents(fd.get());
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

template<typename Fill>
std::string folded(Fill fill, std::string *left_out = nullptr) {
    return made(
        [](ExportFile &file, ExportSource source) {
            return FoldedExporter(file, std::make_unique<CallTree>(source.symbols));
        },
        fill, left_out);
}

std::string folded(const SomeCalls &calls, std::string *left_out = nullptr) {
    return folded([&](Exporter &exporter) { calls.give(exporter); }, left_out);
}

std::string flame(const SomeCalls &calls, FlameGraph::Page page = FlameGraph::Page::svg,
                  std::string *left_out = nullptr) {
    return made(
        [page](ExportFile &file, ExportSource source) {
            return FlameExporter(file, source, page,
                                 std::make_unique<CallTree>(source.symbols));
        },
        [&](Exporter &exporter) { calls.give(exporter); }, left_out);
}

std::map<std::string, std::uint64_t> lines_of(const std::string &text) {
    std::map<std::string, std::uint64_t> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        const std::size_t blank = line.rfind(' ');
        EXPECT_TRUE(
            lines.emplace(line.substr(0, blank), std::stoull(line.substr(blank + 1))).second);
    }
    return lines;
}

TEST(Folded, TimeIsThatOfTheCallItself) {
    SomeCalls calls;
    calls.call("vfs_read", 1000, 100);
    calls.call("ext4_read", 1010, 50);
    calls.call("copy", 1020, 10);
    calls.call("copy", 1030, 10); // begins when the other ends
    calls.call("copy", 1060, 40); // ends with its caller
    calls.call("vfs_read", 2000, 7);
    calls.instant("open", 2001, {});
    std::string left_out;
    EXPECT_EQ(folded(calls, &left_out), "dd;vfs_read 17\n"
                                        "dd;vfs_read;copy 40\n"
                                        "dd;vfs_read;ext4_read 30\n"
                                        "dd;vfs_read;ext4_read;copy 20\n");
    EXPECT_EQ(left_out, "1 calls without a duration are not in it");
}

TEST(Folded, InterruptsAreNotPartOfWhatTheyInterrupt) {
    SomeCalls calls;
    calls.call("vfs_read", 1000, 100);
    calls.call("timer", 1010, 50, {100, 100, 0, ARGTRACE_CTX_HARDIRQ, "dd"});
    calls.call("rx", 1020, 50, {100, 100, 1, ARGTRACE_CTX_SOFTIRQ, "dd"});
    calls.call("poll", 1020, 5, {0, 0, 1, 0, "swapper/1"});
    calls.call("poll", 1020, 6, {0, 0, 2, 0, "swapper/2"});
    EXPECT_EQ(folded(calls), "[hardirq];timer 50\n[softirq];rx 50\ndd;vfs_read 100\n"
                             "swapper/1;poll 5\nswapper/2;poll 6\n");
}

TEST(Folded, NamesAreOneWord) {
    SomeCalls calls;
    calls.call("f", 1000, 1, {1, 1, 0, 0, "a;b\nc"});
    calls.call("f", 1000, 3, {3, 3, 0, 0, "a b\xff\"x\x1b"});
    calls.call("f", 1000, 2, {2, 2, 0, 0, ""});
    EXPECT_EQ(folded(calls), "?;f 2\na b\\xff\"x\\x1b;f 3\na_b\\x0ac;f 1\n") << "as KeyText has them, of which `stacks` makes the same";
}

TEST(Folded, ACallThatComesBehindThoseItMade) {
    SomeCalls calls;
    for (unsigned i = 0; i < 50; ++i)
        calls.call("inner", 1000 + 10 * i, 5);
    calls.call("outer", 900, 1000);
    calls.call("inner", 2000, 5);
    EXPECT_EQ(folded([&](Exporter &exporter) {
                  for (const Event &event : calls.batch().events)
                      give_event(exporter, calls.batch(), event);
                  exporter.finish();
              }),
              "dd;inner 5\ndd;outer 750\ndd;outer;inner 250\n");
}

TEST(Folded, ADepthThatNoKernelHas) {
    SomeCalls calls;
    for (unsigned i = 0; i < 100000; ++i)
        calls.call("f", 1000 + i, 1000000 - 2 * i);
    std::uint64_t sum = 0;
    for (const auto &[path, time] : lines_of(folded(calls)))
        sum += time;
    EXPECT_GT(sum, 0u);
}

TEST(Folded, MoreThreadsThanAreKeptApart) {
    SomeCalls calls;
    for (std::uint32_t i = 0; i < 10000; ++i) {
        calls.call("outer", 1000 + 100 * i, 50, {i + 1, i + 1, 0, 0, "t"});
        calls.call("inner", 1010 + 100 * i, 20, {i + 1, i + 1, 0, 0, "t"});
    }
    EXPECT_EQ(folded(calls), "t;outer 300000\nt;outer;inner 200000\n");
}

/// Worked out the slow way: of each moment, who is innermost.
std::map<std::string, std::uint64_t> by_moment(const SomeCalls &calls) {
    std::map<std::string, std::uint64_t> sums;
    std::map<std::uint32_t, std::vector<const Event *>> threads;
    for (const Event *event : calls.in_order()) {
        if (event->has_duration())
            threads[event->tid].push_back(event);
    }
    for (const auto &[tid, events] : threads) {
        for (std::uint64_t now = 1000; now < 1100; ++now) {
            std::string path = "t";
            for (const Event *event : events) { // callers come first
                if (event->ts <= now && now < event->ts + event->duration)
                    path += ";" + event->probe->function;
            }
            if (path != "t")
                ++sums[path];
        }
    }
    return sums;
}

TEST(Folded, RandomCallsAddUpToEveryMoment) {
    std::mt19937 random(5);
    for (int round = 0; round < 300; ++round) {
        SomeCalls calls;
        for (std::uint32_t tid = 1; tid <= 2; ++tid)
            calls.nest(random, {tid, tid, 0, 0, "t"}, 1000, 1080, 5);
        EXPECT_EQ(lines_of(folded(calls)), by_moment(calls)) << "round " << round;
    }
}

struct Rect {
    double x, w;
    unsigned depth;
};

/// The frames of a picture, with names as they are told.
std::multimap<std::string, Rect> frames_of(const std::string &svg) {
    std::multimap<std::string, Rect> frames;
    const std::regex frame(
        R"re(<g class="frame" data-name="([^"]*)" data-x="([^"]*)" data-w="([^"]*)" data-d="(\d+)">)re");
    for (std::sregex_iterator found(svg.begin(), svg.end(), frame), end; found != end; ++found)
        frames.emplace((*found)[1], Rect{std::stod((*found)[2]), std::stod((*found)[3]),
                                         static_cast<unsigned>(std::stoul((*found)[4]))});
    return frames;
}

TEST(Flame, FramesAreAsWideAsCallsAreLong) {
    SomeCalls calls;
    calls.call("vfs_read", 1000, 75);
    calls.call("ext4<read>", 1010, 25);
    calls.call("open", 3000, 25);
    const auto frames = frames_of(flame(calls));
    ASSERT_EQ(frames.size(), 5u);
    const auto check = [&](const std::string &name, double x, double w, unsigned depth) {
        const auto found = frames.find(name);
        ASSERT_NE(found, frames.end()) << name;
        EXPECT_NEAR(found->second.x, x, 1e-6) << name;
        EXPECT_NEAR(found->second.w, w, 1e-6) << name;
        EXPECT_EQ(found->second.depth, depth) << name;
    };
    check("all", 0, 1, 0);
    check("dd", 0, 1, 1);
    check("open", 0, 0.25, 2);
    check("vfs_read", 0.25, 0.75, 2);
    check("ext4&lt;read&gt;", 0.25, 0.25, 3);
}

TEST(Flame, NoFrameReachesBeyondItsCaller) {
    std::mt19937 random(6);
    SomeCalls calls;
    for (std::uint32_t tid = 1; tid <= 20; ++tid)
        calls.nest(random, {tid, tid, 0, 0, "t"}, 1000, 5000, 6);
    const std::string svg = flame(calls);
    std::vector<Rect> around;
    std::size_t frames = 0;
    const std::regex frame(R"re(data-x="([^"]*)" data-w="([^"]*)" data-d="(\d+)">)re");
    for (std::sregex_iterator found(svg.begin(), svg.end(), frame), end; found != end; ++found) {
        const Rect rect{std::stod((*found)[1]), std::stod((*found)[2]),
                        static_cast<unsigned>(std::stoul((*found)[3]))};
        ++frames;
        ASSERT_LE(rect.depth, around.size());
        around.resize(rect.depth);
        if (!around.empty()) {
            EXPECT_GE(rect.x, around.back().x - 1e-6);
            EXPECT_LE(rect.x + rect.w, around.back().x + around.back().w + 1e-6);
        }
        around.push_back(rect);
    }
    EXPECT_GT(frames, 100u);
}

TEST(Flame, FramesThatNobodyCouldSeeAreLeftOut) {
    SomeCalls calls;
    calls.call("long", 1000, 100000000);
    calls.call("short", 1100, 10);
    std::string left_out;
    const auto frames = frames_of(flame(calls, FlameGraph::Page::svg, &left_out));
    EXPECT_EQ(frames.size(), 3u);
    EXPECT_EQ(left_out, "1 frames of less than a tenth of a pixel were left out");
}

TEST(Flame, AllOfItIsInTheFile) {
    SomeCalls calls;
    calls.call("f", 1000, 5);
    const std::string svg = flame(calls), html = flame(calls, FlameGraph::Page::html);
    EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    EXPECT_TRUE(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n"));
    EXPECT_NE(html.find(svg), html.npos);
    const std::regex elsewhere(R"re((src|href)=|url\(|@import)re");
    EXPECT_FALSE(std::regex_search(svg, elsewhere));
    EXPECT_EQ(frames_of(flame(SomeCalls())).size(), 0u) << "of no calls an empty picture";
}

/// Two stacks: read from ksys_read, and from a module.
struct StackSymbols : SomeFunctions {
    std::optional<Stack> stack(std::uint64_t id, StackRoom & /*room*/) const override {
        if (id == 7)
            return Stack{first_, false};
        return id == 8 ? std::optional(Stack{second_, true}) : std::nullopt;
    }
    std::vector<std::uint64_t> first_{0x1010, 0x2010}, second_{0x3010, 0x2010};
};

class StackTreeTest : public testing::Test {
protected:
    StackTreeTest() {
        probe_.function = "vfs_read";
        probe_.args.resize(1);
        probe_.args[0].type = ARGTRACE_TYPE_STACK;
    }

    void call(std::uint64_t stack, bool captured = true, std::uint8_t context = 0) {
        event_.probe = &probe_;
        event_.context = context;
        event_.comm = {'d', 'd'};
        value_.low = stack;
        value_.type = ARGTRACE_TYPE_STACK;
        value_.captured = captured;
        tree_.add(EventView{&event_, std::span(&value_, 1)});
    }

    std::string folded() {
        std::string text;
        const std::function<void(const CallNode &, const std::string &)> add =
            [&](const CallNode &node, const std::string &path) {
                if (node.self > 0)
                    text += path + " " + std::to_string(node.self) + "\n";
                for (const auto &[name, callee] : node.callees)
                    add(*callee, path + (path.empty() ? "" : ";") + name);
            };
        add(tree_.finish(), "");
        return text;
    }

    StackSymbols symbols_;
    StackTree tree_{symbols_};
    Probe probe_;
    Event event_{};
    Value value_{};
};

TEST_F(StackTreeTest, CallsAreCountedByTheirStacks) {
    call(7);
    call(8);
    call(7);
    call(7, true, ARGTRACE_CTX_SOFTIRQ);
    call(9);
    EXPECT_EQ(folded(), "[softirq];do_syscall_64;ksys_read;vfs_read 1\n"
                        "dd;[cut];do_syscall_64;ext4_read [ext4];vfs_read 1\n"
                        "dd;[unknown];vfs_read 1\n"
                        "dd;do_syscall_64;ksys_read;vfs_read 2\n");
    EXPECT_EQ(tree_.left_out(), "");
}

TEST_F(StackTreeTest, FunctionsOfModulesAreCalledAsOnStacks) {
    probe_.function = "ext4_read";
    probe_.addr = 0x3000;
    call(8);
    EXPECT_EQ(folded(), "dd;[cut];do_syscall_64;ext4_read [ext4];ext4_read [ext4] 1\n");
    const CallNode *node = &tree_.finish();
    std::vector<bool> in_module;
    while (!node->callees.empty()) {
        node = node->callees.begin()->second.get();
        in_module.push_back(node->in_module);
    }
    EXPECT_EQ(in_module, (std::vector{false, false, false, true, true})) << "[cut] is none";
}

TEST_F(StackTreeTest, CallsWithoutAStackAreLeftOut) {
    call(7);
    call(0, false);
    probe_.args.clear();
    call(7);
    EXPECT_EQ(folded(), "dd;do_syscall_64;ksys_read;vfs_read 1\n");
    EXPECT_EQ(tree_.left_out(), "2 calls without a stack are not in it");
}

TEST_F(StackTreeTest, TicksHaveWhatTheyInterruptedOnTop) {
    EXPECT_EQ(tree_.unit(), FlameGraph::Unit::calls);
    probe_.kind = ARGTRACE_KIND_TIMER;
    probe_.function = "cycles";
    call(7);
    call(ARGTRACE_STACK_ID_USER);
    call(7);
    call(ARGTRACE_STACK_ID_IDLE);
    EXPECT_EQ(folded(), "dd;[user] 1\n"
                        "dd;do_syscall_64;ksys_read 2\n");
    EXPECT_EQ(tree_.left_out(), "1 ticks of idle CPUs are not in it");
    EXPECT_EQ(tree_.unit(), FlameGraph::Unit::ticks);
}

TEST_F(StackTreeTest, UserCodeStandsBelowTheKernel) {
    struct : StackSymbols {
        std::optional<Symbol> find(CodePlace place) const override {
            return place.space == CodeSpace::user ? Symbol{UserFrame(16, 0, false).word(), "main", "", 0} : StackSymbols::find(place);
        }
        std::optional<Stack> stack(std::uint64_t id, StackRoom &room) const override {
            return id == 20 ? Stack{user_, false, CodeSpace::user} : StackSymbols::stack(id, room);
        }
        std::vector<std::uint64_t> user_{UserFrame(16, 0x10, false).word()};
    } symbols;
    StackTree tree{symbols};
    probe_.args.resize(2);
    probe_.args[1] = probe_.args[0];
    probe_.args[1].type_name = user_stack_name;
    event_.probe = &probe_;
    const std::array<Value, 2> values{Value{7, 0, ARGTRACE_TYPE_STACK, true, false}, Value{20, 0, ARGTRACE_TYPE_STACK, true, false}};
    tree.add(EventView{&event_, values});
    const CallNode *node = &tree.finish();
    std::string path;
    std::vector<bool> in_user;
    while (!node->callees.empty()) {
        path += ';' + node->callees.begin()->first;
        node = node->callees.begin()->second.get();
        in_user.push_back(node->in_user);
    }
    EXPECT_EQ(path, ";?;main;do_syscall_64;ksys_read;vfs_read");
    EXPECT_EQ(in_user, (std::vector{false, true, false, false, false}));
}

TEST_F(StackTreeTest, OneWithoutAnyStackIsRefused) {
    call(0, false);
    EXPECT_THROW(tree_.finish(), Error);
}

TEST_F(StackTreeTest, NothingIsNoError) {
    EXPECT_EQ(folded(), "");
}

} // namespace
} // namespace argtrace
