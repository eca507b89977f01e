// SPDX-License-Identifier: GPL-2.0-only
#include "export/parquet.h"

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
#include <zstd.h>

#include "export/folder_target.h"
#include "support/some_calls.h"
#include "support/trace_builder.h"
#include "support/varint.h"
#include "util/error.h"

namespace argtrace {
namespace {

using namespace test;

/// What is read of Thrift's compact protocol: numbers, texts, lists and structs by their ids.
struct Thrift {
    std::map<int, Thrift> fields;
    std::vector<Thrift> items;
    std::int64_t number = 0;
    std::string text;

    const Thrift &at(int id) const { return fields.at(id); }
    bool has(int id) const { return fields.contains(id); }

    static std::int64_t zigzag(std::string_view &bytes) {
        const std::uint64_t value = test::take_varint(bytes);
        return static_cast<std::int64_t>(value >> 1 ^ (0 - (value & 1)));
    }
    static std::uint8_t byte(std::string_view &bytes) {
        if (bytes.empty())
            throw std::runtime_error("it ends too early");
        const auto value = static_cast<std::uint8_t>(bytes[0]);
        bytes.remove_prefix(1);
        return value;
    }
    static Thrift read(std::string_view &bytes, unsigned type) {
        Thrift value;
        if (type == 1 || type == 2) {
            value.number = type == 1;
        } else if (type == 3) {
            value.number = static_cast<std::int8_t>(byte(bytes));
        } else if (type == 5 || type == 6) {
            value.number = zigzag(bytes);
        } else if (type == 8) {
            const std::uint64_t size = test::take_varint(bytes);
            if (size > bytes.size())
                throw std::runtime_error("a text is too long");
            value.text = bytes.substr(0, size);
            bytes.remove_prefix(size);
        } else if (type == 9) {
            const unsigned head = byte(bytes);
            const std::uint64_t count = head >> 4 == 15 ? test::take_varint(bytes) : head >> 4;
            for (std::uint64_t i = 0; i < count; ++i)
                value.items.push_back(read(bytes, head & 15));
        } else if (type == 12) {
            for (int id = 0;;) {
                const unsigned head = byte(bytes);
                if (head == 0)
                    return value;
                id = head >> 4 ? id + static_cast<int>(head >> 4) : static_cast<int>(zigzag(bytes));
                value.fields[id] = read(bytes, head & 15);
            }
        } else {
            throw std::runtime_error("a type that we do not write");
        }
        return value;
    }
};

/// The columns of a file as text; null is "null".
struct ReadFile {
    std::map<std::string, std::vector<std::string>> columns;
    std::map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>> ranges;
    std::map<std::string, std::string> notes;
    std::map<std::string, unsigned> pages; // of data
    std::map<std::string, std::size_t> dictionaries;
    std::vector<std::uint64_t> groups;
    std::string bytes;

    static std::uint32_t u32(std::string_view bytes) {
        std::uint32_t value;
        std::memcpy(&value, bytes.substr(0, 4).data(), 4);
        return value;
    }

    static std::vector<std::uint32_t> hybrid(std::string_view bytes, unsigned bits,
                                             std::size_t count) {
        std::vector<std::uint32_t> values;
        while (values.size() < count) {
            const std::uint64_t head = test::take_varint(bytes);
            if (head & 1) {
                for (std::uint64_t i = 0; i < (head >> 1) * 8; ++i) {
                    std::uint32_t value = 0;
                    for (unsigned bit = 0; bit < bits; ++bit) {
                        const std::uint64_t at = i * bits + bit;
                        value |= (static_cast<unsigned char>(bytes.at(at / 8)) >> at % 8 & 1u)
                                 << bit;
                    }
                    values.push_back(value);
                }
                bytes.remove_prefix((head >> 1) * bits);
            } else {
                std::uint32_t value = 0;
                for (unsigned i = 0; i < (bits + 7) / 8; ++i)
                    value |= std::uint32_t{Thrift::byte(bytes)} << 8 * i;
                values.insert(values.end(), head >> 1, value);
            }
        }
        values.resize(count);
        return values;
    }

