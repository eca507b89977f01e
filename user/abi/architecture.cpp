// SPDX-License-Identifier: GPL-2.0-only
#include "abi/architecture.h"

#include <algorithm>

#include <elf.h>

#include <fmt/format.h>

#include "util/error.h"

namespace argtrace {

namespace {

#if defined(__x86_64__)
constexpr std::string_view native_machine = "x86_64";
constexpr std::uint64_t (*read_cntvct)() = nullptr;
std::uint64_t read_tsc() {
    return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
constexpr std::string_view native_machine = "aarch64";
constexpr std::uint64_t (*read_tsc)() = nullptr;
constexpr unsigned cntvct_shift = 5; // ARGTRACE_CYCLES_SHIFT of kmod/arch/arm64/clock.h
std::uint64_t read_cntvct() {
    std::uint64_t ticks = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks << cntvct_shift;
}
#else
#error "argtrace: unknown architecture"
#endif

// Its kernels may have the other section too, for other purposes.
constexpr std::string_view calls_x86_64[] = {".rela__mcount_loc"};
constexpr std::string_view calls_aarch64[] = {".rela__patchable_function_entries", ".rela__mcount_loc"};

// arch/x86/include/asm/syscall_wrapper.h
constexpr SyscallAbi syscalls_x86_64[] = {
    {.name = "", .prefix = "__x64_sys_", .convention = &native_syscalls_x86_64},
    {.name = "ia32",
     .prefix = "__ia32_sys_",
     .compat_prefix = "__ia32_compat_sys_",
     .option = "CONFIG_IA32_EMULATION",
     .convention = &ia32_syscalls_x86_64},
};

// arch/arm64/include/asm/syscall_wrapper.h. Arguments are in the registers of functions.
constexpr SyscallAbi syscalls_aarch64[] = {
    {.name = "", .prefix = "__arm64_sys_", .convention = &syscalls_aapcs64},
};

constexpr Architecture architectures[] = {
    {.machine = "x86_64",
     .name = "x86-64",
     .is_traced = true,
     .elf_machine = EM_X86_64,
     .call_sections = calls_x86_64,
     .functions = &functions_x86_64,
     .user_functions = &user_functions_x86_64,
     .syscalls = syscalls_x86_64,
     .counter = read_tsc},
    {.machine = "aarch64",
     .name = "arm64",
     .is_traced = true,
     .elf_machine = EM_AARCH64,
     .call_sections = calls_aarch64,
     .call_before = 8, // with CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS
     .functions = &functions_aapcs64,
     .user_functions = &user_functions_aapcs64,
     .syscalls = syscalls_aarch64,
     .counter = read_cntvct},
};

} // namespace

std::span<const Architecture> all_architectures() {
    return architectures;
}

const Architecture *find_architecture(std::string_view machine) {
    const auto found = std::ranges::find(architectures, machine, &Architecture::machine);
    return found == std::end(architectures) ? nullptr : found;
}

const Architecture &architecture(std::string_view machine) {
    if (const Architecture *found = find_architecture(machine))
        return *found;
    throw Error(fmt::format("{}: argtrace does not know how this machine passes arguments; it "
                            "knows x86_64 and aarch64",
                            machine));
}

const Architecture &native_architecture() {
    static const Architecture &native = architecture(native_machine);
    return native;
}

} // namespace argtrace
