// SPDX-License-Identifier: GPL-2.0-only
#include "elf/perf_map.h"

#include <map>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temporary_file.h"

namespace argtrace::elf {
namespace {

std::string named(const PerfMap &map, std::uint64_t address) {
    const auto name = map.at(address);
    return name ? fmt::format("{}+{:#x}", name->name, name->offset) : "";
}

TEST(PerfMap, FindsFunctionsByAddress) {
    const PerfMap map("3ef414c0 398 RegExp:[{(]\n"
                      "3ef418a0 398 RegExp:[})]\n"
                      "0x59ed4102 26 LazyCompile:~REPLServer.self.writer repl.js:514\n");
    EXPECT_EQ(named(map, 0x3ef414bf), "");
    EXPECT_EQ(named(map, 0x3ef414c0), "RegExp:[{(]+0x0");
    EXPECT_EQ(named(map, 0x3ef41857), "RegExp:[{(]+0x397");
    EXPECT_EQ(named(map, 0x3ef41858), "");
    EXPECT_EQ(named(map, 0x59ed4103), "LazyCompile:~REPLServer.self.writer repl.js:514+0x1");
}

TEST(PerfMap, BelievesTheLastLine) {
    const PerfMap map("100 100 old\n"
                      "140 20 inside\n"
                      "1f0 20 behind\n");
    EXPECT_EQ(named(map, 0x13f), "old+0x3f");
    EXPECT_EQ(named(map, 0x140), "inside+0x0");
    EXPECT_EQ(named(map, 0x160), "old+0x60");
    EXPECT_EQ(named(map, 0x1ef), "old+0xef");
    EXPECT_EQ(named(map, 0x1f0), "behind+0x0");
    EXPECT_EQ(named(map, 0x20f), "behind+0x1f");
    EXPECT_EQ(named(map, 0x210), "");
}

TEST(PerfMap, PassesOverRubbish) {
    const PerfMap map("\n\nnot a line\n10\n10 0 empty\n10 10\n10 10 \nffffffffffffffff 10 wraps\nxyz 10 a\n-10 10 b\n"
                      "20 10 right\n30 8");
    EXPECT_EQ(named(map, 0x10), "");
    EXPECT_EQ(named(map, 0x18), "");
    EXPECT_EQ(named(map, 0x20), "right+0x0");
    EXPECT_EQ(named(map, 0x30), "");
    EXPECT_TRUE(PerfMap("").empty());
}

TEST(PerfMap, AgreesWithByteByByteAssignment) {
    std::mt19937 random(7);
    for (int round = 0; round < 300; round++) {
        std::map<std::uint64_t, std::string> expected;
        std::string text;
        for (int line = 0; line < 12; line++) {
            const unsigned start = random() % 100, size = random() % 40;
            text += fmt::format("{:x} {:x} f{}\n", start, size, line);
            for (unsigned at = 0; at < size; at++)
                expected[start + at] = fmt::format("f{}+{:#x}", line, at);
        }
        const PerfMap map(text);
        for (std::uint64_t at = 0; at < 160; at++)
            ASSERT_EQ(named(map, at), expected.contains(at) ? expected[at] : "") << text << at;
    }
}

TEST(PerfMap, ReadsRegularFilesOnly) {
    const test::TemporaryFile file("10 10 f\n");
    EXPECT_EQ(named(PerfMap::read(file.path()), 0x10), "f+0x0");
    EXPECT_TRUE(PerfMap::read(file.path() + ".missing").empty());
    const std::string link = file.path() + ".link", fifo = file.path() + ".fifo";
    ASSERT_EQ(::symlink(file.path().c_str(), link.c_str()), 0);
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    EXPECT_TRUE(PerfMap::read(link).empty());
    EXPECT_TRUE(PerfMap::read(fifo).empty());
    ::unlink(link.c_str());
    ::unlink(fifo.c_str());
}

} // namespace
} // namespace argtrace::elf
