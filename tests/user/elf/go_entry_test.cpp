// SPDX-License-Identifier: GPL-2.0-only
// Where calls of Go functions begin, against what the compiler and the linker say of them: calls of what grows stacks, the sizes of frames,
// and ends of prologues in DWARF.
#include "elf/go_entry.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include "elf/go_functions.h"

namespace argtrace::elf {
namespace {

class GoEntryOf : public testing::TestWithParam<const char *> {
protected:
    GoEntryOf() : path_(std::string(ARGTRACE_TEST_PROGRAMS "/") + GetParam()), object_(Object::open(Fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)), path_)) {
        if (!object_)
            throw std::runtime_error("cannot read " + path_);
        const auto read = GoFunctions::read(*object_);
        for (std::size_t i = 0; read && i < read->count(); i++)
            if (const auto function = read->at(i))
                functions_.push_back({*function, read->names().data() + function->name});
    }

    struct Named {
        GoFunctions::Function function;
        std::string name;
    };

    /// Whether any bytes of it are a call of one of these.
    bool may_call(const GoFunctions::Function &function, const std::set<std::uint64_t> &targets) const {
        const Text code = object_->read(*object_->offset_of(function.start), function.end - function.start);
        for (std::size_t i = 0; is_arm64() && i + 4 <= code.size(); i += 4) {
            std::uint32_t word;
            std::memcpy(&word, code.data() + i, sizeof(word));
            const std::int64_t distance = static_cast<std::int32_t>(word << 6) >> 4;
            if (word >> 26 == 0x25 && targets.contains(function.start + i + static_cast<std::uint64_t>(distance))) // bl
                return true;
        }
        for (std::size_t i = 0; !is_arm64() && i + 5 <= code.size(); i++) {
            std::int32_t distance;
            std::memcpy(&distance, code.data() + i + 1, sizeof(distance));
            if (static_cast<unsigned char>(code[i]) == 0xe8 && targets.contains(function.start + i + 5 + static_cast<std::uint64_t>(std::int64_t{distance})))
                return true;
        }
        return false;
    }

    bool is_arm64() const { return object_->machine() == EM_AARCH64; }

    std::uint32_t entry(const GoFunctions::Function &function) const { return go_entry(*object_, {function.start, function.end - function.start}); }

    std::string path_;
    std::optional<Object> object_;
    std::vector<Named> functions_;
};

TEST_P(GoEntryOf, IsBehindTheCheckOfEachFunctionThatGrowsItsStack) {
    std::set<std::uint64_t> growing;
    for (const Named &one : functions_)
        if (one.name.starts_with("runtime.morestack"))
            growing.insert(one.function.start);
    ASSERT_GE(growing.size(), 2u);
    std::size_t checked = 0, without = 0;
    for (const Named &one : functions_) {
        if (one.function.is_assembly)
            continue;
        const std::uint32_t found = entry(one.function);
        if (!may_call(one.function, growing)) {
            EXPECT_EQ(found, 0u) << one.name;
            without++;
        } else if (found == 0) {
            // Called from assembly, where no register has the goroutine.
            const Text code = object_->read(*object_->offset_of(one.function.start), 9);
            EXPECT_TRUE(!is_arm64() && static_cast<unsigned char>(code[0]) == 0x64) << one.name; // %fs:
        } else {
            checked++;
        }
    }
    EXPECT_GT(checked, 500u);
    EXPECT_GT(without, 100u);
}

TEST_P(GoEntryOf, IsWhereTheFrameIsNotYetThere) {
    std::set<std::uint32_t> distances;
    const auto read = GoFunctions::read(*object_);
    for (const Named &one : functions_) {
        const std::uint32_t found = entry(one.function);
        read->visit_sizes(one.function, [&](std::uint64_t start, std::uint64_t end, std::int64_t size) {
            if (one.function.start + found >= start && one.function.start + found < end) {
                EXPECT_EQ(size, 0) << one.name;
            }
        });
        distances.insert(found);
    }
    // Small frames, others, and huge ones have different checks, each with jumps of both sizes.
    EXPECT_GE(distances.size(), 4u);
}

