// SPDX-License-Identifier: GPL-2.0-only
#include "lang/parser.h"

#include <gmock/gmock.h>

#include "support/thrown.h"

namespace argtrace::lang {
namespace {

using testing::ElementsAre;

// With all parentheses, and casts as {type}.
std::string shape(const Expression &expression, const Ast &ast) {
    const auto operand = [&](std::size_t i) { return shape(expression, *ast.operands[i]); };
    const std::string token = expression.text().substr(ast.token.at, ast.token.size);
    const std::string type = ast.type.name + std::string(ast.type.stars, '*');
    switch (ast.kind) {
    case Ast::Kind::number:
    case Ast::Kind::string:
    case Ast::Kind::name:
        return token;
    case Ast::Kind::member:
        return operand(0) + "." + token;
    case Ast::Kind::arrow:
        return operand(0) + "->" + token;
    case Ast::Kind::index:
        return operand(0) + "[" + operand(1) + "]";
    case Ast::Kind::call: {
        std::string list;
        for (std::size_t i = 0; i < ast.operands.size(); i++)
            list += (i ? "," : "") + operand(i);
        return token + "(" + list + ")";
    }
    case Ast::Kind::unary:
        return "(" + token.substr(0, 1) + operand(0) + ")";
    case Ast::Kind::binary:
        return "(" + operand(0) + token + operand(1) + ")";
    case Ast::Kind::conditional:
        return "(" + operand(0) + "?" + operand(1) + ":" + operand(2) + ")";
    case Ast::Kind::cast:
        return "{" + type + "}" + operand(0);
    case Ast::Kind::size_of:
        return "sizeof(" + operand(0) + ")";
    case Ast::Kind::size_of_type:
        return "sizeof{" + type + "}";
    case Ast::Kind::container_of:
        return "container_of(" + operand(0) + "," + type + "," + operand(1) + ")";
    case Ast::Kind::self:
        return "";
    case Ast::Kind::at_return:
        return "<" + operand(0) + ">";
    }
    return "?";
}

std::string shape(const std::string &text) {
    const Expression expression = parse_condition(text);
    return shape(expression, expression.root());
}

std::string refused_condition(const std::string &text) {
    return thrown([&] { parse_condition(text); });
}

std::string refused_arguments(const std::string &text) {
    return thrown([&] { parse_arguments(text, text.find('(')); });
}

TEST(Parser, HasThePrecedenceOfC) {
    EXPECT_EQ(shape("a+b*c-d"), "((a+(b*c))-d)");
    EXPECT_EQ(shape("a<<b+c"), "(a<<(b+c))");
    EXPECT_EQ(shape("a<b==c>d"), "((a<b)==(c>d))");
    EXPECT_EQ(shape("a|b^c&d"), "(a|(b^(c&d)))");
    EXPECT_EQ(shape("a||b&&c||d"), "((a||(b&&c))||d)");
    EXPECT_EQ(shape("a?b:c?d:e"), "(a?b:(c?d:e))");
    EXPECT_EQ(shape("a||b?c||d:e"), "((a||b)?(c||d):e)");
    EXPECT_EQ(shape("a-b-c"), "((a-b)-c)");
    EXPECT_EQ(shape("a/b%c*d"), "(((a/b)%c)*d)");
    EXPECT_EQ(shape("s ~ \"x*\" && t !~ \"y\""), "((s~\"x*\")&&(t!~\"y\"))");
}

TEST(Parser, PostfixBindsBeforePrefix) {
    EXPECT_EQ(shape("*p->q"), "(*p->q)");
    EXPECT_EQ(shape("&a.b[1]"), "(&a.b[1])");
    EXPECT_EQ(shape("-x[i+1]->y"), "(-x[(i+1)]->y)");
    EXPECT_EQ(shape("!~x"), "(!(~x))");
    EXPECT_EQ(shape("- -x"), "(-(-x))");
    EXPECT_EQ(shape("a- -b"), "(a-(-b))");
    EXPECT_EQ(shape("a&*b"), "(a&(*b))");
    EXPECT_EQ(shape("(a)[1]"), "a[1]");
}

TEST(Parser, TellsCastsFromParentheses) {
    EXPECT_EQ(shape("(struct sock *)p"), "{sock*}p");
    EXPECT_EQ(shape("(struct sock *)p->q"), "{sock*}p->q");
    EXPECT_EQ(shape("((struct sock *)p)->q"), "{sock*}p->q");
    EXPECT_EQ(shape("(u32)x"), "{u32}x");
    EXPECT_EQ(shape("(u32)-x"), "{u32}(-x)");
    EXPECT_EQ(shape("(count)-x"), "(count-x)");
    EXPECT_EQ(shape("(count)*x"), "(count*x)");
    EXPECT_EQ(shape("(size_t)*x"), "{size_t}(*x)");
    EXPECT_EQ(shape("(foo)x"), "{foo}x");
    EXPECT_EQ(shape("(foo)(x)"), "{foo}x");
    EXPECT_EQ(shape("(foo)!x"), "{foo}(!x)");
    EXPECT_EQ(shape("(foo *)x"), "{foo*}x");
    EXPECT_EQ(shape("(foo * bar)"), "(foo*bar)");
    EXPECT_EQ(shape("(unsigned long)x"), "{unsigned long}x");
    EXPECT_EQ(shape("(long unsigned int)x"), "{unsigned long}x");
    EXPECT_EQ(shape("(unsigned)x"), "{unsigned int}x");
    EXPECT_EQ(shape("(const char *const *)x"), "{char**}x");
    EXPECT_EQ(shape("(signed char)x"), "{signed char}x");
    EXPECT_EQ(shape("(bool)x"), "{_Bool}x");
    EXPECT_EQ(shape("(u8)(u16)x"), "{u8}{u16}x");
}

TEST(Parser, Sizeof) {
    EXPECT_EQ(shape("sizeof(struct file)"), "sizeof{file}");
    EXPECT_EQ(shape("sizeof(u64)-1"), "(sizeof{u64}-1)");
    EXPECT_EQ(shape("sizeof(x)-1"), "(sizeof(x)-1)");
    EXPECT_EQ(shape("sizeof x->y"), "sizeof(x->y)");
    EXPECT_EQ(shape("sizeof(x)[1]"), "sizeof(x[1])");
    EXPECT_EQ(shape("sizeof *x"), "sizeof((*x))");
}

TEST(Parser, ReturnBindsMoreTightlyThanOperators) {
    EXPECT_EQ(shape("*pos@ret"), "<(*pos)>");
    EXPECT_EQ(shape("*pos@ret - *pos"), "(<(*pos)>-(*pos))");
    EXPECT_EQ(shape("(a + b) @ret == str(c)@ret"), "(<(a+b)>==<str(c)>)");
    EXPECT_EQ(shape("a ? b@ret : c"), "(a?<b>:c)");
    EXPECT_EQ(refused_condition("*pos@entry > 1"),
              "'ret' is missing behind '@' before 'e': EXPR@ret is what EXPR is when the function "
              "returns\n"
              "  *pos@entry > 1\n"
              "       ^");
    EXPECT_THAT(refused_condition("*pos@"), testing::StartsWith("'ret' is missing behind '@':"));
}

TEST(Parser, Calls) {
    EXPECT_EQ(shape("str(p, 16) == \"x\""), "(str(p,16)==\"x\")");
    EXPECT_EQ(shape("f()"), "f()");
    EXPECT_EQ(shape("container_of(p, struct x, a.b[2])->c"), "container_of(p,x,.a.b[2])->c");
}

TEST(Parser, ArgumentsHaveNames) {
    const std::string text = "f(path(file), count as n, *pos) if x";
    const ParsedArguments parsed = parse_arguments(text, 1);
    std::vector<std::string> names;
    for (const ArgumentExpression &argument : parsed.arguments)
        names.push_back(argument.name);
    EXPECT_THAT(names, ElementsAre("path(file)", "n", "*pos"));
    EXPECT_EQ(parsed.arguments[1].expression.plain_name(), "count");
    EXPECT_EQ(parsed.arguments[1].expression.written(), "count");
    EXPECT_EQ(parsed.arguments[2].expression.plain_name(), "");
    EXPECT_TRUE(parsed.arguments[1].named);
    EXPECT_FALSE(parsed.arguments[0].named);
    EXPECT_EQ(parsed.end, text.find(" if"));
    EXPECT_TRUE(parse_arguments("()", 0).arguments.empty());
    EXPECT_EQ(parse_arguments("f(a) ) what \"follows", 1).end, 4u) << "is not read";
    EXPECT_EQ(parse_arguments("($pid)", 0).arguments[0].expression.plain_name(), "");
    EXPECT_EQ(parse_arguments("((a))", 0).arguments[0].expression.plain_name(), "");
}

TEST(ParserError, PointsAtTheToken) {
    EXPECT_EQ(
        refused_condition("a & B == c"),
        "'&' binds less tightly than '==' in C: write (a & B) == c, or parentheses around the "
        "comparison\n"
        "  a & B == c\n"
        "    ^");
    EXPECT_EQ(refused_condition("x->y != z | m"),
              "'|' binds less tightly than '!=' in C: write x->y != (z | m), or parentheses around "
              "the comparison\n"
              "  x->y != z | m\n"
              "            ^");
    EXPECT_EQ(refused_condition("a & (B == c)"), "");
    EXPECT_EQ(refused_condition("(a & B) == c"), "");
    EXPECT_EQ(refused_condition("a = 1"),
              "'=' changes what is on its left; to compare, write '=='\n"
              "  a = 1\n"
              "    ^");
    EXPECT_EQ(refused_condition("a > 1 and b"), "'and' cannot follow a condition: in C it is &&\n"
                                                "  a > 1 and b\n"
                                                "        ^");
    EXPECT_THAT(refused_condition("(a or b)"), testing::StartsWith("'or' cannot follow what stands in the parentheses: in C it is ||\n"));
    for (const char *glob : {"comm =~ \"x*\"", "comm ~= \"x*\""})
        EXPECT_THAT(refused_condition(glob), testing::StartsWith("'=' changes what is on its left; to compare with a glob, write '~'\n"));
    EXPECT_EQ(refused_condition("a += 1"),
              "'=' changes what is on its left; to compare, write '=='\n"
              "  a += 1\n"
              "     ^");
    EXPECT_EQ(refused_condition("a++ > 1"),
              "'++' changes what it is applied to; two signs have a blank between them\n"
              "  a++ > 1\n"
              "   ^");
    EXPECT_THAT(refused_condition("--a"), testing::StartsWith("'--' changes what it is applied to"));
    EXPECT_EQ(refused_condition("a - -1 + +1"), "");
    EXPECT_EQ(refused_condition("a +"), "something is missing here: an operand\n"
                                        "  a +\n"
                                        "     ^");
    EXPECT_EQ(refused_condition("comm ~ kworker*"), "something is missing here: an operand; a glob stands in quotes: \"kworker*\"\n"
                                                    "  comm ~ kworker*\n"
                                                    "                 ^");
    EXPECT_EQ(refused_condition("flags(a, O_*)"), "an operand is missing before ')'; a glob stands in quotes: \"O_*\"\n"
                                                  "  flags(a, O_*)\n"
                                                  "              ^");
    EXPECT_THAT(refused_condition("a *"), testing::StartsWith("something is missing here: an operand\n"));
    EXPECT_THAT(refused_condition("(*)"), testing::StartsWith("an operand is missing before ')'\n"));
    EXPECT_EQ(refused_condition("a + * b )"), "this ')' has no '('\n"
                                              "  a + * b )\n"
                                              "          ^");
    EXPECT_EQ(refused_condition("(a + b"), "the ')' of this is missing\n"
                                           "  (a + b\n"
                                           "  ^");
    EXPECT_EQ(refused_condition("a ? b"), "':' is missing\n"
                                          "  a ? b\n"
                                          "       ^");
    EXPECT_EQ(refused_condition("a b"),
              "'b' cannot follow a condition: an operator is missing, or a comma\n"
              "  a b\n"
              "    ^");
    EXPECT_EQ(refused_condition("p->"), "a member's name is missing\n"
                                        "  p->\n"
                                        "     ^");
    EXPECT_EQ(refused_condition("p[1"), "']' is missing\n"
                                        "  p[1\n"
                                        "     ^");
    EXPECT_EQ(refused_condition("(struct *)p"), "the name of the struct is missing before '*'\n"
                                                "  (struct *)p\n"
                                                "          ^");
    EXPECT_EQ(refused_condition("(strct file *)p"), "'strct' begins no type; did you mean struct?\n"
                                                    "  (strct file *)p\n"
                                                    "   ^");
    EXPECT_EQ(refused_condition("(struc * file)"), "") << "a product";
    const char *arrays = "nothing can be cast to an array; to a pointer it can, as in (u32 *)\n";
    EXPECT_EQ(refused_condition("(u32 [4])p"), std::string(arrays) + "  (u32 [4])p\n"
                                                                     "       ^");
    EXPECT_THAT(refused_condition("(u32 [])p"), testing::StartsWith(arrays));
    EXPECT_THAT(refused_condition("(u32 *[4])p"), testing::StartsWith("nothing can be cast to an array; to a pointer it can, as in (u32 **)\n"));
    EXPECT_THAT(refused_condition("(u32 (*)[4])p"), testing::StartsWith("pointers to arrays and functions cannot be written; "));
    EXPECT_EQ(refused_condition("(a[4]) * b + (a[i])"), "");
    EXPECT_EQ(refused_condition("(str(*p))"), "");
    EXPECT_EQ(refused_condition("(long short)p"), "'long short' is no type\n"
                                                  "  (long short)p\n"
                                                  "   ^");
    EXPECT_EQ(refused_condition(""), "a condition is missing\n  \n  ^");
    EXPECT_EQ(refused_condition("a as b"), "a condition has no name\n"
                                           "  a as b\n"
                                           "    ^");
    EXPECT_EQ(refused_arguments("f(a,,b)"), "an argument is missing before ','\n"
                                            "  f(a,,b)\n"
                                            "      ^");
    EXPECT_EQ(refused_arguments("f(a"), "')' is missing\n"
                                        "  f(a\n"
                                        "     ^");
    EXPECT_EQ(refused_arguments("f(a as )"), "a name is missing behind 'as' before ')'\n"
                                             "  f(a as )\n"
                                             "         ^");
    EXPECT_EQ(refused_arguments("f(a if b)"), "'if' stands behind the closing parenthesis\n"
                                              "  f(a if b)\n"
                                              "      ^");
}

TEST(ParserError, DepthIsBounded) {
    const std::string deep(100000, '(');
    EXPECT_THAT(refused_condition(deep), testing::StartsWith("this is nested too deeply"));
    EXPECT_THAT(refused_condition(std::string(100000, '!')),
                testing::StartsWith("this is nested too deeply"));
    std::string sum = "a";
    for (int i = 0; i < 100000; i++)
        sum += "+a";
    EXPECT_THAT(refused_condition(sum), testing::StartsWith("these are too many operators"));
    std::string members = "a";
    for (int i = 0; i < 100000; i++)
        members += ".b";
    EXPECT_THAT(refused_condition(members), testing::StartsWith("this is nested too deeply"));
}

} // namespace
} // namespace argtrace::lang
