// SPDX-License-Identifier: GPL-2.0-only
// What the table of types says of structs of programs. Those of the libraries that there are here are compared with the values that a program
// has passed in tests/vm/guest/sources/user_values_test.cpp.
#include "spec/meanings.h"

#include <array>

#include <gmock/gmock.h>

#include "lang/compile.h"
#include "lang/expression_error.h"
#include "spec/member_values.h"
#include "support/described_program.h"
#include "support/program_interpreter.h"

namespace argtrace {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t object_at = 0x7f0000001000, text_at = 0x7f0000002000;

/// A function of a program, and the table that comes with the tool.
class ProgramValues {
public:
    ProgramValues(const std::string &source, const std::string &suffix, const std::string &compiler) : program_(source, suffix, compiler) {
        program_.read();
        types_.emplace(program_.types(), lang::Types::FindVariable(), lang::Types::Owner::program);
        std::vector<std::string> wrong;
        meanings_.add(shipped_meanings, "shipped", wrong, true);
        EXPECT_THAT(wrong, IsEmpty());
    }

    void add(const std::string &rows) {
        std::vector<std::string> wrong;
        meanings_.add(rows, "mine", wrong);
        EXPECT_THAT(wrong, IsEmpty());
    }

    lang::Scope scope(const std::string &function) {
        const Prototype &prototype = program_.prototype(function);
        lang::Scope scope(*types_, prototype, user_functions_x86_64.places(prototype), user_kind);
        scope.set_contents_finder([this](const lang::Types &types, lang::Type type) { return meanings_.contents_of(types, type); });
        return scope;
    }

    // The names of what the parameter means.
    std::vector<std::string> meaning(const std::string &function, std::uint32_t parameter = 0) {
        std::vector<std::string> names;
        for (const auto &value : meanings_.of(scope(function), parameter))
            names.push_back(value.name);
        return names;
    }

    // The names of the members that are shown of what the parameter leads to.
    std::vector<std::string> members(const std::string &function, std::uint32_t parameter = 0) {
        std::vector<std::string> names;
        for (const auto &value : member_values(scope(function), meanings_, parameter, "x"))
            names.push_back(value.name);
        return names;
    }

    // The number that the first of them is, of an object there.
    std::optional<std::uint64_t> meant(const std::string &function, std::uint32_t parameter, const FakeMemory &memory) {
        const lang::Scope known = scope(function);
        const auto meaning = meanings_.of(known, parameter);
        if (meaning.empty())
            return std::nullopt;
        const lang::Program compiled = lang::compile(known, {}, meaning);
        FakeCall call;
        call.registers[parameter] = object_at;
        return ProgramInterpreter(compiled, memory).values(call).at(0).as<std::uint64_t>();
    }

    std::string refusal(const std::string &function, const std::string &values) {
        try {
            (void)lang::compile(scope(function), {}, lang::parse_values(values));
        } catch (const lang::ExpressionError &error) {
            return error.sentence();
        }
        return "none";
    }

    // What the value is in a call, "?" if it cannot be read.
    std::string value(const std::string &function, const std::string &expression, const FakeMemory &memory, std::array<std::uint64_t, 2> registers = {object_at, 0}) {
        const lang::Program compiled = lang::compile(scope(function), {}, lang::parse_values(expression));
        ProgramInterpreter interpreter(compiled, memory);
        EXPECT_EQ(interpreter.verify(), "");
        FakeCall call;
        std::ranges::copy(registers, call.registers);
        const auto values = interpreter.values(call);
        return values.at(0).readable ? values.at(0).bytes : "?";
    }

    // The same of a call that has returned the address of what it returns.
    std::string value_at_return(const std::string &function, const std::string &expression, const FakeMemory &memory) {
        lang::Scope returning = scope(function);
        returning.set_result(types_->result(program_.prototype(function).source.id));
        returning.set_result_in_memory(user_functions_x86_64.returning(program_.prototype(function)).is_address);
        const lang::Program compiled = lang::compile(returning, {}, lang::parse_values(expression));
        ProgramInterpreter interpreter(compiled, memory);
        EXPECT_EQ(interpreter.verify(), "");
        FakeCall call;
        call.returned[0] = object_at;
        const auto values = interpreter.values(call);
        return values.at(0).readable ? values.at(0).bytes : "?";
    }

