// SPDX-License-Identifier: GPL-2.0-only

// Whether expressions mean what they mean in C: generated ones are compiled by gcc and by us, and
// both are computed with the same arguments.

#include "lang/arithmetic.h"

#include <random>

#include <gmock/gmock.h>

#include "lang/compile.h"
#include "lang/expression_error.h"
#include "model/type.h"
#include "support/compiled_c.h"
#include "support/program_interpreter.h"

namespace argtrace::lang {
namespace {

struct ParameterType {
    const char *c;
    unsigned bytes;
    bool is_signed;
};

// The types of the arguments a, b, c ... f: narrow and wide, signed and unsigned.
constexpr ParameterType parameter_types[]{
    {"int", 4, true},   {"unsigned int", 4, false},  {"long", 8, true}, {"unsigned long", 8, false},
    {"short", 2, true}, {"unsigned char", 1, false},
};

constexpr const char *edge_values[]{
    "0",
    "1",
    "-1",
    "2",
    "7",
    "100",
    "127",
    "128",
    "255",
    "32767",
    "32768",
    "65535",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-128",
    "-32768",
    "-2147483648",
    "-9223372036854775807",
};

class Generator {
public:
    explicit Generator(unsigned seed) : random_(seed) {}

    // Operands and operators one behind the other: what belongs together is for the parsers.
    std::string expression(int depth = 0) {
        std::string text = operand(depth);
        const int operators = pick(depth == 0 ? 5 : 3);
        for (int i = 0; i < operators; i++) {
            constexpr const char *names[]{"+", "-",  "*", "&",  "|",  "^",  "<<", ">>",
                                          "<", "<=", ">", ">=", "==", "!=", "&&", "||"};
            const char *op = names[pick(16)];
            const bool shifts = op[0] == op[1] && (op[0] == '<' || op[0] == '>');
            text += fmt::format(" {} {}", op, shifts ? std::to_string(pick(31)) : operand(depth));
        }
        if (pick(8) == 0)
            text += fmt::format(" ? {} : {}", expression(depth + 1), expression(depth + 1));
        return text;
    }

    std::uint64_t value() {
        if (pick(3) == 0)
            return std::uint64_t{random_()} << 32 | random_();
        return std::strtoull(edge_values[pick(std::size(edge_values))], nullptr, 10);
    }

private:
    int pick(std::size_t count) { return static_cast<int>(random_() % count); }

    std::string operand(int depth) {
        switch (depth > 3 ? pick(2) : pick(9)) {
        case 0:
        case 1:
        case 2:
            return std::string(1, static_cast<char>('a' + pick(6)));
        case 3: {
            constexpr const char *numbers[]{
                "0",          "1",          "3u",          "5l",
                "0x80000000", "2147483648", "4294967295",  "0xffffffffffffffff",
                "017",        "'z'",        "12345678901", "7ul",
                "'\\xff'",    "'\\200'",    "0x7fffffff"};
            return numbers[pick(std::size(numbers))];
        }
        case 4: {
            constexpr const char *operators[]{"-", "~", "!", "+"};
            return fmt::format("{} {}", operators[pick(4)], operand(depth + 1));
        }
        case 5: {
            constexpr const char *types[]{"int",
                                          "unsigned int",
                                          "long",
                                          "unsigned long",
                                          "char",
                                          "short",
                                          "unsigned char",
                                          "_Bool",
                                          "unsigned short",
                                          "signed char",
                                          "long long unsigned int"};
            return fmt::format("({}){}", types[pick(std::size(types))], operand(depth + 1));
        }
        case 6: // no division by zero, and none that overflows: C does not define them
            return fmt::format("({} {} {})", operand(depth + 1), pick(2) ? "/" : "%",
                               pick(2) ? "7" : "(long)-3");
        default:
            return "(" + expression(depth + 1) + ")";
        }
    }

