// SPDX-License-Identifier: GPL-2.0-only
#include "util/file.h"

#include <cstdio>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace argtrace {
namespace {

class File : public testing::Test {
protected:
    ~File() override { std::remove(path_.c_str()); }

    void write(const std::string &text) const { std::ofstream(path_) << text; }

    std::vector<std::string> lines() const {
        std::vector<std::string> lines;
        read_lines(path_, [&](std::string_view line) { lines.emplace_back(line); });
        return lines;
    }

    const std::string path_ = testing::TempDir() + "argtrace_file_test_" + std::to_string(getpid());
};

TEST_F(File, LinesWithAndWithoutANewlineAtTheEnd) {
    write("");
    EXPECT_EQ(lines(), std::vector<std::string>());
    write("one\n\ntwo\n");
    EXPECT_EQ(lines(), (std::vector<std::string>{"one", "", "two"}));
    write("one\ntwo");
    EXPECT_EQ(lines(), (std::vector<std::string>{"one", "two"}));
}

TEST_F(File, LinesOfAnyLengthWhereverReadingIsInterrupted) {
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
    write(text);
    EXPECT_EQ(lines(), written);
    EXPECT_EQ(view(read_file(path_)), text);
}

TEST_F(File, OneThatIsNotThere) {
    EXPECT_THROW(lines(), std::system_error);
    EXPECT_THROW(read_file(path_), std::system_error);
}

} // namespace
} // namespace argtrace