TEST_P(GoEntryOf, IsNotBehindTheEndOfThePrologue) {
    Dwarf *dwarf = dwarf_begin(object_->fd(), DWARF_C_READ);
    ASSERT_TRUE(dwarf);
    std::set<std::uint64_t> ends;
    Dwarf_Off offset = 0, next = 0;
    std::size_t header = 0;
    while (dwarf_nextcu(dwarf, offset, &next, &header, nullptr, nullptr, nullptr) == 0) {
        Dwarf_Die unit;
        Dwarf_Lines *lines = nullptr;
        std::size_t count = 0;
        if (dwarf_offdie(dwarf, offset + header, &unit) && dwarf_getsrclines(&unit, &lines, &count) == 0)
            for (std::size_t i = 0; i < count; i++) {
                bool is_end = false;
                Dwarf_Addr address = 0;
                Dwarf_Line *line = dwarf_onesrcline(lines, i);
                if (line && dwarf_lineprologueend(line, &is_end) == 0 && is_end && dwarf_lineaddr(line, &address) == 0)
                    ends.insert(address);
            }
        offset = next;
    }
    dwarf_end(dwarf);
    std::size_t compared = 0;
    for (const Named &one : functions_) {
        const auto end = ends.lower_bound(one.function.start);
        if (one.function.is_assembly || end == ends.end() || *end >= one.function.end)
            continue;
        EXPECT_LE(one.function.start + entry(one.function), *end) << one.name;
        compared++;
    }
    EXPECT_GT(compared, 500u);
}

INSTANTIATE_TEST_SUITE_P(Compiled, GoEntryOf, testing::Values("user_stacks_go", "user_stacks_go_plain", "go_stacks_arm64", "go_stacks_arm64_plain"), [](const auto &info) {
    return std::string(info.param);
});

/// Where calls begin of a function with that code.
std::uint32_t entry_of_code(int machine, const void *code, std::size_t size) {
    std::vector<std::byte> image(4096);
    auto *header = reinterpret_cast<Elf64_Ehdr *>(image.data());
    std::memcpy(header->e_ident, "\177ELF\2\1\1", 7);
    header->e_type = ET_DYN;
    header->e_machine = static_cast<Elf64_Half>(machine);
    header->e_version = 1;
    header->e_ehsize = sizeof(*header);
    header->e_phoff = sizeof(*header);
    header->e_phentsize = sizeof(Elf64_Phdr);
    header->e_phnum = 1;
    auto *segment = reinterpret_cast<Elf64_Phdr *>(image.data() + sizeof(*header));
    *segment = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = 0, .p_vaddr = 0, .p_paddr = 0, .p_filesz = 4096, .p_memsz = 4096, .p_align = 4096};
    std::memcpy(image.data() + 1024, code, size);
    const auto object = Object::from_memory(image);
    return object ? go_entry(*object, {1024, size}) : 99;
}

// What only looks like it.
TEST(GoEntry, IsTheFirstInstructionWhereNothingBeginsAgain) {
    const auto entry_of = [](std::vector<unsigned char> code) { return entry_of_code(EM_X86_64, code.data(), code.size()); };
    // cmp 0x10(%r14),%rsp; jbe 1f; ret; 1: call; jmp first
    EXPECT_EQ(entry_of({0x49, 0x3b, 0x66, 0x10, 0x76, 1, 0xc3, 0xe8, 0, 0, 0, 0, 0xeb, 0xf2}), 6u);
    EXPECT_EQ(entry_of({0x49, 0x3b, 0x66, 0x18, 0x76, 1, 0xc3, 0xe8, 0, 0, 0, 0, 0xeb, 0xf2}), 6u); // the system's stack
    EXPECT_EQ(entry_of({0x49, 0x3b, 0x66, 0x10, 0x76, 1, 0xc3, 0xe8, 0, 0, 0, 0, 0xeb, 0xf3}), 0u); // jumps behind it
    EXPECT_EQ(entry_of({0x49, 0x3b, 0x66, 0x10, 0x76, 1, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0xeb, 0xf2}), 0u); // calls nothing
    EXPECT_EQ(entry_of({0x49, 0x3b, 0x66, 0x20, 0x76, 1, 0xc3, 0xe8, 0, 0, 0, 0, 0xeb, 0xf2}), 0u); // another member
    EXPECT_EQ(entry_of({0x49, 0x3b, 0x67, 0x10, 0x76, 1, 0xc3, 0xe8, 0, 0, 0, 0, 0xeb, 0xf2}), 0u); // of r15
    EXPECT_EQ(entry_of({0x49, 0x3b, 0x66, 0x10, 0x77, 1, 0xc3, 0xe8, 0, 0, 0, 0, 0xeb, 0xf2}), 0u); // ja
    EXPECT_EQ(entry_of({0x49, 0x3b, 0x66, 0x10, 0x76, 1, 0xc3, 0xe8, 0, 0, 0, 0, 0xc3, 0xeb, 0xf1}), 0u); // returns before
    EXPECT_EQ(entry_of({0x49, 0x3b, 0x66, 0x10, 0x76}), 0u); // is cut
    EXPECT_EQ(entry_of({0x49, 0x3b, 0x66, 0x10, 0x76, 9}), 0u);
    EXPECT_EQ(entry_of({0xc3}), 0u);
}

