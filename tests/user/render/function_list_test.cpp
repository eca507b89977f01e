// SPDX-License-Identifier: GPL-2.0-only
#include "render/function_list.h"

#include <gtest/gtest.h>

namespace argtrace {
namespace {

Function make_function(std::string_view module) {
    Function function;
    function.symbol = {0xffffffff81000000, "f", module};
    function.prototype.function = "f";
    function.prototype.text = "void f(const char *name, struct pair p, int)";
    function.prototype.result_shape.kind = Shape::Kind::nothing;
    function.prototype.parameters = {
        {"name", "const char *", {.kind = Shape::Kind::pointer, .bytes = 8}},
        {"p", "struct pair", {.kind = Shape::Kind::aggregate, .bytes = 16}},
        {"arg2", "int", {.kind = Shape::Kind::integer, .bytes = 4, .is_signed = true}},
    };
    return function;
}

std::string text(const Function &function, bool verbose) {
    std::string out;
    append_function_text(out, function, verbose);
    return out;
}

std::string function_json(const Function &function, bool verbose) {
    std::string out;
    append_function_json(out, function, verbose);
    return out;
}

TEST(FunctionList, Text) {
    EXPECT_EQ(text(make_function(""), false), "void f(const char *name, struct pair p, int)\n");
    EXPECT_EQ(text(make_function("ext4"), false),
              "void f(const char *name, struct pair p, int) [ext4]\n");
}

TEST(FunctionList, SaysByWhichNamesAnArgumentIsShown) {
    Function function = make_function("");
    function.prototype.function = "vfs_rename";
    function.prototype.parameters = {{"flags", "unsigned int", {.kind = Shape::Kind::integer, .bytes = 4}}};
    EXPECT_EQ(text(function, true).find("shown by"), std::string::npos);
    EXPECT_EQ(function_json(function, false).find("\"names\""), std::string::npos);
    function.capture.is_described = true;
    EXPECT_NE(text(function, true).find("    flags: u32 in rdi, 4 bytes, shown by the names of `rename`\n"), std::string::npos) << text(function, true);
    EXPECT_NE(function_json(function, false).find(R"~({"name":"flags","type":"unsigned int","names":"rename"})~"), std::string::npos);
}

TEST(FunctionList, TellsNamesakesApart) {
    Function function = make_function("ext4");
    function.namesakes = true;
    function.forced = true;
    EXPECT_EQ(text(function, false), "void f(const char *name, struct pair p, int) [ext4] at "
                                     "0xffffffff81000000 (needs --force)\n");
    EXPECT_NE(
        function_json(function, false).find(R"~("addr":"0xffffffff81000000","forced":true,)~"),
        std::string::npos);
}

TEST(FunctionList, MarksWhatTracersUse) {
    const Function function = make_function("ext4");
    std::string out;
    append_function_text(out, function, false, 1);
    append_function_text(out, function, false, 2);
    EXPECT_EQ(out, "void f(const char *name, struct pair p, int) [ext4] (in use by 1 tracer)\n"
                   "void f(const char *name, struct pair p, int) [ext4] (in use by 2 tracers)\n");
    out.clear();
    append_function_json(out, function, false, 2);
    EXPECT_NE(out.find(R"~("addr":"0xffffffff81000000","tracers":2,"prototype")~"), out.npos)
        << out;
    EXPECT_EQ(function_json(function, false).find("tracers"), out.npos);
}

TEST(FunctionList, ShowsChosenArgumentsAlone) {
    Function function = make_function("");
    function.capture.values = lang::parse_arguments("(arg2)", 0).arguments;
    EXPECT_EQ(text(function, true), "void f(const char *name, struct pair p, int)\n"
                                    "    arg2: s32 in rcx, 4 bytes\n"
                                    "    a record takes 32 bytes\n");
}

TEST(FunctionList, NamesRegistersOfTheMachine) {
    Function function = make_function("");
    function.convention = architecture("aarch64").functions;
    function.capture.values = lang::parse_arguments("(name)", 0).arguments;
    std::string out;
    append_function_text(out, function, true);
    EXPECT_NE(out.find("    name: ptr in x0, 8 bytes\n"), std::string::npos) << out;
    out.clear();
    append_function_json(out, function, true);
    EXPECT_NE(out.find(R"("location":"x0")"), std::string::npos) << out;
}

TEST(FunctionList, VerboseTextSaysWhereArgumentsLie) {
    EXPECT_EQ(text(make_function(""), true), "void f(const char *name, struct pair p, int)\n"
                                             "    name: ptr in rdi, 8 bytes\n"
                                             "    p: struct pair in rsi:rdx, 18 bytes\n"
                                             "    arg2: s32 in rcx, 4 bytes\n"
                                             "    a record takes 56 bytes\n");
}

TEST(FunctionList, VerboseSaysWhatIsOnTheStackAndWhatIsNotCaptured) {
    Function function = make_function("");
    function.prototype.parameters = {
        {"big", "struct big", {.kind = Shape::Kind::aggregate, .bytes = 24}},
        {"wide", "unsigned __int128", {.kind = Shape::Kind::integer, .bytes = 16}},
        {"d", "double", {.kind = Shape::Kind::floating, .bytes = 8}},
        {"b", "bool", {.kind = Shape::Kind::integer, .bytes = 1, .is_bool = true}},
    };
    EXPECT_EQ(text(function, true), function.prototype.text +
                                        "\n"
                                        "    big: struct big at sp+8, 26 bytes\n"
                                        "    wide: u128 in rdi:rsi, 16 bytes\n"
                                        "    d: double not captured\n"
                                        "    b: bool in rdx, 1 byte\n"
                                        "    a record takes 72 bytes\n");
    EXPECT_NE(function_json(function, true).find(R"~("type":"double","location":null,"bytes":0})~"),
              std::string::npos);
}

TEST(FunctionList, Json) {
    EXPECT_EQ(
        function_json(make_function(""), false),
        R"~({"func":"f","addr":"0xffffffff81000000",)~"
        R"~("prototype":"void f(const char *name, struct pair p, int)",)~"
        R"~("args":[{"name":"name","type":"const char *"},{"name":"p","type":"struct pair"},)~"
        R"~({"name":"arg2","type":"int"}]})~"
        "\n");
}

TEST(FunctionList, JsonNamesTheModuleAndWithVerboseTheLocation) {
    const std::string line = function_json(make_function("ext4"), true);
    EXPECT_NE(line.find(R"~("func":"f","module":"ext4","addr")~"), line.npos) << line;
    EXPECT_NE(
        line.find(
            R"~({"name":"arg2","type":"int","location":"rcx","bytes":4}],"record_bytes":56})~"),
        line.npos)
        << line;
}

TEST(FunctionList, JsonOfNoArgumentsIsAnEmptyList) {
    Function function = make_function("");
    function.prototype.parameters.clear();
    EXPECT_NE(function_json(function, false).find(R"~("args":[]})~"), std::string::npos);
}

} // namespace
} // namespace argtrace