    /// Numbers of DELTA_BINARY_PACKED, of which those of 32 bits wrap around there.
    static std::vector<std::int64_t> deltas(std::string_view bytes, int type, std::size_t count) {
        const auto cut = [type](std::uint64_t value) {
            return type == 1 ? static_cast<std::int64_t>(static_cast<std::int32_t>(value))
                             : static_cast<std::int64_t>(value);
        };
        const std::uint64_t block = test::take_varint(bytes), parts = test::take_varint(bytes);
        EXPECT_EQ(block % 128, 0u);
        EXPECT_EQ(block / parts % 32, 0u);
        EXPECT_EQ(test::take_varint(bytes), count);
        std::vector<std::int64_t> values{Thrift::zigzag(bytes)};
        while (values.size() < count) {
            const std::int64_t least = Thrift::zigzag(bytes);
            std::vector<unsigned> widths;
            for (std::uint64_t i = 0; i < parts; ++i)
                widths.push_back(Thrift::byte(bytes));
            for (const unsigned width : widths) {
                if (values.size() >= count)
                    break;
                EXPECT_LE(width, type == 1 ? 32u : 64u);
                for (std::uint64_t i = 0; i < block / parts; ++i) {
                    std::uint64_t delta = 0;
                    for (unsigned bit = 0; bit < width; ++bit) {
                        const std::uint64_t at = i * width + bit;
                        delta |= std::uint64_t{
                                     static_cast<unsigned char>(bytes.at(at / 8)) >> at % 8 & 1u}
                                 << bit;
                    }
                    values.push_back(cut(static_cast<std::uint64_t>(values.back()) +
                                         static_cast<std::uint64_t>(least) + delta));
                }
                bytes.remove_prefix(block / parts / 8 * width);
            }
        }
        EXPECT_TRUE(bytes.empty());
        values.resize(count);
        return values;
    }

    /// The page there, and where the next begins.
    static std::string page(std::string_view &at, Thrift &header) {
        header = Thrift::read(at, 12);
        std::string plain(static_cast<std::size_t>(header.at(2).number), '\0');
        EXPECT_EQ(ZSTD_decompress(plain.data(), plain.size(), at.data(),
                                  static_cast<std::size_t>(header.at(3).number)),
                  plain.size());
        at.remove_prefix(static_cast<std::size_t>(header.at(3).number));
        return plain;
    }

    explicit ReadFile(std::string whole) : bytes(std::move(whole)) {
        const std::size_t size = bytes.size();
        if (size < 12 || bytes.substr(0, 4) != "PAR1" || bytes.substr(size - 4) != "PAR1")
            throw std::runtime_error("no Parquet file");
        std::string_view foot = bytes;
        const std::uint32_t foot_size = u32(foot.substr(size - 8));
        foot = foot.substr(size - 8 - foot_size, foot_size);
        const Thrift file = Thrift::read(foot, 12);
        EXPECT_TRUE(foot.empty());
        for (const Thrift &note : file.at(5).items)
            notes[note.at(1).text] = note.at(2).text;
        const auto &schema = file.at(2).items;
        for (std::size_t i = 1; i < schema.size(); ++i)
            columns[schema[i].at(4).text];
        std::int64_t rows = 0;
        for (const Thrift &group : file.at(4).items) {
            rows += group.at(3).number;
            groups.push_back(static_cast<std::uint64_t>(group.at(3).number));
            for (std::size_t i = 0; i + 1 < schema.size(); ++i)
                read_chunk(schema[i + 1], group.at(1).items.at(i).at(3), groups.back());
        }
        EXPECT_EQ(file.at(3).number, rows);
    }

