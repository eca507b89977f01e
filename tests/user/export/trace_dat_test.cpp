// SPDX-License-Identifier: GPL-2.0-only
#include "export/trace_dat.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/some_calls.h"
#include "support/some_stack.h"
#include "support/trace_dat_reader.h"
#include "support/trace_builder.h"
#include "util/error.h"
#include "util/temporary_file.h"

namespace argtrace {
namespace {

using namespace test;

template<typename Fill>
std::string trace_dat(Fill fill, const Symbols &symbols = NoSymbols()) {
    const Fd fd = memory_file();
    WorkerPool workers(0);
    ExportFile file(fd.get(), "memory", workers);
    const TraceInfo info = some_info();
    TraceDatExporter exporter(file, testing::TempDir(), {info, symbols});
    fill(exporter);
    const FileBytes bytes = contents(fd.get());
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

TEST(TraceDat, AnEventTypeForEachFunction) {
    Probe probe;
    probe.id = 1;
    probe.function = "f.part";
    probe.args = {argument("file", ARGTRACE_TYPE_PTR, "struct file *"),
                  argument("s", ARGTRACE_TYPE_S8, "s8"), not_captured("big"),
                  output("*pos", ARGTRACE_TYPE_S64), output("name", ARGTRACE_TYPE_STR)};
    EventBatch batch;
    batch.bytes.assign(5000, std::byte{'x'});
    batch.values.push_back({0xff10, 0, ARGTRACE_TYPE_PTR, true, false});
    batch.values.push_back({~std::uint64_t{0}, 0, ARGTRACE_TYPE_S8, true, false});
    batch.values.push_back({});
    batch.values.push_back({});
    batch.values.push_back({0, 5000, ARGTRACE_TYPE_STR, true, false});
    Event event;
    event.ts = 2000;
    event.duration = 5;
    event.probe = &probe;
    event.tid = 7;
    event.context = ARGTRACE_CTX_HARDIRQ;
    event.preempt = 2;
    event.comm = {'d', 'd'};
    batch.events.push_back(event);
    const std::string bytes = trace_dat([&](Exporter &exporter) {
        give_event(exporter, batch, batch.events[0]);
        exporter.finish();
    });
    const TraceDat file(bytes);
    ASSERT_EQ(file.formats.size(), 1u);
    EXPECT_EQ(file.formats[0],
              "name: f_part\nID: 1000\nformat:\n"
              "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
              "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
              "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
              "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
              "\tfield:u64 caller;\toffset:8;\tsize:8;\tsigned:0;\n"
              "\tfield:s64 duration;\toffset:16;\tsize:8;\tsigned:1;\n"
              "\tfield:u64 unreadable;\toffset:24;\tsize:8;\tsigned:0;\n"
              "\tfield:u64 file;\toffset:32;\tsize:8;\tsigned:0;\n"
              "\tfield:s32 s;\toffset:40;\tsize:4;\tsigned:1;\n"
              "\tfield:s64 _pos;\toffset:48;\tsize:8;\tsigned:1;\n"
              "\tfield:__data_loc char[] name;\toffset:56;\tsize:4;\tsigned:0;\n"
              "\nprint fmt: \"file=0x%llx, s=%d, _pos=%lld, name=%s duration=%lld <- %pS\", "
              "REC->file, REC->s, REC->_pos, __get_str(name), REC->duration, "
              "(void *)REC->caller\n");
    EXPECT_EQ(file.tasks, "7 dd\n");
    EXPECT_EQ(file.cpus, 2u);
    EXPECT_EQ(file.options.at(4), std::string("[mono]\0", 7));
    ASSERT_EQ(file.records.size(), 1u);
    const TraceDat::Record &record = file.records[0];
    EXPECT_EQ(record.ts, 2000u);
    EXPECT_EQ(record.at<std::uint16_t>(0), 1000u);
    EXPECT_EQ(record.at<std::uint16_t>(2), 0x0208u) << "flags and preempt count";
    EXPECT_EQ(record.at<std::uint32_t>(4), 7u);
    EXPECT_EQ(record.at<std::uint64_t>(16), 5u);
    EXPECT_EQ(record.at<std::uint64_t>(24), 1u << 3) << "of *pos nothing is known";
    EXPECT_EQ(record.at<std::uint64_t>(32), 0xff10u);
    EXPECT_EQ(record.at<std::int32_t>(40), -1);
    const auto place = record.at<std::uint32_t>(56);
    EXPECT_EQ(record.data.substr(place & 0xffff, place >> 16), std::string(3000, 'x') + '\0')
        << "as much as a page has room for";
}

TEST(TraceDat, StacksAreTheNamesOfTheirFunctions) {
    const CallsWithStacks calls;
    const std::string bytes = trace_dat(
        [&](Exporter &exporter) {
            for (const Event &event : calls.batch.events)
                give_event(exporter, calls.batch, event);
            exporter.finish();
        },
        SomeStack());
    const TraceDat file(bytes);
    ASSERT_EQ(file.formats.size(), 1u);
    EXPECT_THAT(file.formats[0], testing::HasSubstr("\tfield:__data_loc char[] stack;\toffset:40;\tsize:4;\tsigned:0;\n"));
    EXPECT_THAT(file.formats[0], testing::HasSubstr("count=%llu, stack=%s duration"));
    ASSERT_EQ(file.records.size(), 2u);
    const auto stack_of = [](const TraceDat::Record &record) {
        const auto place = record.at<std::uint32_t>(40);
        return std::string(record.data.substr(place & 0xffff, place >> 16).c_str());
    };
    EXPECT_EQ(stack_of(file.records[0]), SomeStack::text);
    EXPECT_EQ(stack_of(file.records[1]), "?");
}

TEST(TraceDat, LossIsBeforeAPage) {
    SomeCalls calls;
    calls.call("f", 2000, 30, {11, 10, 0, 0, "dd"});
    calls.instant("f", 2010, {12, 10, 0, 0, "cat"});
    const std::string bytes = trace_dat([&](Exporter &exporter) {
        give_event(exporter, calls.batch(), calls.batch().events[0]);
        exporter.lost(0, 2005, 7);
        give_event(exporter, calls.batch(), calls.batch().events[1]);
        exporter.finish();
    });
    const TraceDat file(bytes);
    EXPECT_EQ(file.records.size(), 2u);
    EXPECT_THAT(file.lost, testing::ElementsAre(std::pair(0u, 7u)));
    EXPECT_EQ(file.tasks, "11 dd\n12 cat\n");
}

TEST(TraceDat, SaysHowManyTextsAreCut) {
    Probe probe;
    probe.id = 1;
    probe.function = "f";
    probe.args = {output("name", ARGTRACE_TYPE_STR), output("other", ARGTRACE_TYPE_STR)};
    EventBatch batch;
    batch.bytes.assign(5000, std::byte{'x'});
    for (const std::uint64_t size : {3000, 0, 2000, 1001, 3001, 10, 5, 5}) {
        if (batch.values.size() % 2 == 0) {
            Event event;
            event.ts = 2000 + batch.values.size();
            event.probe = &probe;
            event.first_value = static_cast<std::uint32_t>(batch.values.size());
            batch.events.push_back(event);
        }
        batch.values.push_back({0, size, ARGTRACE_TYPE_STR, true, false});
    }
    (void)trace_dat([&](Exporter &exporter) {
        EXPECT_EQ(exporter.left_out(), "");
        for (const Event &event : batch.events)
            give_event(exporter, batch, event);
        exporter.finish();
        // 3001 bytes, and two that stand behind others, whose ends count as well.
        EXPECT_EQ(exporter.left_out(), "3 texts are cut: those of a call have 3000 bytes");
    });
}

TEST(TraceDat, PagesWaitInFilesBesideTheOutput) {
    const std::string folder = testing::TempDir() + "argtrace_trace_dat_" + std::to_string(getpid());
    std::filesystem::create_directory(folder);
    const Fd fd = memory_file();
    WorkerPool workers(0);
    ExportFile file(fd.get(), "memory", workers);
    const TraceInfo info = some_info();
    const NoSymbols symbols;
    {
        TraceDatExporter exporter(file, folder_for_temporary(folder + "/out.trace.dat"), {info, symbols});
        SomeCalls calls;
        for (unsigned i = 0; i < 500; ++i)
            calls.call("f", 2000 + i, 1);
        for (const Event *event : calls.in_order())
            give_event(exporter, calls.batch(), *event);
        std::size_t found = 0;
        for (const auto &open : std::filesystem::directory_iterator("/proc/self/fd")) {
            std::error_code gone; // of the folder that is being read
            found += std::filesystem::read_symlink(open, gone).string().starts_with(std::filesystem::canonical(folder).string() + "/");
        }
        EXPECT_EQ(found, 1u);
        EXPECT_TRUE(std::filesystem::is_empty(folder)) << "it has no name";
        exporter.finish();
    }
    std::filesystem::remove_all(folder);
    EXPECT_THROW(open_temporary(folder), Error);
    EXPECT_EQ(folder_for_temporary("-"), std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "/var/tmp");
    EXPECT_EQ(folder_for_temporary("/dev/stdout"), folder_for_temporary("-"));
    EXPECT_EQ(folder_for_temporary("x.trace.dat"), ".");
}

TEST(TraceDat, OfNoCallsAFileWithoutPages) {
    const std::string bytes = trace_dat([](Exporter &exporter) { exporter.finish(); });
    const TraceDat file(bytes);
    EXPECT_EQ(file.records.size(), 0u);
    EXPECT_EQ(bytes.size() % 4096, 0u);
}

TEST(TraceDat, CallsBehindThoseTheyMadeTakeNoPages) {
    SomeCalls calls;
    constexpr unsigned count = 5000;
    for (unsigned i = 0; i < count; ++i) {
        calls.call("inner", 2000 + 100 * i, 5);
        calls.call("outer", 1990 + 100 * i, 50);
    }
    const std::string bytes = trace_dat([&](Exporter &exporter) {
        for (const Event &event : calls.batch().events)
            give_event(exporter, calls.batch(), event);
        exporter.finish();
    });
    EXPECT_LT(bytes.size(), 2 * count * 64);
    const TraceDat file(bytes);
    ASSERT_EQ(file.records.size(), 2 * count);
    for (std::size_t i = 0; i < file.records.size(); ++i)
        ASSERT_EQ(file.records[i].ts, calls.batch().events[i].ts);
}

TEST(TraceDat, RandomCallsInAnyOrder) {
    std::mt19937 random(11);
    SomeCalls calls;
    constexpr unsigned count = 100000;
    std::uint64_t ts = 2000;
    for (unsigned i = 0; i < count; ++i) {
        ts += random() % 1000 ? random() % 100 : random(); // some steps need more than 27 bits
        const std::uint64_t late = random() % 100 ? 0 : random() % 1000;
        calls.call("f" + std::to_string(random() % 20), ts - late, random() % 40,
                   {1, 1, static_cast<std::uint32_t>(random() % 3), 0, "t"});
    }
    const std::string bytes = trace_dat([&](Exporter &exporter) {
        for (const Event &event : calls.batch().events)
            give_event(exporter, calls.batch(), event);
        exporter.finish();
    });
    const TraceDat file(bytes);
    ASSERT_EQ(file.records.size(), count);
    std::set<std::uint64_t> numbers;
    for (const TraceDat::Record &record : file.records) {
        const auto number = record.at<std::uint64_t>(32);
        ASSERT_TRUE(number >= 1 && number <= count);
        const Event &event = calls.batch().events[number - 1];
        EXPECT_TRUE(numbers.insert(number).second);
        ASSERT_EQ(record.ts, event.ts);
        EXPECT_EQ(record.cpu, event.cpu);
        EXPECT_EQ(record.at<std::uint64_t>(16), event.duration);
        EXPECT_NE(file.formats[record.at<std::uint16_t>(0) - 1000].find(
                      "name: " + event.probe->function + "\n"),
                  std::string::npos);
    }
}

} // namespace
} // namespace argtrace
