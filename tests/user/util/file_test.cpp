// SPDX-License-Identifier: GPL-2.0-only
#include "util/file.h"

#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include "support/temporary_file.h"

namespace argtrace {
namespace {

std::vector<std::string> lines_of(const std::string &path) {
    std::vector<std::string> lines;
    read_lines(path, [&](std::string_view line) { lines.emplace_back(line); });
    return lines;
}

std::vector<std::string> lines(const std::string &text) {
    return lines_of(test::TemporaryFile(text).path());
}

TEST(File, LinesWithAndWithoutANewlineAtTheEnd) {
    EXPECT_EQ(lines(""), std::vector<std::string>());
    EXPECT_EQ(lines("one\n\ntwo\n"), (std::vector<std::string>{"one", "", "two"}));
    EXPECT_EQ(lines("one\ntwo"), (std::vector<std::string>{"one", "two"}));
}

TEST(File, LinesOfAnyLengthWhereverReadingIsInterrupted) {
    std::vector<std::string> written;
    std::string text;
    for (std::size_t length : {1u, 65535u, 65536u, 65537u, 300000u, 0u, 7u}) {
        written.emplace_back(length, static_cast<char>('a' + written.size()));
        text += written.back() + "\n";
    }
    for (int i = 0; i < 20000; ++i) {
        written.push_back("line " + std::to_string(i));
        text += written.back() + "\n";
    }
    EXPECT_EQ(lines(text), written);
    const test::TemporaryFile file(text);
    EXPECT_EQ(view(read_file(file.path())), text);
}

TEST(File, OneThatIsNotThere) {
    const std::string path = test::TemporaryFile("").path();
    EXPECT_THROW(lines_of(path), std::system_error);
    EXPECT_THROW(read_file(path), std::system_error);
    EXPECT_EQ(number_in_file(path), std::nullopt);
}

TEST(File, NumbersAtTheBeginning) {
    EXPECT_EQ(number_in_file(test::TemporaryFile("100000\n").path()), 100000u);
    EXPECT_EQ(number_in_file(test::TemporaryFile("57512 pages:228 groups: 33\n").path()), 57512u);
    EXPECT_EQ(number_in_file(test::TemporaryFile("none\n").path()), std::nullopt);
    EXPECT_EQ(number_in_file(test::TemporaryFile("").path()), std::nullopt);
}

} // namespace
} // namespace argtrace
