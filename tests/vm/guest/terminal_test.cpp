// SPDX-License-Identifier: GPL-2.0-only
// count, hist and latency on a terminal: what is shown while calls come is shown again in its place, and of what bars are made.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "machine.h"
#include "on_terminal.h"

namespace vmtest {
namespace {

constexpr std::uint64_t calls_at_once = 25;

enum class Bars { blocks, ascii };

struct Display {
    const char *name;
    /// As env(1) takes it.
    std::vector<std::string> locale;
    std::vector<std::string> command;
    /// What it has been told to show the calls of in the end: of how many functions.
    const char *function;
    Bars bars;
};

class OnATerminal : public testing::TestWithParam<Display> {
protected:
    void SetUp() override {
        need_argtrace();
        need_test_module();
    }
    void TearDown() override {
        EXPECT_TRUE(eventually([] { return !is_armed(GetParam().function); }));
    }

    static std::uint64_t calls_of_a_run() { return 2 * calls_at_once * cpu_count(); }
};

std::vector<std::string> words_of(const Display &display) {
    std::vector<std::string> words = {"env", "-u", "LC_ALL", "-u", "LC_CTYPE", "-u", "LANG"};
    words.insert(words.end(), display.locale.begin(), display.locale.end());
    words.emplace_back("argtrace");
    words.insert(words.end(), display.command.begin(), display.command.end());
    return words;
}

/// Lines of bars end in one of them.
std::size_t count_bars(const std::vector<std::string> &lines) {
    return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [](const std::string &line) { return line.ends_with('|'); }));
}

std::size_t columns_of(const std::string &line) {
    return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char byte) { return (byte & 0xc0) != 0x80; }));
}

TEST_P(OnATerminal, shows_again_what_has_come_and_once_what_there_was) {
    const Display &display = GetParam();
    OnTerminal tool(words_of(display));
    ASSERT_TRUE(tool.shows("until Ctrl-C")) << tool.all();
    // Three times more: each time it is shown in the place of what was there.
    for (int run = 0; run < 3; run++) {
        const std::size_t from = tool.all().size();
        call_functions("run", calls_at_once);
        ASSERT_TRUE(tool.shows("\x1b[J", from)) << tool.all();
    }
    tool.type("\x03");
    const int status = tool.status();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    tool.expect_as_it_was();

    const std::vector<std::string> lines = lines_shown(tool.all());
    const std::string number = std::to_string(3 * calls_of_a_run());
    const auto has_number = [&](const std::string &line) { return (' ' + line + ' ').find(' ' + number + ' ') != line.npos; };
    EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), has_number)) << tool.all();
    const auto begins = [&](const std::string &line) { return line.starts_with(display.function); };
    EXPECT_EQ(std::count_if(lines.begin(), lines.end(), begins), 1) << "it is still there from before:\n" << tool.all();
    const std::string &all = tool.all();
    if (display.command.front() == "count")
        return;
    EXPECT_GT(count_bars(lines), 0u);
    for (const std::string &line : lines) {
        if (line.ends_with('|')) {
            EXPECT_EQ(columns_of(line), terminal_columns) << line;
        }
    }
    const bool ascii = std::none_of(all.begin(), all.end(), [](char byte) { return byte & 0x80; });
    EXPECT_EQ(ascii, display.bars == Bars::ascii) << all;
    EXPECT_EQ(all.find('@') != all.npos, display.bars == Bars::ascii) << all;
    // The fullest bucket has a whole line.
    if (!ascii) {
        std::string line;
        for (int block = 0; block < 52; block++)
            line += "\u2588";
        EXPECT_NE(all.find('|' + line + '|'), all.npos) << all;
    }
}

const std::vector<std::string> hist = {"hist", "at_u8(a)"};

INSTANTIATE_TEST_SUITE_P(
    Of, OnATerminal,
    testing::Values(Display{"count", {"LANG=C.UTF-8"}, {"count", "at_u8"}, "at_u8", Bars::ascii},
                    Display{"hist", {"LANG=C.UTF-8"}, hist, "at_u8", Bars::blocks},
                    Display{"hist_in_ascii", {"LANG=C.UTF-8"}, {"hist", "--ascii", "at_u8(a)"}, "at_u8", Bars::ascii},
                    Display{"hist_without_a_locale", {}, hist, "at_u8", Bars::ascii},
                    Display{"hist_of_another_locale", {"LANG=de_DE.ISO-8859-1"}, hist, "at_u8", Bars::ascii},
                    Display{"hist_by_what_comes_first", {"LC_ALL=C", "LANG=C.UTF-8"}, hist, "at_u8", Bars::ascii},
                    Display{"hist_by_characters", {"LC_CTYPE=en_GB.utf8", "LANG=C"}, hist, "at_u8", Bars::blocks},
                    Display{"latency", {"LANG=C.UTF-8"}, {"latency", "at_u8"}, "at_u8", Bars::blocks},
                    Display{"latency_in_ascii", {"LANG=C.UTF-8"}, {"latency", "--ascii", "at_u8"}, "at_u8", Bars::ascii}),
    [](const auto &info) { return std::string(info.param.name); });

/// Fewer than fill a character are an eighth of one.
TEST(OnATerminalInEighths, a_bucket_with_one_call_is_not_empty) {
    need_argtrace();
    if (!module_is_loaded("argtrace_callers")) {
        ASSERT_EQ(load_module("/root/argtrace_callers.ko"), 0);
    }
    OnTerminal tool({"env", "LC_ALL=C.UTF-8", "argtrace", "hist", "acl_fail(number ? 100 : 1)"});
    ASSERT_TRUE(tool.shows("until Ctrl-C")) << tool.all();
    std::ofstream("/sys/kernel/debug/argtrace_callers/fail") << 700 << std::flush;
    tool.type("\x03");
    tool.status();
    EXPECT_NE(tool.all().find(" 1 |\u258f" + std::string(51, ' ') + '|'), std::string::npos) << tool.all();
}

} // namespace
} // namespace vmtest
