// SPDX-License-Identifier: GPL-2.0-only

// Whether members, elements and pointers of every shape have the values that they have in C: the
// same expressions are compiled by gcc, and by us with the BTF that pahole makes of its types.

#include <cstring>

#include <gmock/gmock.h>

#include "lang/arithmetic.h"
#include "lang/disassemble.h"
#include "model/type.h"
#include "support/lang_kernel.h"
#include "support/program_interpreter.h"
#include "util/error.h"

namespace argtrace::lang {
namespace {

constexpr const char *shape_parameters =
    "struct shapes *p, int index, u32 unsigned_index, s8 narrow, bool flag, enum color color";

constexpr const char *shape_objects = R"(
#define container_of(p, t, m) ((t *)((char *)(p) - __builtin_offsetof(t, m)))
struct { struct shapes shapes; int more[8]; } object, other;
int ints[8] = {11, -22, 33, -44, 55, -66, 77, -88};
char letters[] = "letters";
const char *strings[] = {"one", "two"};
int called(int i) { return i; }
void fill(unsigned seed)
{
    for (unsigned i = 0; i < sizeof(object); i++) {
        ((u8 *)&object)[i] = seed = seed * 1103515245 + 12345 >> 3;
        ((u8 *)&other)[i] = seed = seed * 1103515245 + 12345 >> 5;
    }
    struct shapes *all[] = {&object.shapes, &other.shapes};
    for (int i = 0; i < 2; i++) {
        all[i]->bool_ = seed >> i & 1;
        all[i]->fields.h = seed >> (4 + i) & 1;
        all[i]->function = called; all[i]->self = all[!i]; all[i]->pint = ints + 3;
        all[i]->pchar = letters + 1; all[i]->pvoid = ints; all[i]->parray = (int (*)[4])ints;
        all[i]->list.next = &all[!i]->list; all[i]->list.prev = &all[i]->list;
        all[i]->names = strings; all[i]->address = (u64)(ints + 2);
    }
}
)";

constexpr const char *shape_expressions[]{
    "p->s8_",
    "p->u8_",
    "p->s16_",
    "p->u16_",
    "p->s32_",
    "p->u32_",
    "p->s64_",
    "p->u64_",
    "p->bool_",
    "p->char_",
    "p->color",
    "p->wide",
    "p->small",
    "p->cv",
    "p->flags",
    "(*p).u16_",
    "p[0].s16_",
    "(&*p)->s16_",
    "*&p->s16_",
    "(*&*p).u8_",
    // Arrays.
    "p->array[0]",
    "p->array[3]",
    "p->array[index]",
    "p->array[unsigned_index]",
    "*p->array",
    "*(p->array + 2)",
    "p->array[index & 1] + p->array[2 + (index & 1)]",
    "p->text[3]",
    "p->bytes[4]",
    "p->bytes[narrow & 3]",
    "&p->array[index]",
    "p->array + index",
    "p->flexible[1]",
    "&p->flexible[index]",
    "p->many[1].b",
    "p->many[index & 1].d",
    "(long)&p->array == (long)p->array",
    "&p->many[1] - &p->many[0]",
    // Bit-fields.
    "p->fields.a",
    "p->fields.b",
    "p->fields.c",
    "p->fields.d",
    "p->fields.e",
    "p->fields.f",
    "p->fields.g",
    "p->fields.h",
    "p->fields.i",
    "p->fields.j",
    "p->fields.k",
    "p->fields.l",
    "p->fields.a - 8",
    "p->fields.d < 0",
    "p->fields.d + p->fields.e",
    "-p->fields.b",
    "p->fields.c << 12",
    "(s8)p->fields.c",
    "(u64)p->fields.d",
    "!p->fields.h",
    "p->fields.a == 5",
    "p->fields.d == -3",
    "p->fields.d >= -3",
    "p->fields.b > 100",
    "p->packed.x",
    "p->packed.y",
    "p->packed.z",
    "p->packed.x + 1",
    // Unions and anonymous members.
    "p->u_int",
    "p->low",
    "p->high",
    "p->nested.inner",
    "p->nested.innermost",
    "&p->high",
    "(char *)&p->nested.innermost - (char *)p",
    // Pointers.
    "p->self",
    "p->self->u8_",
    "p->self->self->s16_",
    "p->self->self->self->self->u32_",
    "p->self->self->self->self->array[index]",
    "*p->pint",
    "p->pint[-1]",
    "p->pint[index]",
    "*(p->pint - 2)",
    "(*(int (*)[4])p->pvoid)[2]",
    "((int (*)[4])p->pvoid)[1][3]",
    "(*(const int (*const)[4])p->pvoid)[index]",
    "(int (*)[4])p->pvoid + 1",
    "sizeof(*(int (*)[4])p->pvoid)",
    "sizeof(int (*)[4])",
    "(int (*)(int))p->pvoid",
    "(void (*)(struct shapes *, int (*)(int)))p == 0",
    "(long)*(int (**)(int))&p->function == (long)p->function",
    "p->pint + 1",
    "p->pint - 1",
    "1 + p->pint",
    "p->pint + index",
    "p->pint + unsigned_index",
    "p->pint + narrow",
    "p->pint - narrow",
    "p->pint - (int *)p->pvoid",
    "(*p->parray)[2]",
    "p->parray[1][1]",
    "p->parray + 1",
    "p->pchar[1]",
    "*p->pchar == 'e'",
    "p->pvoid + 3",
    "p->function",
    "p->function == 0",
    "p->list.next == p->list.prev",
    "p->list.next->next == &p->list",
    "p->self - p->self",
    "p < p->self",
    "p->pint >= p->pint",
    "!p->self",
    "p && p->self",
    "p->names[1][2]",
    "**p->names",
    "*(int *)p->address",
    "((struct shapes *)(unsigned long)p)->u8_",
    "*(short *)&p->u64_",
    "*((u8 *)p + 5)",
    "container_of(&p->list, struct shapes, list)->u16_",
    "container_of(p->list.next, struct shapes, list)->u16_",
    "container_of(&p->nested.innermost, struct shapes, nested.innermost) == p",
    // Arguments.
    "index",
    "unsigned_index",
    "narrow",
    "flag",
    "color",
    "narrow + 1",
    "narrow < 0",
    "-narrow",
    "index < unsigned_index",
    "(u32)narrow",
    "(u64)narrow",
    "(u16)narrow >> 3",
    "(u8)index",
    "flag ? index : narrow",
    "flag ? p : 0",
    "color == BLUE",
    "color < 0",
    "color + RED",
    "(bool)index",
    "(bool)(index & 2)",
    "(bool)p",
    "!index",
    "!!index",
    "~narrow",
    "+narrow",
    "index >> 3",
    "unsigned_index >> 3",
    "narrow >> 3",
    "(index & 0xff0) >> 4",
    "index & 0xf0",
    "(u8)(index & 0xff0)",
    "(s8)(index & 0xff)",
    "(index >> 4 & 7) == 3",
    "(narrow & -16) >> 2",
    "(u64)narrow >> 60",
    "(u32)narrow >> 28",
    "(long)unsigned_index >> 31",
    "(s64)(u64)p >> 40",
    "index / 7",
    "index % 7",
    "unsigned_index / 7",
    "index / (narrow | 1)",
    "unsigned_index % (flag + 2)",
    // Sizes and constants.
    "sizeof(struct shapes)",
    "sizeof(*p)",
    "sizeof p->fields",
    "sizeof(p->array)",
    "sizeof(u16)",
    "sizeof p->array[0]",
    "sizeof(\"text\")",
    "sizeof(p)",
    "sizeof(int *)",
    "sizeof(enum wide)",
    "sizeof(enum small_enum)",
    "sizeof(size_t) * 2",
    "sizeof(struct pair)",
    "sizeof('a')",
    "GREEN",
    "BLUE",
    "WIDE",
    "SMALL",
    "WIDE >> 4",
    "BLUE < 0",
    "BIG",
    "BIG > 0",
    "BIG + BIG",
    // Wholes.
    "p->u8_ + p->s8_ * p->u16_ - p->s32_ / 3",
    "p->u32_ > p->s32_",
    "p->u64_ % 1000 > 500 || flag",
    "p->s64_ < 0 ? -p->s64_ : p->s64_",
    "p->u16_ ^ p->s16_ | 1 << (index & 7)",
    "(p->u8_ & 0x80) != 0 && (p->u16_ & 3) == 2",
    "p->self->u8_ == p->u8_",
};

TEST(Shapes, HaveTheValuesOfTheCompiler) {
    std::string source = std::string(small_kernel) + shape_objects;
    int number = 0;
    for (const char *text : shape_expressions)
        source += fmt::format("unsigned long x{}({}) {{ return (unsigned long)({}); }}\n", number++,
                              shape_parameters, text);
    const CompiledC compiled(source, "-O0 -fwrapv -fsigned-char");
    ASSERT_TRUE(compiled.good());

    const Scope scope = SmallKernel::get().scope("look");
    const std::uint32_t object_size =
        static_cast<std::uint32_t>(
            SmallKernel::get()
                .types()
                .traits(SmallKernel::get().types().target(scope.parameter("p")->type))
                .bytes) +
        32;

    auto *fill = compiled.function<void(unsigned)>("fill");
    auto *object = compiled.symbol("object"), *other = compiled.symbol("other");
    auto *ints = compiled.symbol("ints"), *letters = compiled.symbol("letters");
    auto *strings = static_cast<const char **>(compiled.symbol("strings"));
    for (unsigned seed = 1; seed <= 8 && !HasFailure(); seed++) {
        fill(seed);
        FakeMemory memory;
        const auto address = [](const void *p) { return reinterpret_cast<std::uint64_t>(p); };
        memory.put(address(object), object, object_size);
        memory.put(address(other), other, object_size);
        memory.put(address(ints), ints, 32);
        memory.put(address(letters), letters, 8);
        memory.put(address(strings), strings, 16);
        memory.put(address(strings[0]), strings[0], 4);
        memory.put(address(strings[1]), strings[1], 4);

        const int index = static_cast<int>(seed % 4);
        const auto unsigned_index = static_cast<unsigned>(seed % 3);
        const auto narrow = static_cast<signed char>(seed % 2 ? -static_cast<int>(seed) : 3);
        const bool flag = seed & 2;
        const int color = seed % 2 ? -1 : 5;
        FakeCall call;
        const std::uint64_t rubbish = 0xdeadbeef00000000;
        call.registers[0] = address(object);
        call.registers[1] = rubbish | static_cast<unsigned>(index);
        call.registers[2] = rubbish | unsigned_index;
        call.registers[3] = rubbish | 0x55aa00u | static_cast<unsigned char>(narrow);
        call.registers[4] = rubbish | 0xffff00u | (flag ? 1 : 0);
        call.registers[5] = rubbish | static_cast<unsigned>(color);

        for (std::size_t i = 0; i < std::size(shape_expressions); i++) {
            const std::string text = shape_expressions[i];
            SCOPED_TRACE(text);
            auto *expected =
                compiled.function<unsigned long(void *, int, unsigned, signed char, bool, int)>(
                    fmt::format("x{}", i).c_str());
            std::uint64_t wanted = expected(object, index, unsigned_index, narrow, flag, color);
            try {
                const ParsedArguments parsed = parse_arguments("(" + text + ")", 0);
                const Program value = compile(scope, {}, parsed.arguments);
                ProgramInterpreter computed(value, memory);
                ASSERT_EQ(computed.verify(), "");
                const auto outputs = computed.values(call);
                ASSERT_EQ(outputs.size(), 1u);
                ASSERT_TRUE(outputs[0].readable)
                    << fmt::format("{}", fmt::join(disassemble(value), "\n"));
                const TypeInfo &shown = type_info(value.values[0].type);
                EXPECT_EQ(extend(outputs[0].as<std::uint64_t>(), 8u * shown.size, shown.is_signed),
                          wanted)
                    << fmt::format("{}", fmt::join(disassemble(value), "\n"));

                const Expression whole = parse_condition(text);
                const Program condition = compile(scope, std::span(&whole, 1), {});
                ProgramInterpreter decided(condition, memory);
                ASSERT_EQ(decided.verify(), "");
                EXPECT_EQ(decided.accepts(call), std::optional(wanted != 0))
                    << fmt::format("{}", fmt::join(disassemble(condition), "\n"));
            } catch (const Error &error) {
                ADD_FAILURE() << error.what();
            }
        }
    }
}

std::uint64_t one_value(const char *function, const std::string &text, const FakeCall &call,
                        const FakeMemory &memory = {}) {
    const ParsedArguments parsed = parse_arguments("(" + text + ")", 0);
    const Program program = compile(SmallKernel::get().scope(function), {}, parsed.arguments);
    ProgramInterpreter computed(program, memory);
    EXPECT_EQ(computed.verify(), "");
    const auto outputs = computed.values(call);
    EXPECT_TRUE(outputs.at(0).readable);
    const TypeInfo &shown = type_info(program.values.at(0).type);
    return extend(outputs.at(0).as<std::uint64_t>(), 8u * shown.size, shown.is_signed);
}

TEST(Shapes, StructsInRegisters) {
    // struct pair { int first; u8 second; short third[2]; struct { u16 x : 4, y : 12; } fourth; }
    FakeCall call;
    call.registers[0] = 0x8001'5aab'ffff'fffe; // third[0], padding and second, first
    call.registers[1] = 0xdead'beef'abc3'7ffe; // fourth, third[1]
    EXPECT_EQ(one_value("by_value", "pair.first", call), std::uint64_t(-2));
    EXPECT_EQ(one_value("by_value", "pair.second", call), 0xabu);
    EXPECT_EQ(one_value("by_value", "pair.third[0]", call), std::uint64_t{0xffffffffffff8001});
    EXPECT_EQ(one_value("by_value", "pair.third[1]", call), 0x7ffeu);
    EXPECT_EQ(one_value("by_value", "pair.fourth.x", call), 3u);
    EXPECT_EQ(one_value("by_value", "pair.fourth.y", call), 0xabcu);
}

TEST(Shapes, ArgumentsOnTheStack) {
    FakeCall call;
    call.stack = 0x7000;
    FakeMemory memory;
    const std::uint64_t words[]{0, 11, 22, 33};
    memory.put(0x7000, words, sizeof(words));
    EXPECT_EQ(one_value("by_value", "large.a", call, memory), 11u);
    EXPECT_EQ(one_value("by_value", "large.c", call, memory), 33u);
    EXPECT_EQ(one_value("by_value", "&large.b", call, memory), 0x7010u);
    EXPECT_EQ(one_value("many", "g", call, memory), 11u);
    EXPECT_EQ(one_value("many", "h", call, memory), 22u);
}

TEST(Shapes, BigEndianNumbersAreNumbers) {
    FakeCall call;
    call.registers[0] = 0x1000;
    call.registers[4] = 0xdead'0000'0000'5000; // htons(80)
    unsigned char sock[32] = {127, 0, 0, 1, 0, 0, 0, 0, 0x1f, 0x90, 0x34, 0x12,
                              0,   0, 0, 0, 0, 0, 0, 0, 0,    0,    2,    1};
    FakeMemory memory;
    memory.put(0x1000, sock, sizeof(sock));
    EXPECT_EQ(one_value("tcp_connect", "sk->__sk_common.skc_dport", call, memory), 8080u);
    EXPECT_EQ(one_value("tcp_connect", "sk->__sk_common.skc_num", call, memory), 0x1234u);
    EXPECT_EQ(one_value("tcp_connect", "sk->__sk_common.skc_daddr", call, memory), 0x7f000001u);
    EXPECT_EQ(one_value("tcp_connect", "sk->__sk_common.wide", call, memory), 0x201u);
    EXPECT_EQ(one_value("tcp_connect", "sk->__sk_common.skc_dport + 1", call, memory), 8081u);
    EXPECT_EQ(one_value("tcp_connect", "*(u16 *)&sk->__sk_common.skc_dport", call, memory), 0x901fu)
        << "in memory";
    EXPECT_EQ(one_value("tcp_connect",
                        "sk->__sk_common.skc_dport == 8080 && sk->__sk_common.skc_dport < 8081 && "
                        "sk->__sk_common.skc_dport > 8079 && sk->__sk_common.skc_dport & 16 && "
                        "sk->__sk_common.skc_dport != 0x901f && sk->__sk_common.skc_dport >> 4 == "
                        "505",
                        call, memory),
              1u);
}

} // namespace
} // namespace argtrace::lang
