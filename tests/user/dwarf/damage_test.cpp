// SPDX-License-Identifier: GPL-2.0-only
// DWARF that is damaged in any byte: something else may be said of functions, but nothing crashes or runs for ever.
#include "dwarf/functions.h"

#include <cstring>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "support/described_program.h"
#include "util/file.h"

namespace argtrace {
namespace {

constexpr const char *small_source = "struct n; struct m { struct n *n; int a : 3; union { float f; long l[4]; }; enum { A, B = 70000 } e; };\n"
                                     "struct n { struct m m[2]; void (*f)(struct n *, ...); const char *text; };\n"
                                     "__attribute__((noinline)) static int f(struct n n, struct m *m, double d, const int k) { return m->a * k; }\n"
                                     "int main(int argc, char **argv) { struct n n = {}; struct m m = {}; return f(n, &m, 1.5, 3) + f(n, &m, 2, 3); }\n";

void read_all(std::span<const std::byte> image) {
    const auto object = elf::Object::from_memory(image);
    if (!object)
        return;
    const auto functions = dwarf::Functions::open(*object, dwarf_registers_x86_64);
    if (!functions)
        return;
    const BtfPtr base(btf__new_empty());
    dwarf::Functions::Prototypes made(*functions, base.get());
    std::vector<std::size_t> numbers;
    for (const elf::NamedFunction &function : elf::list_functions(*object))
        if (const auto number = made.add(function.address, function))
            numbers.push_back(*number);
    const BtfPtr types = made.take();
    for (const std::size_t number : numbers) {
        const Prototype prototype = made.prototype(number, types.get(), "f");
        (void)user_functions_x86_64.places(prototype);
        (void)user_functions_x86_64.returning(prototype);
    }
}

TEST(DwarfDamage, IsNoHarm) {
    const char *seed_text = std::getenv("ARGTRACE_TEST_SEED");
    const unsigned seed = seed_text ? static_cast<unsigned>(std::stoul(seed_text)) : std::random_device()();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    for (const char *compiler : {"gcc -g -gdwarf-4 -O2 -nostdlib -r", "gcc -g -gdwarf-5 -O2 -nostdlib -static -Wl,-e,0", "clang -g -O2 -nostdlib -static -Wl,-e,0"}) {
        const DescribedProgram program(small_source, ".c", compiler);
        const Text whole = read_file(program.path());
        const auto object = elf::Object::open(Fd(::open(program.path().c_str(), O_RDONLY | O_CLOEXEC)), program.path());
        ASSERT_TRUE(object);
        std::vector<std::uint64_t> places;
        for (const elf::Object::Section &section : object->sections())
            if (section.name.starts_with(".debug_") && section.name != ".debug_line")
                for (std::uint64_t i = 0; i < section.header.sh_size; i++)
                    places.push_back(section.header.sh_offset + i);
        ASSERT_FALSE(places.empty());
        std::vector<std::byte> image(whole.size());
        for (int round = 0; round < 1500; round++) {
            std::memcpy(image.data(), whole.data(), whole.size());
            for (unsigned i = 0; i <= random() % 4; i++)
                image[places[random() % places.size()]] = static_cast<std::byte>(random());
            read_all(image);
        }
    }
}

} // namespace
} // namespace argtrace
