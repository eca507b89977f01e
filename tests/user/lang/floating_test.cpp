// SPDX-License-Identifier: GPL-2.0-only

// Conditions on floating-point numbers hold for those for which they hold in C.

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "lang/compile.h"
#include "lang/disassemble.h"
#include "support/lang_kernel.h"
#include "support/program_interpreter.h"
#include "support/thrown.h"

namespace argtrace::lang {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double infinity = std::numeric_limits<double>::infinity();

const std::vector<double> &numbers() {
    static const std::vector<double> all = [] {
        std::vector<double> numbers;
        const float some[] = {0.1f, 1.1f, 16777216.0f, std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min()};
        for (const double one : {0.0, 1.0, 1.5, 2.0, 1.1, 0.1, 1e20, 1e300, 1e-300, std::numeric_limits<double>::denorm_min(),
                                 std::numeric_limits<double>::max(), infinity})
            numbers.insert(numbers.end(), {one, -one});
        for (const float one : some)
            numbers.insert(numbers.end(), {one, -one, std::nextafter(one, 0.0f), std::nextafter(-one, 0.0f)});
        numbers.push_back(std::numeric_limits<double>::quiet_NaN());
        numbers.push_back(-std::numeric_limits<double>::quiet_NaN());
        return numbers;
    }();
    return all;
}

/// The parameters x, y, f and g of blend().
FakeCall floating_call(double x, double y) {
    FakeCall call;
    call.vectors[0] = std::bit_cast<std::uint64_t>(x);
    call.vectors[1] = std::bit_cast<std::uint64_t>(y);
    // What is above a float in its register means nothing.
    call.vectors[2] = 0xdeadbeef00000000 | std::bit_cast<std::uint32_t>(static_cast<float>(x));
    call.vectors[3] = 0x1234567800000000 | std::bit_cast<std::uint32_t>(static_cast<float>(y));
    return call;
}

Program user_condition(const std::string &text) {
    const Expression expression = parse_condition(text);
    return compile(SmallKernel::get().user_scope("blend"), std::span(&expression, 1), {});
}

Program user_values(const char *function, const std::string &text, bool returns = false) {
    const ParsedArguments parsed = parse_arguments("(" + text + ")", 0);
    Scope scope = SmallKernel::get().user_scope(function);
    if (returns)
        scope.set_result(scope.types().result(SmallKernel::get().prototype(function).source.id));
    return compile(scope, {}, parsed.arguments);
}

std::string refused_of_blend(const std::string &text, bool returns = false) {
    return thrown([&] { user_values("blend", text, returns); });
}

bool holds(double a, const std::string &op, double b) {
    return op == "<" ? a < b : op == "<=" ? a <= b : op == ">" ? a > b : op == ">=" ? a >= b : op == "==" ? a == b : a != b;
}

constexpr const char *operators[] = {"<", "<=", ">", ">=", "==", "!="};

void expect_verdict(const Program &program, const std::string &text, double x, double y, bool expected) {
    const FakeMemory memory;
    ProgramInterpreter interpreter(program, memory);
    ASSERT_EQ(interpreter.verify(), "") << text;
    EXPECT_EQ(interpreter.accepts(floating_call(x, y)), expected) << text << " of " << x << " and " << y;
}

TEST(Floating, AreComparedWithNumbersAsCDoes) {
    const std::pair<const char *, double> constants[] = {
        {"0", 0},        {"-0.0", -0.0},     {"1", 1},         {"-1", -1},           {"1.5", 1.5},      {"-1.5", -1.5},     {"0.1", 0.1},
        {"1.1f", 1.1f},  {"1e300", 1e300},   {"-1e300", -1e300}, {"1e-300", 1e-300}, {"16777217", 16777217.0}, {"-0.1", -0.1},
        {"3.4e38", 3.4e38}, {"1e-46", 1e-46}, {"0xffffffffffffffff", 18446744073709551616.0},
    };
    for (const auto &[text, constant] : constants)
        for (const std::string op : operators) {
            const std::string of_double = fmt::format("x {} {}", op, text), of_float = fmt::format("f {} {}", op, text);
            const std::string mirrored = fmt::format("{} {} f", text, op), opposite = fmt::format("!(x {} {})", op, text);
            const Program programs[] = {user_condition(of_double), user_condition(of_float), user_condition(mirrored), user_condition(opposite)};
            for (const double x : numbers()) {
                const double f = static_cast<float>(x);
                expect_verdict(programs[0], of_double, x, 0, holds(x, op, constant));
                expect_verdict(programs[1], of_float, x, 0, holds(f, op, constant));
                expect_verdict(programs[2], mirrored, x, 0, holds(constant, op, f));
                expect_verdict(programs[3], opposite, x, 0, !holds(x, op, constant));
            }
        }
}

TEST(Floating, AreComparedWithEachOther) {
    for (const std::string op : operators) {
        const std::string of_doubles = fmt::format("x {} y", op), of_floats = fmt::format("f {} g", op);
        const Program doubles = user_condition(of_doubles), floats = user_condition(of_floats);
        for (const double x : numbers())
            for (const double y : numbers()) {
                expect_verdict(doubles, of_doubles, x, y, holds(x, op, y));
                expect_verdict(floats, of_floats, x, y, holds(static_cast<float>(x), op, static_cast<float>(y)));
            }
    }
}

TEST(Floating, AreTrueButForZero) {
    for (const double x : numbers()) {
        expect_verdict(user_condition("x"), "x", x, 0, x != 0);
        expect_verdict(user_condition("!f"), "!f", x, 0, static_cast<float>(x) == 0);
        expect_verdict(user_condition("x && y"), "x && y", x, x, x != 0);
        expect_verdict(user_condition("x > 1 || f < -1.0"), "x > 1 || f < -1.0", x, 0, x > 1 || static_cast<float>(x) < -1.0);
        expect_verdict(user_condition("(x > 1 ? n + 1 : n) == 1"), "conditional", x, 0, x > 1);
        expect_verdict(user_condition("(x <= y) + 1 == 2"), "as a number", x, 1, x <= 1);
    }
}

TEST(Floating, AreRecordedAsWhatTheyAre) {
    const Program program = user_values("blend", "x, f, n, p->real, p->u_float as u, reg(\"xmm3\") as v");
    ASSERT_EQ(program.values.size(), 6u);
    EXPECT_EQ(program.values[0].type, ARGTRACE_TYPE_F64);
    EXPECT_EQ(program.values[1].type, ARGTRACE_TYPE_F32);
    EXPECT_EQ(program.values[1].size, 4u);
    EXPECT_EQ(program.values[3].type, ARGTRACE_TYPE_F64);
    EXPECT_EQ(program.values[4].type, ARGTRACE_TYPE_F32);
    EXPECT_EQ(program.values[5].type, ARGTRACE_TYPE_F64);
    const FakeMemory memory;
    ProgramInterpreter interpreter(program, memory);
    ASSERT_EQ(interpreter.verify(), "");
    const auto values = interpreter.values(floating_call(-2.5, 0));
    ASSERT_EQ(values.size(), 6u);
    EXPECT_EQ(values[0].as<double>(), -2.5);
    EXPECT_EQ(values[1].as<float>(), -2.5f);
}

TEST(Floating, AreKnownOnlyWhenTheFunctionIsEntered) {
    const Program program = user_values("blend", "x, ret, ret > 1.5 as large", true);
    EXPECT_FALSE(program.insns.at(0).flags & ARGTRACE_INSN_RETURN);
    EXPECT_EQ(program.values.at(1).type, ARGTRACE_TYPE_F64);
    FakeCall call = floating_call(1, 0);
    call.returned[ARGTRACE_RETURN_VECTOR] = std::bit_cast<std::uint64_t>(1.75);
    const FakeMemory memory;
    ProgramInterpreter interpreter(program, memory);
    ASSERT_EQ(interpreter.verify(), "");
    const auto values = interpreter.values(call);
    ASSERT_EQ(values.size(), 3u);
    EXPECT_EQ(values[0].as<double>(), 1.0);
    EXPECT_EQ(values[1].as<double>(), 1.75);
    EXPECT_EQ(values[2].as<int>(), 1);
    EXPECT_THAT(refused_of_blend("x@ret", true), HasSubstr("is what the function was called with, and no other when it returns"));
    EXPECT_THAT(refused_of_blend("ret > x", true), HasSubstr("this is known when the function is entered alone"));
}

TEST(Floating, HaveNoArithmetic) {
    for (const char *text : {"x + 1", "-x", "~x", "x * y", "(int)x", "x % 2", "x ? x : y", "buf(p, x)", "p[x]", "x & 1", "1.5 + n"})
        EXPECT_THAT(refused_of_blend(text), HasSubstr("there is no arithmetic with it")) << text;
    EXPECT_THAT(refused_of_blend("x == f"), HasSubstr("a double is compared with another one, or with a number that is written, and not with a float"));
    EXPECT_THAT(refused_of_blend("x == n"), HasSubstr("and not with a int"));
    EXPECT_THAT(refused_of_blend("n > 1.5"), HasSubstr("is compared with whole numbers"));
    EXPECT_THAT(refused_of_blend("1.5 > 1"), HasSubstr("is the same for all calls"));
}

// Those that the registers have no room for, of whatever type.
TEST(Floating, ArgumentsOnTheStackAreReadFromTheProgramsMemory) {
    const Program program = user_values("shrink", "f, g, x, pair.first, pair, large.b, large");
    FakeMemory memory;
    FakeCall call;
    call.stack = 0x7fff00001000;
    call.registers[5] = 6;
    const struct {
        std::uint64_t returns_to;
        std::uint64_t g;
        std::int32_t first;
        std::uint32_t rest[3];
        std::int64_t large[3];
    } stack{1, 0xffffffffffff0007, -3, {}, {10, 20, 30}};
    memory.put(call.stack, stack);
    call.vectors[0] = std::bit_cast<std::uint64_t>(0.5);
    ProgramInterpreter interpreter(program, memory);
    ASSERT_EQ(interpreter.verify(), "");
    const auto values = interpreter.values(call);
    ASSERT_EQ(values.size(), 7u);
    EXPECT_EQ(values[0].as<long>(), 6);
    EXPECT_EQ(values[1].as<short>(), 7);
    EXPECT_EQ(values[2].as<double>(), 0.5);
    EXPECT_EQ(values[3].as<int>(), -3);
    EXPECT_EQ(values[5].as<long>(), 20);
    for (const std::string &line : disassemble(program))
        EXPECT_THAT(line, testing::AnyOf(HasSubstr("user"), HasSubstr("reg5"), HasSubstr("vector0"))) << "no plain load of the program's stack";
}

// A function of the kernel that is followed has a copy of them, but a user function's stack is its own.
TEST(Floating, ArgumentsOnTheStackOfAUserFunctionAreReadWhenItIsEntered) {
    const Program program = user_values("shrink", "g, large.b, ret", true);
    ASSERT_EQ(program.insns.size(), 3u);
    EXPECT_FALSE(program.insns[0].flags & ARGTRACE_INSN_RETURN);
    EXPECT_FALSE(program.insns[1].flags & ARGTRACE_INSN_RETURN);
    EXPECT_TRUE(program.insns[2].flags & ARGTRACE_INSN_RETURN);
    EXPECT_THAT(thrown([] { user_values("shrink", "g@ret", true); }), HasSubstr("is what the function was called with"));
}

} // namespace
} // namespace argtrace::lang
