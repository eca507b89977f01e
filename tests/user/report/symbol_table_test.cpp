// SPDX-License-Identifier: GPL-2.0-only
#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>

#include "elf/object.h"
#include "file/format.h"
#include "model/user_frame.h"
#include "render/caller.h"
#include "report/symbol_table.h"

namespace argtrace {
namespace {

using testing::ElementsAre;
using Words = std::vector<std::uint64_t>;

bool add(SymbolTable &table, const Words &words) {
    return table.add_stacks(std::as_bytes(std::span(words)));
}

TEST(SymbolTable, KeepsStacks) {
    SymbolTable table;
    EXPECT_TRUE(add(table, {7, 2, 100, 101, 8, 1 | stack_chunk_cut, 200}));
    StackRoom room, other;
    const auto seven = table.stack(7, room), eight = table.stack(8, other);
    ASSERT_TRUE(seven && eight);
    EXPECT_THAT(seven->addresses, ElementsAre(100, 101));
    EXPECT_FALSE(seven->cut);
    EXPECT_THAT(eight->addresses, ElementsAre(200));
    EXPECT_TRUE(eight->cut);
    EXPECT_FALSE(table.stack(9, room));
}

constexpr CodeSpace another{1};

TEST(SymbolTable, TellsSpacesApart) {
    SymbolTable table;
    EXPECT_TRUE(table.add("1000 100 t of_kernel\n"));
    EXPECT_TRUE(table.add("1000 100 t of_another\n800 10 t before\n", another));
    EXPECT_EQ(table.at(0x1010).value().name, "of_kernel");
    EXPECT_EQ(table.find(kernel_place(0x1010)).value().name, "of_kernel");
    EXPECT_EQ(table.find({another, 0x1010}).value().name, "of_another");
    EXPECT_FALSE(table.at(0x808)) << "which only the other has";
    EXPECT_FALSE(table.find({another, 0x100})) << "what the space before ends with";
}

constexpr std::uint64_t in_main = UserFrame(16, 0x1234, false).word(), interrupted = UserFrame(16, 0x1234, true).word(),
                        in_library = UserFrame(17, 0x99, false).word();

TEST(SymbolTable, NamesUserCodePlaceByPlace) {
    SymbolTable table;
    EXPECT_TRUE(table.add_objects("10 abcd /usr/bin/a program\n11 - /usr/lib/libfoo.so (deleted)\n"));
    EXPECT_TRUE(table.add_places(fmt::format("{:016x} 34 operator new(int)\n", in_main)));
    EXPECT_EQ(table.object(16), (CodeObject{"/usr/bin/a program", "abcd"}));
    EXPECT_EQ(table.object(17), (CodeObject{"/usr/lib/libfoo.so (deleted)", ""}));
    EXPECT_FALSE(table.object(18));
    CallerNames names(table);
    EXPECT_EQ(names.name(user_place(in_main)), "operator new(int)+0x34");
    EXPECT_EQ(names.name(user_place(interrupted)), "a program+0x1234 [build id abcd]") << "it may be in another function";
    EXPECT_EQ(names.name(user_place(in_library)), "libfoo.so (deleted)+0x99");
    EXPECT_EQ(names.name(user_place(UserFrame(18, 1, false).word())), "[object 18]+0x1");
    EXPECT_TRUE(add(table, {7, 1, in_main, 8, 1, 0xffffffff81000000}));
    StackRoom room;
    EXPECT_EQ(table.stack(7, room)->space, CodeSpace::user);
    EXPECT_EQ(table.stack(8, room)->space, CodeSpace::kernel);
}

TEST(SymbolTable, TellsInlinedFunctionsAndLines) {
    const std::string places = fmt::format("{0:016x} 34 main\n\t12\tget\tx.h\n\t34\tmain\t/a b/x.c\n"
                                           "{0:016x} 34 main\n\t1\tanother\tx.h\n"
                                           "{1:016x} 34 main\n",
                                           in_main, interrupted);
    SymbolTable table, with_lines;
    with_lines.set_naming({.debug_files = {}, .lines = true});
    EXPECT_TRUE(table.add_places(places));
    EXPECT_TRUE(with_lines.add_places(places));
    EXPECT_THAT(table.source(user_place(in_main)), testing::ElementsAre(SourceFrame{"get", "", 0}, SourceFrame{"main", "", 0}));
    EXPECT_THAT(with_lines.source(user_place(in_main)), testing::ElementsAre(SourceFrame{"get", "x.h", 12}, SourceFrame{"main", "/a b/x.c", 34}));
    EXPECT_THAT(with_lines.source(user_place(interrupted)), testing::IsEmpty());
    EXPECT_THAT(with_lines.source(kernel_place(in_main)), testing::IsEmpty());
}

TEST(SymbolTable, SaysTheBuildIdOfObjectsThatAreNotHere) {
    SymbolTable table;
    EXPECT_TRUE(table.add_objects("10 abcdef01 /nonexistent/libfoo.so\n\t1000\t401000\t2345\n\t8000\t409000\t10\n"));
    EXPECT_EQ(table.object(16), (CodeObject{"/nonexistent/libfoo.so", "abcdef01", {{0x1000, 0x401000, 0x2345}, {0x8000, 0x409000, 0x10}}}));
    // As earlier versions have written what they had no name of.
    EXPECT_TRUE(table.add_places(fmt::format("{:016x} 1234 libfoo.so\n", in_main)));
    CallerNames names(table);
    EXPECT_EQ(names.name(user_place(in_main)), "libfoo.so+0x1234 [build id abcdef01]");
    EXPECT_EQ(names.frames(user_place(interrupted)).front().function, "libfoo.so [build id abcdef01]");
}

/// A program that is not where the recording says.
class LocalObject : public testing::Test {
protected:
    LocalObject() {
        std::string name = testing::TempDir() + "argtrace_local_XXXXXX";
        folder_ = ::mkdtemp(name.data());
        std::ofstream(folder_ + "/x.c") << "volatile int sink;\n"
                                           "static inline __attribute__((always_inline)) void inner(void)\n"
                                           "{\n"
                                           "\tsink = 1;\n"
                                           "}\n"
                                           "void outer(void)\n"
                                           "{\n"
                                           "\tinner();\n"
                                           "}\n";
        // Where addresses are not offsets.
        run("cc -g -O2 -shared -fPIC -Wl,--build-id=0x0123456789 -Wl,-z,noseparate-code -Wl,-Ttext-segment=0x400000 -o whole.so x.c");
        const auto object = elf::Object::open(Fd(::open((folder_ + "/whole.so").c_str(), O_RDONLY | O_CLOEXEC)), "");
        const elf::Object::Section *symbols = object->section(".symtab");
        const Text table = object->content(*symbols), strings = object->content(object->sections()[symbols->header.sh_link]);
        for (std::size_t at = 0; at < table.size(); at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            std::memcpy(&symbol, &table[at], sizeof(symbol));
            if (std::string_view(&strings[symbol.st_name]) == "outer")
                place_ = *object->offset_of(symbol.st_value);
        }
        objects_ = "10 0123456789 /nonexistent/x.so\n";
        for (const CodeSegment &segment : object->code_segments())
            objects_ += fmt::format("\t{:x}\t{:x}\t{:x}\n", segment.offset, segment.address, segment.size);
        std::filesystem::create_directories(folder_ + "/.build-id/01");
    }
    ~LocalObject() override { std::filesystem::remove_all(folder_); }

