// SPDX-License-Identifier: GPL-2.0-only
// Programs that have other files than the tool where the same paths lead: in a chroot, in a mount namespace and on an overlay; and sessions
// without a reader, whose programs nobody knows before `trace` begins.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

const std::string place = "/tmp/elsewhere", program_path = place + "/program";
const std::string marks = "s:prctl(option, arg2) if option == 0x41524755";

bool copy(const std::string &name, const std::string &to) {
    return run({"cp", "/root/user_stacks_" + name, to}).status == 0;
}

/// Writes lines for user_stacks_mark, from when that has opened the FIFO until it is told that there are no more. Programs that are started
/// meanwhile do not keep it open.
class Lines {
public:
    explicit Lines(const std::string &fifo) : fd_(open(fifo.c_str(), O_WRONLY | O_CLOEXEC)) { EXPECT_GE(fd_, 0); }
    ~Lines() { end(); }
    Lines(const Lines &) = delete;
    Lines &operator=(const Lines &) = delete;

    void write(const std::string &text) const { EXPECT_EQ(::write(fd_, text.data(), text.size()), static_cast<ssize_t>(text.size())); }
    void end() {
        if (fd_ >= 0)
            close(fd_);
        fd_ = -1;
    }

private:
    int fd_;
};

/// What a traced program says, in the order of the calls: "alpha", or "alpha, incomplete".
std::vector<std::string> said(const Outcome &outcome) {
    std::vector<std::string> names;
    for (const json &event : json_lines(outcome.out)) {
        std::vector<std::string> functions;
        for (const auto &frame : event.at("user_stack")) {
            const auto text = frame.get<std::string>();
            functions.push_back(text.substr(0, text.find('+')));
        }
        std::string name = functions.empty() ? "nothing" : functions[0].substr(0, functions[0].find('_'));
        if (functions.size() < 4 || functions[1] != name + "_outer" || functions[2] != "main" || functions.back() != "_start")
            name += ", incomplete: " + event.at("user_stack").dump();
        names.push_back(name);
    }
    return names;
}

constexpr char frame_records[] = "compilers keep frame records on arm64, by which a stack goes on without a table";

class Elsewhere : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        if (!(RawDevice().info().features & ARGTRACE_FEATURE_USER_STACK))
            GTEST_SKIP() << "this kernel has no user stacks";
        run({"argtrace", "clear"});
        run({"rm", "-rf", place});
        ASSERT_EQ(mkdir(place.c_str(), 0755), 0);
        // Where the program is not the one that is meant, beta is found.
        ASSERT_TRUE(copy("beta", program_path));
    }
    void TearDown() override {
        run({"argtrace", "clear"});
        for (const char *mounted : {"/upper", "/chroot", "/overlay"})
            umount2((place + mounted).c_str(), MNT_DETACH);
        run({"rm", "-rf", place});
    }

    /// Has a child do so, and execute the program of that path.
    static void start_where(const std::function<bool()> &go, const std::string &path, int times) {
        for (; times > 0; times--) {
            const pid_t pid = fork();
            if (pid == 0) {
                if (go())
                    execl(path.c_str(), path.c_str(), nullptr);
                _exit(99);
            }
            int status = 0;
            ASSERT_EQ(waitpid(pid, &status, 0), pid);
            ASSERT_EQ(status, 0);
        }
    }

    static Outcome traced_while(const std::function<void()> &act) {
        Background trace({"argtrace", "trace", "--stack=user", "--json", marks});
        EXPECT_TRUE(eventually([&trace] { return trace.err_so_far().find("tracing") != std::string::npos; }));
        act();
        return trace.end(SIGINT);
    }
};

