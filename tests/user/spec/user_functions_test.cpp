// SPDX-License-Identifier: GPL-2.0-only
#include "spec/user_functions.h"

#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/return_way.h"
#include "spec/user_objects.h"
#include "support/described_program.h"
#include "support/resolve_kernel.h"
#include "support/temporary_file.h"
#include "uapi/probe.h"

namespace argtrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Probe> user_probes(const std::vector<std::string> &specs, const std::vector<std::string> &prototypes = {}) {
    Kernel kernel = make_kernel_without_tracefs();
    Request wanted = request(specs);
    for (const std::string &text : prototypes)
        wanted.prototypes.push_back(parse_prototype(text));
    return resolve(kernel, wanted).probes;
}

std::string refused_user(const std::string &spec) {
    return thrown([&] { user_probes({spec}); });
}

/// Where the dynamic linker has found it, as an offset in its file.
std::uint64_t offset_here(const char *function) {
    Dl_info info = {};
    // Not that of a sanitizer.
    void *const libc = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    void *address = ::dlsym(libc, function);
    EXPECT_TRUE(address && ::dladdr(address, &info));
    const auto object = elf::Object::open(Fd(::open(info.dli_fname, O_RDONLY | O_CLOEXEC)), info.dli_fname);
    return object->offset_of(reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(info.dli_fbase)).value();
}

std::vector<std::string> arguments_of(const Probe &probe) {
    std::vector<std::string> texts;
    for (const Argument &argument : probe.args)
        texts.push_back(fmt::format("{} {} {}:{}", argument.type_name, argument.name, argument.loc, argument.index));
    return texts;
}

TEST(UserFunctions, OfLibrariesAreWhereTheLinkerHasThem) {
    const std::vector<Probe> probes = user_probes({"u:libc:fopen", "u:libc.so.6:getenv"});
    ASSERT_EQ(probes.size(), 2u);
    EXPECT_EQ(probes[0].function, "u:libc.so.6:fopen");
    EXPECT_EQ(probes[0].kind, ARGTRACE_KIND_USER);
    EXPECT_EQ(probes[0].addr, offset_here("fopen"));
    EXPECT_EQ(probes[1].addr, offset_here("getenv"));
    EXPECT_EQ(probes[0].file->path, probes[1].file->path);
    EXPECT_THAT(arguments_of(probes[0]), ElementsAre(HasSubstr("pathname 1:0"), HasSubstr("mode 1:1")));
}

TEST(UserFunctions, ThatAreChosenWhenTheLibraryIsLoadedAreTheChosenOnes) {
    const std::vector<Probe> probes = user_probes({"u:libc:strlen"});
    ASSERT_EQ(probes.size(), 1u);
    EXPECT_EQ(probes[0].addr, offset_here("strlen"));
    EXPECT_EQ(probes[0].function, "u:libc.so.6:strlen");
}

TEST(UserFunctions, WithoutPrototypeHaveSixRegisters) {
    const DescribedProgram program("int f(int a) { return a; } int main(void) { return f(1); }", ".c", "gcc -g0");
    const std::vector<Probe> probes = user_probes({"u:" + program.path() + ":f"});
    ASSERT_EQ(probes.size(), 1u);
    EXPECT_EQ(probes[0].args.size(), 6u);
    EXPECT_EQ(probes[0].args[5].name, "arg5");
    EXPECT_EQ(probes[0].args[5].index, 5);
    Kernel kernel = make_kernel_without_tracefs();
    const auto listed = find_functions(kernel, request({"u:" + program.path() + ":f", "u:libc:getenv"})).functions;
    EXPECT_EQ(listed.at(0).prototype.text, "u:x:f(arg0, arg1, arg2, arg3, arg4, arg5)") << "types that are not known are not shown";
    EXPECT_EQ(listed.at(1).prototype.text, "char *u:libc.so.6:getenv(const char *name)");
}

TEST(UserFunctions, HaveThePrototypeThatIsGiven) {
    const std::vector<Probe> probes =
        user_probes({"u:libc:__libc_start_main"}, {"int __libc_start_main(void *main, int argc, double x, unsigned char flag)"});
    ASSERT_EQ(probes.size(), 1u);
    // A floating-point number is in a register of its own kind, which a program reads.
    EXPECT_THAT(arguments_of(probes[0]), ElementsAre(HasSubstr("main 1:0"), "int argc 1:1", "double x 5:0", "unsigned char flag 1:2"));
}