    std::optional<bool> holds(const std::string &function, const std::string &condition, const FakeMemory &memory) {
        const std::vector<lang::Expression> conditions = {lang::parse_condition(condition)};
        const lang::Program compiled = lang::compile(scope(function), conditions, {});
        ProgramInterpreter interpreter(compiled, memory);
        EXPECT_EQ(interpreter.verify(), "");
        FakeCall call;
        call.registers[0] = object_at;
        return interpreter.accepts(call);
    }

private:
    DescribedProgram program_;
    std::optional<lang::Types> types_;
    Meanings meanings_;
};

// A string of libc++ as LLVM has changed it: members that the row of LLVM 14 would take for its own.
constexpr const char *newer_libcxx = R"(
namespace std { inline namespace __1 {
template<class C, class T, class A> struct basic_string {
	struct __long { unsigned long __is_long_ : 1; unsigned long __cap_ : 63; unsigned long __size_; C *__data_; };
	struct __short { unsigned char __is_long_ : 1; unsigned char __size_ : 7; C __data_[23]; };
	struct __rep { union { __short __s; __long __l; }; };
	MEMBERS
};
} }
__attribute__((noinline, used)) void f(const std::basic_string<char, int, int> &s) { }
int main() { std::basic_string<char, int, int> s; f(s); }
)";

class NewerLibcxx : public testing::TestWithParam<const char *> {};

TEST_P(NewerLibcxx, StringsHaveTheirLengthElsewhere) {
    ProgramValues values(newer_libcxx, ".cpp", std::string("g++ -g -O0 -DMEMBERS=\"") + GetParam() + "\"");
    const std::string function = "f(std::__1::basic_string<char, int, int> const&)";
    FakeMemory memory;
    const char with_text[24] = "\x0a" "short\0and more";
    memory.put(object_at, with_text);
    EXPECT_EQ(values.value(function, "str(s)", memory), "short");
    EXPECT_EQ(values.holds(function, "str(s) == \"short\"", memory), true);
    EXPECT_EQ(values.holds(function, "str(s) == \"shor\"", memory), false);
    const std::array<std::uint64_t, 3> with_pointer = {0x41, 7, text_at};
    memory.put(object_at, with_pointer);
    EXPECT_EQ(values.value(function, "str(s)", memory), "?");
    memory.put(text_at, "nul\0nul and more", 16);
    EXPECT_EQ(values.value(function, "str(s)", memory), std::string("nul\0nul", 7));
    EXPECT_EQ(values.value(function, "str(s, 2)", memory), "nu");
    EXPECT_THAT(values.meaning(function), ElementsAre("value"));
}

INSTANTIATE_TEST_SUITE_P(Members, NewerLibcxx, testing::Values("__rep __rep_;", "struct { __rep __value_; } __r_;"));

constexpr const char *of_library = R"(
#include <memory>
#include <string>
#include <string_view>
#include <vector>
struct Declared;
struct Point { int x, y; };
#define CALLED __attribute__((noinline, used))
CALLED void view(std::string_view v) { asm volatile("" : : "r"(v.size())); }
CALLED void text(const std::string &s) { asm volatile("" : : "r"(&s)); }
CALLED void vectors(std::vector<int> &v, std::vector<Point> *w, std::vector<bool> &b, std::vector<Declared *> &p) { asm volatile("" : : "r"(&v), "r"(w), "r"(&b), "r"(&p)); }
struct Deleter { int state; void operator()(Point *) {} };
CALLED void pointers(std::unique_ptr<Point> &u, std::shared_ptr<Point> *s, std::unique_ptr<Point, void (*)(Point *)> &f, std::unique_ptr<Point, Deleter> &d)
{ asm volatile("" : : "r"(&u), "r"(s), "r"(&f), "r"(&d)); }
int main() {
	std::string s; std::vector<int> v; std::vector<Point> w; std::vector<bool> b; std::vector<Declared *> p; std::unique_ptr<Point> u; std::shared_ptr<Point> t;
	std::unique_ptr<Point, void (*)(Point *)> f(nullptr, nullptr); std::unique_ptr<Point, Deleter> d;
	view(s); text(s); vectors(v, &w, b, p); pointers(u, &t, f, d);
}
)";

