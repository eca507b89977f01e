// SPDX-License-Identifier: GPL-2.0-only
#include "expressions.h"

#include <random>
#include <vector>

#include <fmt/format.h>

namespace {

// A program takes at most 240 instructions, so one function has no more than these.
constexpr int expressions_per_function = 8;

struct ScalarType {
    const char *name;
    bool is_bool = false;
};

constexpr ScalarType parameter_types[]{
    {"int"},           {"u32"},         {"long"},         {"u64"},
    {"s16"},           {"u8"},          {"s8"},           {"bool", true},
    {"u16"},           {"char"},        {"s64"},          {"ax_chain_t"},
    {"enum ax_color"}, {"enum ax_hue"}, {"enum ax_wide"}, {"long long"}};

/// An expression as C has it, and as argtrace is told it: they differ where argtrace converts
/// big-endian numbers, and has one dimension for all of an array.
struct Pair {
    std::string text, c;

    static Pair same(const std::string &both) { return {both, both}; }
};

/// The expression `format`, with an operand in place of each `{}`.
template<typename... Operands>
Pair join(const char *format, const Operands &...operands) {
    return {fmt::format(fmt::runtime(format), operands.text...),
            fmt::format(fmt::runtime(format), operands.c...)};
}

class ExpressionGenerator {
public:
    explicit ExpressionGenerator(unsigned seed) : random_(seed) {}

    std::string function(int number) {
        choose_parameters();
        std::string texts, shown;
        for (int i = 0; i < expressions_per_function; i++) {
            const Pair made = pick(8) == 0 ? pointer_value() : operation(3);
            texts += fmt::format("\"{}\",\n", made.text);
            shown += fmt::format("AX_SHOW(({}));\n", made.c);
        }
        std::string prototype, locals, words;
        for (std::size_t i = 0; i < parameters_.size(); i++) {
            const auto &[type, name] = parameters_[i];
            const char *separator = i ? ", " : "";
            prototype += fmt::format("{}{} {}", separator, type.name, name);
            const bool special = name == "p" || name == "call";
            words += separator + (name == "p" ? "(u64)p" : special ? name : "word_" + name);
            if (!special)
                locals += fmt::format("const u64 word_{0} = ax_random{1}();\n"
                                      "const {2} {0} = ({2})(word_{0}{3});\n",
                                      name, type.is_bool ? "_bool" : "", type.name,
                                      type.is_bool ? " & 1" : "");
        }
        for (std::size_t i = parameters_.size(); i < words_per_call; i++)
            words += ", 0";
        return fmt::format("static const char *const texts{0}[] = {{\n{1}}};\n"
                           "AX_TRACED(ax_f{0}, {2})\n"
                           "static void call{0}(u64 call)\n{{\n"
                           "const ax_words_t function = (ax_words_t)ax_f{0};\n"
                           "struct ax_shapes *const p = ax_object();\n{3}{4}function({5});\n}}\n",
                           number, texts, prototype, locals, shown, words);
    }

private:
    static constexpr std::size_t words_per_call = 10;

    struct Parameter {
        ScalarType type;
        std::string name;
    };

    int pick(std::size_t count) { return static_cast<int>(random_() % count); }
    template<std::size_t count>
    Pair one_of(const char *const (&choices)[count]) {
        return Pair::same(choices[pick(count)]);
    }

    void choose_parameters() {
        parameters_.clear();
        for (int i = 0, count = 2 + pick(7); i < count; i++)
            parameters_.push_back({parameter_types[pick(std::size(parameter_types))],
                                   std::string(1, static_cast<char>('a' + i))});
        scalars_ = parameters_;
        for (const auto &fixed :
             {Parameter{{"struct ax_shapes *"}, "p"}, Parameter{{"u64"}, "call"}})
            parameters_.insert(parameters_.begin() + pick(parameters_.size() + 1), fixed);
    }

    Pair number() {
        return one_of({"0",
                       "1",
                       "3u",
                       "5l",
                       "7ul",
                       "017",
                       "'z'",
                       "100",
                       "0x7fffffff",
                       "0x80000000",
                       "2147483648",
                       "4294967295",
                       "0xffffffffffffffff",
                       "12345678901",
                       "AX_BLUE",
                       "AX_GREEN",
                       "AX_DARK",
                       "AX_WIDE",
                       "AX_WIDE_BELOW",
                       "AX_BELOW",
                       "sizeof(struct ax_fields)",
                       "sizeof(p->packs)"});
    }

