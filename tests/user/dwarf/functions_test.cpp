// SPDX-License-Identifier: GPL-2.0-only
// What DWARF says of functions in C, as several compilers and versions write it. Whether arguments are where this says generated_prototypes_test.cpp
// tries out.
#include "dwarf/functions.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/types.h"
#include "support/described_program.h"

namespace argtrace {
namespace {

using testing::HasSubstr;

constexpr const char *c_source = R"(
typedef unsigned long size_type;
typedef unsigned char u8;
struct url { const char *path; unsigned short port; };
struct opaque;
struct file { int mine; struct opaque *hidden; };
enum color { RED, GREEN = 5, BLUE = -1 };
enum wide { WIDE = 0x123456789aULL };
struct request {
	struct url *url;
	struct file file;
	enum color color;
	unsigned a : 3, b : 7;
	signed c : 5;
	union { int first; float second; };
	int matrix[3][4];
	char name[16];
	struct request *next;
	int (*callback)(struct request *, const char *, ...);
};
typedef struct request request_t;
struct pair { long a, b; };
struct floats { float x, y; };
struct mixed { double d; int i; };
struct three { long a, b, c; };
struct extended { long double value; };
struct __attribute__((packed)) packed { char c; int i; };
typedef float vector __attribute__((vector_size(16)));
#define CALLED __attribute__((noinline, used))
CALLED int parse(request_t *req, size_type len, enum color color, enum wide wide, _Bool flag, char c, signed char seventh) { return 0; }
CALLED struct three by_value(struct pair p, struct floats f, struct mixed m, int after, struct three t, int last, long double x, int eighth)
{ struct three r = {0}; return r; }
CALLED long double extended(struct extended e, int a) { return 0; }
CALLED void numbers(vector v, int a, double _Complex z, int b, long double _Complex l, int c, float f, __int128 w, struct packed p, int d) { }
struct before { long n; double d; };
struct point { double x, y; };
CALLED double unused(struct before b, struct point c, struct floats f) { return c.y + b.n; }
CALLED double many(struct point a, struct point b, struct point c, double d, struct point e, double f, struct before g, int h) { return a.x; }
CALLED double _Complex complex_numbers(double _Complex z, float _Complex w, int last) { return z; }
CALLED void variadic(const char *format, ...) { }
CALLED int decayed(int a[10], int (*f)(int), void (*const p)(void), const volatile u8 *const restrict q) { return 0; }
static CALLED int local(long a, unsigned char b) { return a + b; }
int main(void) { return local(1, 2); }
)";

class DwarfOfC : public testing::TestWithParam<const char *> {
protected:
    DwarfOfC() : program_(c_source, ".c", GetParam()) { program_.read(); }

