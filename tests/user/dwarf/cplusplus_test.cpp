// SPDX-License-Identifier: GPL-2.0-only
// Classes, as they are passed and named.
#include "dwarf/functions.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/types.h"
#include "support/described_program.h"

namespace argtrace {
namespace {

constexpr const char *cplusplus_source = R"(
namespace ns {
struct Base { int x = 1; int z = 3; virtual ~Base() {} };
struct Virtual { int v; };
struct Derived : Base, virtual Virtual { int x = 2; int y = 3; Derived(int q); int method(int a, const Base &other) const; static int fixed(int a); };
struct Plain { long a; }; struct Further : Plain { long b; long a; };
struct Left { long same, left; }; struct Right { int same, right; }; struct Deep : Right { int own; };
struct Both : Left, Right { int x; }; struct Nearer : Deep, Left { };
enum class Color : unsigned char { Red, Green };
struct Empty {};
struct Trivial { int a; float b; Trivial() = default; Trivial(int) {} };
struct Copied { int a; Copied() {} Copied(const Copied &o) : a(o.a) {} ~Copied() {} };
struct Defaulted { int a; Defaulted() = default; Defaulted(const Defaulted &) = default; };
template<typename T> struct Template { T t; int n; __attribute__((noinline)) T get(int k) { return t; } };
}
#define CALLED __attribute__((noinline, used))
CALLED int ns::Derived::method(int a, const Base &other) const { return a; }
CALLED int ns::Derived::fixed(int a) { return a; }
ns::Derived::Derived(int q) { y = q; }
CALLED void values(ns::Copied s, ns::Empty e, ns::Trivial t, ns::Color c, int &&r, ns::Further f) { }
CALLED int used(ns::Copied s, int last) { return s.a; }
CALLED ns::Copied copied(int a) { return {}; }
CALLED ns::Trivial trivial(int a) { return {}; }
CALLED void pointers(int (ns::Derived::*f)(int, const ns::Base &) const, int ns::Derived::*m, decltype(nullptr) n, int last) { }
CALLED void defaulted(ns::Defaulted d, int last) { }
template struct ns::Template<long>;
CALLED int inherited(ns::Further *further, ns::Both *both, ns::Nearer *nearer) { return 0; }
int main(int argc, char **argv) {
	ns::Derived d(argc);
	ns::Both both; ns::Nearer nearer;
	inherited(nullptr, &both, &nearer);
	ns::Template<long> t{1, 2};
	values({}, {}, {}, {}, 1, {}); copied(1); trivial(1); defaulted({}, 1);
	auto lambda = [&](int q) __attribute__((noinline)) { return q + argc; };
	return d.method(1, d) + t.get(1) + lambda(2);
}
)";

class DwarfOfCplusplus : public testing::TestWithParam<const char *> {
protected:
    DwarfOfCplusplus() : program_(cplusplus_source, ".cpp", GetParam()) { program_.read(); }