constexpr const char *described_source = "struct file { int number; const char *name; struct file *next; };\n"
                                         "__attribute__((noinline)) int crc32(struct file *own, short size) { return own->number + size; }\n"
                                         "int inflate(void *stream, int flush) { return 0; }\n";

// What the user says comes first, then DWARF, then the table.
TEST(UserFunctions, HaveThePrototypeOfTheirDebugInformation) {
    const DescribedProgram program(described_source, ".c", "gcc -g -fPIC -shared");
    program.run("mv x libz.so.1");
    const std::string spec = "u:" + program.path("libz.so.1") + ":crc32";
    EXPECT_THAT(arguments_of(user_probes({spec}).at(0)), ElementsAre("struct file __user * own 1:0", "short int size 1:1"));
    // As the manual calls them.
    EXPECT_THAT(arguments_of(user_probes({"u:" + program.path("libz.so.1") + ":inflate"}).at(0)), ElementsAre("void __user * strm 1:0", "int flush 1:1"));
    EXPECT_THAT(arguments_of(user_probes({spec}, {"int crc32(long other)"}).at(0)), ElementsAre("long int other 1:0"));
    program.run("strip --strip-debug libz.so.1");
    EXPECT_THAT(arguments_of(user_probes({spec}).at(0)), testing::SizeIs(3)) << "crc, buf, len";
}

// The kernel has a struct file that these are not in.
TEST(UserFunctions, HaveExpressionsOverTheirOwnTypes) {
    const DescribedProgram program(described_source, ".c", "gcc -g -fPIC -shared");
    const std::string spec = "u:" + program.path() + ":crc32";
    const Probe probe = user_probes({spec + "(own->next->number as n, str(own->name) as name) if size > 3 && own->number == -1"}).at(0);
    EXPECT_THAT(arguments_of(probe), ElementsAre(HasSubstr("int n"), HasSubstr(" name")));
    EXPECT_THAT(refused_user(spec + "(own->f_inode)"), HasSubstr("struct file has no f_inode"));
}

constexpr const char *lines_source = "static inline __attribute__((always_inline)) int twice(int a) {\n" // 1
                                     "    return a * 2;\n"                                                // 2
                                     "}\n"
                                     "\n"
                                     "int f(int a) {\n" // 5
                                     "    int sum = 0;\n"
                                     "    for (int i = 0; i < a; i++)\n" // 7
                                     "        sum += twice(i);\n"
                                     "    return sum;\n"
                                     "}\n"
                                     "int main(int argc, char **argv) { return twice(argc) + f(argc); }\n";

// Each place where the line was inlined, but one of a loop, whose head has two.
TEST(UserFunctions, LinesOfTheirSourceArePlaces) {
    const DescribedProgram program(lines_source, ".c", "gcc -g -O0 -no-pie");
    const auto at_line = [&](int line) { return user_probes({fmt::format("u:{}@x.c:{}", program.path(), line)}); };
    EXPECT_EQ(at_line(2).size(), 2u) << "in f() and in main()";
    const std::vector<Probe> head = at_line(7);
    ASSERT_EQ(head.size(), 1u);
    EXPECT_EQ(head[0].function, "u:x@x.c:7");
    EXPECT_THAT(arguments_of(head[0]), ElementsAre(HasSubstr("int a"), HasSubstr("int sum"))) << "i is declared there";
    const Probe begin = user_probes({"u:" + program.path() + ":f"}).at(0), by_line = at_line(5).at(0);
    EXPECT_EQ(by_line.function, begin.function) << "where a function begins it is meant, with its arguments";
    EXPECT_EQ(by_line.addr, begin.addr);
    EXPECT_EQ(arguments_of(by_line), arguments_of(begin));
    const std::uint64_t inside = head[0].addr - begin.addr;
    EXPECT_EQ(user_probes({fmt::format("u:{}:f+{}", program.path(), inside)}).at(0).addr, head[0].addr);
    EXPECT_LT(inside, at_line(9).at(0).addr - begin.addr);
}

std::vector<std::string> names_of(const Probe &probe) {
    std::vector<std::string> names;
    for (const Argument &argument : probe.args)
        names.push_back(argument.name);
    return names;
}

