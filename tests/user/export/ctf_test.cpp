// SPDX-License-Identifier: GPL-2.0-only
#include "export/ctf.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/ctf_reader.h"
#include "support/some_calls.h"
#include "support/some_stack.h"
#include "support/trace_builder.h"

namespace argtrace {
namespace {

using namespace test;

class Ctf : public testing::Test {
protected:
    Ctf() { std::filesystem::create_directory(path_); }
    ~Ctf() override { std::filesystem::remove_all(path_); }

    void give(const std::function<void(Exporter &)> &fill, const Symbols &symbols = NoSymbols()) {
        const TraceInfo info = some_info();
        CtfExporter exporter(path_, {info, symbols});
        fill(exporter);
        std::uint64_t size = 0;
        for (const auto &file : std::filesystem::directory_iterator(path_))
            size += file.file_size();
        EXPECT_EQ(exporter.size(), size);
    }

    std::string read(const std::string &name) const {
        std::ifstream file(path_ + "/" + name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    std::string path_ = testing::TempDir() + "argtrace_ctf_" + std::to_string(getpid());
};

TEST_F(Ctf, MetadataDescribesTheFunctions) {
    Probe probe;
    probe.id = 77;
    probe.function = "f\"x";
    probe.args = {argument("file", ARGTRACE_TYPE_PTR, "struct file *"),
                  argument("event", ARGTRACE_TYPE_S16, "short"),
                  not_captured("big"),
                  output("file.path", ARGTRACE_TYPE_STR),
                  output("*pos", ARGTRACE_TYPE_S64),
                  argument("wide", ARGTRACE_TYPE_U128, "u128")};
    EventBatch batch;
    for (const std::uint8_t type : {ARGTRACE_TYPE_PTR, ARGTRACE_TYPE_S16, ARGTRACE_TYPE_END,
                                    ARGTRACE_TYPE_END, ARGTRACE_TYPE_S64, ARGTRACE_TYPE_U128})
        batch.values.push_back({5, 0, type, type != ARGTRACE_TYPE_END, false});
    Event event;
    event.ts = 2000;
    event.probe = &probe;
    batch.events.push_back(event);
    give([&](Exporter &exporter) {
        give_event(exporter, batch, batch.events[0]);
        exporter.finish();
    });
    const std::string metadata = read("metadata");
    EXPECT_TRUE(metadata.starts_with("/* CTF 1.8 */\n"));
    EXPECT_THAT(metadata, testing::HasSubstr("offset_s = 1700000000;\n\toffset = 123455789;"));
    EXPECT_THAT(metadata,
                testing::HasSubstr("name = \"f\\\"x\";\n\tid = 0;\n\tstream_id = 0;\n"
                                   "\tfields := struct { address _file; s16 _event; "
                                   "u8 __file_path_length; string _file_path[__file_path_length]; "
                                   "u8 ___pos_length; s64 __pos[___pos_length]; string _wide; };"));
    const std::string stream = read("cpu0");
    const std::string tail("\x05\0\0\0\0\0\0\0\x05\0\0\x01\x05\0\0\0\0\0\0\0"
                           "5\0",
                           22);
    EXPECT_EQ(stream.substr(stream.size() - tail.size()), tail);
}

TEST_F(Ctf, StacksAreTheNamesOfTheirFunctions) {
    const CallsWithStacks calls;
    give(
        [&](Exporter &exporter) {
            for (const Event &event : calls.batch.events)
                give_event(exporter, calls.batch, event);
            exporter.finish();
        },
        SomeStack());
    EXPECT_THAT(read("metadata"), testing::HasSubstr("u64 _count; u8 __stack_length; string _stack[__stack_length]; }"));
    const std::string stream = read("cpu0"), count("\5\0\0\0\0\0\0\0", 8);
    EXPECT_NE(stream.find(count + '\1' + SomeStack::text + '\0'), stream.npos);
    EXPECT_TRUE(stream.ends_with(count + '\0')) << "one that could not be taken is left out";
}

TEST_F(Ctf, CallsAndLossesByCpu) {
    SomeCalls calls;
    calls.call("f", 2000, 30, {11, 10, 0, 0, "dd"});
    calls.instant("g", 2010, {12, 10, 1, ARGTRACE_CTX_HARDIRQ, "cat"});
    give([&](Exporter &exporter) {
        give_event(exporter, calls.batch(), calls.batch().events[0]);
        exporter.lost(0, 2005, 7);
        give_event(exporter, calls.batch(), calls.batch().events[1]);
        exporter.lost(1, 2020, 2);
        exporter.finish();
    });
    const std::string first = read("cpu0"), second = read("cpu1");
    const CtfStream zero(first), one(second);
    ASSERT_EQ(zero.calls.size(), 1u);
    EXPECT_EQ(zero.calls[0].duration, 30u);
    EXPECT_EQ(zero.calls[0].tid, 11u);
    EXPECT_EQ(zero.calls[0].comm, "dd");
    EXPECT_EQ(zero.calls[0].caller, "0xffffffff81000010");
    EXPECT_THAT(zero.discarded, testing::ElementsAre(0, 7));
    ASSERT_EQ(one.calls.size(), 1u);
    EXPECT_EQ(one.calls[0].id, 1u);
    EXPECT_EQ(one.calls[0].flags, "..h.");
    EXPECT_EQ(one.calls[0].duration, ~0ul);
    EXPECT_THAT(one.discarded, testing::ElementsAre(0, 2));
}

TEST_F(Ctf, RandomCallsInAnyOrder) {
    std::mt19937 random(9);
    SomeCalls calls;
    constexpr unsigned count = 100000;
    for (unsigned i = 0; i < count; ++i) {
        const std::uint64_t late = random() % 100 ? 0 : random() % 1000;
        calls.call("f", 2000 + i - std::min<std::uint64_t>(late, i), random() % 40,
                   {1, 1, static_cast<std::uint32_t>(random() % 3), 0, "t"});
    }
    give([&](Exporter &exporter) {
        for (const Event &event : calls.batch().events)
            give_event(exporter, calls.batch(), event);
        exporter.finish();
    });
    std::set<std::uint64_t> numbers;
    for (const auto &file : std::filesystem::directory_iterator(path_)) {
        const std::string name = file.path().filename();
        if (name == "metadata")
            continue;
        const std::string bytes = read(name);
        for (const auto &call : CtfStream(bytes).calls) {
            const Event &event = calls.batch().events[call.number - 1];
            EXPECT_TRUE(numbers.insert(call.number).second);
            EXPECT_EQ(call.ts, event.ts);
            EXPECT_EQ(call.duration, event.duration);
            EXPECT_TRUE(name.starts_with("cpu" + std::to_string(event.cpu)));
        }
    }
    EXPECT_EQ(numbers.size(), count);
}

} // namespace
} // namespace argtrace
