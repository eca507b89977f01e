// SPDX-License-Identifier: GPL-2.0-only
#include "util/output_readers.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace argtrace {
namespace {

/// stdout is something else for as long as this lives.
class OtherStdout {
public:
    explicit OtherStdout(int fd) : before_(::dup(STDOUT_FILENO)) { ::dup2(fd, STDOUT_FILENO); }
    ~OtherStdout() {
        ::dup2(before_, STDOUT_FILENO);
        ::close(before_);
    }

private:
    int before_;
};

/// A process that has these as stdin and stdout, and none of the others, until it is killed. It has got that far
/// when it has been made.
class Neighbour {
public:
    Neighbour(int in, int out, std::initializer_list<int> others, const char *comm = "neighbour") {
        int ready[2];
        if (::pipe(ready) < 0)
            throw std::runtime_error("no pipe");
        pid_ = ::fork();
        if (pid_ != 0) {
            ::close(ready[1]);
            char none;
            (void)!::read(ready[0], &none, 1); // ends when the other has closed its side
            ::close(ready[0]);
            return;
        }
        ::prctl(PR_SET_NAME, comm);
        if (in >= 0)
            ::dup2(in, STDIN_FILENO);
        ::dup2(out, STDOUT_FILENO);
        for (const int fd : others)
            ::close(fd);
        ::close(ready[0]);
        ::close(ready[1]);
        for (;;)
            ::pause();
    }
    ~Neighbour() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }

    bool is_in(const std::vector<ProcessName> &list) const { return !comm_in(list).empty(); }

    /// What it is called there.
    std::string comm_in(const std::vector<ProcessName> &list) const {
        for (const ProcessName &one : list)
            if (one.pid == static_cast<std::uint32_t>(pid_))
                return one.comm;
        return "";
    }

private:
    pid_t pid_ = 0;
};

TEST(OutputReaders, NoneOfAFile) {
    const int file = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    const OtherStdout to_file(file);
    ::close(file);
    EXPECT_TRUE(output_readers().empty());
}

TEST(OutputReaders, ThoseOfAPipelineButNotWhoWritesBesideUs) {
    int first[2], second[2];
    ASSERT_EQ(::pipe(first), 0);
    ASSERT_EQ(::pipe(second), 0);
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    // As in a pipeline: the last is there before the one that it reads from.
    const Neighbour last(second[0], null, {first[0], first[1], second[0], second[1]});
    const Neighbour next(first[0], second[1], {first[0], first[1], second[0], second[1]});
    const Neighbour writer(null, first[1], {first[0], first[1], second[0], second[1]});
    for (const int fd : {first[0], second[0], second[1]})
        ::close(fd);
    const OtherStdout to_pipe(first[1]);
    ::close(first[1]);
    const auto readers = output_readers();
    EXPECT_TRUE(next.is_in(readers));
    EXPECT_TRUE(last.is_in(readers));
    EXPECT_FALSE(writer.is_in(readers));
    EXPECT_EQ(readers.size(), 2u);
}

TEST(OutputReaders, TheOtherSideOfATerminal) {
    const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0)
        GTEST_SKIP() << "there are no terminals here";
    ASSERT_EQ(::unlockpt(master), 0);
    const int slave = ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0)
        GTEST_SKIP() << "/dev/pts is another system's";
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    const Neighbour terminal(-1, null, {}, "sshd-session"); // with the master side
    ::close(master);
    const OtherStdout to_terminal(slave);
    ::close(slave);
    EXPECT_EQ(terminal.comm_in(output_readers()), "sshd-session");
}

/// The names of the readers in a process whose stdout is `out`, below processes that are called `above`, outermost
/// first: one a line.
std::string readers_below(const std::vector<std::string> &above, int out) {
    int report[2];
    if (::pipe(report) < 0)
        throw std::runtime_error("no pipe");
    const pid_t outermost = ::fork();
    if (outermost == 0) {
        for (const std::string &comm : above) {
            ::prctl(PR_SET_NAME, comm.c_str());
            if (const pid_t below = ::fork(); below != 0) {
                ::waitpid(below, nullptr, 0);
                ::_exit(0);
            }
        }
        ::prctl(PR_SET_NAME, "argtrace");
        ::dup2(out, STDOUT_FILENO);
        std::string names;
        for (const ProcessName &one : output_readers())
            names += one.comm + '\n';
        (void)!::write(report[1], names.data(), names.size());
        ::_exit(0);
    }
    ::close(report[1]);
    std::string names;
    char part[256];
    for (ssize_t length; (length = ::read(report[0], part, sizeof(part))) > 0;)
        names.append(part, static_cast<std::size_t>(length));
    ::close(report[0]);
    ::waitpid(outermost, nullptr, 0);
    return names;
}

TEST(OutputReaders, TheNearestSshdAboveASocket) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    EXPECT_EQ(readers_below({"sshd", "bash"}, ends[0]), "sshd\n");
    EXPECT_EQ(readers_below({"sshd", "sshd-session", "bash", "sudo"}, ends[0]), "sshd-session\n");
    EXPECT_EQ(readers_below({"test_sshd", "ssh-agent"}, ends[0]).find("ssh-agent"), std::string::npos);
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    EXPECT_EQ(readers_below({"sshd"}, null), "") << "a file leads to nobody";
    for (const int fd : {ends[0], ends[1], null})
        ::close(fd);
}

} // namespace
} // namespace argtrace
