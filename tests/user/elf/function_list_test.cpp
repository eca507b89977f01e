// SPDX-License-Identifier: GPL-2.0-only
// Functions by name, compared with what nm and the dynamic linker say.
#include "elf/function_list.h"

#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace argtrace::elf {
namespace {

Object object_at(const std::string &path) {
    auto object = Object::open(Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
    if (!object)
        throw std::runtime_error(path + " is no object");
    return std::move(*object);
}

std::string libc_path() {
    Dl_info info = {};
    void *const libc = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD); // a sanitizer has functions of the same names
    return ::dladdr(::dlsym(libc, "fflush"), &info) ? info.dli_fname : "";
}

TEST(ObjectFunctions, OfTheCLibraryIsThatOfNm) {
    const std::string path = libc_path();
    const std::unique_ptr<FILE, int (*)(FILE *)> pipe(::popen(fmt::format("nm -D --defined-only {}", path).c_str(), "r"), ::pclose);
    std::set<std::pair<std::string, std::uint64_t>> expected, found;
    char line[512];
    while (std::fgets(line, sizeof(line), pipe.get())) {
        std::istringstream words(line);
        std::string address, type, name;
        words >> address >> type >> name;
        if (type == "T" || type == "W" || type == "t" || type == "w" || type == "i")
            expected.emplace(name.substr(0, name.find('@')), std::stoull(address, nullptr, 16));
    }
    const Object object = object_at(path);
    for (const NamedFunction &function : list_functions(object)) {
        EXPECT_EQ(object.offset_of(function.address), function.offset);
        found.emplace(function.symbol, function.address);
    }
    ASSERT_GT(expected.size(), 1000u);
    for (const auto &[name, address] : expected)
        EXPECT_TRUE(found.contains({name, address})) << name;
}

TEST(ObjectFunctions, KnowsAliasesAndResolvers) {
    std::map<std::string, NamedFunction> functions;
    for (const NamedFunction &function : list_functions(object_at(libc_path())))
        functions.emplace(function.symbol, function);
    EXPECT_TRUE(functions.at("strlen").is_resolver);
    EXPECT_FALSE(functions.at("fopen").is_resolver);
    EXPECT_EQ(functions.at("open").offset, functions.at("open64").offset);
}

std::string plain(std::string_view name) {
    std::string room;
    return std::string(plain_name(name, room));
}

TEST(ObjectFunctions, NamesAreAsPeopleTypeThem) {
    EXPECT_EQ(plain("main"), "main");
    EXPECT_EQ(plain("ns::Class::method(int, char const*) const"), "ns::Class::method");
    EXPECT_EQ(plain("ns::Class::~Class()"), "ns::Class::~Class");
    EXPECT_EQ(plain("int ns::f<int, std::vector<int> >(std::vector<int>&)"), "ns::f<int, std::vector<int> >");
    EXPECT_EQ(plain("std::string ns::g[abi:cxx11](int)"), "ns::g");
    EXPECT_EQ(plain("(anonymous namespace)::h(int)"), "(anonymous namespace)::h");
    EXPECT_EQ(plain("ns::Class::operator()(int) const"), "ns::Class::operator()");
    EXPECT_EQ(plain("ns::operator<(ns::A const&, ns::A const&)"), "ns::operator<");
    EXPECT_EQ(plain("ns::A::operator->() const"), "ns::A::operator->");
    EXPECT_EQ(plain("net/http.(*conn).serve"), "net/http.(*conn).serve") << "no parameters";
    EXPECT_EQ(plain("<core::option::Option<T> as core::fmt::Debug>::fmt"), "<core::option::Option<T> as core::fmt::Debug>::fmt");
}

TEST(FunctionList, NamesOfCplusplusSayHowManyParametersThereAre) {
    EXPECT_EQ(parameter_count("f()"), 0u);
    EXPECT_EQ(parameter_count("ns::Class::method(int, char const*) const"), 2u);
    EXPECT_EQ(parameter_count("f(std::map<int, std::vector<int> >&, int (*)(int, long), ...)"), 3u);
    EXPECT_EQ(parameter_count("ns::Class::operator()(int) const"), 1u);
    EXPECT_EQ(parameter_count("ns::operator<(ns::A const&, ns::A const&)"), 2u);
    EXPECT_EQ(parameter_count("ns::f(int, int) [clone .constprop.0]"), 2u);
    EXPECT_EQ(parameter_count("main"), std::nullopt);
}

} // namespace
} // namespace argtrace::elf
