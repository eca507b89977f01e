// SPDX-License-Identifier: GPL-2.0-only
// What a Go program knows of its functions, against what its linker has written for others: symbols and .debug_frame.
#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "elf/go_functions.h"
#include "elf/section_entries.h"
#include "elf/symbol_names.h"
#include "elf/unwind_table.h"
#include "support/libdw_frames.h"

namespace argtrace::elf {
namespace {

Object program(const std::string &name) {
    const std::string path = std::string(ARGTRACE_TEST_PROGRAMS "/user_stacks_") + name;
    auto object = Object::open(Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
    if (!object)
        throw std::runtime_error("cannot read " + path);
    return std::move(*object);
}

std::map<std::uint64_t, std::string> names_of(const Object &object) {
    std::map<std::uint64_t, std::string> names;
    const auto functions = GoFunctions::read(object);
    for (std::size_t i = 0; functions && i < functions->count(); i++)
        if (const auto function = functions->at(i))
            names[function->start] = functions->names().data() + function->name;
    return names;
}

/// Functions as the linker's symbols have them.
std::map<std::uint64_t, std::string> symbols_of(const Object &object) {
    std::map<std::uint64_t, std::string> names;
    const Object::Section *symbols = object.section(".symtab"), *text = object.section(".text");
    const Text strings = object.content(object.sections()[symbols->header.sh_link]);
    for (const Elf64_Sym &symbol : entries_of<Elf64_Sym>(object, *symbols))
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_size > 0 && symbol.st_value - text->header.sh_addr < text->header.sh_size)
            names[symbol.st_value] = strings.data() + symbol.st_name;
    return names;
}

/// As the program has it: symbols tell functions of the old calling convention from others, and have a dot for what was none.
std::string in_program(std::string symbol) {
    constexpr std::string_view old_convention = ".abi0", middle_dot = "\u00b7";
    if (symbol.ends_with(old_convention))
        symbol.resize(symbol.size() - old_convention.size());
    for (auto at = symbol.find(middle_dot); at != symbol.npos; at = symbol.find(middle_dot))
        symbol.replace(at, middle_dot.size(), ".");
    return symbol;
}

TEST(GoFunctions, HaveTheNamesOfTheLinkersSymbols) {
    const Object object = program("go");
    const auto expected = symbols_of(object), found = names_of(object);
    ASSERT_GT(expected.size(), 1000u);
    for (const auto &[address, name] : expected) {
        const auto known = found.find(address);
        // The mark at the end of the code is no function; generic functions have their types in symbols.
        if (known == found.end()) {
            EXPECT_EQ(name, "runtime.etext");
        } else if (known->second.find("[...]") == std::string::npos && name != "runtime.text") {
            EXPECT_EQ(in_program(known->second), in_program(name));
        }
    }
    EXPECT_EQ(found, names_of(program("go_stripped")));
}

/// Where a program is loaded anywhere, a relocation says where its code begins.
TEST(GoFunctions, OfAProgramThatIsLoadedAnywhere) {
    const Object object = program("go_pie");
    const auto names = names_of(object);
    ASSERT_GT(names.size(), 1000u);
    EXPECT_EQ(names.begin()->first, object.section(".text")->header.sh_addr);
    SymbolNames symbols(object);
    for (const char *name : {"main.main", "main.first", "main.(*dog).speak"}) {
        const auto found = std::find_if(names.begin(), names.end(), [name](const auto &one) { return one.second == name; });
        ASSERT_NE(found, names.end()) << name;
        const auto at = symbols.at(*object.offset_of(found->first) + 1);
        ASSERT_TRUE(at) << name;
        EXPECT_EQ(at->name, name);
    }
}

TEST(GoFunctions, HaveTheFramesOfDebugFrame) {
    const Object object = program("go"), stripped = program("go_stripped");
    const UnwindTable table = unwind_table(stripped);
    const test::LibdwFrames libdw(object.fd(), test::LibdwFrames::Source::debug_frame);
    const Elf64_Shdr &text = object.section(".text")->header;
    test::MadeUpRegisters registers{};
    registers[7] = 0x10000;
    constexpr std::uint8_t rsp = 7;
    std::size_t compared = 0, ends = 0, elsewhere = 0, without = 0;
    for (std::uint64_t address = text.sh_addr; address < text.sh_addr + text.sh_size; address += 3) {
        registers[16] = address;
        const auto caller = libdw.at(address, registers);
        const argtrace_unwind_rule *rule = rule_at(table, *stripped.offset_of(address));
        if (!caller)
            continue;
        if (!rule) {
            without++;
        } else if (rule->ra == ARGTRACE_RA_END) {
            ends++;
        } else if (rule->cfa != ARGTRACE_CFA_REGISTER || rule->reg != rsp) { // signals and other stacks, which .debug_frame does not know
            elsewhere++;
        } else {
            ASSERT_EQ(registers[rule->reg] + static_cast<std::uint64_t>(std::int64_t{rule->offset}), caller->cfa) << std::hex << address;
            compared++;
        }
    }
    EXPECT_GT(compared, 100000u);
    EXPECT_LT(ends, compared / 500);
    EXPECT_LT(elsewhere, compared / 500);
    EXPECT_LT(without, compared / 500);
}

} // namespace
} // namespace argtrace::elf