TEST(GoEntry, OfArm64IsTheFirstInstructionWhereNothingBeginsAgain) {
    const auto entry_of = [](std::vector<std::uint32_t> code) { return entry_of_code(EM_AARCH64, code.data(), code.size() * sizeof(code[0])); };
    constexpr std::uint32_t guard = 0xf9400b90, compares_sp = 0xeb3063ff, compares_x17 = 0xeb10023f, ret = 0xd65f03c0, bl = 0x94000100, nop = 0xd503201f;
    // ldr x16, [x28, #16]; cmp sp, x16; b.ls 1f; ret; 1: bl; b first
    EXPECT_EQ(entry_of({guard, compares_sp, 0x54000049, ret, bl, 0x17fffffb}), 12u);
    EXPECT_EQ(entry_of({0xf9400f90, compares_sp, 0x54000049, ret, bl, 0x17fffffb}), 12u); // the system's stack
    // mov x17, sp, as older versions have it; sub x17, sp, #0x50
    for (const std::uint32_t sets : {0x910003f1u, 0xd10143f1u})
        EXPECT_EQ(entry_of({guard, sets, compares_x17, 0x54000049, ret, bl, 0x17fffffa}), 16u);
    // subs x17, sp, #0x1000; b.lo 1f
    EXPECT_EQ(entry_of({guard, 0xf14007f1, 0x54000083, compares_x17, 0x54000049, ret, bl, 0x17fffff9}), 20u);
    // mov x27, #0x1fb0; movk x27, #1, lsl #16; subs x17, sp, x27; b.lo 1f
    EXPECT_EQ(entry_of({guard, 0xd283f61b, 0xf2a0003b, 0xeb3b63f1, 0x54000083, compares_x17, 0x54000049, ret, bl, 0x17fffff7}), 28u);
    EXPECT_EQ(entry_of({guard, compares_sp, 0x54000049, ret, bl, 0x17fffffc}), 0u);                               // jumps behind it
    EXPECT_EQ(entry_of({guard, compares_sp, 0x54000049, ret, nop, 0x17fffffb}), 0u);                              // calls nothing
    EXPECT_EQ(entry_of({0xf9401390, compares_sp, 0x54000049, ret, bl, 0x17fffffb}), 0u);                          // another member
    EXPECT_EQ(entry_of({0xf9400b70, compares_sp, 0x54000049, ret, bl, 0x17fffffb}), 0u);                          // of x27
    EXPECT_EQ(entry_of({guard, compares_sp, 0x54000048, ret, bl, 0x17fffffb}), 0u);                               // b.hi
    EXPECT_EQ(entry_of({guard, compares_x17, 0x54000049, ret, bl, 0x17fffffb}), 0u);                              // of x17, which is not set
    EXPECT_EQ(entry_of({guard, 0xf14007f1, nop, compares_x17, 0x54000049, ret, bl, 0x17fffff9}), 0u);             // a huge frame without its jump
    EXPECT_EQ(entry_of({guard, compares_sp, 0x54000049, ret, bl, ret, 0x17fffffa}), 0u);                          // returns before
    EXPECT_EQ(entry_of({guard, compares_sp, 0x54000049, ret, bl, 0x14000001, 0x17fffffa}), 0u);                   // jumps elsewhere before
    EXPECT_EQ(entry_of({guard, compares_sp, 0x54000049}), 0u);                                                    // is cut
    EXPECT_EQ(entry_of({guard, compares_sp}), 0u);
    EXPECT_EQ(entry_of({ret}), 0u);
}

} // namespace
} // namespace argtrace::elf