class OfLibrary : public testing::TestWithParam<const char *> {
protected:
    // The function of that name, whatever it takes.
    static std::string function(const DescribedProgram &program, const std::string &name) {
        for (const auto &[title, prototype] : program.prototypes())
            if (title.starts_with(name + '('))
                return title;
        return name;
    }

    static bool is_libcxx() { return std::string(GetParam()).find("libc++") != std::string::npos; }

    // The registers of a std::string_view.
    static std::array<std::uint64_t, 2> view_of(std::uint64_t at, std::uint64_t size) { return is_libcxx() ? std::array{at, size} : std::array{size, at}; }
};

TEST_P(OfLibrary, ClassesHaveMeanings) {
    DescribedProgram program(of_library, ".cpp", GetParam());
    program.read();
    ProgramValues values(of_library, ".cpp", GetParam());
    EXPECT_THAT(values.meaning(function(program, "view")), ElementsAre("value"));
    EXPECT_THAT(values.meaning(function(program, "text")), ElementsAre("value"));
    const std::string vectors = function(program, "vectors"), pointers = function(program, "pointers");
    EXPECT_THAT(values.meaning(vectors, 0), ElementsAre("value", "size"));
    EXPECT_THAT(values.meaning(vectors, 1), ElementsAre("value", "size"));
    EXPECT_THAT(values.meaning(vectors, 2), ElementsAre("size"));
    EXPECT_THAT(values.meaning(vectors, 3), ElementsAre("value", "size"));
    EXPECT_THAT(values.meaning(pointers, 0), ElementsAre("ptr"));
    EXPECT_THAT(values.meaning(pointers, 1), ElementsAre("ptr"));
    FakeMemory memory;
    memory.put(object_at, std::array<std::uint64_t, 3>{11, 22, 33});
    // libstdc++ has the last one of a tuple first. Of libc++'s pair, two parts may have one name.
    EXPECT_EQ(values.meant(pointers, 2, memory), is_libcxx() ? 11u : 22u);
    EXPECT_EQ(values.meant(pointers, 3, memory), is_libcxx() ? std::nullopt : std::optional(22u));
    EXPECT_THAT(values.refusal(vectors, "str(v)"), HasSubstr("no pointer to characters"));
    EXPECT_THAT(values.refusal(function(program, "view"), "str(v) + 1"), HasSubstr("recorded"));
}

constexpr const char *containers_of_library = R"(
#include <list>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#define CALLED __attribute__((noinline, used))
CALLED void sizes(std::map<int, int> &m, std::multiset<long> *s, std::unordered_map<int, int> &u, std::list<int> &l) { asm volatile("" : : "r"(&m), "r"(s), "r"(&u), "r"(&l)); }
CALLED void maybe(std::optional<int> &o) { asm volatile("" : : "r"(&o)); }
int main() { std::map<int, int> m; std::multiset<long> s; std::unordered_map<int, int> u; std::list<int> l; std::optional<int> o; sizes(m, &s, u, l); maybe(o); }
)";

