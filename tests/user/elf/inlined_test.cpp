// SPDX-License-Identifier: GPL-2.0-only
// Functions, files and lines of each instruction, compared with those of llvm-addr2line. (That of binutils puts the
// symbol of the function in the place of some inlined ones.)
#include "elf/inlined.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace argtrace::elf {
namespace {

class Inlined : public testing::TestWithParam<const char *> {
protected:
    Inlined() {
        std::string name = testing::TempDir() + "argtrace_inlined_XXXXXX";
        folder_ = ::mkdtemp(name.data());
        std::ofstream(folder_ + "/x.h") << "static inline __attribute__((always_inline)) int innermost(int n)\n{\n\tsink = n;\n\treturn n * sink;\n}\n";
        std::ofstream(folder_ + "/x.cpp") << "volatile int sink;\n"
                                             "#include \"x.h\"\n"
                                             "namespace a {\n"
                                             "template<typename T> static inline __attribute__((always_inline)) T middle(T n)\n"
                                             "{\n"
                                             "\tif (n > 3)\n"
                                             "\t\tn += innermost(n);\n"
                                             "\treturn n - innermost(2);\n"
                                             "}\n"
                                             "struct B { int method(int n); };\n"
                                             "__attribute__((noinline)) int B::method(int n)\n"
                                             "{\n"
                                             "\tfor (int i = 0; i < n; i++) {\n"
                                             "\t\tint j = middle(i);\n"
                                             "\t\tsink = j;\n"
                                             "\t}\n"
                                             "\treturn middle(n) + 1;\n"
                                             "}\n"
                                             "}\n"
                                             "extern \"C\" int plain(int n) { a::B b; return b.method(n) + innermost(n); }\n";
    }
    ~Inlined() override { std::filesystem::remove_all(folder_); }

    void run(const std::string &command) const { ASSERT_EQ(std::system(("cd " + folder_ + " && " + command + " 2>&1").c_str()), 0) << command; }

    /// What addr2line has for all places of .text; `whole` is the file with DWARF.
    void expect_addr2lines(const std::string &path, const std::string &whole, const std::vector<std::string> &folders = {}) const {
        const auto object = Object::open(Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
        ASSERT_TRUE(object);
        InlinedFrames frames(*object, folders);
        const Elf64_Shdr &text = object->section(".text")->header;
        std::string ours;
        std::size_t deepest = 0;
        {
            std::ofstream addresses(folder_ + "/addresses");
            for (std::uint64_t at = 0; at < text.sh_size; at++) {
                const auto found = frames.at(text.sh_offset + at);
                if (found.empty())
                    continue;
                addresses << fmt::format("{:#x}\n", text.sh_addr + at);
                for (const SourceFrame &frame : found)
                    ours += fmt::format("{}\n{}:{}\n", frame.function.empty() ? "??" : frame.function, frame.file, frame.line);
                deepest = std::max(deepest, found.size());
            }
        }
        run("llvm-addr2line -C -f -i -e " + whole + " <addresses >theirs");
        std::ifstream theirs(folder_ + "/theirs");
        EXPECT_EQ(ours, std::string(std::istreambuf_iterator<char>(theirs), {}));
        EXPECT_EQ(deepest, 3u);
    }

    std::string folder_;
};

TEST_P(Inlined, AreThoseOfAddr2line) {
    run(std::string(GetParam()) + " -O2 -shared -fPIC -o x.so " + folder_ + "/x.cpp");
    expect_addr2lines(folder_ + "/x.so", "x.so");
}

INSTANTIATE_TEST_SUITE_P(Compiled, Inlined, testing::Values("c++ -g -gdwarf-4", "c++ -g -gdwarf-5", "c++ -g -gz=zlib", "clang++ -g"));

class InlinedElsewhere : public Inlined {};

TEST_F(InlinedElsewhere, AreFoundInDebugFiles) {
    run("c++ -g -O2 -shared -fPIC -o whole.so " + folder_ + "/x.cpp && objcopy --only-keep-debug whole.so x.debug && "
        "objcopy --strip-all --add-gnu-debuglink=x.debug whole.so x.so");
    expect_addr2lines(folder_ + "/x.so", "whole.so");
}

TEST_F(Inlined, HaveNoLinesUnlessTheyAreWanted) {
    run("c++ -g -O2 -shared -fPIC -o x.so " + folder_ + "/x.cpp");
    const auto object = Object::open(Fd(::open((folder_ + "/x.so").c_str(), O_RDONLY | O_CLOEXEC)), folder_ + "/x.so");
    ASSERT_TRUE(object);
    InlinedFrames frames(*object);
    const Elf64_Shdr &text = object->section(".text")->header;
    std::size_t known = 0;
    for (std::uint64_t at = 0; at < text.sh_size; at++) {
        std::vector<SourceFrame> with = frames.at(text.sh_offset + at);
        if (!with.empty() && with.front().function.empty())
            with.clear(); // the line is all that is known
        known += with.size();
        for (SourceFrame &frame : with) {
            EXPECT_NE(frame.line, 0);
            frame = {frame.function, "", 0};
        }
        EXPECT_EQ(frames.at(text.sh_offset + at, InlinedFrames::Lines::unwanted), with);
    }
    EXPECT_GT(known, text.sh_size / 2);
}

TEST_F(InlinedElsewhere, AreNoneWithoutDwarf) {
    run("c++ -O2 -shared -fPIC -s -o x.so " + folder_ + "/x.cpp");
    const auto object = Object::open(Fd(::open((folder_ + "/x.so").c_str(), O_RDONLY | O_CLOEXEC)), folder_ + "/x.so");
    ASSERT_TRUE(object);
    InlinedFrames frames(*object);
    EXPECT_TRUE(frames.at(object->section(".text")->header.sh_offset).empty());
}

} // namespace
} // namespace argtrace::elf
