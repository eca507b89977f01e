// SPDX-License-Identifier: GPL-2.0-only
#include "abi/user_registers.h"

#include <charconv>
#include <string>

#include "uapi/argtrace.h"

namespace argtrace {

namespace {

/// Names of one register: of 8 bytes, 4, 2, 1, and of its second byte.
struct RegisterNames {
    std::uint8_t index;
    std::string_view names[5];
};

// Arguments are passed in the first six, in this order (ARGTRACE_LOC_REG).
constexpr RegisterNames register_names[]{
    {0, {"rdi", "edi", "di", "dil", ""}},
    {1, {"rsi", "esi", "si", "sil", ""}},
    {2, {"rdx", "edx", "dx", "dl", "dh"}},
    {3, {"rcx", "ecx", "cx", "cl", "ch"}},
    {4, {"r8", "r8d", "r8w", "r8b", ""}},
    {5, {"r9", "r9d", "r9w", "r9b", ""}},
    {ARGTRACE_X86_64_RAX, {"rax", "eax", "ax", "al", "ah"}},
    {ARGTRACE_X86_64_RBX, {"rbx", "ebx", "bx", "bl", "bh"}},
    {ARGTRACE_X86_64_RBP, {"rbp", "ebp", "bp", "bpl", ""}},
    {ARGTRACE_X86_64_RSP, {"rsp", "esp", "sp", "spl", ""}},
    {ARGTRACE_X86_64_R10, {"r10", "r10d", "r10w", "r10b", ""}},
    {ARGTRACE_X86_64_R11, {"r11", "r11d", "r11w", "r11b", ""}},
    {ARGTRACE_X86_64_R12, {"r12", "r12d", "r12w", "r12b", ""}},
    {ARGTRACE_X86_64_R13, {"r13", "r13d", "r13w", "r13b", ""}},
    {ARGTRACE_X86_64_R14, {"r14", "r14d", "r14w", "r14b", ""}},
    {ARGTRACE_X86_64_R15, {"r15", "r15d", "r15w", "r15b", ""}},
    {ARGTRACE_X86_64_RIP, {"rip", "", "", "", ""}},
};

constexpr std::uint8_t vectors = 16;

constexpr NamedRegister parts[]{{0, 8, 0}, {0, 4, 0}, {0, 2, 0}, {0, 1, 0}, {0, 1, 8}};

} // namespace

std::optional<NamedRegister> find_user_register(std::string_view name) {
    if (name.empty())
        return std::nullopt;
    for (const RegisterNames &known : register_names)
        for (std::size_t i = 0; i < std::size(known.names); ++i)
            if (known.names[i] == name)
                return NamedRegister{known.index, parts[i].bytes, parts[i].shift};
    return std::nullopt;
}

std::optional<NamedRegister> find_user_register(unsigned dwarf_number) {
    constexpr std::string_view in_order[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
                                             "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    return dwarf_number < std::size(in_order) ? find_user_register(in_order[dwarf_number]) : std::nullopt;
}

std::optional<std::uint8_t> find_user_vector(unsigned dwarf_number) {
    constexpr unsigned first = 17;
    if (dwarf_number < first || dwarf_number >= first + vectors)
        return std::nullopt;
    return static_cast<std::uint8_t>(dwarf_number - first);
}

std::optional<std::uint8_t> find_user_vector(std::string_view name) {
    constexpr std::string_view prefix = "xmm";
    if (!name.starts_with(prefix))
        return std::nullopt;
    name.remove_prefix(prefix.size());
    std::uint8_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size() || number >= vectors)
        return std::nullopt;
    return number;
}

} // namespace argtrace