constexpr const char *variables_source = "struct big { long words[20]; };\n"                                // 1
                                         "static long calls;\n"                                             // 2
                                         "long f(long first, const char *text) {\n"                         // 3
                                         "    long value = first * 2, ret = 7;\n"                           // 4
                                         "    char buffer[16] = \"x\";\n"                                   // 5
                                         "    struct big big = { { first } };\n"                            // 6
                                         "    long double wide = first;\n"                                  // 7
                                         "    {\n"                                                          // 8
                                         "        int value = text[0];\n"                                   // 9
                                         "        calls += value;\n"                                        // 10
                                         "        int later = 1;\n"                                         // 11
                                         "        calls += later;\n"                                        // 12
                                         "    }\n"                                                          // 13
                                         "    calls += value + buffer[0] + big.words[0] + (long)wide;\n"    // 14
                                         "    return calls + ret;\n"                                        // 15
                                         "}\n"                                                              // 16
                                         "int main(void) { return f(1, \"a\"); }\n";

// The innermost block that has been begun counts, and a variable is there behind its declaration.
TEST(UserFunctions, LinesHaveTheVariablesThatTheirNamesMean) {
    for (const char *compiler : {"gcc -g -O0", "clang -g -O0", "gcc -gdwarf-4 -O0"}) {
        const DescribedProgram program(variables_source, ".c", compiler);
        const std::string object = "u:" + program.path() + "@x.c:";
        const auto at_line = [&](const std::string &line) { return user_probes({object + line}).at(0); };
        EXPECT_THAT(names_of(at_line("9")), ElementsAre("first", "text", "value", "ret", "wide")) << compiler;
        EXPECT_THAT(arguments_of(at_line("9(value)")), ElementsAre(HasSubstr("long"))) << compiler;
        EXPECT_THAT(arguments_of(at_line("10(value)")), ElementsAre(HasSubstr("int value"))) << compiler;
        EXPECT_THAT(names_of(at_line("10")), ElementsAre("first", "text", "ret", "wide", "value")) << compiler;
        EXPECT_THAT(names_of(at_line("12")), ElementsAre("first", "text", "ret", "wide", "value", "later")) << compiler;
        EXPECT_THAT(arguments_of(at_line("14(value)")), ElementsAre(HasSubstr("long"))) << compiler;
        // Arrays and what is large are there where they are named.
        EXPECT_THAT(names_of(at_line("10(buffer, big.words[3], str(buffer) as text)")), ElementsAre("buffer", "big.words[3]", "text")) << compiler;
        EXPECT_THAT(refused_user(object + "10(wide + 1)"), HasSubstr("a floating-point number, which can be recorded")) << compiler;
        EXPECT_THAT(refused_user(object + "10(buffer + later)"), HasSubstr("has no argument later")) << compiler;
    }
}

// What the compiler has optimised away is one that has no value, and what is not there at all has no name.
TEST(UserFunctions, LinesSayWhatHasBeenOptimisedAway) {
    const DescribedProgram program("int sink;\n"
                                   "__attribute__((noinline)) int f(int a, int unused) {\n"
                                   "    int twice = unused * 2;\n"
                                   "    sink += a;\n"
                                   "    sink += a + 1;\n"
                                   "    return a;\n"
                                   "}\n"
                                   "int main(int argc, char **argv) { return f(argc, argc + 1); }\n",
                                   ".c", "clang -g -O2");
    const std::string object = "u:" + program.path() + "@x.c:5";
    EXPECT_THAT(refused_user(object + "(twice + 1)"), HasSubstr("the compiler has optimised it away there"));
    EXPECT_EQ(user_probes({object + "(a, twice)"}).at(0).args.size(), 2u);
    EXPECT_EQ(user_probes({object + "(reg(\"rdi\"))"}).at(0).args.size(), 1u);
}