TEST_P(OfLibrary, ContainersHaveSizes) {
    DescribedProgram program(containers_of_library, ".cpp", GetParam());
    program.read();
    ProgramValues values(containers_of_library, ".cpp", GetParam());
    const std::string sizes = function(program, "sizes");
    for (std::uint32_t parameter = 0; parameter < 4; parameter++) {
        const bool is_old_list = parameter == 3 && std::string(GetParam()).find("CXX11_ABI=0") != std::string::npos; // counts its elements
        EXPECT_THAT(values.meaning(sizes, parameter), ElementsAreArray(is_old_list ? std::vector<std::string>() : std::vector<std::string>{"size"})) << parameter;
    }
    EXPECT_THAT(values.meaning(function(program, "maybe")), ElementsAre("value", "has_value"));
}

// The characters of a view are all that there may be.
TEST_P(OfLibrary, ViewsEndWhereTheySay) {
    DescribedProgram program(of_library, ".cpp", GetParam());
    program.read();
    ProgramValues values(of_library, ".cpp", GetParam());
    FakeMemory memory;
    memory.put(text_at, "view", 4);
    const std::string name = function(program, "view");
    EXPECT_EQ(values.value(name, "str(v)", memory, view_of(text_at, 4)), "view");
    EXPECT_EQ(values.value(name, "str(v)", memory, view_of(text_at, 0)), "");
    EXPECT_EQ(values.value(name, "str(v)", memory, view_of(text_at, 5)), "?");
    EXPECT_EQ(values.value(name, "str(v) == \"view\"", memory, view_of(text_at, 4)), std::string("\1\0\0\0", 4));
    EXPECT_EQ(values.value(name, "str(v) == \"vie\"", memory, view_of(text_at, 4)), std::string("\0\0\0\0", 4));
    EXPECT_EQ(values.value(name, "str(v) != \"vie\"", memory, view_of(text_at, 4)), std::string("\1\0\0\0", 4));
    EXPECT_EQ(values.value(name, "str(v) ~ \"vi*\"", memory, view_of(text_at, 2)), std::string("\1\0\0\0", 4));
    EXPECT_EQ(values.value(name, "str(v) ~ \"vie*\"", memory, view_of(text_at, 2)), std::string("\0\0\0\0", 4));
    EXPECT_EQ(values.value(name, "str(v) == \"\"", memory, view_of(0, 0)), std::string("\1\0\0\0", 4));
    EXPECT_THAT(values.refusal(name, "str(v) ~ \"*ew\""), HasSubstr("str(v) has a length of its own"));
}

std::string as_int(std::int32_t number) {
    return std::string(reinterpret_cast<const char *>(&number), sizeof(number));
}

// A pointer to a vector has vectors as its elements, and a reference those of the vector. Behind the last one is nothing.
TEST_P(OfLibrary, ElementsAreOfWhatReferencesReferTo) {
    DescribedProgram program(of_library, ".cpp", GetParam());
    program.read();
    ProgramValues values(of_library, ".cpp", GetParam());
    const std::string vectors = function(program, "vectors");
    FakeMemory memory;
    memory.put(object_at, std::array<std::uint64_t, 3>{text_at, text_at + 12, text_at + 16});
    memory.put(text_at, std::array<std::int32_t, 4>{10, 20, 30, 40});
    const auto value = [&](const std::string &expression) { return values.value(vectors, expression, memory, {object_at, object_at}); };
    EXPECT_EQ(value("v[0]"), as_int(10));
    EXPECT_EQ(value("v[2]"), as_int(30));
    EXPECT_EQ(value("v[3]"), "?");
    EXPECT_EQ(value("v[-1]"), "?");
    EXPECT_EQ(value("v[v[0] / 10]"), as_int(20));
    EXPECT_EQ(value("w[0][0].y"), as_int(20));
    EXPECT_EQ(value("(*w)[0].y"), as_int(20));
    EXPECT_EQ(value("(*w)[1].y"), "?") << "twelve bytes have one whole element";
    EXPECT_THAT(values.refusal(vectors, "b[0]"), HasSubstr("b is neither an array nor a pointer")) << "bits have no addresses";
}