    void read_chunk(const Thrift &schema, const Thrift &chunk, std::uint64_t rows) {
        const std::string &name = schema.at(4).text;
        EXPECT_EQ(chunk.at(3).items.at(0).text, name);
        EXPECT_EQ(chunk.at(4).number, 6) << "zstd";
        std::vector<std::string> words;
        Thrift header;
        if (chunk.has(11)) {
            std::string_view place =
                std::string_view(bytes).substr(static_cast<std::size_t>(chunk.at(11).number));
            const std::string plain = page(place, header);
            for (std::string_view at = plain; !at.empty();) {
                words.emplace_back(at.substr(4, u32(at)));
                at.remove_prefix(4 + u32(at));
            }
            EXPECT_EQ(header.at(7).at(1).number, static_cast<std::int64_t>(words.size()));
            dictionaries[name] = words.size();
        }
        std::string_view place = std::string_view(bytes).substr(
            static_cast<std::size_t>(chunk.at(9).number),
            static_cast<std::size_t>(chunk.at(7).number + chunk.at(chunk.has(11) ? 11 : 9).number -
                                     chunk.at(9).number));
        std::size_t read = 0, nulls = 0;
        while (!place.empty()) {
            const std::string plain = page(place, header);
            const auto page_rows = static_cast<std::size_t>(header.at(5).at(1).number);
            nulls += read_page(schema, chunk, header, plain, page_rows, words);
            read += page_rows;
            ++pages[name];
        }
        EXPECT_EQ(read, rows);
        EXPECT_EQ(chunk.at(12).at(3).number, static_cast<std::int64_t>(nulls));
        if (chunk.at(12).has(5)) {
            std::int64_t low, high;
            std::memcpy(&high, chunk.at(12).at(5).text.data(), 8);
            std::memcpy(&low, chunk.at(12).at(6).text.data(), 8);
            ranges[name].emplace_back(low, high);
        }
    }

    /// Returns how many of the rows are null.
    std::size_t read_page(const Thrift &schema, const Thrift &chunk, const Thrift &header,
                          const std::string &plain, std::size_t rows,
                          const std::vector<std::string> &words) {
        const std::string &name = schema.at(4).text;
        std::string_view at = plain;
        const auto present = hybrid(at.substr(4, u32(at)), 1, rows);
        at.remove_prefix(4 + u32(at));
        const auto count = static_cast<std::size_t>(std::count(present.begin(), present.end(), 1u));
        std::vector<std::string> values;
        if (chunk.has(11)) {
            EXPECT_EQ(header.at(5).at(2).number, 8);
            const auto bits = static_cast<unsigned char>(plain.at(plain.size() - at.size()));
            for (const std::uint32_t index : hybrid(at.substr(1), bits, count))
                values.push_back(words.at(index));
        } else if (header.at(5).at(2).number == 5) {
            EXPECT_EQ(chunk.at(2).items.at(0).number, 5);
            for (const std::int64_t value :
                 deltas(at, static_cast<int>(schema.at(1).number), count))
                values.push_back(std::to_string(value));
        } else {
            EXPECT_EQ(header.at(5).at(2).number, 0);
            for (std::size_t i = 0; i < count; ++i)
                values.push_back(plain_value(static_cast<int>(schema.at(1).number), at, i));
        }
        auto value = values.begin();
        for (const std::uint32_t one : present)
            columns[name].push_back(one ? *value++ : "null");
        return rows - count;
    }