    DescribedProgram program_;
};

TEST_P(DwarfOfCplusplus, MethodsHaveThis) {
    const std::string method = "ns::Derived::method(int, ns::Base const&) const";
    EXPECT_EQ(program_.places(method), "this rdi, a rsi, other rdx");
    EXPECT_THAT(program_.prototype(method).text, testing::MatchesRegex(".*\\(const struct ns::Derived \\*(const )?this, int a, const struct ns::Base \\*other\\)"));
    EXPECT_EQ(program_.places("ns::Derived::fixed(int)"), "a rdi");
    EXPECT_EQ(program_.places("ns::Template<long>::get(int)"), "this rdi, k rsi");
}

TEST_P(DwarfOfCplusplus, ClassesArePassedByValueOrByReference) {
    const std::string values = "values(ns::Copied, ns::Empty, ns::Trivial, ns::Color, int&&, ns::Further)";
    // clang says nothing of s, which is not used.
    const bool is_whole = program_.prototype(values).parameters.size() == 6;
    EXPECT_EQ(program_.places(values), is_whole ? "s rdi, e ?, t rsi, c rdx, r rcx, f ?" : "e ?, t ?, c ?, r ?, f ?");
    EXPECT_EQ(program_.prototype(values).parameters.at(0).type, is_whole ? "struct ns::Copied *" : "struct ns::Empty");
    EXPECT_TRUE(is_whole || std::string(GetParam()).starts_with("clang"));
    EXPECT_EQ(program_.places("used(ns::Copied, int)"), "s rdi, last rsi");
    EXPECT_EQ(program_.places("copied(int)"), "a rsi");
    EXPECT_EQ(program_.places("trivial(int)"), "a rdi");
    EXPECT_EQ(program_.places("pointers(int (ns::Derived::*)(int, ns::Base const&) const, int ns::Derived::*, decltype(nullptr), int)"),
              "f rdi:rsi, m rdx, n rcx, last r8");
}

TEST_P(DwarfOfCplusplus, MembersOfBasesAreMembers) {
    const lang::Types types(program_.types(), {}, lang::Types::Owner::program);
    lang::TypeName name;
    name.tag = lang::TypeName::Tag::structure;
    name.name = "ns::Further";
    const auto further = types.find(name);
    ASSERT_TRUE(further);
    EXPECT_EQ(types.member(*further, "a")->bit_offset, 128u) << "its own comes first";
    EXPECT_EQ(types.member(*further, "b")->bit_offset, 64u);
    name.name = "ns::Derived";
    const auto derived = types.find(name);
    ASSERT_TRUE(derived);
    EXPECT_EQ(types.member(*derived, "z")->bit_offset, 96u);
    EXPECT_FALSE(types.member(*derived, "v")) << "where a virtual base is the object itself says";
    EXPECT_EQ(types.enumerator("Green")->value, 1u);
    name.name = "ns::Both";
    const auto both = types.find(name);
    ASSERT_TRUE(both);
    EXPECT_FALSE(types.member(*both, "same")) << "two base classes have it";
    EXPECT_EQ(types.member(*both, "right")->bit_offset, 160u);
    name.name = "ns::Nearer";
    const auto nearer = types.find(name);
    ASSERT_TRUE(nearer);
    EXPECT_EQ(types.member(*nearer, "same")->bit_offset, 128u) << "the one behind fewer classes";
}

INSTANTIATE_TEST_SUITE_P(Compiled, DwarfOfCplusplus,
                         testing::Values("g++ -g -O0", "g++ -g -gdwarf-4 -O0", "g++ -g -O2", "clang++ -g -O0"));

// What a class declares may be trivial, which DWARF before version 5 does not say, nor gcc where types have units of their own: then nothing is
// shown.
class DwarfOfOldCplusplus : public testing::TestWithParam<const char *> {};

TEST_P(DwarfOfOldCplusplus, IsNotGuessed) {
    DescribedProgram program(cplusplus_source, ".cpp", GetParam());
    program.read();
    const bool is_defaulted_said = std::string(GetParam()).find("strict") == std::string::npos;
    EXPECT_EQ(program.places("defaulted(ns::Defaulted, int)"), is_defaulted_said ? "d rdi, last rsi" : "d ?, last ?");
    EXPECT_EQ(program.places("copied(int)"), "a ?");
    EXPECT_EQ(program.places("ns::Derived::fixed(int)"), "a rdi");
}

INSTANTIATE_TEST_SUITE_P(Compiled, DwarfOfOldCplusplus,
                         testing::Values("g++ -g -gdwarf-3 -gstrict-dwarf -O0", "g++ -g -gdwarf-4 -fdebug-types-section"));

TEST(DwarfOfCplusplusWith, DefaultedFunctionsPassesByValue) {
    DescribedProgram program(cplusplus_source, ".cpp", "g++ -g");
    program.read();
    EXPECT_EQ(program.places("defaulted(ns::Defaulted, int)"), "d rdi, last rsi");
}

} // namespace
} // namespace argtrace