TEST_F(Elsewhere, in_a_chroot) {
    ASSERT_EQ(run({"mkdir", "-p", place + "/chroot" + place}).status, 0);
    // It has no libraries there, so it is the static one.
    ASSERT_TRUE(copy("delta", place + "/chroot" + program_path));
    const Outcome outcome = traced_while([] { start_where([] { return chroot((place + "/chroot").c_str()) == 0 && chdir("/") == 0; }, program_path, 3); });
    EXPECT_EQ(said(outcome), std::vector<std::string>(3, "delta")) << outcome.err;
}

TEST_F(Elsewhere, in_a_mount_namespace) {
    const Outcome outcome = traced_while([] {
        start_where(
            [] {
                return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                       mount("none", place.c_str(), "tmpfs", 0, nullptr) == 0 && copy("gamma", program_path);
            },
            program_path, 3);
        start_where([] { return true; }, program_path, 1);
    });
    EXPECT_EQ(said(outcome), (std::vector<std::string>{"gamma", "gamma", "gamma", "beta"})) << outcome.err;
}

/// A file of the lower layer, and the same one when it has been copied up, and has become another program.
TEST_F(Elsewhere, on_an_overlay) {
    for (const char *name : {"/upper", "/overlay", "/lower"})
        ASSERT_EQ(mkdir((place + name).c_str(), 0755), 0);
    ASSERT_EQ(mount("none", (place + "/upper").c_str(), "tmpfs", 0, nullptr), 0);
    ASSERT_EQ(run({"mkdir", place + "/upper/data", place + "/upper/work"}).status, 0);
    ASSERT_TRUE(copy("alpha", place + "/lower/program"));
    const std::string options = fmt::format("lowerdir={0}/lower,upperdir={0}/upper/data,workdir={0}/upper/work", place);
    if (mount("none", (place + "/overlay").c_str(), "overlay", 0, options.c_str()) != 0)
        GTEST_SKIP() << "this kernel has no overlayfs";
    const std::string path = place + "/overlay/program";
    const Outcome outcome = traced_while([&path] {
        start_where([] { return true; }, path, 2);
        // Opened for writing, it is copied up, and stays what it was.
        std::ofstream(path, std::ios::app).put('\0');
        start_where([] { return true; }, path, 2);
        ASSERT_TRUE(copy("gamma", path));
        start_where([] { return true; }, path, 2);
    });
    EXPECT_EQ(said(outcome), (std::vector<std::string>{"alpha", "alpha", "alpha", "alpha", "gamma", "gamma"})) << outcome.err;
}

/// The tables of what a process has mapped there are waited for as those of any other, though /proc says that it has mapped another file.
TEST_F(Elsewhere, a_process_on_an_overlay_that_runs_before) {
    for (const char *name : {"/upper", "/overlay", "/lower"})
        ASSERT_EQ(mkdir((place + name).c_str(), 0755), 0);
    ASSERT_TRUE(copy("alpha", place + "/lower/program"));
    if (mount("none", (place + "/overlay").c_str(), "overlay", 0, fmt::format("lowerdir={0}/lower:{0}/upper", place).c_str()) != 0)
        GTEST_SKIP() << "this kernel has no overlayfs";
    const std::string fifo = place + "/fifo";
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    Background running({place + "/overlay/program", fifo});
    Lines lines(fifo);
    Background trace({"argtrace", "trace", "--stack=user", "--json", "-p", std::to_string(running.pid()), marks});
    ASSERT_TRUE(eventually([&trace] { return trace.err_so_far().find("tracing") != std::string::npos; }));
    lines.write("\n");
    lines.end();
    EXPECT_EQ(running.wait().status, 0);
    const Outcome outcome = trace.wait();
    const std::vector<std::string> names = said(outcome);
    ASSERT_FALSE(names.empty()) << outcome.err;
    EXPECT_EQ(names.back(), "alpha") << outcome.err;
}