TEST(UserFunctions, WhatIsWrongWithALineIsSaid) {
    const DescribedProgram program(lines_source, ".c", "gcc -g -O0");
    const std::string object = "u:" + program.path();
    EXPECT_THAT(refused_user(object + "@x.c:4"), HasSubstr("x.c: line 4 has no code; the nearest lines that have are 2 and 5"));
    EXPECT_THAT(refused_user(object + "@x.c:4000"), HasSubstr("x.c: line 4000 has no code; the last that has is 11"));
    EXPECT_THAT(refused_user(object + "@y.c:4"), HasSubstr("comes from a file y.c"));
    EXPECT_THAT(refused_user(object + "@x.c:main"), HasSubstr("is the number of a line, not 'main'; a function is " + object + ":main, whichever file it is in"));
    program.run("strip x");
    EXPECT_THAT(refused_user(object + "@x.c:2"), HasSubstr("has no debug information, which lines are known by"));
    EXPECT_THAT(refused_user("u:no_such_program@x.c:2"), HasSubstr("no_such_program: there is no such library or program"));
}

TEST(UserFunctions, PatternsTakeEachPlaceOnce) {
    const std::vector<Probe> probes = user_probes({"u:libc:open*", "u:libc:open64"});
    std::set<std::uint64_t> offsets;
    for (const Probe &probe : probes)
        EXPECT_TRUE(offsets.insert(probe.addr).second) << probe.function;
    EXPECT_TRUE(offsets.contains(offset_here("open")));
    EXPECT_TRUE(offsets.contains(offset_here("opendir")));
}

TEST(UserFunctions, PlacesBehindAndAddresses) {
    const std::vector<Probe> probes = user_probes({"u:libc:getenv+4"});
    EXPECT_EQ(probes.at(0).addr, offset_here("getenv") + 4);
    EXPECT_EQ(probes.at(0).function, "u:libc.so.6:getenv+0x4");
    EXPECT_THAT(refused_user("u:libc:getenv+0x100000"), HasSubstr("the place is behind them"));
}

TEST(UserFunctions, WhatIsWrongIsSaid) {
    EXPECT_THAT(refused_user("u:readline"), HasSubstr("an object is missing: u:OBJECT:readline"));
    EXPECT_THAT(refused_user("u:libnone:f"), HasSubstr("libnone: there is no such library or program"));
    EXPECT_THAT(refused_user("u:/no/such/file:f"), HasSubstr("/no/such/file: No such file or directory"));
    EXPECT_THAT(refused_user("u:/etc:f"), HasSubstr("/etc: is no regular file"));
    const std::string fifo = fmt::format("/tmp/argtrace-test-{}-fifo", ::getpid());
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    EXPECT_THAT(refused_user("u:" + fifo + ":f"), HasSubstr("is no regular file")) << "nobody waits for a writer";
    std::filesystem::remove(fifo);
    EXPECT_THAT(refused_user("u:/etc/passwd:f"), HasSubstr("/etc/passwd is no 64-bit ELF file"));
    EXPECT_THAT(refused_user("u:libc:fopne"), HasSubstr("has no such function; did you mean fopen"));
    EXPECT_THAT(refused_user("u:libc:no_such_*"), HasSubstr("matches no function of"));
}

std::vector<std::string> names_of(const std::vector<Probe> &probes) {
    std::vector<std::string> names;
    for (const Probe &probe : probes)
        names.push_back(probe.function.substr(probe.function.find(':', 2) + 1));
    return names;
}

// What the compiler has put elsewhere of a function is jumped to: it is no call, unless it is named itself.
TEST(UserFunctions, OfCppAreNotTheirColdParts) {
    const DescribedProgram program("namespace app { struct Server { int n; int handle(int by); int handle(long by); }; }\n"
                                   "__attribute__((noinline, noipa)) int app::Server::handle(int by) { if (by > 3) throw by; return n + by; }\n"
                                   "__attribute__((noinline, noipa)) int app::Server::handle(long by) { if (by > 3) throw by; return n - by; }\n"
                                   "int main(int argc, char **) { app::Server s{argc}; return s.handle(argc) + s.handle(2l); }\n",
                                   ".cpp", "g++ -O2 -g");
    const std::string prefix = "u:" + program.path() + ':';
    EXPECT_THAT(names_of(user_probes({prefix + "app::Server::handle"})), testing::UnorderedElementsAre("app::Server::handle(int)", "app::Server::handle(long)"));
    EXPECT_THAT(names_of(user_probes({prefix + "app::*"})), testing::UnorderedElementsAre("app::Server::handle(int)", "app::Server::handle(long)"));
    EXPECT_THAT(names_of(user_probes({prefix + "'app::Server::handle(int)'"})), ElementsAre("app::Server::handle(int)"));
    EXPECT_THAT(names_of(user_probes({prefix + "'app::Server::handle(int).cold'"})), ElementsAre("app::Server::handle(int).cold"));
    EXPECT_THAT(names_of(user_probes({prefix + "_ZN3app6Server6handleEi.cold"})), ElementsAre("app::Server::handle(int).cold"));
}

