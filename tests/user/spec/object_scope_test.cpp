// SPDX-License-Identifier: GPL-2.0-only
#include "spec/object_scope.h"

#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/described_program.h"
#include "support/resolve_kernel.h"

namespace argtrace {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// A library, and a program that loads the one it is told.
constexpr const char *own_library = "int own_function(int a) { return a; }";
constexpr const char *loading_program = "#include <dlfcn.h>\n#include <unistd.h>\n"
                                        "int main(int argc, char **argv) {\n"
                                        "    if (!dlopen(argv[1], RTLD_NOW)) return 1;\n"
                                        "    write(1, \"x\", 1); pause(); return 0;\n}\n";

/// The program, from when it has loaded the library until the end of this object.
class Running {
public:
    Running(const std::string &program, const std::string &library) {
        int ends[2];
        EXPECT_EQ(::pipe(ends), 0);
        posix_spawn_file_actions_t actions;
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
        std::vector<char *> words = {const_cast<char *>(program.c_str()), const_cast<char *>(library.c_str()), nullptr};
        EXPECT_EQ(::posix_spawn(&pid_, program.c_str(), &actions, nullptr, words.data(), environ), 0);
        ::posix_spawn_file_actions_destroy(&actions);
        ::close(ends[1]);
        char byte = 0;
        EXPECT_EQ(::read(ends[0], &byte, 1), 1);
        ::close(ends[0]);
    }
    Running(const Running &) = delete;
    ~Running() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }

    std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }

private:
    pid_t pid_ = 0;
};

class OfProcess : public testing::Test {
protected:
    OfProcess() { program_.run("echo '" + std::string(own_library) + "' | gcc -g0 -shared -o libown.so.1 -xc -"); }

    Resolved resolve_for(const std::vector<std::string> &specs, const ObjectScope &scope) {
        Kernel kernel = make_kernel_without_tracefs();
        Request wanted = request(specs);
        wanted.objects = scope;
        return resolve(kernel, wanted);
    }

    std::vector<std::string> found(const std::vector<std::string> &specs, const ObjectScope &scope) {
        return names(resolve_for(specs, scope).probes);
    }

    DescribedProgram program_{loading_program, ".c", "gcc -g0"};
};

TEST_F(OfProcess, GlobsAreAllThatItHasMapped) {
    const Running running(program_.path(), program_.path("libown.so.1"));
    const ObjectScope scope{{running.pid()}};
    EXPECT_THAT(found({"u:*:own_function"}, scope), ElementsAre("u:libown.so.1:own_function"));
    EXPECT_THAT(found({"u:lib*:getenv"}, scope), ElementsAre("u:libc.so.6:getenv"));
    EXPECT_THAT(found({"u:*:main", "u:*:own_function"}, scope), ElementsAre("u:x:main", "u:libown.so.1:own_function"));
    EXPECT_THAT(found({"u:" + program_.path("*") + ":*own*"}, scope), ElementsAre("u:libown.so.1:own_function"));
}

TEST_F(OfProcess, NamesAreFilesThatItHasMapped) {
    EXPECT_THAT(thrown([&] { found({"u:libown:own_function"}, {}); }), HasSubstr("there is no such library"));
    const Running running(program_.path(), program_.path("libown.so.1"));
    EXPECT_THAT(found({"u:libown:own_function"}, {{running.pid()}}), ElementsAre("u:libown.so.1:own_function"));
    EXPECT_THAT(found({"u:x:main"}, {{running.pid()}}), ElementsAre("u:x:main"));
}

// An update replaces what programs that run still have mapped.
TEST_F(OfProcess, FilesThatAreGoneAreTraced) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "mappings of other processes lead root alone to their files";
    const Running running(program_.path(), program_.path("libown.so.1"));
    program_.run("rm libown.so.1; echo 'int other;' | gcc -shared -o libown.so.1 -xc -");
    const std::vector<Probe> probes = resolve_for({"u:libown:own_function"}, {{running.pid()}}).probes;
    EXPECT_THAT(names(probes), ElementsAre("u:libown.so.1:own_function"));
    EXPECT_EQ(probes.at(0).file->path, program_.path("libown.so.1") + " (deleted)");
}

TEST_F(OfProcess, EachFileCountsOnce) {
    const Running one(program_.path(), program_.path("libown.so.1")), other(program_.path(), program_.path("libown.so.1"));
    EXPECT_THAT(found({"u:*:own_function"}, {{one.pid(), other.pid()}}), ElementsAre("u:libown.so.1:own_function"));
}

// Each of two files of one name is that of its process.
TEST_F(OfProcess, FilesOfOneNameAreTold) {
    program_.run("mkdir other && cp libown.so.1 other/");
    const Running one(program_.path(), program_.path("libown.so.1")), other(program_.path(), program_.path("other/libown.so.1"));
    const std::vector<Probe> probes = resolve_for({"u:libown:own_function"}, {{one.pid(), other.pid()}}).probes;
    ASSERT_EQ(probes.size(), 2u);
    EXPECT_EQ(probes[0].file->path, program_.path("libown.so.1"));
    EXPECT_EQ(probes[1].file->path, program_.path("other/libown.so.1"));
}

