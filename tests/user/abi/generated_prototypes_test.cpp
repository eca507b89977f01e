// SPDX-License-Identifier: GPL-2.0-only

// Whether the calling conventions and the compilers agree, over generated prototypes: the
// compiler's own BTF or DWARF of them is read, its own calls of them are run, and each argument is
// looked for where the convention says it is.

#include "abi/calling_convention.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include <bpf/btf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "btf/kernel_types.h"
#include "dwarf/functions.h"
#include "elf/function_list.h"
#include "support/prototype_generator.h"

namespace argtrace {
namespace {

constexpr std::size_t stack_size = 2048; // as in prototypes_runner.c
constexpr int rounds = 3;

struct Machine {
    const CallingConvention *convention;
    std::string compiler;
    std::string emulator;
    std::string flags;
    bool floats;
    bool by_dwarf = false;
};

struct Tally {
    int prototypes = 0;
    int arguments = 0;
    int by_loc[ARGTRACE_LOC_REF + 1] = {};
    int in_vectors = 0, in_parts = 0, by_program = 0; // of LOC_NONE, what a program finds
    int wrong = 0;
};

bool exists(const std::string &tool) {
    return std::system(fmt::format("command -v {} >/dev/null 2>&1", tool).c_str()) == 0;
}

struct Captured {
    std::uint64_t registers[8];
    std::uint64_t sp;
    unsigned char stack[stack_size];
    std::uint64_t vectors[8][2];
};
static_assert(sizeof(Captured) == 72 + stack_size + 128);

// The bytes of an object in registers, as a program puts them together.
std::vector<unsigned char> put_together(const Captured &captured, const std::vector<RegisterPart> &parts) {
    std::vector<unsigned char> bytes;
    for (const RegisterPart &part : parts) {
        const bool is_upper = part.is_floating && part.index >= ARGTRACE_VECTOR_UPPER;
        const std::uint64_t *from = !part.is_floating ? &captured.registers[part.index]
                                    : is_upper        ? &captured.vectors[part.index - ARGTRACE_VECTOR_UPPER][1]
                                                      : &captured.vectors[part.index][0];
        bytes.resize(std::max<std::size_t>(bytes.size(), part.offset + part.bytes));
        std::memcpy(bytes.data() + part.offset, from, part.bytes);
    }
    return bytes;
}

const unsigned char *find(const Captured &captured, const UserOperand &operand, std::size_t size) {
    const auto number = static_cast<std::size_t>(operand.number);
    if (operand.kind == UserOperand::Kind::in_vector)
        return number < std::size(captured.vectors) && size <= 8 ? reinterpret_cast<const unsigned char *>(captured.vectors[number]) : nullptr;
    if (operand.kind == UserOperand::Kind::memory && operand.base) {
        const std::uint64_t offset = captured.registers[operand.base->index] - captured.sp;
        return offset + size <= stack_size ? captured.stack + offset : nullptr;
    }
    return operand.kind == UserOperand::Kind::on_stack && number + size <= stack_size ? captured.stack + number : nullptr;
}

// The bytes at the place of an argument; null if it is outside of what was captured.
const unsigned char *find(const Captured &captured, const Argument &argument) {
    const auto *registers = reinterpret_cast<const unsigned char *>(captured.registers);
    const unsigned char *place = captured.stack + argument.offset;
    if (argument.loc == ARGTRACE_LOC_REG || argument.loc == ARGTRACE_LOC_REG_PAIR)
        return registers + 8 * argument.index;
    if (argument.loc == ARGTRACE_LOC_REF) {
        if (argument.index != ref_on_stack)
            place = registers + 8 * argument.index;
        std::uint64_t address;
        std::memcpy(&address, place, sizeof(address));
        if (address < captured.sp || address - captured.sp + argument.size > stack_size)
            return nullptr;
        return captured.stack + (address - captured.sp);
    }
    return argument.offset + argument.size <= stack_size ? place : nullptr;
}

class GeneratedPrototypes : public testing::Test {
protected:
    void SetUp() override {
        std::string name = std::filesystem::temp_directory_path() / "argtrace-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        directory_ = name;
    }
    void TearDown() override {
        if (!HasFailure())
            std::filesystem::remove_all(directory_);
    }

    void run(const std::string &command) {
        const std::string line = fmt::format("cd '{}' && {} 2>log", directory_, command);
        ASSERT_EQ(std::system(line.c_str()), 0) << line;
    }

