// SPDX-License-Identifier: GPL-2.0-only
//
// Values of every kind through each exporter, as a reader that shares no code with it finds them.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "btf/display_types.h"
#include "export/formats.h"
#include "report/symbol_table.h"
#include "support/btf_builder.h"
#include "support/parquet_reader.h"
#include "support/perfetto_reader.h"
#include "support/some_calls.h"
#include "support/trace_builder.h"
#include "support/trace_dat_reader.h"

namespace argtrace {
namespace {

using test::Data;

/// One call of a function with an argument of each kind.
class ExportedValues : public testing::Test {
protected:
    ExportedValues() {
        std::filesystem::create_directory(folder_);
        EXPECT_TRUE(symbols_.add("ffffffff81000000 T ksys_read\n"));
        const int u16 = b_.integer("unsigned short", 2), u32 = b_.integer("unsigned int", 4), u64 = b_.integer("unsigned long", 8);
        const int int_ = b_.integer("int", 4, BTF_INT_SIGNED), char_ = b_.integer("char", 1, BTF_INT_SIGNED);
        const int pointer = b_.pointer(0), function = b_.pointer(b_.proto(int_, {}));
        const int kind = btf__add_enum(b_.get(), "kind", 4);
        EXPECT_EQ(0, btf__add_enum_value(b_.get(), "ONE", 1));
        EXPECT_EQ(0, btf__add_enum_value(b_.get(), "FIVE", 5));
        const int inner = b_.structure("inner", 16, {{"uid", u32, 0}, {"p", pointer, 64}});
        const int outer = b_.structure("outer", 32,
                                       {{"in", inner, 0},
                                        {"low", int_, 128, 3},
                                        {"high", u32, 131, 5},
                                        {"kind", kind, 160},
                                        {"a", b_.array(u32, u16, 2), 192}});
        const int in6 = b_.structure("in6_addr", 16, {{"a", u64, 0}, {"b", u64, 64}});
        const std::vector<FlagName> names{{"RDONLY", 0}, {"WRONLY", 1}, {"CREAT", 0x40}};
        std::vector<ShownValue> shown;
        const auto add = [&](const char *name, std::uint8_t type, int btf_type, std::uint64_t value) {
            probe_.args.push_back(test::argument(name, type));
            shown.push_back({static_cast<std::uint32_t>(btf_type), name});
            batch_.values.push_back({value, 0, type, true, false});
        };
        const auto add_bytes = [&](const char *name, int btf_type, const Data &data) {
            add(name, ARGTRACE_TYPE_BYTES, btf_type, batch_.bytes.size());
            probe_.args.back().size = static_cast<std::uint32_t>(data.bytes().size());
            batch_.values.back().high = data.bytes().size();
            batch_.bytes.insert(batch_.bytes.end(), data.bytes().begin(), data.bytes().end());
        };
        add("kind", ARGTRACE_TYPE_U32, kind, 5);
        add("odd", ARGTRACE_TYPE_U32, kind, 7);
        add("how", ARGTRACE_TYPE_U32, 0, 0x41);
        shown.back().flags = names;
        add_bytes("s", outer,
                  Data()
                      .put(std::uint64_t{1000})
                      .put(std::uint64_t{0xffff888000000000})
                      .put(std::uint32_t{0x0f << 3 | 6}) // high 15, low -2
                      .put(std::uint32_t{1})
                      .put(std::uint16_t{3})
                      .put(std::uint16_t{4})
                      .put(std::uint32_t{0}));
        add_bytes("text", b_.array(u32, char_, 8), Data().text("ab").put(std::uint32_t{0}).put('x'));
        add_bytes("to", in6, Data().put(std::uint64_t{0}).put(std::uint64_t{1} << 56));
        add("fn", ARGTRACE_TYPE_PTR, function, 0xffffffff81000000);
        add("err", ARGTRACE_TYPE_PTR, pointer, 0 - std::uint64_t{2});
        probe_.id = 1;
        probe_.function = "f";
        probe_.types = display_types(b_.get(), shown);
        EXPECT_FALSE(probe_.types.empty());
        Event event;
        event.ts = 2000;
        event.probe = &probe_;
        event.tid = event.tgid = 7;
        batch_.events.push_back(event);
    }
    ~ExportedValues() override { std::filesystem::remove_all(folder_); }

