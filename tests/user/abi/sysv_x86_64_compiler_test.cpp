// SPDX-License-Identifier: GPL-2.0-only

// Whether sysv_x86_64() and the compiler agree: functions are called as the compiler calls
// them, and what it put into the registers is compared with the values passed.

#include "abi/calling_convention.h"

#include <cstring>

#include "support/btf_builder.h"

#ifdef __x86_64__

extern "C" {
struct {
    std::uint64_t registers[argtrace::functions_x86_64.registers];
    unsigned char stack[256];
} argtrace_test_captured;
void argtrace_test_capture();
}

asm(R"(
    .text
    .globl argtrace_test_capture
    .type argtrace_test_capture, @function
argtrace_test_capture:
    mov argtrace_test_captured@GOTPCREL(%rip), %rax
    mov %rdi, (%rax)
    mov %rsi, 8(%rax)
    mov %rdx, 16(%rax)
    mov %rcx, 24(%rax)
    mov %r8, 32(%rax)
    mov %r9, 40(%rax)
    mov %rdi, %rdx
    lea 48(%rax), %rdi
    mov %rsp, %rsi
    mov $32, %ecx
    rep movsq
    mov %rdx, %rax
    ret
    .size argtrace_test_capture, . - argtrace_test_capture
)");

namespace argtrace {
namespace {

__extension__ typedef __int128 Int128;
enum class Small : std::uint8_t { seven = 7 };
struct Word {
    std::uint32_t a;
};
struct Pair {
    std::uint64_t a, b;
};
struct Triple {
    std::uint64_t a, b, c;
};
struct [[gnu::packed]] Packed {
    std::uint32_t a;
    std::uint64_t b;
};
struct Odd {
    std::uint8_t bytes[9];
};

// The same types in BTF.
struct Types : BtfBuilder {
    int of(bool) { return integer("_Bool", 1, BTF_INT_BOOL); }
    int of(char) { return integer("char", 1, BTF_INT_SIGNED); }
    int of(std::int8_t) { return integer("signed char", 1, BTF_INT_SIGNED); }
    int of(std::uint8_t) { return integer("unsigned char", 1); }
    int of(std::int16_t) { return integer("short int", 2, BTF_INT_SIGNED); }
    int of(std::uint16_t) { return integer("short unsigned int", 2); }
    int of(std::int32_t) { return integer("int", 4, BTF_INT_SIGNED); }
    int of(std::uint32_t) { return integer("unsigned int", 4); }
    int of(std::int64_t) { return integer("long int", 8, BTF_INT_SIGNED); }
    int of(std::uint64_t) { return integer("long unsigned int", 8); }
    int of(Int128) { return integer("__int128", 16, BTF_INT_SIGNED); }
    int of(double) { return floating("double", 8); }
    int of(const void *) { return pointer(0); }
    int of(Small) { return enumeration("small", 1, 7); }
    int of(Word) { return structure("word", 4, {{"a", of(std::uint32_t()), 0}}); }
    int of(Pair) {
        const int u64 = of(std::uint64_t());
        return structure("pair", 16, {{"a", u64, 0}, {"b", u64, 64}});
    }
    int of(Triple) {
        const int u64 = of(std::uint64_t());
        return structure("triple", 24, {{"a", u64, 0}, {"b", u64, 64}, {"c", u64, 128}});
    }
    int of(Packed) {
        const int u32 = of(std::uint32_t());
        return structure("packed", 12, {{"a", u32, 0}, {"b", of(std::uint64_t()), 32}});
    }
    int of(Odd) {
        const int u8 = of(std::uint8_t());
        return structure("odd", 9, {{"bytes", array(of(std::int32_t()), u8, 9), 0}});
    }
};

template<typename Value>
void expect_value(const Argument &argument, const Value &value, int &recorded) {
    if (argument.loc == ARGTRACE_LOC_NONE)
        return;
    ASSERT_EQ(argument.size, sizeof(value));
    const bool on_stack = argument.loc == ARGTRACE_LOC_STACK;
    const void *found = on_stack
                            ? static_cast<void *>(argtrace_test_captured.stack + argument.offset)
                            : &argtrace_test_captured.registers[argument.index];
    EXPECT_EQ(0, std::memcmp(found, &value, sizeof(value)))
        << argument.name << " is not at " << sysv_x86_64_location(argument);
    recorded++;
}

// Calls a function that takes these values and returns a Result. Returns how many of the
// values were found, each where it was said to be.
template<typename Result = int, typename... Values>
int recorded(Values... values) {
    Types types;
    int result = 0;
    if constexpr (!std::is_void_v<Result>)
        result = types.of(Result());
    const int ids[] = {types.of(values)...};
    const int proto = btf__add_func_proto(types.get(), result);
    for (std::size_t i = 0; i < sizeof...(values); i++)
        btf__add_func_param(types.get(), ("value" + std::to_string(i)).c_str(), ids[i]);
    btf__add_func(types.get(), "function", BTF_FUNC_STATIC, proto);

    KernelTypes kernel(types.take());
    const std::vector<Argument> arguments = sysv_x86_64(kernel.prototypes("function").at(0));

    std::memset(&argtrace_test_captured, 0x5a, sizeof(argtrace_test_captured));
    (void)reinterpret_cast<Result (*)(Values...)>(argtrace_test_capture)(values...);

    int count = 0;
    std::size_t i = 0;
    (expect_value(arguments.at(i++), values, count), ...);
    return count;
}

TEST(SysvX8664Compiler, Integers) {
    EXPECT_EQ(recorded(std::int8_t(-1), std::uint16_t(65535), std::int32_t(-70000),
                       std::uint64_t(1) << 63, std::int64_t(-5), std::uint8_t(200)),
              6);
    EXPECT_EQ(recorded(true, 'x', std::int16_t(-3), std::uint32_t(~0u), Small::seven), 5);
    EXPECT_EQ(recorded<void>(&argtrace_test_captured, nullptr), 2);
}

TEST(SysvX8664Compiler, MoreThanSix) {
    EXPECT_EQ(recorded(1, 2, 3, 4, 5, 6, 7, 8, 'c', &argtrace_test_captured, false), 11);
}

TEST(SysvX8664Compiler, Int128) {
    EXPECT_EQ(recorded(Int128(1), 2), 2);
    EXPECT_EQ(recorded(1, Int128(2), 3, 4, 5), 5);
    EXPECT_EQ(recorded(1, 2, 3, Int128(4), 5, 6), 6);
    EXPECT_EQ(recorded(1, 2, 3, 4, 5, Int128(6), 7, 8, Int128(9)), 9);
}

TEST(SysvX8664Compiler, Structs) {
    EXPECT_EQ(recorded(Word{1}, 2), 2);
    EXPECT_EQ(recorded(Pair{1, 2}, 3, Pair{4, 5}, 6), 4);
    EXPECT_EQ(recorded(Odd{}, 1), 2);
    EXPECT_EQ(recorded(1, Triple{2, 3, 4}, 5), 3);
    EXPECT_EQ(recorded(1, Packed{2, 3}, 4), 3);
    EXPECT_EQ(recorded(1, 2, 3, 4, 5, Pair{6, 7}, 8), 7);
    EXPECT_EQ(recorded(1, 2, 3, 4, 5, Pair{6, 7}, Word{8}, 9), 8);
}

TEST(SysvX8664Compiler, ResultsInMemory) {
    EXPECT_EQ(recorded<Triple>(1, 2, 3, 4, 5, 6), 6);
    EXPECT_EQ(recorded<Packed>(1, 2), 2);
    EXPECT_EQ(recorded<Pair>(1, 2), 2);
}

TEST(SysvX8664Compiler, Floats) {
    EXPECT_EQ(recorded(1.5, 1, 2.5, 2), 2);
}

} // namespace
} // namespace argtrace

#endif // __x86_64__