    static std::string plain_value(int type, std::string_view &at, std::size_t index) {
        if (type == 0)
            return static_cast<unsigned char>(at.at(index / 8)) >> index % 8 & 1 ? "true" : "false";
        if (type == 6) {
            const std::string text(at.substr(4, u32(at)));
            at.remove_prefix(4 + u32(at));
            return text;
        }
        std::int64_t value = 0;
        if (type == 1)
            value = static_cast<std::int32_t>(u32(at));
        else
            std::memcpy(&value, at.substr(0, 8).data(), 8);
        at.remove_prefix(type == 1 ? 4 : 8);
        return std::to_string(value);
    }
};

template<typename Give>
std::string exported_rows(Give give, unsigned threads = 0) {
    const Fd fd = memory_file();
    WorkerPool workers(threads);
    ExportFile file(fd.get(), "memory", workers);
    const TraceInfo info = some_info();
    const NoSymbols symbols;
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
    const ReadFile file(exported_rows([&](Exporter &exporter) {
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
    const ReadFile file(exported_rows([](Exporter &exporter) { exporter.finish(); }));
    EXPECT_EQ(file.groups.size(), 0u);
    EXPECT_EQ(file.columns.size(), 15u);
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
        const ReadFile file(exported_rows([&](Exporter &exporter) {
            EventBlock block;
            for (const Event &event : batch.events)
                block.events.push_back({&batch, &event});
            exporter.take(std::move(block));
            exporter.finish();
        }));
        EXPECT_EQ(file.columns.at("args") == args, true) << different;
        EXPECT_EQ(file.columns.at("ret") == results, true);
        EXPECT_EQ(file.dictionaries.contains("args"), is_dictionary) << different << ' ' << from;
        EXPECT_EQ(file.pages.at("args") > 1, !is_dictionary);
        EXPECT_EQ(file.dictionaries.at("ret"), 3u);
    }
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
    const ReadFile file(before);
    EXPECT_THAT(file.groups, testing::ElementsAre(32768, 32768, 32768, 32768, count - 4 * 32768));
    EXPECT_THAT(file.ranges.at("ts"),
                testing::ElementsAre(std::pair(2000, 34767), std::pair(34768, 67535),
                                     std::pair(67536, 100303), std::pair(100304, 133071),
                                     std::pair(133072, 151999)));
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

    std::uint64_t give(const std::function<void(Exporter &)> &fill) {
        WorkerPool workers(0);
        const TraceInfo info = some_info();
        const NoSymbols symbols;
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
        argument("w", ARGTRACE_TYPE_U128, "u128"),   test::returned(ARGTRACE_TYPE_S32)};
    EventBatch batch;
    batch.bytes.assign(2, std::byte{'x'});
    batch.values.push_back({~std::uint64_t{0}, 0, ARGTRACE_TYPE_S8, true, false});
    batch.values.push_back({1, 0, ARGTRACE_TYPE_BOOL, true, false});
    batch.values.push_back({0xff10, 0, ARGTRACE_TYPE_PTR, true, false});
    batch.values.push_back({0, 2, ARGTRACE_TYPE_STR, true, false});
    batch.values.push_back({0, 1, ARGTRACE_TYPE_U128, true, false});
    batch.values.push_back({~std::uint64_t{1}, 0, ARGTRACE_TYPE_S32, true, false});
    for (int i = 0; i < 6; ++i) // of a second call nothing could be read
        batch.values.push_back({});
    Event event;
    event.ts = 2000;
    event.duration = 5;
    event.probe = &probe;
    batch.events = {event, event};
    batch.events[1].first_value = 6;
    const std::uint64_t size = give([&](Exporter &exporter) {
        for (const Event &one : batch.events)
            give_event(exporter, batch, one);
        exporter.finish();
    });
    const std::string bytes = read("func=f%2F..%2Fg/part-0.parquet");
    EXPECT_EQ(bytes.size(), size);
    const ReadFile file(bytes);
    EXPECT_EQ(file.columns.size(), 19u);
    EXPECT_THAT(file.columns.at("s"), testing::ElementsAre("-1", "null"));
    EXPECT_THAT(file.columns.at("b"), testing::ElementsAre("true", "null"));
    EXPECT_THAT(file.columns.at("arg_TS"), testing::ElementsAre("65296", "null"));
    EXPECT_THAT(file.columns.at("name"), testing::ElementsAre("xx", "null"));
    EXPECT_THAT(file.columns.at("w"), testing::ElementsAre("\"18446744073709551616\"", "null"));
    EXPECT_THAT(file.columns.at("ret"), testing::ElementsAre("-2", "null"));
    EXPECT_THAT(file.columns.at("ts"), testing::ElementsAre("2000", "2000"));
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
                ReadFile(
                    read(folder.path().filename().string() + "/" + file.path().filename().string()))
                    .columns.at("ts")
                    .size();
    }
    EXPECT_EQ(functions, 51u);
    EXPECT_EQ(counts.at("func=many"), 70000u);
    EXPECT_EQ(counts.at("func=f49"), 1u);
    EXPECT_FALSE(read("func=many/part-1.parquet").empty());
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