    void give(Exporter &exporter) const {
        test::give_event(exporter, batch_, batch_.events[0]);
        exporter.finish();
    }

    std::string file(ExportFormat format) {
        const Fd fd = test::memory_file();
        ExportFile file(fd.get(), "memory", workers_);
        give(*make_exporter(format, "x", file, workers_, {info_, symbols_}, ExportFrames::stack));
        const test::FileBytes bytes = test::contents(fd.get());
        return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
    }

    std::string file_in_folder(ExportFormat format, const std::string &name) {
        give(*make_folder_exporter(format, folder_, workers_, {info_, symbols_}));
        std::ifstream file(folder_ + "/" + name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    BtfBuilder b_;
    SymbolTable symbols_;
    const TraceInfo info_ = test::some_info();
    WorkerPool workers_{0};
    Probe probe_;
    EventBatch batch_;
    std::string folder_ = testing::TempDir() + "argtrace_values_" + std::to_string(getpid());
};

constexpr const char *struct_text = "{in={uid=1000, p=0xffff888000000000}, low=-2, high=15, kind=ONE, a=[3, 4]}";
constexpr const char *struct_json =
    R"({"in":{"uid":1000,"p":"0xffff888000000000"},"low":-2,"high":15,"kind":"ONE","a":[3,4]})";

TEST_F(ExportedValues, InPerfetto) {
    const test::PerfettoTrace trace(file(ExportFormat::perfetto));
    ASSERT_EQ(trace.items.size(), 1u);
    EXPECT_THAT(trace.items[0].notes,
                testing::ElementsAre("args.kind=\"FIVE\"", "args.odd=u7", "args.how=\"WRONLY|CREAT\"", "args.s.in.uid=u1000",
                                     "args.s.in.p=p0xffff888000000000", "args.s.low=s-2", "args.s.high=u15", "args.s.kind=\"ONE\"",
                                     "args.s.a[0]=u3", "args.s.a[1]=u4", "args.text='ab'", "args.to=\"::1\"", "args.fn=\"ksys_read\"",
                                     "args.err=\"-ENOENT\"", "cpu=u0", "flags=\"....\""));
}

// text(), strs() and array(): bytes that have no size of their own.
TEST_F(ExportedValues, OfDataAndVectors) {
    probe_.args.clear();
    batch_.values.clear();
    batch_.bytes.clear();
    std::vector<ShownValue> shown;
    const auto add = [&](const char *name, const char *type_name, std::string_view data, int type) {
        probe_.args.push_back(test::argument(name, ARGTRACE_TYPE_BYTES, type_name));
        probe_.args.back().size = 1024;
        shown.push_back({static_cast<std::uint32_t>(type), name});
        shown.back().as_bytes = true;
        batch_.values.push_back({batch_.bytes.size(), data.size(), ARGTRACE_TYPE_BYTES, true, false});
        for (const char character : data)
            batch_.bytes.push_back(static_cast<std::byte>(character));
    };
    add("data", "char[]", std::string_view("a\0b", 3), 0);
    add("argv", "char *[]", std::string_view("ls\0-l\0", 6), 0);
    add("fds", "int[]", std::string_view("\3\0\0\0\4\0\0\0", 8), b_.integer("int", 4, BTF_INT_SIGNED));
    probe_.types = display_types(b_.get(), shown);
    const test::PerfettoTrace trace(file(ExportFormat::perfetto));
    ASSERT_EQ(trace.items.size(), 1u);
    EXPECT_THAT(trace.items[0].notes, testing::ElementsAre("args.data=\"\"a\\0b\"\"", "args.argv=\"[\"ls\", \"-l\"]\"", "args.fds[0]=s3",
                                                           "args.fds[1]=s4", "cpu=u0", "flags=\"....\""));
    const test::ParquetTable table(file(ExportFormat::parquet));
    EXPECT_EQ(nlohmann::json::parse(table.columns.at("args").at(0)), nlohmann::json::parse(R"({"data":"a\u0000b","argv":["ls","-l"],"fds":[3,4]})"));
}

TEST_F(ExportedValues, InParquet) {
    const test::ParquetTable table(file(ExportFormat::parquet));
    const auto args = nlohmann::json::parse(table.columns.at("args").at(0));
    const auto expected = nlohmann::json::parse(
        std::string(R"({"kind":"FIVE","odd":7,"how":"WRONLY|CREAT","text":"ab","to":"::1","fn":"ksys_read","err":"-ENOENT","s":)") +
        struct_json + "}");
    EXPECT_EQ(args, expected);
}

TEST_F(ExportedValues, InParquetAsColumns) {
    const test::ParquetTable table(file_in_folder(ExportFormat::parquet, "func=f/part-0.parquet"));
    const auto column = [&](const char *name) { return table.columns.at(name).at(0); };
    EXPECT_EQ(column("kind"), "FIVE");
    EXPECT_EQ(column("odd"), "7");
    EXPECT_EQ(column("how"), "WRONLY|CREAT");
    EXPECT_EQ(nlohmann::json::parse(column("s")), nlohmann::json::parse(struct_json));
    EXPECT_EQ(column("text"), "\"ab\"");
    EXPECT_EQ(column("to"), "\"::1\"");
    EXPECT_EQ(column("fn"), "ksys_read");
    EXPECT_EQ(column("err"), std::to_string(0 - std::int64_t{2})) << "an address as it is";
}

TEST_F(ExportedValues, InTraceDat) {
    const std::string bytes = file(ExportFormat::trace_dat);
    const test::TraceDat trace(bytes);
    ASSERT_EQ(trace.records.size(), 1u);
    const auto &record = trace.records[0];
    std::vector<std::string> found;
    const std::regex field("field:(\\S.*) (\\S+);\toffset:(\\d+);\tsize:(\\d+);");
    const std::string &format = trace.formats.at(0);
    for (std::sregex_iterator it(format.begin(), format.end(), field), end; it != end; ++it) {
        const std::string type = (*it)[1], name = (*it)[2];
        const std::size_t offset = std::stoul((*it)[3]);
        if (offset < 32) // what every event has
            continue;
        if (type == "__data_loc char[]") {
            const auto place = record.at<std::uint32_t>(offset);
            const std::string text = record.data.substr(place & 0xffff, place >> 16);
            EXPECT_EQ(text.back(), '\0');
            found.push_back(name + "=" + text.c_str());
        } else {
            EXPECT_EQ((*it)[4], "8");
            found.push_back(fmt::format("{} {}={:#x}", type, name, record.at<std::uint64_t>(offset)));
        }
    }
    EXPECT_THAT(found, testing::ElementsAre("kind=FIVE", "odd=7", "how=WRONLY|CREAT", std::string("s=") + struct_text, "text=\"ab\"",
                                            "to=::1", "fn=ksys_read", "u64 err=0xfffffffffffffffe"));
}

TEST_F(ExportedValues, InCtf) {
    std::string_view rest;
    const std::string stream = file_in_folder(ExportFormat::ctf, "cpu0");
    rest = std::string_view(stream).substr(52 + 4 + 8 + 4 + 4); // of the packet's head; id, time, process and thread
    const auto text = [&rest] {
        const std::string value(rest.substr(0, rest.find('\0')));
        rest.remove_prefix(value.size() + 1);
        return value;
    };
    text(); // the task's name
    EXPECT_EQ(text(), "....");
    rest.remove_prefix(8); // the duration
    EXPECT_EQ(text(), "") << "the caller";
    std::vector<std::string> found;
    for (int i = 0; i < 7; ++i)
        found.push_back(text());
    EXPECT_THAT(found, testing::ElementsAre("FIVE", "7", "WRONLY|CREAT", struct_text, "\"ab\"", "::1", "ksys_read"));
    std::uint64_t pointer = 0;
    ASSERT_EQ(rest.size(), sizeof(pointer));
    std::memcpy(&pointer, rest.data(), sizeof(pointer));
    EXPECT_EQ(pointer, 0 - std::uint64_t{2});
}

} // namespace
} // namespace argtrace