    /// A number below `count`, a power of two.
    Pair index(int count, int depth) {
        if (depth <= 0 || pick(2))
            return Pair::same(std::to_string(pick(static_cast<std::size_t>(count))));
        const Pair mask = Pair::same(std::to_string(count - 1));
        return join("{} & {}", operand(depth - 1), mask);
    }

    /// A pointer to one of the two objects, as what -> may follow.
    Pair object(int depth) {
        switch (depth <= 0 ? 0 : pick(12)) {
        case 1:
        case 2:
            return join("{}->self", object(depth - 1));
        case 3:
            return join("(*{}->handle)", object(depth - 1));
        case 4:
            return join("(**{}->far)", object(depth - 1));
        case 5:
            return join("container_of({}->list.next, struct ax_shapes, list)", object(depth - 1));
        case 6:
            return join("({} ? {} : {})", operand(depth - 1), object(depth - 1), object(depth - 1));
        case 7:
            return join("((struct ax_shapes *)(u64){})", object(depth - 1));
        case 8:
            return join("(&*{})", object(depth - 1));
        case 9:
            return join("container_of(&{}->nested.innermost, struct ax_shapes, nested.innermost)",
                        object(depth - 1));
        default:
            return Pair::same("p");
        }
    }

    Pair element(int depth) {
        const Pair of = object(depth - 1);
        switch (pick(14)) {
        case 0:
            return join("{}->array[{}]", of, index(4, depth));
        case 1:
            return join("*({}->array + ({}))", of, index(4, depth));
        case 2:
            return join("{}->text[{}]", of, index(8, depth));
        case 3:
            return join("{}->bytes[{}]", of, index(4, depth));
        case 4:
            return join("{}->flexible[{}]", of, index(8, depth));
        case 5:
            return join("{}->pint[(int)({}) - 3]", of, index(8, depth));
        case 6:
            return join("(*{}->parray)[{}]", of, index(4, depth));
        case 7:
            return join("{}->pchar[{}]", of, index(4, depth));
        case 8:
            return join("{}->names[{}][{}]", of, index(2, depth), index(4, depth));
        case 9:
            return join("{}->nested.choice.quarters[{}]", of, index(4, depth));
        case 10:
            return join("{}->prows[{}][1]", of, index(2, depth));
        case 11:
            return join("((u16 *)&{}->u64_)[{}]", of, index(4, depth));
        case 12: {
            const Pair at = index(4, depth);
            return {fmt::format("{}->matrix[{}]", of.text, at.text),
                    fmt::format("((const int *){}->matrix)[{}]", of.c, at.c)};
        }
        default: {
            const int bytes = 2 << pick(3);
            const std::string member = fmt::format("{}->be{}_", of.text, 8 * bytes);
            return {member, fmt::format("be{}_to_cpu({}->be{}_)", 8 * bytes, of.c, 8 * bytes)};
        }
        }
    }

    Pair member(int depth) {
        constexpr const char *scalars[]{"s8_",
                                        "u8_",
                                        "s16_",
                                        "u16_",
                                        "s32_",
                                        "u32_",
                                        "s64_",
                                        "u64_",
                                        "bool_",
                                        "char_",
                                        "schar_",
                                        "uchar_",
                                        "color",
                                        "hue",
                                        "tiny",
                                        "tiny_signed",
                                        "short_",
                                        "wide",
                                        "cv",
                                        "chain",
                                        "le32_",
                                        "u_int",
                                        "u_short",
                                        "low",
                                        "high",
                                        "deep",
                                        "nested.inner",
                                        "nested.innermost",
                                        "nested.choice.whole",
                                        "wide_signed",
                                        "longlong_",
                                        "address",
                                        "packed.first",
                                        "packed.z",
                                        "packed.last"};
        constexpr const char *fields[]{"a", "b", "c", "d", "e", "h", "j", "k", "l", "m"};
        const Pair of = object(depth);
        switch (pick(5)) {
        case 0:
            return join("{}->fields.{}", of, one_of(fields));
        case 1:
            switch (pick(4)) {
            case 0:
                return join("{}->packs[{}].{}", of, index(2, depth), one_of({"x", "z", "last"}));
            case 1: // wider than an int: gcc computes in their own width
                return join("({}){}->fields.{}", one_of({"u64", "s64", "int"}), of,
                            one_of({"f", "g", "i"}));
            case 2:
                return join("(u64){}->packed.y", of);
            default:
                return join("{}->many[{}].{}", of, index(2, depth), one_of(fields));
            }
        default:
            return join("{}->{}", of, one_of(scalars));
        }
    }

