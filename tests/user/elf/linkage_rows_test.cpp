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
        return linked_by("cc", name, options);
    }

    LinkedTable linked_by(const std::string &compiler, const std::string &name, const std::string &options) const {
        const std::string path = folder_ + "/" + name;
        const std::string command = compiler + " -O1 -shared -fPIC -Wl,-z,lazy " + options + " -o " + path + " " + folder_ + "/x.c";
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

/// The stack and x30 are those of the caller, but behind the instruction of the first entry that pushes two registers.
class LinkageRowsOfArm64 : public LinkageRows {};

TEST_P(LinkageRowsOfArm64, AreWhatTheEntriesDo) {
    constexpr std::uint32_t push = 0xa9bf7bf0; // stp x16, x30, [sp, #-16]!
    const LinkedTable found = linked_by("aarch64-linux-gnu-gcc", "x.so", GetParam());
    const Text code = found.object.content(*found.object.section(".plt"));
    const auto rules = rules_in(found, ".plt");
    ASSERT_EQ(rules.size(), code.size());
    ASSERT_GE(code.size(), 32u + 3 * 16);
    bool is_pushed = false;
    std::size_t pushed = 0;
    for (std::size_t at = 0; at < code.size(); at += 4) {
        std::uint32_t instruction;
        std::memcpy(&instruction, code.data() + at, sizeof(instruction));
        is_pushed = is_pushed && at < 32; // the first entry's
        for (std::size_t byte = at; byte < at + 4; byte++) {
            ASSERT_TRUE(rules[byte]) << byte;
            EXPECT_EQ(rules[byte]->cfa, ARGTRACE_CFA_REGISTER);
            EXPECT_EQ(rules[byte]->reg, 31);
            EXPECT_EQ(rules[byte]->offset, is_pushed ? 16 : 0) << byte;
            EXPECT_EQ(rules[byte]->ra, is_pushed ? ARGTRACE_RA_MEMORY : ARGTRACE_RA_REGISTER) << byte;
            EXPECT_EQ(rules[byte]->ra_at, is_pushed ? -1 : 30) << byte;
        }
        pushed += is_pushed;
        is_pushed = is_pushed || instruction == push;
    }
    EXPECT_GE(pushed, 6u);
}

INSTANTIATE_TEST_SUITE_P(Linked, LinkageRowsOfArm64, testing::Values("", "-mbranch-protection=standard -Wl,-z,force-bti", "-mbranch-protection=standard -Wl,-z,pac-plt"));

INSTANTIATE_TEST_SUITE_P(Linked, LinkageRows, testing::Values("", "-fcf-protection -Wl,-z,ibtplt"));

} // namespace
} // namespace argtrace::elf
