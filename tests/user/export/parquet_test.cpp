// SPDX-License-Identifier: GPL-2.0-only
#include "export/parquet.h"

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <tuple>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "btf/display_types.h"
#include "export/folder_target.h"
#include "support/btf_builder.h"
#include "support/parquet_reader.h"
#include "support/some_calls.h"
#include "support/trace_builder.h"
#include "util/error.h"

namespace argtrace {
namespace {

using namespace test;

template<typename Give>
std::string exported_rows(Give give, unsigned threads = 0, const Symbols &symbols = NoSymbols()) {
    const Fd fd = memory_file();
    WorkerPool workers(threads);
    ExportFile file(fd.get(), "memory", workers);
    const TraceInfo info = some_info();
    ParquetExporter exporter(file, workers, {info, symbols});
    give(exporter);
    const FileBytes bytes = contents(fd.get());
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

TEST(Parquet, ARowForEachCall) {
    SomeCalls calls;
    calls.call("vfs_read", 2000, 70, {11, 10, 3, ARGTRACE_CTX_IRQS_OFF, "dd"});
    calls.instant("vfs_open", 2500, {12, 0, 1, 0, "x\xff"});
    calls.instant("idle", 2600, {0, 0, 1, 0, "swapper/1"});
    const ParquetTable file(exported_rows([&](Exporter &exporter) {
        exporter.lost(1, 2100, 4);
        calls.give(exporter);
    }));
    std::map<std::string, std::vector<std::string>> expected{
        {"ts", {"2000", "2500", "2600"}},
        {"utc", {"1700000000123457789", "1700000000123458289", "1700000000123458389"}},
        {"host", {"guest", "guest", "guest"}},
        {"kernel", {"6.12.0", "6.12.0", "6.12.0"}},
        {"cpu", {"3", "1", "1"}},
        {"tid", {"11", "12", "0"}},
        {"pid", {"10", "null", "0"}},
        {"comm", {"dd", "x\xef\xbf\xbd", "swapper/1"}},
        {"func", {"vfs_read", "vfs_open", "idle"}},
        {"module", {"null", "null", "null"}},
        {"caller", {"0xffffffff81000010", "0xffffffff81000010", "0xffffffff81000010"}},
        {"flags", {"d...", "....", "...."}},
        {"duration", {"70", "null", "null"}},
        {"ret", {"null", "null", "null"}},
        {"args", {"{\"n\":1}", "{\"n\":2}", "{\"n\":3}"}}};
    EXPECT_EQ(file.columns, expected);
    EXPECT_EQ(file.notes.at("argtrace.lost"), "4");
    EXPECT_EQ(info_from_json(file.notes.at("argtrace.info")), some_info());
    EXPECT_THAT(file.ranges.at("ts"), testing::ElementsAre(std::pair(2000, 2600)));
    EXPECT_THAT(file.ranges.at("duration"), testing::ElementsAre(std::pair(70, 70)));
}

TEST(Parquet, OfNoCallsAnEmptyTable) {
    const ParquetTable file(exported_rows([](Exporter &exporter) { exporter.finish(); }));
    EXPECT_EQ(file.groups.size(), 0u);
    EXPECT_EQ(file.columns.size(), 15u);
}

TEST(ParquetPages, NullsAndTextsOfSeveral) {
    ParquetJson column;
    std::vector<std::string> expected, found;
    for (unsigned i = 0; i < 3000; ++i) {
        if (i % 3 == 0) {
            column.add_null();
            expected.emplace_back("null");
        } else {
            expected.push_back(fmt::format("\"{:0400}\"", i));
            column.add([&](Line &line) { line += expected.back(); });
            column.end_row();
        }
    }
    const ParquetChunk chunk = column.take();
    unsigned pages = 0;
    for (std::string_view at = chunk.data.bytes; !at.empty(); ++pages) {
        Thrift header;
        const std::string plain = ParquetTable::page(at, header);
        const auto rows = static_cast<std::size_t>(header.at(5).at(1).number);
        std::string_view rest = plain;
        const std::uint32_t levels = ParquetTable::u32(rest);
        const auto present = ParquetTable::hybrid(rest.substr(4, levels), 1, rows);
        rest.remove_prefix(4 + levels);
        for (const std::uint32_t one : present)
            found.push_back(one ? ParquetTable::plain_value(6, rest, 0) : "null");
        EXPECT_TRUE(rest.empty());
    }
    EXPECT_EQ(found == expected, true);
    EXPECT_GT(pages, 1u);
    EXPECT_EQ(chunk.nulls, 1000u);
}

TEST(Parquet, ArgumentsThatComeAgainAreWrittenOnce) {
    constexpr std::size_t count = 20000;
    std::mt19937 random(4);
    Probe probe, other;
    for (Probe *one : {&probe, &other}) {
        one->args = {argument("a", ARGTRACE_TYPE_U32, "u32"), argument("b", ARGTRACE_TYPE_S16, "s16"),
                     test::returned(ARGTRACE_TYPE_S64)};
        one->function = "f";
    }
    other.args[1].name = "c";
    // How many different ones there are of a, and from which row on it is written as it comes.
    for (const auto &[different, from, is_dictionary] :
         {std::tuple{30u, count, true}, {30u, std::size_t{2500}, true}, {~0u, count, false}}) {
        EventBatch batch;
        std::map<std::tuple<std::uint32_t, bool, std::int64_t>, std::uint32_t> shared_values;
        std::vector<std::string> args, results;
        for (std::size_t i = 0; i < count; ++i) {
            Event event;
            event.ts = 2000 + i;
            event.probe = random() % 2 ? &probe : &other;
            event.first_value = static_cast<std::uint32_t>(batch.values.size());
            const std::uint32_t a = i < from ? static_cast<std::uint32_t>(random() % different)
                                             : static_cast<std::uint32_t>(random());
            const bool captured = random() % 3 != 0;
            const std::int64_t result = static_cast<std::int64_t>(random() % 3) - 2;
            const bool returned = random() % 4 != 0;
            // Some share the values of an earlier one.
            if (const auto [shared, added] = shared_values.try_emplace({a, captured, returned ? result : 9}, event.first_value);
                !added && random() % 8 != 0)
                event.first_value = shared->second;
            batch.values.push_back({a, 0, ARGTRACE_TYPE_U32, true, false});
            batch.values.push_back(
                captured ? Value{5, 0, ARGTRACE_TYPE_S16, true, false} : Value{});
            batch.values.push_back(returned ? Value{static_cast<std::uint64_t>(result), 0,
                                                    ARGTRACE_TYPE_S64, true, false}
                                            : Value{});
            batch.events.push_back(event);
            args.push_back(fmt::format("{{\"a\":{},\"{}\":{}}}", a,
                                       event.probe == &probe ? "b" : "c", captured ? "5" : "null"));
            results.push_back(returned ? std::to_string(result) : "null");
        }
        const ParquetTable file(exported_rows([&](Exporter &exporter) {
            EventBlock block;
            for (const Event &event : batch.events)
                block.events.push_back({&batch, &event});
            exporter.take(std::move(block));
            exporter.finish();
        }));
        EXPECT_EQ(file.columns.at("args") == args, true) << different;
        EXPECT_EQ(file.columns.at("ret") == results, true);
        EXPECT_EQ(file.dictionaries.contains("args"), is_dictionary) << different << ' ' << from;
        EXPECT_EQ(file.dictionaries.at("ret"), 3u);
    }
}

/// Calls of a probe with an argument and a stack: two that SomeStacks knows, the first again, one it does not know, and none.
struct CallsOfKnownAndUnknownStacks {
    CallsOfKnownAndUnknownStacks() {
        probe.id = 1;
        probe.function = "f";
        probe.args = {argument("a", ARGTRACE_TYPE_U32, "u32"), output("stack", ARGTRACE_TYPE_STACK)};
        for (const std::uint64_t stack : {1, 20, 1, 30, 0}) {
            Event event;
            event.ts = 2000 + batch.events.size();
            event.probe = &probe;
            event.first_value = static_cast<std::uint32_t>(batch.values.size());
            batch.values.push_back({7, 0, ARGTRACE_TYPE_U32, true, false});
            batch.values.push_back({stack, 0, ARGTRACE_TYPE_STACK, stack != 0, false});
            batch.events.push_back(event);
        }
    }

    void give(Exporter &exporter) const {
        for (const Event &one : batch.events)
            give_event(exporter, batch, one);
        exporter.finish();
    }

    Probe probe;
    EventBatch batch;
};

TEST(Parquet, StacksAreTheNamesOfTheirFunctions) {
    const CallsOfKnownAndUnknownStacks calls;
    const SomeStacks symbols;
    const ParquetTable file(exported_rows([&](Exporter &exporter) { calls.give(exporter); }, 0, symbols));
    const std::string once = R"({"a":7,"stack":["ksys_read+0x10"]})";
    EXPECT_THAT(file.columns.at("args"),
                testing::ElementsAre(once, R"({"a":7,"stack":["ext4_read+0x10 [ext4]","ksys_read+0x20","..."]})", once,
                                     R"({"a":7,"stack":null})", R"({"a":7,"stack":null})"));
    EXPECT_EQ(file.dictionaries.at("args"), 4u);
}

TEST(Parquet, RandomCallsInSeveralGroups) {
    std::mt19937 random(8);
    SomeCalls calls;
    constexpr unsigned count = 150000;
    for (unsigned i = 0; i < count; ++i) {
        const SomeCalls::Place place{
            static_cast<std::uint32_t>(random() % 300), static_cast<std::uint32_t>(random() % 3),
            static_cast<std::uint32_t>(random() % 4), 0, random() % 2 ? "a" : "b"};
        const std::string name = "f" + std::to_string(random() % 400);
        if (random() % 3)
            calls.call(name, 2000 + i, random() % 5000, place);
        else
            calls.instant(name, 2000 + i, place);
    }
    std::string before;
    for (const unsigned threads : {0u, 2u}) {
        const std::string bytes =
            exported_rows([&](Exporter &exporter) { calls.give(exporter); }, threads);
        EXPECT_TRUE(before.empty() || before == bytes);
        before = bytes;
    }
    const ParquetTable file(before);
    constexpr unsigned group = 16384;
    std::vector<std::uint64_t> groups;
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
    for (unsigned first = 0; first < count; first += group) {
        groups.push_back(std::min(group, count - first));
        ranges.emplace_back(2000 + first, 2000 + first + groups.back() - 1);
    }
    EXPECT_EQ(file.groups, groups);
    EXPECT_EQ(file.ranges.at("ts"), ranges);
    const auto order = calls.in_order();
    const auto check = [&](const std::string &column, auto text) {
        const auto &values = file.columns.at(column);
        ASSERT_EQ(values.size(), count);
        for (std::size_t i = 0; i < count; ++i)
            ASSERT_EQ(values[i], text(*order[i])) << column << " of row " << i;
    };
    check("tid", [](const Event &event) { return std::to_string(event.tid); });
    check("pid", [](const Event &event) {
        return event.tgid || !event.tid ? std::to_string(event.tgid) : "null";
    });
    check("func", [](const Event &event) { return event.probe->function; });
    check("comm", [](const Event &event) { return std::string(event.comm_view()); });
    check("duration", [](const Event &event) {
        return event.has_duration() ? std::to_string(event.duration) : "null";
    });
    check("args", [&](const Event &event) {
        return "{\"n\":" + std::to_string(calls.number_of(event)) + "}";
    });
}

class ParquetFolder : public testing::Test {
protected:
    ParquetFolder() { std::filesystem::create_directory(path_); }
    ~ParquetFolder() override { std::filesystem::remove_all(path_); }

    std::uint64_t give(const std::function<void(Exporter &)> &fill, const Symbols &symbols = NoSymbols()) {
        WorkerPool workers(0);
        const TraceInfo info = some_info();
        ParquetFolderExporter exporter(path_, workers, {info, symbols}, 20);
        fill(exporter);
        return exporter.size();
    }

    std::string read(const std::string &name) const {
        std::ifstream file(path_ + "/" + name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    std::string path_ = testing::TempDir() + "argtrace_parquet_" + std::to_string(getpid());
};

TEST_F(ParquetFolder, ArgumentsAreColumnsOfTheirTypes) {
    Probe probe;
    probe.id = 1;
    probe.function = "f/../g";
    probe.args = {
        argument("s", ARGTRACE_TYPE_S8, "s8"),       argument("b", ARGTRACE_TYPE_BOOL, "bool"),
        argument("TS", ARGTRACE_TYPE_PTR, "void *"), output("name", ARGTRACE_TYPE_STR),
        argument("w", ARGTRACE_TYPE_U128, "u128"),   output("f", ARGTRACE_TYPE_F32),
        output("d", ARGTRACE_TYPE_F64),              test::returned(ARGTRACE_TYPE_S32)};
    EventBatch batch;
    batch.bytes.assign(2, std::byte{'x'});
    batch.values.push_back({~std::uint64_t{0}, 0, ARGTRACE_TYPE_S8, true, false});
    batch.values.push_back({1, 0, ARGTRACE_TYPE_BOOL, true, false});
    batch.values.push_back({0xff10, 0, ARGTRACE_TYPE_PTR, true, false});
    batch.values.push_back({0, 2, ARGTRACE_TYPE_STR, true, false});
    batch.values.push_back({0, 1, ARGTRACE_TYPE_U128, true, false});
    batch.values.push_back({std::bit_cast<std::uint32_t>(-0.5f), 0, ARGTRACE_TYPE_F32, true, false});
    batch.values.push_back({std::bit_cast<std::uint64_t>(1.25), 0, ARGTRACE_TYPE_F64, true, false});
    batch.values.push_back({~std::uint64_t{1}, 0, ARGTRACE_TYPE_S32, true, false});
    for (int i = 0; i < 8; ++i) // of a second call nothing could be read
        batch.values.push_back({});
    Event event;
    event.ts = 2000;
    event.duration = 5;
    event.probe = &probe;
    batch.events = {event, event};
    batch.events[1].first_value = 8;
    const std::uint64_t size = give([&](Exporter &exporter) {
        for (const Event &one : batch.events)
            give_event(exporter, batch, one);
        exporter.finish();
    });
    const std::string bytes = read("func=f%2F..%2Fg/part-0.parquet");
    EXPECT_EQ(bytes.size(), size);
    const ParquetTable file(bytes);
    EXPECT_EQ(file.columns.size(), 21u);
    EXPECT_THAT(file.columns.at("f"), testing::ElementsAre("float -0.500000", "null"));
    EXPECT_THAT(file.columns.at("d"), testing::ElementsAre("double 1.250000", "null"));
    EXPECT_THAT(file.columns.at("s"), testing::ElementsAre("-1", "null"));
    EXPECT_THAT(file.columns.at("b"), testing::ElementsAre("true", "null"));
    EXPECT_THAT(file.columns.at("arg_TS"), testing::ElementsAre("65296", "null"));
    EXPECT_THAT(file.columns.at("name"), testing::ElementsAre("xx", "null"));
    EXPECT_THAT(file.columns.at("w"), testing::ElementsAre("\"18446744073709551616\"", "null"));
    EXPECT_THAT(file.columns.at("ret"), testing::ElementsAre("-2", "null"));
    EXPECT_THAT(file.columns.at("ts"), testing::ElementsAre("2000", "2000"));
}

TEST_F(ParquetFolder, ANumberThatNotAllCallsHaveIsAColumnOfItsType) {
    BtfBuilder b;
    const ShownValue port{.type = static_cast<std::uint32_t>(b.integer("short unsigned int", 2)),
                          .name = "port",
                          .as_bytes = true};
    Probe probe;
    probe.id = 1;
    probe.function = "f";
    probe.args = {argument("port", ARGTRACE_TYPE_BYTES, "__be16")};
    probe.args[0].loc = ARGTRACE_LOC_PROGRAM;
    probe.types = display_types(b.get(), std::span(&port, 1));
    EventBatch batch;
    batch.bytes = {std::byte{0x01}, std::byte{0xbb}};
    batch.values.push_back({0, 2, ARGTRACE_TYPE_BYTES, true, false});
    batch.values.push_back({2, 0, ARGTRACE_TYPE_BYTES, true, false});
    Event event;
    event.ts = 2000;
    event.probe = &probe;
    batch.events = {event, event};
    batch.events[1].first_value = 1;
    give([&](Exporter &exporter) {
        for (const Event &one : batch.events)
            give_event(exporter, batch, one);
        exporter.finish();
    });
    const ParquetTable file(read("func=f/part-0.parquet"));
    EXPECT_THAT(file.columns.at("port"), testing::ElementsAre("443", "null"));
}

TEST_F(ParquetFolder, AStackIsAColumnOfItsFunctions) {
    const CallsOfKnownAndUnknownStacks calls;
    give([&](Exporter &exporter) { calls.give(exporter); }, SomeStacks());
    const ParquetTable file(read("func=f/part-0.parquet"));
    EXPECT_THAT(file.columns.at("a"), testing::ElementsAre("7", "7", "7", "7", "7"));
    EXPECT_THAT(file.columns.at("stack"),
                testing::ElementsAre(R"(["ksys_read+0x10"])", R"(["ext4_read+0x10 [ext4]","ksys_read+0x20","..."])",
                                     R"(["ksys_read+0x10"])", "null", "null"));
}

TEST_F(ParquetFolder, MoreFunctionsAndRowsThanAreKept) {
    SomeCalls calls;
    std::map<std::string, std::size_t> counts;
    for (unsigned i = 0; i < 70000; ++i)
        calls.call("many", 2000 + i, 1);
    for (unsigned i = 0; i < 50; ++i)
        calls.call("f" + std::to_string(i), 200000 + i, 1);
    give([&](Exporter &exporter) { calls.give(exporter); });
    std::size_t functions = 0;
    for (const auto &folder : std::filesystem::directory_iterator(path_)) {
        ++functions;
        for (const auto &file : std::filesystem::directory_iterator(folder))
            counts[folder.path().filename()] +=
                ParquetTable(
                    read(folder.path().filename().string() + "/" + file.path().filename().string()))
                    .columns.at("ts")
                    .size();
    }
    EXPECT_EQ(functions, 51u);
    EXPECT_EQ(counts.at("func=many"), 70000u);
    EXPECT_EQ(counts.at("func=f49"), 1u);
    EXPECT_FALSE(read("func=many/part-1.parquet").empty());
}

TEST_F(ParquetFolder, WhatWasLostIsToldOnce) {
    SomeCalls calls;
    for (unsigned i = 0; i < 70000; ++i)
        calls.call(i % 7 ? "many" : "f" + std::to_string(i % 50), 2000 + i, 1);
    give([&](Exporter &exporter) {
        std::uint64_t number = 0;
        for (const Event *event : calls.in_order()) {
            if (number++ % 10000 == 0)
                exporter.lost(0, event->ts, 3);
            give_event(exporter, calls.batch(), *event);
        }
        exporter.lost(0, 80000, 5); // behind all calls
        exporter.finish();
    });
    std::uint64_t lost = 0;
    std::size_t files = 0;
    for (const auto &file : std::filesystem::recursive_directory_iterator(path_)) {
        if (!file.is_regular_file())
            continue;
        ++files;
        lost += std::stoull(ParquetTable(read(file.path().string().substr(path_.size() + 1))).notes.at("argtrace.lost"));
    }
    EXPECT_GT(files, 50u);
    EXPECT_EQ(lost, 7 * 3 + 5u);
}

TEST_F(ParquetFolder, TakesItsNameWhenItIsComplete) {
    const std::string path = path_ + "/new";
    {
        const FolderTarget target(path);
        std::ofstream(target.folder() + "/file") << "x";
        EXPECT_FALSE(std::filesystem::exists(path));
    }
    EXPECT_TRUE(std::filesystem::is_empty(path_)) << "what was not kept has gone";
    std::filesystem::create_directory(path);
    {
        FolderTarget target(path + "/");
        std::ofstream(target.folder() + "/file") << "x";
        target.keep();
    }
    EXPECT_TRUE(std::filesystem::exists(path + "/file"));
    EXPECT_THROW(FolderTarget{path}, Error) << "there is something in it";
    EXPECT_THROW(FolderTarget{path + "/file"}, Error);
    EXPECT_THROW(FolderTarget{path_ + "/nowhere/new"}, Error);
}

} // namespace
} // namespace argtrace