    void run(const std::string &command) const { ASSERT_EQ(std::system(("cd " + folder_ + " && " + command + " 2>&1").c_str()), 0) << command; }

    std::vector<std::string> shown(const std::string &objects, bool lines = false) {
        SymbolTable table;
        table.set_naming({.debug_files = {{folder_}}, .lines = lines});
        EXPECT_TRUE(table.add_objects(objects));
        CallerNames names(table);
        std::vector<std::string> shown;
        for (const CallerNames::Frame &frame : names.frames(user_place(UserFrame(16, place_, true).word())))
            shown.push_back(frame.name);
        return shown;
    }

    std::string unknown() const { return fmt::format("x.so+{:#x} [build id 0123456789]", place_); }

    std::string folder_, objects_;
    std::uint64_t place_ = 0;
};

TEST_F(LocalObject, IsFoundByItsBuildId) {
    EXPECT_THAT(shown(objects_), testing::ElementsAre(unknown()));
    run("cp whole.so .build-id/01/23456789");
    EXPECT_THAT(shown(objects_), testing::ElementsAre("inner (inlined)", "outer+0x0"));
    EXPECT_THAT(shown(objects_, true), testing::ElementsAre("inner (inlined) at x.c:4", "outer+0x0 at x.c:8"));
    place_ = 1; // in no function
    EXPECT_THAT(shown(objects_), testing::ElementsAre("x.so+0x1")) << "nothing is to be found that is not here";
}

TEST_F(LocalObject, MayBeItsDebugFileAlone) {
    run("objcopy --only-keep-debug whole.so .build-id/01/23456789.debug");
    EXPECT_THAT(shown(objects_), testing::ElementsAre("inner (inlined)", "outer+0x0"));
    EXPECT_THAT(shown(objects_.substr(0, objects_.find('\n') + 1)), testing::ElementsAre(unknown())) << "where it is in the object is not known";
}

/// Files of a server, which may be a folder.
TEST_F(LocalObject, IsFetchedIfThatIsWanted) {
    void *library = ::dlopen("libdebuginfod.so.1", RTLD_NOW);
    if (!library)
        GTEST_SKIP() << "there is no libdebuginfod";
    run("mkdir -p server/buildid/0123456789 cache && objcopy --only-keep-debug whole.so server/buildid/0123456789/debuginfo");
    ::setenv("DEBUGINFOD_URLS", ("file://" + folder_ + "/server").c_str(), 1);
    ::setenv("DEBUGINFOD_CACHE_PATH", (folder_ + "/cache").c_str(), 1);
    EXPECT_THAT(shown(objects_), testing::ElementsAre(unknown())) << "the variables alone do nothing";
    EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/cache"));
    SymbolTable table;
    table.set_naming({.debug_files = {{}, true}, .lines = true});
    EXPECT_TRUE(table.add_objects(objects_));
    CallerNames names(table);
    const auto &frames = names.frames(user_place(UserFrame(16, place_, true).word()));
    ::unsetenv("DEBUGINFOD_URLS");
    ::unsetenv("DEBUGINFOD_CACHE_PATH");
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_EQ(frames[0].name, "inner (inlined) at x.c:4");
    EXPECT_EQ(frames[1].name, "outer+0x0 at x.c:8");
}

TEST_F(LocalObject, IsAtItsPathIfTheBuildIdIsEqual) {
    const std::string here = "10 0123456789 " + folder_ + "/whole.so\n";
    EXPECT_THAT(shown(here), testing::ElementsAre("inner (inlined)", "outer+0x0"));
    run("objcopy --remove-section=.note.gnu.build-id whole.so none.so && cp none.so whole.so");
    EXPECT_THAT(shown(here), testing::ElementsAre(fmt::format("whole.so+{:#x} [build id 0123456789]", place_)));
    EXPECT_THAT(shown("10 - " + folder_ + "/whole.so\n"), testing::ElementsAre(fmt::format("whole.so+{:#x}", place_)));
}

TEST(SymbolTable, RefusesUserCodeThatIsMalformed) {
    for (const char *lines : {"10 abcd\n", "10\n", "xy - /a\n", "10 - /a", "4000 - /a\n", "\t1\t2\t3\n", "10 - /a\n\t1\t2\n",
                              "10 - /a\n\t1\t2\tx\n", "10 - /a\n\t1\t2\t3\t4\n", "10 -\n\t1\t2\t3\n"})
        EXPECT_FALSE(SymbolTable().add_objects(lines)) << lines;
    for (const char *lines : {"4008000000001234 34\n", "4008000000001234 \n", "xy 0 f\n", "4008000000001234 1235 f\n", "4008000000001234 0 f",
                              "\t1\tf\tx.c\n", "4008000000001234 0 f\n\t1\tf\n", "4008000000001234 0 f\n\tx\tf\tx.c\n",
                              "4008000000001234 0 f\n\t-1\tf\tx.c\n", "4008000000001234 0 f\n\t\tf\tx.c\n"})
        EXPECT_FALSE(SymbolTable().add_places(lines)) << lines;
}

TEST(SymbolTable, RefusesStacksThatAreCutOff) {
    for (const Words &words : {Words{7}, Words{7, 0}, Words{7, 2, 100}, Words{7, ~std::uint64_t{0}, 1},
                               Words{7, 1, 100, 8, 9}}) {
        SymbolTable table;
        EXPECT_FALSE(add(table, words));
        StackRoom room;
        EXPECT_FALSE(table.stack(8, room));
    }
    SymbolTable table;
    const Words words{7, 1, 100};
    EXPECT_FALSE(table.add_stacks(std::as_bytes(std::span(words)).first(20)));
}

} // namespace
} // namespace argtrace