TEST_F(OfProcess, WhatOthersHaveOfThatNameIsSaid) {
    program_.run("mkdir other && cp x own_program && cp x other/own_program");
    const std::string path = std::getenv("PATH");
    ::setenv("PATH", (program_.path("") + ':' + path).c_str(), 1);
    const Running running(program_.path("other/own_program"), program_.path("libown.so.1"));
    const Resolved of_machine = resolve_for({"u:own_program:main"}, {}), of_process = resolve_for({"u:own_program:main"}, {{running.pid()}});
    ::setenv("PATH", path.c_str(), 1);
    EXPECT_EQ(of_machine.probes.at(0).file->path, program_.path("own_program"));
    EXPECT_THAT(of_machine.left, ElementsAre(HasSubstr(fmt::format("own_program is meant, and not that of process {}, which has another file of that name mapped, {}: "
                                                                   "-p stands for theirs",
                                                                   running.pid(), program_.path("other/own_program")))));
    EXPECT_EQ(of_process.probes.at(0).file->path, program_.path("other/own_program"));
    EXPECT_THAT(of_process.left, testing::IsEmpty());
}

TEST_F(OfProcess, CommandsHaveWhatTheyNeed) {
    EXPECT_THAT(found({"u:*:getenv"}, {{}, program_.path()}), Contains("u:libc.so.6:getenv"));
    EXPECT_THAT(found({"u:*:main"}, {{}, program_.path()}), ElementsAre("u:x:main"));
    EXPECT_THAT(found({"u:ld-linux*:_dl_*"}, {{}, program_.path()}), Contains(StartsWith("u:ld-linux")));
    program_.run("printf '#!/bin/sh\\n' > script");
    EXPECT_THAT(thrown([&] { found({"u:*:main"}, {{}, program_.path("script")}); }), HasSubstr("what it will load is not known: name the object"));
    program_.run("mkfifo -m 700 fifo");
    EXPECT_THAT(thrown([&] { found({"u:*:main"}, {{}, program_.path("fifo")}); }), HasSubstr("what it will load is not known: name the object"));
}

TEST_F(OfProcess, BuildIdsAreThoseOfWhatIsMapped) {
    program_.run("echo 'int own_function(void) { return 1; }' | gcc -g0 -shared -Wl,--build-id=0xabcdef0123456789 -o libbuild.so -xc -");
    const std::string spec = "u:build:abcdef0123:own_function";
    EXPECT_THAT(thrown([&] { found({spec}, {}); }), HasSubstr("build:abcdef0123: no object that a process has mapped has that build id"));
    const Running running(program_.path(), program_.path("libbuild.so"));
    EXPECT_THAT(found({spec}, {}), ElementsAre("u:libbuild.so:own_function"));
    EXPECT_THAT(found({"u:build:ABCDEF0123456789:own_function"}, {{running.pid()}}), ElementsAre("u:libbuild.so:own_function"));
    EXPECT_THAT(thrown([&] { found({"u:build:abcdef0124:own_function"}, {{running.pid()}}); }),
                HasSubstr(fmt::format("no object of process {} has that build id", running.pid())));
    EXPECT_THAT(thrown([&] { found({"u:build:abc:own_function"}, {}); }), HasSubstr("there is no such library")) << "too short for a build id";
}

TEST_F(OfProcess, WhatIsWrongIsSaid) {
    EXPECT_THAT(thrown([&] { found({"u:*:getenv"}, {}); }), HasSubstr("which objects there are depends on the process: name it with -p PID"));
    const Running running(program_.path(), program_.path("libown.so.1"));
    const ObjectScope scope{{running.pid()}};
    const std::string process = fmt::format("process {}", running.pid());
    EXPECT_THAT(thrown([&] { found({"u:nothing*:getenv"}, scope); }), HasSubstr("no object of " + process + " is called so"));
    EXPECT_THAT(thrown([&] { found({"u:*:no_such_function"}, scope); }), AllOf(HasSubstr("none of the "), HasSubstr("objects of " + process + " has such a function")));
    EXPECT_THAT(thrown([&] { found({"usdt:*:no_such_probe"}, scope); }), HasSubstr("objects of " + process + " has such a USDT probe"));
    EXPECT_THAT(thrown([&] { found({"u:*:0x10"}, scope); }), HasSubstr("an address is one of an object"));
    EXPECT_THAT(thrown([&] { found({"u:getenv"}, scope); }), HasSubstr("an object is missing"));
}

TEST_F(OfProcess, UsdtProbesOfAllAreMeantByAStar) {
    const Running running(program_.path(), "libstdc++.so.6");
    EXPECT_THAT(found({"usdt:*"}, {{running.pid()}}), Contains(AllOf(StartsWith("usdt:libstdc++.so.6"), HasSubstr(":libstdcxx:catch"))));
    EXPECT_THAT(found({"usdt:*:throw"}, {{running.pid()}}), ElementsAre(HasSubstr(":libstdcxx:throw")));
}

} // namespace
} // namespace argtrace
