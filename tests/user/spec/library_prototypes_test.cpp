// SPDX-License-Identifier: GPL-2.0-only
#include "spec/library_prototypes.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/thrown.h"
#include "util/lines.h"

namespace argtrace {
namespace {

std::string written(std::string_view text) {
    const WrittenPrototype prototype = parse_prototype(text);
    std::string all = fmt::format("{} | {}", prototype.result, prototype.name);
    for (const WrittenParameter &parameter : prototype.parameters)
        all += fmt::format(" | {} {}", parameter.type, parameter.name);
    return all + (prototype.variadic ? " | ..." : "");
}

TEST(LibraryPrototypes, AreWrittenAsInC) {
    EXPECT_EQ(written("size_t strlen(const char *s)"), "size_t | strlen | const char * s");
    EXPECT_EQ(written("int main(void);"), "int | main");
    EXPECT_EQ(written("int f()"), "int | f");
    EXPECT_EQ(written("char *const *f(unsigned long long int n, struct stat *buf, enum color c)"),
              "char * const * | f | unsigned long long int n | struct stat * buf | enum color c");
    EXPECT_EQ(written("void *f ( const char *restrict a, char * const argv[], unsigned )"),
              "void * | f | const char * a | char * const * argv | unsigned arg2");
    EXPECT_EQ(written("int printf(const char *format, ...)"), "int | printf | const char * format | ...");
    EXPECT_EQ(written("void qsort(void *base, size_t n, int (*compare)(const void *, const void *), void *arg)"),
              "void | qsort | void * base | size_t n | void * compare | void * arg");
    EXPECT_EQ(written("double g(double, float x)"), "double | g | double arg0 | float x");
}

TEST(LibraryPrototypes, WhatIsNoneIsSaid) {
    EXPECT_EQ(thrown([] { parse_prototype("strlen"); }), "'strlen' is no prototype: write it as C does, 'size_t strlen(const char *s)'");
    EXPECT_EQ(thrown([] { parse_prototype("size_t (int a)"); }), "'size_t (int a)' is no prototype: the function's name is missing");
    EXPECT_EQ(thrown([] { parse_prototype("int f(int a b)"); }), "'int a b' is no parameter: 'b' follows a name");
    EXPECT_EQ(thrown([] { parse_prototype("int f(int a[3)"); }), "'int a[3' is no parameter: ']' is missing");
    EXPECT_EQ(thrown([] { parse_prototype("int f(..., int a)"); }), "'int f(..., int a)' is no prototype: nothing can follow '...'");
    EXPECT_EQ(thrown([] { parse_prototype("int f(int a,)"); }), "'' is no parameter: a type is missing");
}

TEST(LibraryPrototypes, OfTheTableCanAllBeRead) {
    std::size_t count = 0;
    std::string library;
    for_each_line(shipped_library_prototypes, [&](std::string_view line) {
        if (line.empty() || line.front() == '#')
            return;
        if (line.ends_with(':')) {
            library = line.substr(0, line.size() - 1);
            return;
        }
        const WrittenPrototype prototype = parse_prototype(line);
        count++;
        if (library == "libc") {
            EXPECT_NE(::dlsym(RTLD_DEFAULT, prototype.name.c_str()), nullptr) << line << ": the C library has no such function";
        }
        EXPECT_TRUE(find_library_prototype(library, prototype.name)) << line;
    });
    EXPECT_GE(count, 200u);
}

TEST(LibraryPrototypes, AreThoseOfALibraryInAnyVersion) {
    EXPECT_EQ(find_library_prototype("libc.so.6", "strlen")->parameters.at(0).name, "s");
    EXPECT_TRUE(find_library_prototype("libssl.so.3", "SSL_write"));
    EXPECT_FALSE(find_library_prototype("libcrypt.so.1", "strlen"));
    EXPECT_FALSE(find_library_prototype("libc.so.6", "no_such_function"));
}

} // namespace
} // namespace argtrace