TEST_P(OfLibrary, CharactersAreElements) {
    DescribedProgram program(of_library, ".cpp", GetParam());
    program.read();
    ProgramValues values(of_library, ".cpp", GetParam());
    FakeMemory memory;
    memory.put(text_at, "view", 4);
    const auto value = [&](const std::string &expression) {
        return values.value(function(program, "view"), expression, memory, view_of(text_at, 4));
    };
    EXPECT_EQ(value("v[1]"), "i");
    EXPECT_EQ(value("v[4]"), "?");
}

std::string as_long(std::int64_t number) {
    return std::string(reinterpret_cast<const char *>(&number), sizeof(number));
}

// By what the table of types says of it, or as its own methods are called.
TEST_P(OfLibrary, ContainersSayHowLongTheyAre) {
    DescribedProgram program(of_library, ".cpp", GetParam());
    program.read();
    ProgramValues values(of_library, ".cpp", GetParam());
    const std::string vectors = function(program, "vectors"), view = function(program, "view");
    FakeMemory memory;
    memory.put(object_at, std::array<std::uint64_t, 3>{text_at, text_at + 12, text_at + 16});
    for (const char *expression : {"len(v)", "v.size()"})
        EXPECT_EQ(values.value(vectors, expression, memory), as_long(3)) << expression;
    EXPECT_EQ(values.value(vectors, "v.empty()", memory), as_int(0));
    EXPECT_EQ(values.value(vectors, "v.size() - 1", memory), as_long(2));
    EXPECT_EQ(values.value(view, "v.length()", memory, view_of(text_at, 4)), as_long(4));
    EXPECT_EQ(values.value(view, "v.empty() || v.size() == 4", memory, view_of(text_at, 4)), as_int(1));
    memory.put(text_at, "view", 4);
    EXPECT_EQ(values.value(view, "v.c_str()", memory, view_of(text_at, 4)), "view");
    EXPECT_THAT(values.refusal(vectors, "v.back()"), HasSubstr("back() cannot be called"));
    EXPECT_THAT(values.refusal(vectors, "v.size(1)"), HasSubstr("no operands"));
    EXPECT_THAT(values.refusal(vectors, "len(v[0])"), HasSubstr("v[0] is a int"));
}

constexpr const char *with_members = R"(
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>
struct Money { long cents; int currency; };
enum class Kind { book = 1 };
struct Base { int id; };
struct Item : Base { std::string name; Kind kind; Money price; std::unique_ptr<int> tag; std::vector<std::string> words; double weight; struct { std::string inner; } more; std::pair<int, std::string> both; std::shared_ptr<int> shared; };
struct Plain { int a; char text[8]; struct Plain *next; const char *title; char *room; long many[20]; };
__attribute__((noinline, used)) void f(const Item &item, Item *pointer, Plain *plain, std::string &s, int *n, std::tuple<int> *t) { asm volatile("" : : "r"(&item), "r"(pointer), "r"(plain), "r"(&s), "r"(n), "r"(t)); }
int main() { Item i{}; Plain p{}; std::string s; int n = 0; std::tuple<int> t; f(i, &i, &p, s, &n, &t); }
)";

// What a program's own structs have is shown, with the texts that it holds.
TEST_P(OfLibrary, MembersAreShownWithWhatTheyMean) {
    ProgramValues values(with_members, ".cpp", GetParam());
    DescribedProgram program(with_members, ".cpp", GetParam());
    program.read();
    const std::string f = function(program, "f");
    const auto of_item = ElementsAre("x.id", "x.name", "x.kind", "x.price", "x.words.size", "x.weight", "x.more.inner", "x.both.first");
    EXPECT_THAT(values.members(f, 0), of_item);
    EXPECT_THAT(values.members(f, 1), of_item);
    EXPECT_THAT(values.members(f, 2), ElementsAre("x.a", "x.text", "x.next", "x.title", "x.title.value", "x.room"));
    EXPECT_THAT(values.members(f, 3), IsEmpty()) << "it has a meaning";
    EXPECT_THAT(values.members(f, 4), IsEmpty());
    EXPECT_THAT(values.members(f, 5), IsEmpty()) << "it is the library's";
    EXPECT_EQ(values.refusal(f, "item.name"), "none");
    EXPECT_EQ(values.refusal(f, "item.name == \"x\""), "none");
}

