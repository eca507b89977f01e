// SPDX-License-Identifier: GPL-2.0-only
// Linkage tables that nothing describes have the rules that GNU ld writes for them.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "elf/unwind_table.h"

namespace argtrace::elf {
namespace {

struct LinkedTable {
    Object object;
    UnwindTable table;
};

class LinkageRows : public testing::TestWithParam<const char *> {
protected:
    LinkageRows() {
        std::string name = testing::TempDir() + "argtrace_plt_XXXXXX";
        folder_ = ::mkdtemp(name.data());
        std::ofstream(folder_ + "/x.c") << "int a(int), b(int), c(int);\nint d(int n) { return a(n) + b(n) + c(n); }\n";
    }
    ~LinkageRows() override { std::filesystem::remove_all(folder_); }

    LinkedTable linked(const std::string &name, const std::string &options) const {
        const std::string path = folder_ + "/" + name;
        const std::string command = "cc -O1 -shared -fPIC -Wl,-z,lazy " + options + " -o " + path + " " + folder_ + "/x.c";
        EXPECT_EQ(std::system(command.c_str()), 0) << command;
        auto object = Object::open(Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
        UnwindTable table = unwind_table(object.value());
        return {std::move(*object), std::move(table)};
    }

    /// The rule of each byte of a section, which may be none.
    static std::vector<std::optional<argtrace_unwind_rule>> rules_in(const LinkedTable &linked, const char *section) {
        std::vector<std::optional<argtrace_unwind_rule>> rules;
        const Object::Section *found = linked.object.section(section);
        if (!found)
            return rules;
        for (std::uint64_t at = found->header.sh_offset; at < found->header.sh_offset + found->header.sh_size; at++) {
            std::optional<argtrace_unwind_rule> rule;
            for (const argtrace_unwind_row &row : linked.table.rows)
                if (row.offset <= at)
                    rule = row.rule == ARGTRACE_UNWIND_NONE ? std::nullopt : std::optional(linked.table.rules.at(row.rule));
            rules.push_back(rule);
        }
        return rules;
    }

    /// What a rule says of an instruction there: rsp and how much.
    static std::int32_t frame_size(const argtrace_unwind_rule &rule, std::size_t at) {
        EXPECT_EQ(rule.reg, 7);
        EXPECT_EQ(rule.ra_at, -1);
        return rule.offset + (rule.cfa == ARGTRACE_CFA_PLT && static_cast<std::int32_t>(at % 16) >= rule.add ? 8 : 0);
    }

    std::string folder_;
};

TEST_P(LinkageRows, AreThoseThatTheLinkerWouldWrite) {
    const LinkedTable described = linked("described.so", GetParam());
    const LinkedTable bare = linked("bare.so", std::string(GetParam()) + " -Wl,--no-ld-generated-unwind-info");
    std::size_t compared = 0;
    for (const char *section : {".plt", ".plt.sec"}) {
        const auto expected = rules_in(described, section), found = rules_in(bare, section);
        ASSERT_EQ(expected.size(), found.size());
        for (std::size_t at = 0; at < expected.size(); at++) {
            ASSERT_TRUE(expected[at]) << section << " " << at;
            ASSERT_TRUE(found[at]) << section << " " << at;
            EXPECT_EQ(frame_size(*found[at], at), frame_size(*expected[at], at)) << section << " " << at;
            compared++;
        }
    }
    EXPECT_GE(compared, 64u);
}

INSTANTIATE_TEST_SUITE_P(Linked, LinkageRows, testing::Values("", "-fcf-protection -Wl,-z,ibtplt"));

} // namespace
} // namespace argtrace::elf