    /// An expression that can stand beside any operator.
    Pair operand(int depth) {
        switch (pick(depth <= 0 ? 8 : 16)) {
        case 0:
        case 1:
            return number();
        case 2:
        case 3:
        case 4:
            return Pair::same(scalars_[static_cast<std::size_t>(pick(scalars_.size()))].name);
        case 5:
        case 6:
        case 7:
        case 8:
            return member(depth - 1);
        case 9:
        case 10:
            return element(depth - 1);
        case 11:
            return join("{} {}", one_of({"-", "~", "!", "+"}), operand(depth - 1));
        case 12:
            return join("({}){}",
                        one_of({"int", "unsigned int", "long", "u64", "char", "short", "u8", "bool",
                                "unsigned short", "s8", "long long unsigned int", "ax_chain_t",
                                "enum ax_tiny", "enum ax_wide_signed"}),
                        operand(depth - 1));
        case 13: // no division by zero, and none that traps: C does not define them
            return join("({} {} {})", operand(depth - 1), one_of({"/", "%"}),
                        one_of({"7", "(long)-3", "1000u", "(p->u32_ | 1)"}));
        default:
            return join("({})", operation(depth - 1));
        }
    }

    Pair operation(int depth) {
        switch (pick(10)) {
        case 0:
            return join("{} {} {}", operand(depth), one_of({"<<", ">>"}),
                        Pair::same(std::to_string(pick(31))));
        case 1:
            return join("{} {} ({} & 31)", operand(depth), one_of({"<<", ">>"}),
                        operand(depth - 1));
        case 2:
            return join("{} ? {} : {}", operand(depth - 1), operand(depth), operand(depth));
        case 3: // of equal precedence, from the left
            return join("{} {} {} {} {}", operand(depth), one_of({"+", "-"}), operand(depth - 1),
                        one_of({"+", "-"}), operand(depth - 1));
        case 4:
            return join("{} + {} * {} - {}", operand(depth - 1), operand(depth - 1),
                        operand(depth - 1), operand(depth - 1));
        case 5:
            return join("{} && {} || {}", operand(depth - 1), operand(depth - 1), operand(depth));
        case 6:
            return join("{} {} {}", pointer(depth - 1), one_of({"==", "!=", "<", ">="}),
                        pointer(depth - 1));
        default:
            return join("{} {} {}", operand(depth),
                        one_of({"+", "-", "*", "&", "|", "^", "<", "<=", ">",
                                ">=", "==", "!=", "&&", "||"}),
                        operand(depth));
        }
    }

    /// An int *.
    Pair pointer(int depth) {
        const Pair of = object(depth);
        switch (pick(5)) {
        case 0:
            return join("{}->pint", of);
        case 1:
            return join("({}->pint + ({}))", of, index(8, depth));
        case 2:
            return join("&{}->array[{}]", of, index(4, depth));
        case 3:
            return join("(int *){}->address", of);
        default:
            return join("({}->pint - {})", of, index(4, 0));
        }
    }

    Pair pointer_value() {
        const Pair of = object(2);
        switch (pick(7)) {
        case 0:
            return pointer(2);
        case 1:
            return join("{}->function", of);
        case 2:
            return join("{}->pvoid + {}", of, operand(0));
        case 3:
            return join("&{}->many[{}] - {}->many", of, index(2, 1), of);
        case 4:
            return join("{} - {}->pint", pointer(1), of);
        case 5:
            return join("{} ? {} : 0", operand(1), pointer(1));
        default:
            return of;
        }
    }

    std::mt19937 random_;
    std::vector<Parameter> parameters_, scalars_;
};

} // namespace

std::string random_expressions(unsigned seed, int functions) {
    ExpressionGenerator generator(seed);
    std::string text = "// Generated by tests/vm/generator.\n#include \"expressions.h\"\n";
    std::string rows;
    for (int i = 0; i < functions; i++) {
        text += generator.function(i);
        rows += fmt::format("{{ \"ax_f{0}\", texts{0}, {1}, call{0} }},\n", i,
                            expressions_per_function);
    }
    return text + fmt::format("const struct ax_function ax_random_functions[] = {{\n{}}};\n"
                              "const unsigned int ax_nr_random_functions = {};\n"
                              "const unsigned long ax_seed = {};\n",
                              rows, functions, seed);
}