// By their names as people type them: with classes or without, and with parameters only if these were typed.
TEST(UserFunctions, OfCppAreSuggested) {
    const DescribedProgram program("namespace app { struct Server { int handle(int by); int handle(long by); }; }\n"
                                   "__attribute__((noinline, noipa)) int app::Server::handle(int by) { return by; }\n"
                                   "__attribute__((noinline, noipa)) int app::Server::handle(long by) { return -by; }\n"
                                   "int main(int argc, char **) { app::Server s; return s.handle(argc) + s.handle(2l); }\n",
                                   ".cpp", "g++ -O2 -g");
    const auto answer = [&](const std::string &name) {
        const std::string refused = refused_user("u:" + program.path() + ':' + name);
        return refused.substr(std::min(refused.find("has no such function"), refused.size()));
    };
    const std::string meant = "has no such function; did you mean app::Server::handle?";
    EXPECT_EQ(answer("handle"), meant);
    EXPECT_EQ(answer("app::Server::handel"), meant);
    EXPECT_EQ(answer("Server::handel"), meant);
    EXPECT_EQ(answer("handel"), meant);
    EXPECT_EQ(answer("'app::Server::handle(lnog)'"), "has no such function; did you mean app::Server::handle(long)?");
    EXPECT_THAT(answer("nothing_of_the_kind"), HasSubstr("has no such function; `argtrace list 'u:"));
}

// What a class means is computed when the call returns, in front of the stacks.
TEST(UserFunctions, DescribeWhatTheyReturn) {
    const DescribedProgram program("#include <string>\n"
                                   "__attribute__((noinline, noipa)) std::string name(int n) { return std::string(n, 'x'); }\n"
                                   "__attribute__((noinline, noipa)) std::string_view view(const char *text) { return text; }\n"
                                   "__attribute__((noinline, noipa)) char *text(int n) { static char one[2]; one[0] = n; return one; }\n"
                                   "int main(int argc, char **argv) { return name(argc).size() + view(argv[0]).size() + *text(argc); }\n",
                                   ".cpp", "g++ -O2 -g -std=c++17");
    const auto described = [&](const std::string &name, StackChoice stack) {
        Kernel kernel = make_kernel_without_tracefs();
        Request wanted = request({"u:" + program.path() + ':' + name + '='});
        wanted.stack = stack;
        std::vector<std::string> wrong;
        wanted.meanings = std::make_shared<Meanings>();
        wanted.meanings->add(shipped_meanings, "shipped", wrong, true);
        const Probe probe = resolve(kernel, wanted).probes.at(0);
        std::vector<std::string> names;
        for (const Argument &argument : probe.args)
            names.push_back(argument.name);
        return names;
    };
    EXPECT_THAT(described("name", {}), ElementsAre("n", "ret.value", "ret"));
    EXPECT_THAT(described("name", user_stack), ElementsAre("n", "ret.value", "user_stack", "ret"));
    EXPECT_THAT(described("view", user_stack), ElementsAre("text", "text.value", "ret.value", "user_stack", "ret"));
    EXPECT_THAT(described("view", {}), ElementsAre("text", "text.value", "ret.value", "ret"));
    EXPECT_THAT(described("text", {}), ElementsAre("n", "ret.value", "ret"));
}

TEST(UserFunctions, SignaturesStandInQuotes) {
    const auto wrong = [](const std::string &text) { return thrown([&] { parse_spec(text, PatternSyntax::glob); }); };
    EXPECT_THAT(wrong("u:./app:app::handle(Request&, int)"), HasSubstr("stands in quotes: u:./app:'app::handle(Request&, int)'\n"));
    EXPECT_THAT(wrong("u:./app:f(char const*) if x > 1"), HasSubstr("stands in quotes: u:./app:'f(char const*)'\n"));
    EXPECT_EQ(wrong("u:./app:f(a, (unsigned int)b, sizeof(int), c as int)"), "");
    EXPECT_EQ(wrong("u:./app:f(a, *b)"), "");
    EXPECT_EQ(wrong("u:./app:'f(int)'(a)"), "");
}