    void compare(const Machine &machine, unsigned seed, int count, Tally &tally) {
        SCOPED_TRACE(fmt::format("seed {}, files in {}", seed, directory_));
        std::ofstream(directory_ + "/f.c")
            << PrototypeGenerator(seed, machine.floats, machine.by_dwarf).source(count);
        const std::string compile = fmt::format(
            "{} -std=gnu11 -w -Wno-psabi -ffreestanding -fno-pic -fno-stack-protector {} ",
            machine.compiler, machine.flags);
        ASSERT_NO_FATAL_FAILURE(run(compile + "-O0 -g -DDEFINE -c -o types.o f.c"));
        if (machine.by_dwarf) {
            ASSERT_NO_FATAL_FAILURE(run(machine.compiler + " -nostdlib -static -no-pie -Wl,-e,0,--unresolved-symbols=ignore-all -o types types.o"));
        } else {
            // Detached: to put it into the object pahole would need llvm-objcopy.
            ASSERT_NO_FATAL_FAILURE(
                run("pahole -J --btf_gen_floats --btf_encode_detached=types.btf types.o"));
        }
        ASSERT_NO_FATAL_FAILURE(
            run(compile + "-O1 -nostdlib -static -no-pie -o f f.c '" ARGTRACE_TEST_RUNNER "'"));
        ASSERT_NO_FATAL_FAILURE(run(machine.emulator + " ./f >out"));

        std::map<std::string, std::vector<Prototype>> prototypes;
        ASSERT_NO_FATAL_FAILURE(machine.by_dwarf ? read_dwarf(*machine.convention->dwarf_registers, prototypes) : read_btf(count, prototypes));
        std::ifstream file(directory_ + "/out", std::ios::binary);
        for (int i = 0; i < count; i++) {
            const std::vector<Prototype> &found = prototypes[fmt::format("f{}", i)];
            ASSERT_EQ(found.size(), 1u) << "f" << i;
            const std::vector<Argument> arguments = machine.convention->places(found[0]);
            const std::vector<std::optional<UserOperand>> operands = machine.convention->operands(found[0]);
            ASSERT_EQ(operands.size(), arguments.size());
            tally.prototypes++;
            for (std::size_t n = 0; n < arguments.size(); n++) {
                tally.arguments++;
                tally.by_loc[arguments[n].loc] += !operands[n];
                tally.by_program += operands[n].has_value();
                tally.in_vectors += operands[n] && operands[n]->kind == UserOperand::Kind::in_vector;
                tally.in_parts += operands[n] && operands[n]->kind == UserOperand::Kind::parts;
                EXPECT_TRUE(!operands[n] || arguments[n].loc == ARGTRACE_LOC_NONE) << found[0].text;
            }
            for (int round = 0; round < rounds; round++)
                compare_call(file, found[0], arguments, operands, machine, tally);
            ASSERT_TRUE(file) << "f" << i;
            ASSERT_LT(tally.wrong, 20) << "and so on";
        }
        EXPECT_EQ(file.peek(), std::ifstream::traits_type::eof());
    }

    void read_btf(int count, std::map<std::string, std::vector<Prototype>> &prototypes) {
        BtfPtr types(btf__parse_raw((directory_ + "/types.btf").c_str()));
        ASSERT_TRUE(types);
        KernelTypes kernel(std::move(types));
        for (int i = 0; i < count; i++)
            prototypes[fmt::format("f{}", i)] = kernel.prototypes(fmt::format("f{}", i));
    }