    std::mt19937 random_;
};

Prototype prototype_of(const btf *types, std::uint32_t proto) {
    Prototype prototype;
    prototype.function = "f";
    prototype.source = {types, proto};
    return prototype;
}

// Linux 6.2 and later have an unsigned char.
class Arithmetic : public testing::TestWithParam<const char *> {};

INSTANTIATE_TEST_SUITE_P(Chars, Arithmetic, testing::Values("signed", "unsigned"),
                         [](const auto &info) { return std::string(info.param); });

TEST_P(Arithmetic, IsThatOfTheCompiler) {
    const char *seed_text = std::getenv("ARGTRACE_TEST_SEED");
    const unsigned seed = seed_text ? std::strtoul(seed_text, nullptr, 10) : 20261123;
    Generator generator(seed);
    constexpr int expressions = 1500;
    constexpr int calls = 12;

    std::string source = "char character;\n", parameters; // whose type is described then
    for (std::size_t i = 0; i < std::size(parameter_types); i++)
        parameters +=
            fmt::format("{}{} {}", i ? ", " : "", parameter_types[i].c, static_cast<char>('a' + i));
    std::vector<std::string> texts;
    for (int i = 0; i < expressions; i++) {
        texts.push_back(generator.expression());
        // Its value, and the type that it has: size and sign.
        source += fmt::format("unsigned long v{0}({1}) {{ return (unsigned long)({2}); }}\n"
                              "int t{0}({1}) {{ return 2 * sizeof({2}) + "
                              "((__typeof__({2}))-1 < 0); }}\n",
                              i, parameters, texts.back());
    }
    const CompiledC compiled(source, fmt::format("-O0 -fwrapv -f{}-char", GetParam()));
    ASSERT_TRUE(compiled.good());
    const Types types(compiled.types());

    // The compiler's own description of the function that has these parameters.
    const std::int32_t function = btf__find_by_name_kind(compiled.types(), "v0", BTF_KIND_FUNC);
    ASSERT_GT(function, 0) << "pahole describes no functions";
    const std::uint32_t proto =
        btf__type_by_id(compiled.types(), static_cast<std::uint32_t>(function))->type;
    std::vector<Argument> places;
    for (std::uint8_t i = 0; i < std::size(parameter_types); i++) {
        Argument place;
        place.loc = ARGTRACE_LOC_REG;
        place.index = i;
        place.name = std::string(1, static_cast<char>('a' + i));
        places.push_back(place);
    }
    const Scope scope(types, prototype_of(compiled.types(), proto), places);

    const FakeMemory memory;
    int compared = 0, refused = 0;
    for (int i = 0; i < expressions && !testing::Test::HasFailure(); i++) {
        const std::string &text = texts[static_cast<std::size_t>(i)];
        SCOPED_TRACE(text);
        Program value, condition;
        try {
            const ParsedArguments parsed = parse_arguments("(" + text + ")", 0);
            value = compile(scope, {}, parsed.arguments);
            const Expression whole = parse_condition(text);
            condition = compile(scope, std::span(&whole, 1), {});
        } catch (const ExpressionError &error) {
            refused++;
            EXPECT_THAT(error.sentence(), testing::AnyOf(testing::HasSubstr("binds less tightly"),
                                                         testing::HasSubstr("cannot be shifted"),
                                                         testing::HasSubstr("nested too deeply")));
            continue;
        }
        ProgramInterpreter computed(value, memory), decided(condition, memory);
        ASSERT_EQ(computed.verify(), "");
        ASSERT_EQ(decided.verify(), "");
        const TypeInfo &shown = type_info(value.values.at(0).type);
        auto *type_of =
            compiled.function<int(int, unsigned, long, unsigned long, short, unsigned char)>(
                fmt::format("t{}", i).c_str());
        EXPECT_EQ(2 * shown.size + shown.is_signed, type_of(0, 0, 0, 0, 0, 0))
            << value.values[0].type_name;
        auto *expected =
            compiled
                .function<unsigned long(int, unsigned, long, unsigned long, short, unsigned char)>(
                    fmt::format("v{}", i).c_str());
        for (int n = 0; n < calls; n++) {
            FakeCall call;
            for (std::uint64_t &one : call.registers) // with rubbish above what is narrow
                one = generator.value();
            const std::uint64_t *r = call.registers;
            const std::uint64_t wanted = expected(
                static_cast<int>(r[0]), static_cast<unsigned>(r[1]), static_cast<long>(r[2]), r[3],
                static_cast<short>(r[4]), static_cast<unsigned char>(r[5]));
            const auto outputs = computed.values(call);
            ASSERT_EQ(outputs.size(), 1u);
            ASSERT_TRUE(outputs[0].readable);
            const std::uint64_t found =
                extend(outputs[0].as<std::uint64_t>(), 8 * shown.size, shown.is_signed);
            ASSERT_EQ(found, wanted) << fmt::format("{:#x}", fmt::join(call.registers, " "));
            ASSERT_EQ(decided.accepts(call), std::optional(wanted != 0))
                << fmt::format("{:#x}", fmt::join(call.registers, " "));
            compared++;
        }
    }
    EXPECT_GT(compared, expressions * calls / 2) << "seed " << seed;
    RecordProperty("compared", compared);
    RecordProperty("refused", refused);
}

TEST(Compute, WhatTheModuleDefines) {
    const auto min = std::uint64_t{1} << 63;
    EXPECT_EQ(compute(ARGTRACE_ALU_DIV, min, ~std::uint64_t{0}, 8, true), min);
    EXPECT_EQ(compute(ARGTRACE_ALU_MOD, min, ~std::uint64_t{0}, 8, true), 0u);
    EXPECT_EQ(compute(ARGTRACE_ALU_DIV, 0x80000000, 0xffffffff, 4, true), 0xffffffff80000000u);
    EXPECT_EQ(compute(ARGTRACE_ALU_DIV, 1, 0, 8, true), std::nullopt);
    EXPECT_EQ(compute(ARGTRACE_ALU_MOD, 1, std::uint64_t{1} << 32, 4, false), std::nullopt);
    EXPECT_EQ(compute(ARGTRACE_ALU_SHL, 1, 33, 4, false), 2u);
    EXPECT_EQ(compute(ARGTRACE_ALU_SHR, min, 65, 8, true), 0xc000000000000000u);
    EXPECT_EQ(compute(ARGTRACE_ALU_LT, ~std::uint64_t{0}, 0, 8, true), 1u);
    EXPECT_EQ(compute(ARGTRACE_ALU_LT, ~std::uint64_t{0}, 0, 8, false), 0u);
}

} // namespace
} // namespace argtrace::lang