// What has no room in registers is at the address that the function returns.
TEST_P(OfLibrary, ResultsInMemoryAreRead) {
    constexpr const char *source = "#include <string>\n#include <vector>\nstruct Big { long a, b, c; };\n"
                                   "__attribute__((noinline, used)) Big big(int n) { return {n, n, n}; }\n"
                                   "__attribute__((noinline, used)) std::vector<int> several(int n) { return std::vector<int>(n, n); }\n"
                                   "int main() { return big(1).a + several(2).size(); }\n";
    ProgramValues values(source, ".cpp", GetParam());
    FakeMemory memory;
    memory.put(object_at, std::array<std::uint64_t, 3>{text_at, text_at + 8, 33});
    memory.put(text_at, std::array<std::int32_t, 4>{10, 20, 30, 40});
    EXPECT_EQ(values.value_at_return("big(int)", "ret.c == 33", memory), as_int(1));
    EXPECT_EQ(values.value_at_return("big(int)", "ret", memory).size(), 24u);
    EXPECT_EQ(values.value_at_return("several(int)", "ret[1]", memory), as_int(20));
    EXPECT_EQ(values.value_at_return("several(int)", "ret[2]", memory), "?");
}

INSTANTIATE_TEST_SUITE_P(Compiled, OfLibrary,
                         testing::Values("g++ -std=c++17 -g -O0", "g++ -std=c++17 -g -O2", "g++ -std=c++17 -g -D_GLIBCXX_USE_CXX11_ABI=0",
                                         "clang++ -std=c++17 -g -fstandalone-debug", "clang++ -stdlib=libc++ -nostdlib++ -Wl,-l:libc++.so.1,-l:libc++abi.so.1 -std=c++17 -g"));

// Lines of one's own, of C as of C++. The first that can be resolved counts.
TEST(ProgramRows, AreOfWhatAnArgumentIsOrPointsTo) {
    ProgramValues values("struct message { const char *text; long size; }; struct other { int x; };\n"
                         "__attribute__((noinline)) void f(struct message *pointer, struct message value, struct other *o) { }\n"
                         "int main(void) { struct message m = {0}; f(&m, m, 0); return 0; }",
                         ".c", "gcc -g -O0");
    values.add("program mess*: text(it.text, it.length) as gone\nprogram message: text(it.text, it.size), it.size\nprogram other: it.x as it\n");
    EXPECT_THAT(values.meaning("f", 0), ElementsAre("text", "size"));
    EXPECT_THAT(values.meaning("f", 1), ElementsAre("text", "size"));
    FakeMemory memory;
    memory.put(object_at, std::array<std::uint64_t, 2>{text_at, 3});
    memory.put(text_at, "abcd", 4);
    EXPECT_EQ(values.value("f", "str(pointer) as x", memory), "abc");
    EXPECT_EQ(values.value("f", "str(*pointer) as x", memory), "abc");
    EXPECT_THAT(values.refusal("f", "str(o)"), HasSubstr("no pointer to characters"));
    EXPECT_THAT(values.refusal("f", "pointer.size"), HasSubstr("write '->'")) << "only of what a line says";
}

