// SPDX-License-Identifier: GPL-2.0-only
#include "abi/user_registers.h"

#include <charconv>
#include <string>

#include "abi/calling_convention.h"
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

constexpr NamedRegister parts[]{{0, 8, 0}, {0, 4, 0}, {0, 2, 0}, {0, 1, 0}, {0, 1, 8}};

std::optional<NamedRegister> find_x86_64(std::string_view name) {
    if (name.empty())
        return std::nullopt;
    for (const RegisterNames &known : register_names)
        for (std::size_t i = 0; i < std::size(known.names); ++i)
            if (known.names[i] == name)
                return NamedRegister{known.index, parts[i].bytes, parts[i].shift};
    return std::nullopt;
}

std::optional<NamedRegister> find_x86_64_by_dwarf(unsigned dwarf_number) {
    constexpr std::string_view in_order[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
                                             "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    return dwarf_number < std::size(in_order) ? find_x86_64(in_order[dwarf_number]) : std::nullopt;
}

std::optional<std::uint8_t> find_xmm_by_dwarf(unsigned dwarf_number) {
    return dwarf_registers_x86_64.vector(dwarf_number);
}

/// A number behind a prefix, below `count`: "xmm15", "x30".
std::optional<std::uint8_t> number_behind(std::string_view prefix, std::string_view name, unsigned count) {
    if (!name.starts_with(prefix))
        return std::nullopt;
    name.remove_prefix(prefix.size());
    const bool is_padded = name.size() > 1 && name.starts_with('0');
    std::uint8_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size() || number >= count || is_padded)
        return std::nullopt;
    return number;
}

std::optional<std::uint8_t> find_xmm(std::string_view name) {
    return number_behind("xmm", name, dwarf_registers_x86_64.vectors);
}

constexpr std::uint8_t numbered_aarch64 = 31; // x0 to x30, which are 0 to 7 as arguments, and go on from there

std::optional<NamedRegister> find_aarch64_by_dwarf(unsigned dwarf_number) {
    static_assert(ARGTRACE_ARM64_X8 == 8 && ARGTRACE_ARM64_SP == numbered_aarch64);
    if (dwarf_number > ARGTRACE_ARM64_SP)
        return std::nullopt;
    return NamedRegister{static_cast<std::uint8_t>(dwarf_number), 8, 0};
}

std::optional<NamedRegister> find_aarch64(std::string_view name) {
    if (name == "sp")
        return find_aarch64_by_dwarf(ARGTRACE_ARM64_SP);
    if (name == "pc")
        return NamedRegister{ARGTRACE_ARM64_PC, 8, 0};
    if (name == "fp" || name == "lr")
        return find_aarch64_by_dwarf(name == "fp" ? 29 : 30);
    if (const auto whole = number_behind("x", name, numbered_aarch64))
        return NamedRegister{*whole, 8, 0};
    if (const auto half = number_behind("w", name, numbered_aarch64))
        return NamedRegister{*half, 4, 0};
    return std::nullopt;
}

// By its lower 8 bytes, or all of it: what is wider than these is not read.
std::optional<std::uint8_t> find_vector_aarch64(std::string_view name) {
    const auto half = number_behind("d", name, dwarf_registers_aapcs64.vectors);
    return half ? half : number_behind("v", name, dwarf_registers_aapcs64.vectors);
}

std::optional<std::uint8_t> find_vector_aarch64_by_dwarf(unsigned dwarf_number) {
    return dwarf_registers_aapcs64.vector(dwarf_number);
}

} // namespace

constexpr UserRegisters user_registers_x86_64{
    .by_name = find_x86_64,
    .by_dwarf = find_x86_64_by_dwarf,
    .vector_by_name = find_xmm,
    .vector_by_dwarf = find_xmm_by_dwarf,
    .names = "rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8 to r15 and rip, and their parts as eax, ax, al, ah and r12d, and xmm0 to xmm15 as a double",
    .example = "r12",
    .stack_pointer = {ARGTRACE_X86_64_RSP},
    .instruction_pointer = {ARGTRACE_X86_64_RIP},
    .goroutine = {ARGTRACE_X86_64_R14},
};

constexpr UserRegisters user_registers_aarch64{
    .by_name = find_aarch64,
    .by_dwarf = find_aarch64_by_dwarf,
    .vector_by_name = find_vector_aarch64,
    .vector_by_dwarf = find_vector_aarch64_by_dwarf,
    .names = "x0 to x30, their lower halves w0 to w30, fp, lr, sp and pc, and d0 to d31 as a double",
    .example = "x19",
    .stack_pointer = {ARGTRACE_ARM64_SP},
    .instruction_pointer = {ARGTRACE_ARM64_PC},
    .goroutine = {28},
};

const UserRegisters &native_user_registers() {
#if defined(__aarch64__)
    return user_registers_aarch64;
#else
    return user_registers_x86_64;
#endif
}

} // namespace argtrace
