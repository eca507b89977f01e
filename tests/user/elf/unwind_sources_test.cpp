// SPDX-License-Identifier: GPL-2.0-only
// The same code has the same table, wherever it is described.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "elf/unwind_table.h"
#include "util/file.h"

namespace argtrace::elf {
namespace {

using Rules = std::vector<std::optional<std::string>>;

class UnwindSources : public testing::Test {
protected:
    UnwindSources() {
        std::string name = testing::TempDir() + "argtrace_unwind_XXXXXX";
        folder_ = ::mkdtemp(name.data());
        run("cc " + flags_ + " -o eh.so " ARGTRACE_TEST_SHAPES_SOURCE);
    }
    ~UnwindSources() override { std::filesystem::remove_all(folder_); }

    void run(const std::string &command) const { ASSERT_EQ(std::system(("cd " + folder_ + " && " + command + " 2>&1").c_str()), 0) << command; }

    /// The rule of each byte of .text, as bytes.
    static Rules rules_of(const UnwindTable &table, const Elf64_Shdr &text) {
        Rules rules;
        std::size_t row = 0;
        for (std::uint64_t at = text.sh_offset; at < text.sh_offset + text.sh_size; at++) {
            while (row + 1 < table.rows.size() && table.rows[row + 1].offset <= at)
                row++;
            const bool has_rule = !table.rows.empty() && table.rows[row].offset <= at && table.rows[row].rule != ARGTRACE_UNWIND_NONE;
            rules.emplace_back();
            if (has_rule)
                rules.back() = std::string(reinterpret_cast<const char *>(&table.rules.at(table.rows[row].rule)), sizeof(argtrace_unwind_rule));
        }
        return rules;
    }

    /// What crt files bring along is described in one way only.
    void expect_same_functions(const Rules &expected, const Rules &found, std::size_t at_least) const {
        ASSERT_EQ(expected.size(), found.size());
        std::size_t same = 0;
        for (std::size_t i = 0; i < expected.size(); i++) {
            EXPECT_TRUE(!found[i] || found[i] == expected[i]) << "byte " << i;
            same += found[i].has_value();
        }
        EXPECT_GE(same, at_least);
    }

    Rules rules_in(const std::string &file, const std::vector<std::string> &folders = {}) const {
        const auto object = Object::open(Fd(::open((folder_ + "/" + file).c_str(), O_RDONLY | O_CLOEXEC)), folder_ + "/" + file);
        return rules_of(unwind_table(object.value(), folders), object->section(".text")->header);
    }

    const std::string flags_ = "-std=gnu11 -O2 -g1 -fPIC -shared -fomit-frame-pointer";
    const std::string debug_frame_ = " -fno-asynchronous-unwind-tables -fno-unwind-tables ";
    std::string folder_;
};

TEST_F(UnwindSources, MayBeDebugFrame) {
    const Rules expected = rules_in("eh.so");
    for (const char *packed : {"", "-gz=zlib", "-gz=zlib-gnu"}) {
        run("cc " + flags_ + debug_frame_ + packed + " -o debug.so " ARGTRACE_TEST_SHAPES_SOURCE);
        expect_same_functions(expected, rules_in("debug.so"), 500);
    }
}

TEST_F(UnwindSources, MayBeInASeparateDebugFile) {
    // Nothing is described in the file itself, so that the debug file is looked for; nor has it symbols of functions, whose code would be read.
    const std::string nothing = " -Wl,--version-script=none.map -nostdlib -Wl,--no-ld-generated-unwind-info,--unresolved-symbols=ignore-all ";
    run("echo '{ local: *; };' > none.map");
    run("cc " + flags_ + nothing + " -o eh.so " ARGTRACE_TEST_SHAPES_SOURCE);
    run("cc " + flags_ + debug_frame_ + nothing + " -o whole.so " ARGTRACE_TEST_SHAPES_SOURCE);
    run("objcopy --only-keep-debug whole.so x.debug && objcopy --strip-all --add-gnu-debuglink=x.debug whole.so x.so");
    expect_same_functions(rules_in("eh.so"), rules_in("x.so"), 500);
    run("mkdir there && mv x.debug there");
    expect_same_functions(rules_in("eh.so"), rules_in("x.so"), 0);
    expect_same_functions(rules_in("eh.so"), rules_in("x.so", {folder_ + "/there"}), 500);
}

TEST_F(UnwindSources, AreFoundWithoutHeadersOfSections) {
    Text bytes = read_file(folder_ + "/eh.so");
    const auto whole = Object::from_memory(std::as_bytes(std::span(bytes)));
    ASSERT_TRUE(whole);
    const Elf64_Shdr text = whole->section(".text")->header;
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
    std::memcpy(bytes.data(), &header, sizeof(header));
    const auto bare = Object::from_memory(std::as_bytes(std::span(bytes)));
    ASSERT_TRUE(bare);
    EXPECT_TRUE(bare->sections().empty());
    EXPECT_EQ(bare->build_id(), whole->build_id());
    EXPECT_EQ(rules_of(unwind_table(*bare), text), rules_of(unwind_table(*whole), text));
}

} // namespace
} // namespace argtrace::elf