std::vector<Probe> returning_probes(const std::vector<std::string> &specs, ReturnBy by = ReturnBy::automatic) {
    Kernel kernel = make_kernel_without_tracefs();
    Request wanted = request(specs);
    wanted.return_by = by;
    return resolve(kernel, wanted).probes;
}

constexpr const char *returning_functions = R"(
    __attribute__((noinline, noipa)) int plain(int a) { return a > 3 ? a * 7 : 0; }
    __attribute__((noinline, noipa)) int jumps(int a) { return plain(a + 1); }
    __attribute__((noinline, noipa)) double floating(double a) { return a * 2; }
    int main(void) { return plain(1) + jumps(2) + (int)floating(3); }
)";

TEST(UserFunctions, ReturnByBreakpointsOrByTheKernelsUretprobe) {
    const DescribedProgram program(returning_functions, ".c", "gcc -O2 -g");
    const std::string prefix = "u:" + program.path() + ':';
    const std::vector<Probe> probes = returning_probes({prefix + "plain=", prefix + "jumps=", prefix + "floating="});
    ASSERT_EQ(probes.size(), 3u);
    const Probe &plain = probes[0], &jumps = probes[1], &floating = probes[2];
    EXPECT_FALSE(plain.returns.empty());
    EXPECT_EQ(plain.flags, ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0) | ARGTRACE_PROBE_RETURNS(plain.returns.size()));
    EXPECT_EQ(return_way(plain), "ret");
    EXPECT_EQ(plain.args.back().loc, ARGTRACE_LOC_RETURN);
    EXPECT_EQ(jumps.flags, ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0));
    EXPECT_EQ(return_way(jumps), "uretprobe");
    EXPECT_TRUE(has_result(floating)); // in another register
    EXPECT_EQ(floating.args.back().type, ARGTRACE_TYPE_F64);
    EXPECT_EQ(floating.args.front().loc, ARGTRACE_LOC_PROGRAM);
    EXPECT_EQ(floating.args.front().type, ARGTRACE_TYPE_F64);
    EXPECT_TRUE(returning_probes({prefix + "plain="}, ReturnBy::uretprobe).at(0).returns.empty());
    EXPECT_THAT(thrown([&] { returning_probes({prefix + "jumps="}, ReturnBy::ret); }), HasSubstr("it may end in a jump to another function"));
    // What functions of the kernel are followed by does not matter.
    EXPECT_EQ(return_way(returning_probes({prefix + "plain="}, ReturnBy::fprobe).at(0)), "ret");
    EXPECT_THAT(thrown([&] { returning_probes({prefix + "plain+1="}); }), HasSubstr("is not known to be a function's first instruction"));
}

// The program is stripped, and its debug file lies in a folder of the user's.
TEST(UserFunctions, HaveTypesByDebugFilesOfOtherFolders) {
    const DescribedProgram program("struct point { long x, y; };\n"
                                   "static __attribute__((noinline, noipa)) long hidden(struct point *point, long by) { return point->x * by; }\n"
                                   "int main(int argc, char **argv) { struct point p = {argc, 2}; return (int)hidden(&p, 3); }\n",
                                   ".c", "gcc -O2 -g -Wl,--build-id=0xabcdef0123");
    program.run("mkdir -p debug/.build-id/ab && objcopy --only-keep-debug x debug/.build-id/ab/cdef0123.debug && strip x");
    const std::string spec = "u:" + program.path() + ":hidden(point->x, by)";
    EXPECT_THAT(thrown([&] { user_probes({spec}); }), HasSubstr("nor a debug file: --objects names a folder"));
    Kernel kernel = make_kernel_without_tracefs();
    Request wanted = request({spec, "u:" + program.path() + "@x.c:2"});
    wanted.debug_files.folders = {program.path("debug")};
    const std::vector<Probe> probes = resolve(kernel, wanted).probes;
    ASSERT_EQ(probes.size(), 1u) << "the line is the function's";
    ASSERT_EQ(probes[0].args.size(), 2u);
    EXPECT_EQ(probes[0].args[0].name, "point->x");
    EXPECT_EQ(probes[0].args[1].type_name, "long int");
}