// As C++ has them, by the enum or by what that is in, in whole or the last of it.
TEST(ProgramEnumerators, HaveTheirScopes) {
    ProgramValues values("namespace app { enum class Level { low, high = 5 }; enum class Mood { low = 3, high }; enum Color { red = 7 };\n"
                         "struct Box { int n; enum Kind { small = 2 }; }; }\n"
                         "__attribute__((noinline)) void f(app::Level l, app::Mood m, app::Color c, app::Box::Kind k, app::Box *b) { }\n"
                         "int main() { f(app::Level::low, app::Mood::low, app::red, app::Box::small, nullptr); }",
                         ".cpp", "g++ -g -O0");
    const std::string f = "f(app::Level, app::Mood, app::Color, app::Box::Kind, app::Box*)";
    const auto value = [&](const std::string &expression) { return values.value(f, expression, FakeMemory(), {5, 4}); };
    EXPECT_EQ(value("l == Level::high"), as_int(1));
    EXPECT_EQ(value("l == app::Level::low"), as_int(0));
    EXPECT_EQ(value("m == app::Mood::high && m == Mood::high"), as_int(1));
    EXPECT_EQ(value("app::red + app::Color::red + Color::red + red"), as_int(28));
    EXPECT_EQ(value("app::Box::small + Box::small + Kind::small + Box::Kind::small"), as_int(8));
    EXPECT_EQ(value("sizeof(app::Box) == 4 && sizeof(struct app::Box) == 4"), as_int(1));
    EXPECT_EQ(values.refusal(f, "((app::Box *)b)->n + ((app::Box *)l)->n"), "none");
    EXPECT_THAT(values.refusal(f, "l == high"), HasSubstr("of the values 4, 5: write which is meant: app::Level::high, app::Mood::high"));
    EXPECT_THAT(values.refusal(f, "l == app::Level::hihg"), HasSubstr("did you mean app::Level::high?"));
    EXPECT_THAT(values.refusal(f, "l == app::Level::other"), HasSubstr("app::Level has low, high"));
    EXPECT_THAT(values.refusal(f, "l == app::high"), HasSubstr("no builtin or constant"));
}

// Members of references are written as those of what they refer to; and as those of pointers.
TEST(ProgramStructs, HaveMembersByReferences) {
    ProgramValues values("struct S { long a, b; S *next; }; __attribute__((noinline)) void f(S &s, S *p) { } int main() { S s; f(s, &s); }", ".cpp", "g++ -g -O0");
    FakeMemory memory;
    memory.put(object_at, std::array<std::uint64_t, 3>{11, 22, object_at});
    EXPECT_EQ(values.value("f(S&, S*)", "s.b == 22 && s->b == 22 && s.next->a == 11", memory), as_int(1));
    EXPECT_THAT(values.refusal("f(S&, S*)", "p.b"), HasSubstr("write '->'"));
    EXPECT_THAT(values.refusal("f(S&, S*)", "s[0].b"), HasSubstr("neither an array nor a pointer"));
}

// As AAPCS64 has an aggregate of three floating-point numbers, each in a register of its own, of which the lower half is the number.
TEST(ProgramStructs, AreWholeOutOfHalvesOfRegisters) {
    ProgramValues values("struct triple { int a, b, c; }; __attribute__((noinline)) void f(struct triple t) { } int main(void) { struct triple t = {0}; f(t); return 0; }", ".c",
                         "gcc -g -O0");
    lang::Scope scope = values.scope("f");
    const std::optional<UserOperand> in_three = UserOperand{.kind = UserOperand::Kind::parts, .parts = {{0, 4, false, 0}, {4, 4, false, 1}, {8, 4, false, 2}}};
    scope.set_operands({&in_three, 1});
    const lang::Program compiled = lang::compile(scope, {}, lang::parse_values("t, t.b"));
    const FakeMemory memory;
    ProgramInterpreter interpreter(compiled, memory);
    EXPECT_EQ(interpreter.verify(), "");
    FakeCall call;
    const std::uint64_t registers[] = {0xffffffff00000001, 0xffffffff00000002, 0xffffffff00000003};
    std::ranges::copy(registers, call.registers);
    const auto found = interpreter.values(call);
    EXPECT_EQ(found.at(0).bytes, std::string("\1\0\0\0\2\0\0\0\3\0\0\0", 12));
    EXPECT_EQ(found.at(1).bytes, std::string("\2\0\0\0", 4));
}

} // namespace
} // namespace argtrace
