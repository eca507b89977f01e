// SPDX-License-Identifier: GPL-2.0-only
// Where functions of Go have their arguments: by Go's rules, against what its compiler says in DWARF, of a whole program.
#include "spec/go_site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "abi/go_stack.h"
#include "abi/go_convention.h"
#include "btf/go_type_name.h"
#include "elf/function_list.h"
#include "spec/user_go.h"
#include "support/resolve_kernel.h"

namespace argtrace {
namespace {

using testing::ElementsAre;

bool is_arm64(std::string_view program) {
    return program.find("_arm64") != program.npos;
}

const GoConvention &convention_of(std::string_view program) {
    return is_arm64(program) ? go_convention_arm64 : go_convention_x86_64;
}

/// On x86-64.
UsdtSite go_site(const Prototype &prototype, std::optional<std::uint32_t> passed_bytes = {}) {
    return argtrace::go_site(go_convention_x86_64, prototype, passed_bytes);
}

Kernel kernel_of(const std::string &machine) {
    return Kernel({[] { return Kallsyms::parse(small_kallsyms); }, make_types, []() -> Traceable { throw Error("tracefs is not mounted"); }, machine});
}

std::vector<Function> go_functions(const std::string &pattern, const std::string &program = "user_stacks_go", bool returns = false) {
    static Kernel x86_64 = kernel_of("x86_64"), arm64 = kernel_of("aarch64");
    Kernel &kernel = is_arm64(program) ? arm64 : x86_64;
    Request wanted = request({"u:" ARGTRACE_TEST_PROGRAMS "/" + program + ":" + pattern});
    wanted.returns = returns;
    return find_functions(kernel, wanted).functions;
}

class GoSites : public testing::TestWithParam<const char *> {};

TEST_P(GoSites, ByTheRulesAreWhereTheCompilerSays) {
    std::size_t same = 0, other = 0, unsaid = 0;
    for (const Function &function : go_functions("*", GetParam())) {
        const Prototype &prototype = function.prototype;
        std::vector<GoParts> parts;
        for (std::size_t i = 0; i + prototype.results < prototype.parameters.size(); i++) {
            const auto &value = prototype.parameters[i].go;
            if (!value || !value->is_known)
                break;
            parts.push_back(value->parts);
        }
        parts = convention_of(GetParam()).place(parts);
        for (std::size_t i = 0; i < parts.size(); i++) {
            const GoValue &value = *prototype.parameters[i].go;
            const bool is_floating = parts[i] && std::ranges::any_of(*parts[i], &RegisterPart::is_floating);
            if (!value.at_entry || is_floating) {
                unsaid++;
                continue;
            }
            std::vector<std::uint8_t> expected, found;
            for (const unsigned number : *value.at_entry)
                found.push_back(convention_of(GetParam()).register_by_dwarf(number).value_or(99));
            for (std::size_t j = 0; parts[i] && j < parts[i]->size(); j++)
                expected.push_back((*parts[i])[j].index);
            (expected == found ? same : other)++;
        }
    }
    RecordProperty("same", static_cast<int>(same));
    std::printf("%zu arguments are where the rules say, %zu are not, of %zu nothing is said\n", same, other, unsaid);
    EXPECT_GT(same, 2000u);
    // Parameters without a name are not described, and take registers.
    EXPECT_LT(other, same / 50);
}

// The program says how many bytes of the stack a function has for what it takes and returns.
TEST_P(GoSites, OnTheStackAccountForAllThatIsThere) {
    const auto object = elf::Object::open(std::string(ARGTRACE_TEST_PROGRAMS "/") + GetParam());
    ASSERT_TRUE(object);
    const auto code = GoCode::of(*object);
    ASSERT_TRUE(code);
    std::map<std::uint64_t, std::uint32_t> said;
    for (const elf::NamedFunction &function : elf::list_functions(*object))
        said.emplace(function.address, code->passed_bytes(function).value_or(99999));
    std::size_t same = 0, other = 0, unknown = 0, right = 0, wrong = 0;
    for (const Function &function : go_functions("*", GetParam())) {
        const Prototype &prototype = function.prototype;
        std::vector<GoValue> values;
        for (const Parameter &parameter : prototype.parameters)
            values.push_back(parameter.go.value_or(GoValue()));
        if (!std::ranges::all_of(values, &GoValue::is_known) || !function.go) {
            unknown++;
            continue;
        }
        const std::size_t taken = values.size() - prototype.results;
        std::vector<GoParts> parts, results;
        for (const GoValue &value : values)
            (parts.size() < taken ? parts : results).push_back(value.parts);
        parts = convention_of(GetParam()).place(parts);
        results = convention_of(GetParam()).place(results);
        parts.insert(parts.end(), results.begin(), results.end());
        const std::uint64_t begin = function.address;
        const auto at = std::prev(said.upper_bound(begin));
        const GoStack stack = go_stack(values, parts, taken);
        (stack.bytes == at->second ? same : other)++;
        // Above a word for the return address, on arm64 as well.
        for (std::size_t i = 0; i < taken && stack.bytes == at->second; i++)
            if (stack.places[i] && values[i].on_stack)
                (*values[i].on_stack == 8 + *stack.places[i] ? right : wrong)++;
    }
    EXPECT_EQ(wrong, 0u) << right;
    std::printf("of %zu functions the stack is accounted for, of %zu it is not, of %zu not all is known\n", same, other, unknown);
    EXPECT_GT(same, 1000u);
    // Parameters without a name are not described, and have room there.
    EXPECT_LT(other, same / 20);
}

INSTANTIATE_TEST_SUITE_P(Compiled, GoSites, testing::Values("user_stacks_go", "user_stacks_go_plain", "go_stacks_arm64", "go_stacks_arm64_plain"), [](const auto &info) {
    return std::string(info.param);
});

TEST(GoFunctionsOf, AProgramAreWrittenAsInGo) {
    std::vector<std::string> texts;
    for (const Function &function : go_functions("main.(*dog).speak"))
        texts.push_back(function.prototype.text);
    for (const Function &function : go_functions("main.lookAt"))
        texts.push_back(function.prototype.text);
    EXPECT_THAT(texts, ElementsAre("u:user_stacks_go:main.(*dog).speak(d *main.dog, n int) int", "u:user_stacks_go:main.lookAt(shape string)"));
}

std::vector<std::string> titles(const std::string &pattern, const std::string &program) {
    std::vector<std::string> found;
    for (const Function &function : go_functions(pattern, program))
        found.push_back(function.title.substr(function.title.find(":main.") + 6));
    return found;
}

// What a method is called through is made by the compiler, and only meant where it is named; `small` has become a part of that.
TEST(GoFunctionsOf, AProgramAreNotThoseThatTheCompilerMakesToCallThem) {
    EXPECT_THAT(titles("main.*value*", "go_functions"), ElementsAre("inner.value", "values.func1", "values"));
    EXPECT_THAT(titles("main.*pointer*", "go_functions"), ElementsAre("(*inner).pointer"));
    EXPECT_THAT(titles("main.*small*", "go_functions"), testing::Contains("(*outer).small"));
    EXPECT_THAT(titles("main.*small*", "go_functions_plain"), ElementsAre("inner.small"));
    for (const char *name : {"(*outer).value", "inner.value-fm", "(*inner).pointer-fm"})
        EXPECT_THAT(titles(std::string("main.") + name, "go_functions"), ElementsAre(name));
}

// Where assembly calls Go, or Go assembly, two functions have the name. The one that takes its arguments as Go does is meant, in a stripped program as well.
TEST(GoFunctionsOf, AProgramAreThereForOneConvention) {
    for (const std::string program : {"go_functions", "user_stacks_go_stripped"})
        for (const char *name : {"runtime.newstack", "runtime.morestackc", "runtime.asmcgocall", "runtime.reflectcall", "internal/bytealg.IndexByteString"}) {
            const std::vector<Function> one = go_functions(name, program);
            ASSERT_EQ(one.size(), 1u) << program << ' ' << name;
            EXPECT_TRUE(one[0].site) << program << ' ' << name;
        }
    EXPECT_EQ(go_functions("runtime.newstac*", "go_functions").size(), 1u);
    EXPECT_EQ(go_functions("runtime.newstack.abi0", "go_functions").size(), 1u);
    EXPECT_EQ(go_functions("runtime.asmcgocall.abi0", "go_functions").size(), 1u);
}

TEST(GoFunctionsOf, AStrippedProgramHaveRegisters) {
    const std::vector<Function> functions = go_functions("main.lookAt", "user_stacks_go_stripped");
    ASSERT_EQ(functions.size(), 1u);
    EXPECT_EQ(functions[0].prototype.parameters.size(), 10u);
    ASSERT_TRUE(functions[0].site);
    EXPECT_EQ(functions[0].site->operands[0]->base->index, ARGTRACE_X86_64_RAX);
    EXPECT_EQ(functions[0].site->operands[8]->base->index, ARGTRACE_X86_64_R11);
    EXPECT_TRUE(functions[0].site->operands[9]->at_return);
    EXPECT_EQ(functions[0].site->operands[9]->base->index, ARGTRACE_X86_64_RAX);
}

Parameter go_parameter(std::string name, Shape shape, GoValue value) {
    return {.name = std::move(name), .type = "int", .shape = shape, .go = std::move(value)};
}

// Never a guess: what DWARF does not say is not there, and behind a result whose type is unknown there is none.
TEST(GoSite, HasNoPlaceThatIsNotKnown) {
    const Shape word{.kind = Shape::Kind::integer, .bytes = 8};
    const GoValue known{.is_known = true, .parts = std::vector<RegisterPart>{{}}};
    GoValue said = known, elsewhere = known, too_many = known, floating = known;
    said.at_entry = std::vector<unsigned>{3};
    elsewhere.at_entry = std::vector<unsigned>{1}; // rdx
    too_many.at_entry = std::vector<unsigned>{0, 3};
    floating.parts->front().is_floating = true;
    floating.at_entry = std::vector<unsigned>{0};
    Prototype prototype;
    prototype.parameters = {go_parameter("a", word, said),        go_parameter("b", word, known),    go_parameter("c", word, elsewhere),
                            go_parameter("d", word, too_many),    go_parameter("e", word, floating), go_parameter("ret0", word, known),
                            go_parameter("ret1", word, GoValue{}), go_parameter("ret2", word, known)};
    prototype.results = 3;
    const UsdtSite site = go_site(prototype);
    ASSERT_EQ(site.operands.size(), 8u);
    EXPECT_EQ(site.operands[0]->base->index, ARGTRACE_X86_64_RBX);
    EXPECT_FALSE(site.operands[0]->at_return);
    for (const std::size_t i : {1, 2, 3, 4, 6, 7})
        EXPECT_FALSE(site.operands[i]) << i;
    EXPECT_EQ(site.operands[5]->base->index, ARGTRACE_X86_64_RAX);
    EXPECT_TRUE(site.operands[5]->at_return);
}

// Where registers have room for a value, the stack has it only later.
TEST(GoSite, ReadsFromTheStackWhatNoRegisterHasRoomFor) {
    const Shape word{.kind = Shape::Kind::integer, .bytes = 8}, array{.kind = Shape::Kind::unknown};
    GoValue small{.is_known = true, .parts = std::vector<RegisterPart>{{}}}, large{.is_known = true}, tenth = small;
    small.on_stack = 8;
    large.on_stack = 16;
    tenth.on_stack = 48;
    Prototype prototype;
    for (int i = 0; i < 9; i++)
        prototype.parameters.push_back(go_parameter("n", word, small));
    prototype.parameters.push_back(go_parameter("a", array, large));
    prototype.parameters.push_back(go_parameter("t", word, tenth));
    const UsdtSite site = go_site(prototype);
    for (std::size_t i = 0; i < 9; i++)
        EXPECT_FALSE(site.operands[i]) << i;
    EXPECT_EQ(site.operands[9], (UserOperand{.kind = UserOperand::Kind::on_stack, .number = 16}));
    EXPECT_EQ(site.operands[10], (UserOperand{.kind = UserOperand::Kind::on_stack, .number = 48}));
}

// By the rules, where they account for all that there is, what is not in a register: also what is returned.
TEST(GoSite, ReadsFromTheStackWhatTheRulesHaveThere) {
    const Shape word{.kind = Shape::Kind::integer, .bytes = 8}, array{.kind = Shape::Kind::unknown};
    const GoValue small{.is_known = true, .bytes = 8, .alignment = 8, .parts = std::vector<RegisterPart>{{}}};
    const GoValue large{.is_known = true, .bytes = 24, .alignment = 8};
    Prototype prototype;
    prototype.parameters = {go_parameter("a", array, large), go_parameter("n", word, small), go_parameter("ret0", word, small), go_parameter("ret1", array, large)};
    prototype.results = 2;
    const UsdtSite site = go_site(prototype, 24 + 24 + 8);
    EXPECT_EQ(site.operands[0], (UserOperand{.kind = UserOperand::Kind::on_stack, .number = 8}));
    EXPECT_FALSE(site.operands[1]); // in a register, where the debug information does not say so
    EXPECT_EQ(site.operands[2]->base->index, ARGTRACE_X86_64_RAX);
    EXPECT_EQ(site.operands[3], (UserOperand{.kind = UserOperand::Kind::on_stack, .number = 32, .at_return = true}));
    for (const auto &other : {std::optional<std::uint32_t>(), std::optional<std::uint32_t>(64)}) {
        EXPECT_FALSE(go_site(prototype, other).operands[0]);
        EXPECT_FALSE(go_site(prototype, other).operands[3]);
    }
    prototype.parameters[0].go->on_stack = 16; // DWARF says something else
    EXPECT_FALSE(go_site(prototype, 24 + 24 + 8).operands[3]);
}

// Between arguments that do not fill their places may be one of which nothing is said.
TEST(GoSite, DoesNotBelieveTheRulesWhereThereAreGaps) {
    const Shape array{.kind = Shape::Kind::unknown};
    const GoValue odd{.is_known = true, .bytes = 10, .alignment = 2};
    Prototype prototype;
    prototype.parameters = {go_parameter("a", array, odd), go_parameter("ret", array, odd)};
    prototype.results = 1;
    const UsdtSite site = go_site(prototype, 32);
    EXPECT_FALSE(site.operands[0]);
    EXPECT_EQ(site.operands[1], (UserOperand{.kind = UserOperand::Kind::on_stack, .number = 24, .at_return = true}));
}

// Go 1.19 says each register of an interface that is passed on twice.
TEST(GoSite, TakesRegistersOnceThatAreSaidTwice) {
    const Shape two{.kind = Shape::Kind::aggregate, .bytes = 16};
    GoValue value{.is_known = true, .parts = std::vector<RegisterPart>{{}, {.offset = 8}}};
    value.at_entry = std::vector<unsigned>{0, 0, 3, 3};
    Prototype prototype;
    prototype.parameters = {go_parameter("e", two, value)};
    const UserOperand said = go_site(prototype).operands[0].value_or(UserOperand());
    ASSERT_EQ(said.parts.size(), 2u);
    EXPECT_EQ(said.parts[0].index, ARGTRACE_X86_64_RAX);
    EXPECT_EQ(said.parts[1].index, ARGTRACE_X86_64_RBX);
    prototype.parameters[0].go->at_entry = std::vector<unsigned>{0, 3, 0, 3};
    EXPECT_FALSE(go_site(prototype).operands[0]);
}

TEST(GoSite, OfArm64HasSixteenRegistersOfEitherKind) {
    const Shape word{.kind = Shape::Kind::integer, .bytes = 8}, real{.kind = Shape::Kind::floating, .bytes = 8}, two{.kind = Shape::Kind::aggregate, .bytes = 16};
    GoValue small{.is_known = true, .bytes = 8, .alignment = 8, .parts = std::vector<RegisterPart>{{}}};
    GoValue floating{.is_known = true, .bytes = 8, .alignment = 8, .parts = std::vector<RegisterPart>{{.is_floating = true}}};
    GoValue mixed{.is_known = true, .bytes = 16, .alignment = 8, .parts = std::vector<RegisterPart>{{}, {.offset = 8, .is_floating = true}}};
    Prototype prototype;
    for (unsigned i = 0; i < 15; i++) {
        small.at_entry = std::vector<unsigned>{i};
        prototype.parameters.push_back(go_parameter("n", word, small));
    }
    small.at_entry.reset();
    floating.at_entry = std::vector<unsigned>{64};
    mixed.at_entry = std::vector<unsigned>{15, 65};
    for (const auto &[shape, value] : {std::pair(real, floating), std::pair(two, mixed), std::pair(word, small), std::pair(word, small), std::pair(real, floating)})
        prototype.parameters.push_back(go_parameter("r", shape, value));
    prototype.results = 2;
    const UsdtSite site = argtrace::go_site(go_convention_arm64, prototype);
    for (std::uint8_t i = 0; i < 15; i++)
        EXPECT_EQ(site.operands[i]->base->index, i);
    EXPECT_EQ(site.operands[15], (UserOperand{.kind = UserOperand::Kind::in_vector, .number = 0}));
    EXPECT_EQ(site.operands[16], (UserOperand{.kind = UserOperand::Kind::parts, .parts = {{0, 8, false, 15}, {8, 8, true, 1}}}));
    EXPECT_FALSE(site.operands[17]) << "no register is left";
    EXPECT_EQ(site.operands[18]->base->index, 0);
    EXPECT_TRUE(site.operands[18]->at_return);
    EXPECT_EQ(site.operands[19], (UserOperand{.kind = UserOperand::Kind::in_vector, .number = 0, .at_return = true}));
}

TEST(GoFunctionsOf, AProgramKnowTheirGoroutine) {
    for (const char *program : {"user_stacks_go", "user_stacks_go_stripped", "user_stacks_go_pie"}) {
        const std::vector<Function> functions = go_functions("main.lookAt", program);
        ASSERT_EQ(functions.size(), 1u) << program;
        ASSERT_TRUE(functions[0].go);
        EXPECT_EQ(functions[0].go->goroutine_id, 152u) << program; // Go 1.18 to 1.22, by DWARF and by version
        EXPECT_EQ(functions[0].go->is_movable, program == std::string("user_stacks_go_pie"));
    }
}

std::string why_not(const std::string &spec) {
    try {
        (void)go_functions(spec, "go_functions", true);
        return {};
    } catch (const Error &error) {
        return error.what();
    }
}

TEST(GoExpressions, FindMembersOfWhatIsEmbedded) {
    for (const char *values : {"o.N", "o.inner.N", "f.N", "f.name", "f.depth", "c.N", "c.near.N", "c.name", "c.far.outer.inner.N"})
        EXPECT_EQ(why_not(std::string("main.embeds(") + values + ")"), "") << values;
    EXPECT_THAT(why_not("main.embeds(c.depth)"),
                testing::HasSubstr("main.clashing has several depth: far.depth and twin.depth are as deep as each other"));
    EXPECT_THAT(why_not("main.embeds(c.nothing)"), testing::HasSubstr("main.clashing has no nothing"));
    EXPECT_THAT(why_not("main.embeds(f.twin)"), testing::HasSubstr("main.far has no twin"));
}

TEST(GoExpressions, HaveResultsByTheirPlaceAndByTheirNames) {
    for (const char *condition : {"ret0 > 1", "n > 1", "text(err) == \"even\"", "text(ret1) == \"even\""})
        EXPECT_EQ(why_not(std::string("main.fails if ") + condition), "") << condition;
    EXPECT_EQ(why_not("main.own if id > 1"), "");
    EXPECT_THAT(why_not("main.fails if m > 1"), testing::HasSubstr("has no argument m"));
}

TEST(GoFunctionsOf, AProgramThatAreGenericHaveTheTypesOfTheirShape) {
    std::vector<std::string> texts;
    for (const Function &function : go_functions("main.choose[...]", "go_functions"))
        texts.push_back(function.prototype.text);
    ASSERT_EQ(texts.size(), 4u);
    EXPECT_THAT(texts, testing::Each(testing::MatchesRegex("u:go_functions:main.choose\\[go\\.shape\\..*\\]\\(types dictionary, v go\\.shape\\.[^,]*, n int\\) \\(first go.shape.*, second int\\)")));
}

TEST(GoTypeName, IsAsGoWritesIt) {
    const std::pair<const char *, const char *> types[] = {
        {"int16[4]", "[4]int16"},           {"struct main.T *", "*main.T"},   {"struct main.T *[4]", "[4]*main.T"},
        {"struct main.T (*)[4]", "*[4]main.T"}, {"int[2][3]", "[2][3]int"},   {"int **", "**int"},
        {"void *", "unsafe.Pointer"},       {"void **", "*unsafe.Pointer"},   {"struct main.box[go.shape.int_0] *", "*main.box[go.shape.int_0]"},
        {"struct []string", "[]string"},    {"int (**)[2]", "**[2]int"},      {"map[string]int", "map[string]int"},
        {"interface {}", "interface {}"},   {"struct struct {}[0]", "[0]struct {}"}};
    for (const auto &[c, go] : types)
        EXPECT_EQ(go_type_name(c), go);
}

TEST(GoFunctionsOf, AProgramHaveTypesAsInGo) {
    std::vector<std::string> texts;
    for (const Function &function : go_functions("main.holds", "go_functions"))
        texts.push_back(function.prototype.text);
    for (const Function &function : go_functions("main.shows", "go_functions"))
        texts.push_back(function.prototype.text);
    EXPECT_THAT(texts, ElementsAre("u:go_functions:main.holds(p main.pair, four [4]int16, d time.Duration, e error, i interface {}) (error, time.Duration)",
                                   "u:go_functions:main.shows(c complex64, e struct {}, z complex128, ps []main.pair, s *main.server, p *main.places, "
                                   "none [0]int) complex128"));
}

TEST(GoSite, NamesNothingLikeAWordOfExpressions) {
    const Shape word{.kind = Shape::Kind::integer, .bytes = 8};
    Prototype prototype;
    prototype.function = "u:p:main.f";
    for (const char *name : {"as", "~b0", "n", "\u00e4", "ret", "return0", "9"})
        prototype.parameters.push_back({.name = name, .type = "int", .shape = word});
    name_as_go(prototype);
    std::vector<std::string> names;
    for (const Parameter &one : prototype.parameters)
        names.push_back(one.name);
    EXPECT_THAT(names, ElementsAre("arg0", "arg1", "n", "arg3", "arg4", "arg5", "arg6"));
}

} // namespace
} // namespace argtrace