TEST(UserFunctions, NoUretprobeIsWhereExceptionsAre) {
    const DescribedProgram program("extern \"C\" {" + std::string(returning_functions) + "int throws(int a) { throw a; } } int thrown(int a) { if (a) throw a; return 1; }", ".cpp", "g++ -O2");
    const std::string spec = "u:" + program.path() + ":jumps=";
    EXPECT_THAT(thrown([&] { returning_probes({spec}); }), HasSubstr("throws an exception through it"));
    EXPECT_TRUE(returning_probes({spec}, ReturnBy::uretprobe).at(0).returns.empty());
    EXPECT_FALSE(returning_probes({"u:" + program.path() + ":plain="}).at(0).returns.empty());
    // It never returns: nothing but its entry has a breakpoint.
    for (const ReturnBy by : {ReturnBy::automatic, ReturnBy::ret}) {
        const Probe throws = returning_probes({"u:" + program.path() + ":throws="}, by).at(0);
        EXPECT_EQ(throws.flags, ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0) | ARGTRACE_PROBE_NEVER_RETURNS);
        EXPECT_EQ(return_way(throws), "ret");
    }
    EXPECT_EQ(return_way(returning_probes({"u:" + program.path() + ":throws="}, ReturnBy::uretprobe).at(0)), "uretprobe");
    Kernel kernel = make_kernel_without_tracefs();
    Request risky = request({"u:" + program.path() + ":throws="});
    EXPECT_THAT(resolve(kernel, risky).left, testing::IsEmpty());
    risky.return_by = ReturnBy::uretprobe;
    EXPECT_THAT(resolve(kernel, risky).left, ElementsAre(HasSubstr("a program that throws an exception through u:x:throws will end")));
}

// The kernel's would replace what is on the stack there: the number of the program's arguments, or what whoever jumps there has left.
TEST(UserFunctions, NoUretprobeIsWhereNothingCalls) {
    const DescribedProgram program(std::string(returning_functions) + R"(
        void linked(void), called(void);
        asm(".text\n"
            ".globl linked\n.type linked, @function\n"
            "linked: .cfi_startproc\n.cfi_adjust_cfa_offset 16\npop %rax\npop %rcx\njmp plain\n.cfi_endproc\n.size linked, . - linked\n"
            ".globl called\n.type called, @function\n"
            "called: .cfi_startproc\njmp plain\n.cfi_endproc\n.size called, . - called\n");
    )", ".c", "gcc -O2");
    const std::string prefix = "u:" + program.path() + ':';
    for (const char *name : {"_start=", "linked="})
        EXPECT_THAT(thrown([&] { returning_probes({prefix + name}, ReturnBy::uretprobe); }), HasSubstr("not called but jumped to")) << name;
    EXPECT_THAT(thrown([&] { returning_probes({prefix + "linked="}); }), HasSubstr("not called but jumped to"));
    EXPECT_EQ(return_way(returning_probes({prefix + "_start="}).at(0)), "ret"); // it never returns
    EXPECT_EQ(return_way(returning_probes({prefix + "called="}).at(0)), "uretprobe");
    const DescribedProgram undescribed("int main(void) { return 0; }\n"
                                       "asm(\".globl _start\\n.type _start, @function\\n_start: call main\\njmp exit\\n.size _start, . - _start\");",
                                       ".c", "gcc -nostartfiles");
    EXPECT_THAT(thrown([&] { returning_probes({"u:" + undescribed.path() + ":_start="}); }), HasSubstr("not called but jumped to"));
    // What longjmp() returns to would be the kernel's.
    for (const char *name : {"u:libc:__sigsetjmp=", "u:libc:_setjmp=", "u:libc:setjmp="})
        EXPECT_THAT(thrown([&] { returning_probes({name}); }), HasSubstr("it keeps the address that it returns to")) << name;
    EXPECT_THAT(thrown([&] { returning_probes({"u:libc:getcontext="}, ReturnBy::uretprobe); }), HasSubstr("it keeps the address that it returns to"));
    EXPECT_EQ(return_way(returning_probes({"u:libc:getcontext="}).at(0)), "ret");
    EXPECT_EQ(user_probes({prefix + "_start"}).size(), 1u); // its calls alone
}