    DescribedProgram program_;
};

TEST_P(DwarfOfC, PrototypesAreThoseOfTheSource) {
    EXPECT_EQ(program_.prototype("parse").text,
              "int parse(request_t *req, size_type len, enum color color, enum wide wide, _Bool flag, char c, signed char seventh)");
    EXPECT_EQ(program_.prototype("variadic").text, "void variadic(const char *format, ...)");
    EXPECT_THAT(program_.prototype("decayed").text, HasSubstr("decayed(int *a, int (*f)(int), void (*const p)(void), "));
    EXPECT_EQ(program_.prototype("by_value").result, "struct three");
    EXPECT_EQ(program_.prototype("main").text, "int main(void)");
    EXPECT_FALSE(program_.prototypes().contains("_start")) << "which has no DWARF";
}

TEST_P(DwarfOfC, ArgumentsAreWhereTheConventionHasThem) {
    EXPECT_EQ(program_.places("parse"), "req rdi, len rsi, color rdx, wide rcx, flag r8, c r9, seventh ?");
    // The address of the result is in rdi.
    EXPECT_EQ(program_.places("by_value"), "p rsi:rdx, f ?, m ?, after r8, t ?, last r9, x ?, eighth ?");
    EXPECT_EQ(program_.places("extended"), "e ?, a rdi");
    EXPECT_EQ(program_.places("numbers"), "v ?, a rdi, z ?, b rsi, l ?, c rdx, f ?, w rcx:r8, p ?, d r9");
    EXPECT_EQ(program_.places("local"), "a rdi, b rsi");
}

TEST_P(DwarfOfC, StructsAreInRegistersOfBothKinds) {
    EXPECT_EQ(program_.operands("by_value"), "p ?, f xmm0, m xmm1+rcx, after ?, t sp+8, last ?, x sp+40, eighth sp+56");
    // clang says the places of what is used, and leaves the registers of the rest as they are where it knows the callers.
    const bool is_used_alone = std::string_view(GetParam()) == "clang -g -O2";
    EXPECT_EQ(program_.operands("unused"), is_used_alone ? "b ?, c ?, f xmm3" : "b rdi+xmm0, c xmm1+xmm2, f xmm3");
    EXPECT_EQ(program_.places("unused"), "b ?, c ?, f ?");
    EXPECT_EQ(program_.operands("many"), std::string(is_used_alone ? "a ?" : "a xmm0+xmm1") + ", b xmm2+xmm3, c xmm4+xmm5, d xmm6, e sp+8, f xmm7, g sp+24, h ?");
}

TEST_P(DwarfOfC, ComplexNumbersHaveTwoParts) {
    EXPECT_THAT(program_.prototype("complex_numbers").text, HasSubstr("complex double z"));
    EXPECT_EQ(program_.operands("complex_numbers"), "z xmm0+xmm1, w xmm2, last ?");
    EXPECT_EQ(program_.places("complex_numbers"), "z ?, w ?, last rdi");
    const lang::Types types(program_.types(), {}, lang::Types::Owner::program);
    const lang::Type type = types.parameter(program_.prototype("complex_numbers").source.id, 1);
    EXPECT_EQ(types.name(type), "complex float");
    EXPECT_EQ(types.member(type, "imag")->bit_offset, 32u);
    EXPECT_EQ(types.name(types.member(type, "real")->type), "float");
}

TEST_P(DwarfOfC, NumbersWithoutATypeHaveTheirRoomOnTheStack) {
    const auto operands = user_functions_x86_64.operands(program_.prototype("numbers"));
    ASSERT_EQ(operands.size(), 10u);
    ASSERT_TRUE(operands[8]);
    EXPECT_EQ(operands[8]->number, 40) << "p is behind l, a long double _Complex";
}

TEST_P(DwarfOfC, TypesHaveTheirMembers) {
    const lang::Types types(program_.types(), {}, lang::Types::Owner::program);
    lang::TypeName name;
    name.tag = lang::TypeName::Tag::structure;
    name.name = "request";
    const auto request = types.find(name);
    ASSERT_TRUE(request);
    const auto place = [&](const char *member) {
        const auto found = types.member(*request, member);
        return found ? fmt::format("{}:{} {}", found->bit_offset, found->bits, types.name(found->type)) : "none";
    };
    EXPECT_EQ(place("url"), "0:0 struct url __user *");
    EXPECT_EQ(place("file"), "64:0 struct file");
    EXPECT_EQ(place("a"), "224:3 unsigned int");
    EXPECT_EQ(place("b"), "227:7 unsigned int");
    EXPECT_EQ(place("c"), "234:5 int");
    EXPECT_EQ(place("first"), "256:0 int");
    EXPECT_EQ(place("second"), "256:0 float");
    EXPECT_EQ(place("matrix"), "288:0 int[3][4]");
    EXPECT_EQ(place("next"), "832:0 struct request __user *");
    EXPECT_EQ(types.traits(*request).bytes, 120u);
    EXPECT_EQ(types.enumerator("GREEN")->value, 5u);
    EXPECT_EQ(types.enumerator("BLUE")->value, ~std::uint64_t(0));
    EXPECT_EQ(types.enumerator("WIDE")->value, 0x123456789a);
}

// The kernel has a struct file, too, and one that the program keeps to itself is nobody's.
TEST_P(DwarfOfC, TypesAreNotTheKernelsOfThatName) {
    const lang::Types types(program_.types(), {}, lang::Types::Owner::program);
    lang::TypeName name;
    name.tag = lang::TypeName::Tag::structure;
    name.name = "file";
    EXPECT_EQ(types.traits(*types.find(name)).bytes, 16u);
    EXPECT_EQ(types.traits(*types.find_of_kernel(name)).bytes, 8u);
    const auto hidden = types.member(*types.find(name), "hidden");
    EXPECT_EQ(types.traits(types.target(hidden->type)).kind, lang::TypeTraits::Kind::incomplete);
    EXPECT_EQ(types.space(hidden->type), lang::Space::user);
    name.name = "task_struct";
    EXPECT_TRUE(types.find(name)) << "which it has not";
}

INSTANTIATE_TEST_SUITE_P(Compiled, DwarfOfC,
                         testing::Values("gcc -g -gdwarf-2 -gstrict-dwarf -O0", "gcc -g -gdwarf-3 -O0", "gcc -g -gdwarf-4 -O0", "gcc -g -gdwarf-5 -O0",
                                         "gcc -g -gdwarf-4 -fdebug-types-section -O0", "gcc -g -gdwarf-5 -O2", "gcc -g -gz=zlib -O2",
                                         "gcc -g -gdwarf-4 -O2 -flto", "clang -g -gdwarf-4 -O0", "clang -g -O2"));

// Without types (-g1), or in another language, nothing is said.
TEST(DwarfFunctions, WithoutTypesAreNotDescribed) {
    DescribedProgram program(c_source, ".c", "gcc -g1");
    program.read();
    EXPECT_TRUE(program.prototypes().empty());
}

TEST(DwarfFunctions, AreFoundInSeparateFiles) {
    DescribedProgram program(c_source, ".c", "gcc -g");
    program.run("objcopy --only-keep-debug x x.debug && objcopy --strip-debug --add-gnu-debuglink=x.debug x stripped");
    program.read("stripped");
    EXPECT_THAT(program.prototype("parse").text, HasSubstr("(request_t *req, "));
}

TEST(DwarfFunctions, AreReadThroughDwz) {
    if (std::system("command -v dwz >/dev/null 2>&1") != 0)
        GTEST_SKIP() << "dwz is not installed";
    DescribedProgram program(c_source, ".c", "gcc -g");
    program.run("cp x y && dwz -m common x y");
    program.read();
    EXPECT_EQ(program.places("parse"), "req rdi, len rsi, color rdx, wide rcx, flag r8, c r9, seventh ?");
}

// What the compiler has changed is as the lists of places say; what it no longer passes is nowhere.
constexpr const char *clones_source = R"(
struct pair { long a, b; };
#define CALLED __attribute__((noinline))
volatile int sink;
static CALLED int constant(const char *text, int k, int m) { sink = text[0]; return k > 3 ? m * k : m; }
static CALLED int shifted(int unused, int b) { sink = b; return b * 2; }
static CALLED long part(struct pair *p, int x) { sink = x; return p->b + x; }
CALLED int exported(int unused, int b) { sink = b; return b; }
CALLED int pointed(int unused, int b) { sink = b; return b + 1; }
int (*volatile pointer)(int, int) = pointed;
int main(int argc, char **argv) {
	struct pair p = {1, argc};
	pointer(4, 5);
	sink = constant(argv[0], 7, argc) + constant(argv[0] + 1, 7, argc + 1) + shifted(1, argc) + shifted(2, argc + 5);
	return part(&p, argc) + part(&p, argc + 1) + exported(argc, 2);
}
)";