    void read_dwarf(const DwarfRegisters &registers, std::map<std::string, std::vector<Prototype>> &prototypes) {
        const std::string path = directory_ + "/types";
        const auto object = elf::Object::open(Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
        ASSERT_TRUE(object);
        const auto functions = dwarf::Functions::open(*object, registers);
        ASSERT_TRUE(functions);
        const BtfPtr base(btf__new_empty());
        dwarf::Functions::Prototypes made(*functions, base.get());
        std::map<std::string, std::size_t> numbers;
        for (const elf::NamedFunction &function : elf::list_functions(*object)) {
            const auto number = made.add(function.address, function);
            ASSERT_TRUE(number) << function.symbol;
            numbers[function.symbol] = *number;
        }
        const BtfPtr types = made.take();
        for (const auto &[name, number] : numbers)
            prototypes[name] = {made.prototype(number, types.get(), name.c_str())};
    }

    static void compare_call(std::istream &file, const Prototype &prototype,
                             const std::vector<Argument> &arguments, const std::vector<std::optional<UserOperand>> &operands,
                             const Machine &machine, Tally &tally) {
        Captured captured;
        file.read(reinterpret_cast<char *>(&captured), sizeof(captured));
        for (std::size_t i = 0; i < arguments.size(); i++) {
            const Argument &argument = arguments[i];
            std::uint64_t size = 0;
            file.read(reinterpret_cast<char *>(&size), sizeof(size));
            ASSERT_LT(size, 4096u);
            std::vector<unsigned char> value(size);
            file.read(reinterpret_cast<char *>(value.data()), std::streamsize(size));
            if (argument.loc == ARGTRACE_LOC_NONE && !operands[i])
                continue;
            const bool has_parts = operands[i] && operands[i]->kind == UserOperand::Kind::parts;
            const std::vector<unsigned char> parts = has_parts ? put_together(captured, operands[i]->parts) : std::vector<unsigned char>();
            if (has_parts && parts == value)
                continue;
            const unsigned char *found = operands[i] ? find(captured, *operands[i], size) : find(captured, argument);
            if ((operands[i] || argument.size == size) && found && std::memcmp(found, value.data(), size) == 0)
                continue;
            tally.wrong++;
            ADD_FAILURE() << prototype.text << "\n  " << argument.name << ", " << size
                          << " bytes, is not at " << (operands[i] ? fmt::format("operand {}", operands[i]->number) : machine.convention->location(argument));
        }
    }

    /// `percent`: a little more of the arguments than are left out today.
    void report(const char *what, const Tally &tally, int percent) {
        fmt::print("{}: {} prototypes, {} arguments: {} in a register, {} in a pair, {} on the "
                   "stack, {} by reference, {} found by a program, {} of them in vector registers and {} in several registers, {} not told\n",
                   what, tally.prototypes, tally.arguments, tally.by_loc[ARGTRACE_LOC_REG],
                   tally.by_loc[ARGTRACE_LOC_REG_PAIR], tally.by_loc[ARGTRACE_LOC_STACK],
                   tally.by_loc[ARGTRACE_LOC_REF], tally.by_program, tally.in_vectors, tally.in_parts, tally.by_loc[ARGTRACE_LOC_NONE]);
        EXPECT_LT(tally.by_loc[ARGTRACE_LOC_NONE] * 100, tally.arguments * percent)
            << "too much left out";
    }

    std::string directory_;
};

// As the kernel is built: no vector registers, a stack aligned to 8.
TEST_F(GeneratedPrototypes, SysvX8664AsTheKernel) {
#ifndef __x86_64__
    GTEST_SKIP() << "runs on x86-64 only";
#endif
    for (const char *tool : {"pahole", "gcc"})
        if (!exists(tool))
            GTEST_SKIP() << tool << " is not installed";
    const Machine machine{&functions_x86_64,
                          "gcc",
                          "",
                          "-mno-sse -mno-mmx -mno-80387 -mno-red-zone -mpreferred-stack-boundary=3",
                          false};
    Tally tally;
    for (unsigned seed = 1; seed <= 5 && !HasFailure(); seed++)
        compare(machine, seed, 600, tally);
    report("x86-64, kernel", tally, 9);
}

TEST_F(GeneratedPrototypes, SysvX8664WithFloats) {
#ifndef __x86_64__
    GTEST_SKIP() << "runs on x86-64 only";
#endif
    for (const char *tool : {"pahole", "gcc"})
        if (!exists(tool))
            GTEST_SKIP() << tool << " is not installed";
    const Machine machine{&user_functions_x86_64, "gcc", "", "", true};
    Tally tally;
    for (unsigned seed = 101; seed <= 102 && !HasFailure(); seed++)
        compare(machine, seed, 500, tally);
    report("x86-64, floats", tally, 21);
}

// DWARF says what BTF leaves open.
TEST_F(GeneratedPrototypes, SysvX8664ByDwarf) {
#ifndef __x86_64__
    GTEST_SKIP() << "runs on x86-64 only";
#endif
    if (!exists("gcc"))
        GTEST_SKIP() << "gcc is not installed";
    const Machine machine{&user_functions_x86_64, "gcc", "", "", true, true};
    Tally tally;
    for (unsigned seed = 401; seed <= 404 && !HasFailure(); seed++)
        compare(machine, seed, 500, tally);
    report("x86-64, DWARF", tally, 23);
    EXPECT_GT(tally.in_parts, 100);
}

TEST_F(GeneratedPrototypes, Aapcs64) {
    for (const char *tool : {"pahole", "aarch64-linux-gnu-gcc", "qemu-aarch64"})
        if (!exists(tool))
            GTEST_SKIP() << tool << " is not installed";
    Machine machine{&functions_aapcs64, "aarch64-linux-gnu-gcc", "qemu-aarch64", "-mgeneral-regs-only", false};
    Tally tally;
    for (unsigned seed = 201; seed <= 203 && !HasFailure(); seed++)
        compare(machine, seed, 500, tally);
    report("arm64, kernel", tally, 7);
    Tally with_floats;
    machine.flags = "";
    machine.floats = true;
    compare(machine, 301, 300, with_floats);
    report("arm64, floats", with_floats, 30);
}

TEST_F(GeneratedPrototypes, Aapcs64ByDwarf) {
    for (const char *tool : {"aarch64-linux-gnu-gcc", "qemu-aarch64"})
        if (!exists(tool))
            GTEST_SKIP() << tool << " is not installed";
    const Machine machine{&user_functions_aapcs64, "aarch64-linux-gnu-gcc", "qemu-aarch64", "", true, true};
    Tally tally;
    for (unsigned seed = 501; seed <= 502 && !HasFailure(); seed++)
        compare(machine, seed, 500, tally);
    report("arm64, DWARF", tally, 9);
    EXPECT_GT(tally.in_vectors, 500);
    EXPECT_GT(tally.in_parts, 200);
}

} // namespace
} // namespace argtrace