TEST(UserFunctions, OfGoAreFollowedByTheirGoroutine) {
    const std::string program = "u:" ARGTRACE_TEST_PROGRAMS "/user_stacks_go:";
    const Probe probe = returning_probes({program + "main.second="}).at(0);
    EXPECT_TRUE(probe.flags & ARGTRACE_PROBE_GOROUTINES);
    EXPECT_FALSE(probe.returns.empty());
    EXPECT_TRUE(has_result(probe));
    EXPECT_EQ(probe.args.back().loc, ARGTRACE_LOC_PROGRAM);
    EXPECT_THAT(thrown([&] { returning_probes({program + "runtime.memmove="}); }), HasSubstr("assembly"));
    EXPECT_THAT(thrown([&] { returning_probes({program + "main.second="}, ReturnBy::uretprobe); }), HasSubstr("would end a program of Go"));
}

TEST(UserFunctions, WithPlacesAreDescribedAsTheyWereAdded) {
    const std::vector<Probe> probes = returning_probes({"u:libc:fopen=", "u:libc:fclose="});
    std::vector<std::byte> bytes;
    for (const Probe &probe : probes)
        append_schema(bytes, probe);
    const std::vector<Probe> read = parse_probes(bytes, probes.size());
    ASSERT_EQ(read.size(), probes.size());
    for (std::size_t i = 0; i < probes.size(); i++) {
        EXPECT_EQ(read[i].returns, probes[i].returns);
        EXPECT_EQ(read[i].flags, probes[i].flags);
        EXPECT_EQ(read[i].args, probes[i].args);
    }
    // A number of places that are not there.
    argtrace_probe header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    header.flags |= ARGTRACE_PROBE_RETURNS_MASK;
    std::memcpy(bytes.data(), &header, sizeof(header));
    EXPECT_THAT(thrown([&] { parse_probes(bytes, probes.size()); }), HasSubstr("it returns at more places than it has"));
}

TEST(UserFunctions, AreMeantByObjectsInAnyForm) {
    for (const char *spec : {"u:libc:fopen", "u:libc.so:fopen", "u:libc.so.6:fopen", "u:/lib/x86_64-linux-gnu/libc.so.6:fopen", "u:*:fopen",
                             "u:libc:f*", "uprobe:libc:fopen"})
        EXPECT_TRUE(parse_spec(spec, PatternSyntax::glob).matches("u:libc.so.6:fopen", "")) << spec;
    for (const char *spec : {"u:lib:fopen", "u:libcrypt:fopen", "u:libc:open", "fopen", "u:libc.so.7:fopen"})
        EXPECT_FALSE(parse_spec(spec, PatternSyntax::glob).matches("u:libc.so.6:fopen", "")) << spec;
}

TEST(UserObjects, TheLinkersCacheIsNotTrusted) {
    EXPECT_TRUE(parse_linker_cache("").empty());
    EXPECT_TRUE(parse_linker_cache("glibc-ld.so.cache1.1").empty());
    std::string cache = "glibc-ld.so.cache1.1";
    cache += std::string("\xff\xff\xff\x7f", 4); // entries that are not there
    cache.resize(48);
    EXPECT_TRUE(parse_linker_cache(cache).empty());
    const auto number = [&cache](std::uint32_t value) { cache.append(reinterpret_cast<const char *>(&value), sizeof(value)); };
    for (const std::uint32_t value : {0x0303u, 72u, 0xffffffffu, 0u, 0u, 0u})
        number(value);
    cache += std::string("libx.so.1\0", 10);
    const std::vector<LibraryPath> libraries = parse_linker_cache(cache);
    ASSERT_EQ(libraries.size(), 1u);
    EXPECT_EQ(libraries[0].name, "libx.so.1");
    EXPECT_EQ(libraries[0].path, "");
}

TEST(UserObjects, LibrariesAreThoseThatTheLinkerLoads) {
    Dl_info info = {};
    ASSERT_TRUE(::dladdr(::dlsym(::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), "fflush"), &info));
    EXPECT_TRUE(std::filesystem::equivalent(find_user_object("libc"), info.dli_fname));
    EXPECT_TRUE(std::filesystem::equivalent(find_user_object("sh"), "/bin/sh"));
    EXPECT_EQ(find_user_object("./x"), "./x");
    EXPECT_EQ(find_user_object("no-such-program"), "");
}

} // namespace
} // namespace argtrace