/// A tool that does not run for so long, as on a machine that has too much to do, still knows what has ended meanwhile; but there was no table.
TEST_F(Elsewhere, while_the_tool_does_not_run) {
    ASSERT_TRUE(copy("gamma", place + "/ended"));
    const Outcome outcome = [&] {
        Background trace({"argtrace", "trace", "--stack=user", "--json", marks});
        EXPECT_TRUE(eventually([&trace] { return trace.err_so_far().find("tracing") != std::string::npos; }));
        EXPECT_EQ(kill(trace.pid(), SIGSTOP), 0);
        EXPECT_EQ(run({place + "/ended"}).status, 0);
        EXPECT_EQ(unlink((place + "/ended").c_str()), 0);
        usleep(2500 * ARGTRACE_OBJECT_HELD_MS);
        EXPECT_EQ(kill(trace.pid(), SIGCONT), 0);
        return trace.end(SIGINT);
    }();
    const std::vector<std::string> names = said(outcome);
    ASSERT_EQ(names.size(), 1u) << outcome.err;
    EXPECT_TRUE(names[0].starts_with("gamma")) << names[0];
}

/// `add` ends, and nobody makes tables until `trace` begins: then there are those of all that is mapped, and of what is mapped from then on.
TEST_F(Elsewhere, a_session_that_waits_for_its_reader) {
    if (is_arm64)
        GTEST_SKIP() << frame_records;
    ASSERT_TRUE(copy("gamma", place + "/running"));
    ASSERT_TRUE(copy("alpha", place + "/ended"));
    const std::string fifo = place + "/fifo";
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    ASSERT_EQ(run({"argtrace", "add", "--stack=user", marks}).status, 0);
    ASSERT_EQ(run({place + "/ended", place + "/nothing"}).status, 1); // mapped, and without a call
    Background running({place + "/running", fifo});
    Lines lines(fifo);
    // What has ended is not held for ever.
    usleep(2500 * ARGTRACE_OBJECT_HELD_MS);
    Background trace({"argtrace", "trace", "--json"});
    ASSERT_TRUE(eventually([&trace] { return trace.err_so_far().find("tracing") != std::string::npos; }));
    lines.write("1\n2\n");
    lines.end();
    EXPECT_EQ(running.wait().status, 0);
    ASSERT_EQ(run({place + "/ended"}).status, 0); // again
    ASSERT_EQ(run({program_path}).status, 0);     // for the first time
    const Outcome outcome = trace.end(SIGINT);
    std::vector<std::string> names = said(outcome);
    ASSERT_EQ(names.size(), 5u) << outcome.err;
    // Recorded before there was a reader, and named all the same.
    EXPECT_TRUE(names[0].starts_with("gamma, incomplete: ") && names[0].ends_with("\"[... no unwind table for running]\"]")) << names[0];
    names.erase(names.begin());
    EXPECT_EQ(names, (std::vector<std::string>{"gamma", "gamma", "alpha", "beta"})) << outcome.err;
}

/// A flight recorder has no reader: what has been mapped since `add` has no table, and its stacks say so.
TEST_F(Elsewhere, a_flight_recorder_without_tables) {
    if (is_arm64)
        GTEST_SKIP() << frame_records;
    ASSERT_TRUE(copy("gamma", place + "/gamma")); // which has no frame pointers
    ASSERT_EQ(run({"argtrace", "add", "--flight", "--stack=user", marks}).status, 0);
    ASSERT_EQ(run({place + "/gamma"}).status, 0);
    const std::string path = place + "/snapshot.dat";
    ASSERT_EQ(run({"argtrace", "snapshot", "-o", path}).status, 0);
    const Outcome outcome = run({"argtrace", "report", "--json", path});
    const std::vector<json> events = json_lines(outcome.out);
    ASSERT_EQ(events.size(), 1u) << outcome.err;
    const json &stack = events[0].at("user_stack");
    EXPECT_TRUE(stack.at(0).get<std::string>().starts_with("gamma_inner+")) << stack.dump();
    EXPECT_EQ(stack.back().get<std::string>(), "[... no unwind table for gamma]") << stack.dump();
}

} // namespace
} // namespace vmtest