TEST(DwarfClones, AreAsTheListsOfPlacesSay) {
    DescribedProgram program(clones_source, ".c", "gcc -g -O2");
    program.read();
    std::map<std::string, std::string> clones;
    for (const auto &[name, prototype] : program.prototypes())
        clones[name.substr(0, name.find('.'))] = program.places(name);
    // gcc passes text[0] and p->b in place of the pointers.
    EXPECT_EQ(clones["constant"], "text ?, k ?, m rsi");
    EXPECT_EQ(clones["part"], "p ?, x rsi");
    EXPECT_EQ(clones["shifted"], "unused ?, b rdi");
    EXPECT_EQ(clones["exported"], "unused rdi, b rsi");
    EXPECT_EQ(clones["pointed"], "unused rdi, b rsi");
}

// Before version 18 it does not align __int128 on the stack, and where an argument is there its DWARF says by a register of the function's own.
TEST(DwarfByClang, WhatIsBehindUnalignedNumbersIsNotGuessed) {
    DescribedProgram program("int wide(long a, long b, long c, long d, long e, long f, int seventh, __int128 eighth, int last) { return seventh + last; }\n"
                             "int main(void) { return wide(1, 2, 3, 4, 5, 6, 7, 8, 9); }",
                             ".c", "clang -g -O0");
    program.read();
    const auto operands = user_functions_x86_64.operands(program.prototype("wide"));
    ASSERT_EQ(operands.size(), 9u);
    ASSERT_TRUE(operands[6]);
    EXPECT_EQ(operands[6]->number, 8);
    EXPECT_FALSE(operands[8]);
}

// clang gives them no names of their own.
TEST(DwarfClones, HaveTheSameNameIfClangMadeThem) {
    DescribedProgram program(clones_source, ".c", "clang -g -O2");
    program.read();
    EXPECT_EQ(program.places("constant"), "text rdi, k ?, m rsi");
    EXPECT_EQ(program.places("shifted"), "unused ?, b rdi");
    EXPECT_EQ(program.places("exported"), "unused ?, b rsi") << "main(), which clang knows, does not set the register";
    EXPECT_EQ(program.places("pointed"), "unused rdi, b rsi") << "its caller does not know which function it calls";
}

} // namespace
} // namespace argtrace
