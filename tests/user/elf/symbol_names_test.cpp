// SPDX-License-Identifier: GPL-2.0-only
// Names of functions, compared with those of nm, objdump and the dynamic linker.
#include "elf/symbol_names.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

namespace argtrace::elf {
namespace {

/// What a command of the shell writes.
std::string output_of(const std::string &command) {
    const std::unique_ptr<FILE, int (*)(FILE *)> pipe(::popen(command.c_str(), "r"), ::pclose);
    std::string text;
    char buffer[4096];
    for (std::size_t n; pipe && (n = std::fread(buffer, 1, sizeof(buffer), pipe.get())) > 0;)
        text.append(buffer, n);
    return text;
}

Object opened(const std::string &path) {
    auto object = Object::open(Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
    if (!object)
        throw std::runtime_error(path + " is no object");
    return std::move(*object);
}

std::string name_at(SymbolNames &names, std::optional<std::uint64_t> offset) {
    const auto name = offset ? names.at(*offset) : std::nullopt;
    return name ? fmt::format("{}{}", name->name, name->offset ? fmt::format("+{:#x}", name->offset) : "") : "";
}

/// A folder of its own, with a library that has static functions, and what objcopy makes of it.
class SeparateDebugFile : public testing::Test {
protected:
    SeparateDebugFile() {
        std::string name = testing::TempDir() + "argtrace_elf_XXXXXX";
        folder_ = ::mkdtemp(name.data());
        std::istringstream list(ARGTRACE_TEST_SHAPES);
        std::string first;
        list >> first;
        whole_ = first.substr(first.find('=') + 1);
    }
    ~SeparateDebugFile() override { std::filesystem::remove_all(folder_); }

    void run(const std::string &command) const { ASSERT_EQ(std::system(("cd " + folder_ + " && " + command + " 2>&1").c_str()), 0) << command; }

    /// Each function that nm finds in the whole library has its name in this one.
    void expect_names(const std::string &path, const std::vector<std::string> &folders = {}) const {
        const Object object = opened(path);
        SymbolNames names(object, folders);
        std::istringstream lines(output_of("nm --defined-only " + whole_));
        std::size_t found = 0;
        for (std::string line; std::getline(lines, line);) {
            unsigned long address;
            char kind, name[256];
            if (std::sscanf(line.c_str(), "%lx %c %255s", &address, &kind, name) != 3 || (kind != 't' && kind != 'T') || name[0] == '_')
                continue;
            EXPECT_EQ(name_at(names, object.offset_of(address)), name);
            EXPECT_EQ(name_at(names, object.offset_of(address + 1)), std::string(name) + "+0x1");
            found++;
        }
        EXPECT_GT(found, 10u);
    }

    void expect_no_names(const std::string &path, const std::vector<std::string> &folders = {}) const {
        const Object object = opened(path);
        SymbolNames names(object, folders);
        const auto address = std::stoul(output_of("nm " + whole_ + " | grep ' t recurse' | cut -d' ' -f1"), nullptr, 16);
        EXPECT_NE(name_at(names, object.offset_of(address)), "recurse");
    }

    std::string folder_, whole_;
};

TEST_F(SeparateDebugFile, IsNotNeededWhereThereIsASymbolTable) {
    expect_names(whole_);
}

TEST_F(SeparateDebugFile, IsFoundByItsLinkAndChecksum) {
    run("objcopy --only-keep-debug " + whole_ + " x.debug && objcopy --strip-all --add-gnu-debuglink=x.debug " + whole_ + " x.so && mkdir .debug && "
        "objcopy --remove-section .note.gnu.build-id x.so");
    expect_names(folder_ + "/x.so");
    run("mv x.debug .debug");
    expect_names(folder_ + "/x.so");
    run("mkdir -p debug" + folder_ + " && mv .debug/x.debug debug" + folder_);
    expect_no_names(folder_ + "/x.so");
    expect_names(folder_ + "/x.so", {folder_ + "/debug"});
    run("printf x >>debug" + folder_ + "/x.debug");
    expect_no_names(folder_ + "/x.so", {folder_ + "/debug"});
}

TEST_F(SeparateDebugFile, IsFoundByBuildId) {
    run("objcopy --strip-all " + whole_ + " x.so");
    const std::string id = opened(folder_ + "/x.so").build_id();
    ASSERT_EQ(id + "\n", output_of("readelf -n " + whole_ + " | sed -n 's/.*Build ID: //p'"));
    expect_no_names(folder_ + "/x.so", {folder_});
    const std::string place = ".build-id/" + id.substr(0, 2);
    run("mkdir -p " + place + " && objcopy --only-keep-debug " + whole_ + " " + place + "/" + id.substr(2) + ".debug");
    expect_names(folder_ + "/x.so", {"/nowhere", folder_});
    // The same names, but it does not say that they are this build's.
    run("objcopy --only-keep-debug --remove-section .note.gnu.build-id " + whole_ + " " + place + "/" + id.substr(2) + ".debug");
    expect_no_names(folder_ + "/x.so", {folder_});
    run("mkfifo f && mv -f f " + place + "/" + id.substr(2) + ".debug");
    expect_no_names(folder_ + "/x.so", {folder_});
}

TEST_F(SeparateDebugFile, MayBeASection) {
    run("objcopy --only-keep-debug " + whole_ + " mini && objcopy --strip-all " + whole_ + " x.so && "
        "objcopy --strip-debug mini && xz -9 mini && objcopy --add-section .gnu_debugdata=mini.xz x.so");
    expect_names(folder_ + "/x.so");
}

/// Entries of linkage tables as objdump names them.
void expect_linkage_names(const std::string &path) {
    const Object object = opened(path);
    SymbolNames names(object);
    const std::regex entry(R"(^([0-9a-f]+) <([A-Za-z0-9_]+)(@[A-Za-z0-9_.]+)?@plt>:$)");
    std::istringstream lines(output_of("objdump -d -j .plt -j .plt.sec -j .plt.got " + path + " 2>/dev/null"));
    std::smatch found;
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line);) {
        if (!std::regex_match(line, found, entry) || found[2].str().starts_with("_Z"))
            continue;
        EXPECT_EQ(name_at(names, object.offset_of(std::stoul(found[1], nullptr, 16))), found[2].str() + "@plt");
        count++;
    }
    EXPECT_GT(count, 3u) << path;
}

TEST(SymbolNames, HaveLinkageTables) {
    std::istringstream list(ARGTRACE_TEST_SHAPES);
    for (std::string word; list >> word;)
        expect_linkage_names(word.substr(word.find('=') + 1));
    expect_linkage_names("/usr/bin/python3");
}

/// Compares names at random places of a library that this process uses.
void expect_names_of_the_linker(const char *function) {
    Dl_info library = {};
    ASSERT_NE(::dladdr(::dlsym(RTLD_DEFAULT, function), &library), 0);
    const Object object = opened(library.dli_fname);
    SymbolNames names(object);
    const auto base = reinterpret_cast<std::uint64_t>(library.dli_fbase);
    std::mt19937_64 random(3);
    std::size_t compared = 0;
    for (const Elf64_Phdr &segment : object.segments()) {
        if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
            continue;
        for (int i = 0; i < 20000; i++) {
            const std::uint64_t address = segment.p_vaddr + random() % segment.p_filesz;
            Dl_info info = {};
            ::dladdr(reinterpret_cast<void *>(base + address), &info);
            const auto name = names.at(*object.offset_of(address));
            if (!info.dli_sname || !name || !name->exact || name->name.ends_with("@plt"))
                continue;
            EXPECT_EQ(base + address - name->offset, reinterpret_cast<std::uint64_t>(info.dli_saddr)) << name->name << ", " << info.dli_sname;
            compared++;
        }
    }
    EXPECT_GT(compared, 1000u);
}

TEST(SymbolNames, AreThoseOfTheDynamicLinker) {
    expect_names_of_the_linker("gnu_get_libc_version");
    expect_names_of_the_linker("_ZSt9terminatev");
}

TEST(SymbolNames, OfTheVdsoAreInMemory) {
    unsigned long start = 0, end = 0;
    ASSERT_EQ(std::sscanf(output_of("grep vdso /proc/" + std::to_string(::getpid()) + "/maps").c_str(), "%lx-%lx", &start, &end), 2);
    const auto object = Object::from_memory({reinterpret_cast<const std::byte *>(start), end - start}, "[vdso]");
    ASSERT_TRUE(object);
    EXPECT_EQ(object->build_id().size(), 40u);
    SymbolNames names(*object);
    std::set<std::string> found;
    for (std::uint64_t offset = 0; offset < end - start; offset++)
        if (const auto name = names.at(offset))
            found.emplace(name->name);
    // A place with two names has the global one, not the weak one.
    EXPECT_TRUE(found.contains("__vdso_clock_gettime"));
    EXPECT_FALSE(found.contains("clock_gettime"));
}

class CompiledAssembly : public SeparateDebugFile {
protected:
    /// The name of each byte of .text, one a letter; a dot for none.
    std::string names_in(const std::string &source) {
        std::ofstream(folder_ + "/x.s") << source;
        run("cc -nostdlib -shared x.s -o x.so");
        const Object object = opened(folder_ + "/x.so");
        SymbolNames names(object);
        const Elf64_Shdr &text = object.section(".text")->header;
        std::string letters;
        for (std::uint64_t at = text.sh_offset; at < text.sh_offset + text.sh_size; at++) {
            const auto name = names.at(at);
            letters += name ? name->name.substr(0, 1) : ".";
        }
        return letters;
    }
};

std::string function(const std::string &name, const std::string &more) {
    return ".type " + name + ", @function\n" + name + ":\n" + more;
}

TEST_F(CompiledAssembly, HasNamesUpToTheirSize) {
    EXPECT_EQ(names_in(function("a", ".skip 4\n.size a, 3\n") + function("b", ".skip 2\n.size b, 2\n") + ".skip 2\n"), "aaa.bb..");
}

TEST_F(CompiledAssembly, WithoutSizesHasNamesUpToTheNext) {
    EXPECT_EQ(names_in(function("a", ".skip 4\n") + function("b", ".skip 3\n")), "aaaabbb");
}

TEST_F(CompiledAssembly, HasFunctionsInFunctions) {
    EXPECT_EQ(names_in(function("a", ".skip 2\n" + function("b", ".skip 2\n.size b, 2\n") + ".skip 2\n.size a, 6\n") + ".skip 1\n"), "aabbaa.");
    EXPECT_EQ(names_in(function("a", ".skip 2\n" + function("b", ".skip 4\n") + ".size a, 6\n") + ".skip 1\n"), "aabbbb.");
    EXPECT_EQ(names_in(function("a", ".skip 2\n" + function("b", ".skip 2\n.size a, 4\n.skip 2\n.size b, 4\n"))), "aabbbb");
}

TEST_F(CompiledAssembly, PrefersGlobalThenShortThenFirstNames) {
    const auto named = [](const std::string &name, const std::string &binding) {
        return (binding.empty() ? "" : "." + binding + " " + name + "\n") + ".type " + name + ", @function\n" + name + ":\n";
    };
    const std::string end = ".skip 2\n";
    EXPECT_EQ(names_in(named("a", "") + named("b", "weak") + named("cc", "globl") + end), "cc");
    EXPECT_EQ(names_in(named("a", "") + named("bb", "weak") + end), "bb");
    EXPECT_EQ(names_in(named("dd", "globl") + named("ccc", "globl") + named("ee", "globl") + end), "dd");
    // One of them has a size, which is that of all.
    EXPECT_EQ(names_in(named("a", "globl") + named("bb", "") + ".skip 2\n.size bb, 1\n"), "a.");
}

} // namespace
} // namespace argtrace::elf
