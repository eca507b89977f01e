// SPDX-License-Identifier: GPL-2.0-only
// path() of sockets against what getsockname(), getpeername() and fstat() say of them.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/machine.h"
#include "support/numbered_reads.h"

namespace vmtest {
namespace {

class Sockets : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        run({"argtrace", "clear"});
        const int fd = open_socket(AF_INET, SOCK_DGRAM);
        ifreq request{};
        std::strcpy(request.ifr_name, "lo");
        request.ifr_flags = IFF_UP;
        ASSERT_EQ(ioctl(fd, SIOCSIFFLAGS, &request), 0) << strerror(errno);
    }

    void TearDown() override {
        run({"argtrace", "clear"});
        for (const int fd : opened_)
            close(fd);
    }

    int keep(int fd) {
        EXPECT_GE(fd, 0) << strerror(errno);
        opened_.push_back(fd);
        return fd;
    }

    int open_socket(int family, int type, int protocol = 0) {
        return keep(socket(family, type | SOCK_CLOEXEC, protocol));
    }

    /// What path() says of each, in one recording.
    std::vector<std::string> paths_of(const std::vector<int> &fds) {
        EXPECT_EQ(run({"argtrace", "add", "vfs_read(path(file) as path, count)" + if_numbered}).status, 0);
        for (std::size_t i = 0; i < fds.size(); i++)
            call_vfs_read(fds[i], i);
        const Outcome outcome = run({"argtrace", "trace", "--json", "--duration", "300ms"});
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        std::vector<std::string> paths(fds.size());
        for (const auto &event : json_lines(outcome.out))
            paths.at(number_of(event)) = event["args"]["path"];
        return paths;
    }

    std::vector<int> opened_;
};

std::string inode_of(int fd) {
    struct stat status{};
    EXPECT_EQ(fstat(fd, &status), 0);
    return std::to_string(status.st_ino);
}

/// "127.0.0.1:22" or "[::1]:22".
std::string text_of(const sockaddr_storage &address) {
    char text[INET6_ADDRSTRLEN];
    if (address.ss_family == AF_INET) {
        const auto &four = reinterpret_cast<const sockaddr_in &>(address);
        return std::string(inet_ntop(AF_INET, &four.sin_addr, text, sizeof(text))) + ":" + std::to_string(ntohs(four.sin_port));
    }
    const auto &six = reinterpret_cast<const sockaddr_in6 &>(address);
    return "[" + std::string(inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof(text))) + "]:" + std::to_string(ntohs(six.sin6_port));
}

std::string own_address(int fd) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr *>(&address), &size), 0) << strerror(errno);
    return text_of(address);
}

std::string peer_address(int fd) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    EXPECT_EQ(getpeername(fd, reinterpret_cast<sockaddr *>(&address), &size), 0) << strerror(errno);
    return text_of(address);
}

std::string both_addresses(int fd) {
    return own_address(fd) + "->" + peer_address(fd);
}

/// Binds it to the loopback address and any port.
void bind_to_loopback(int fd, int family) {
    sockaddr_in four{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_addr = in6addr_loopback;
    const bool is_four = family == AF_INET;
    EXPECT_EQ(bind(fd, is_four ? reinterpret_cast<sockaddr *>(&four) : reinterpret_cast<sockaddr *>(&six), is_four ? sizeof(four) : sizeof(six)),
              0)
        << strerror(errno);
}

void connect_to(int fd, int server) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    EXPECT_EQ(getsockname(server, reinterpret_cast<sockaddr *>(&address), &size), 0);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr *>(&address), size), 0) << strerror(errno);
}

TEST_F(Sockets, of_the_internet_have_both_addresses) {
    std::vector<int> fds;
    std::vector<std::string> expected;
    const auto add = [&](int fd, const std::string &text) {
        fds.push_back(fd);
        expected.push_back(text);
    };
    for (const int family : {AF_INET, AF_INET6}) {
        const std::string six = family == AF_INET6 ? "v6" : "";
        const int fresh = open_socket(family, SOCK_STREAM), listener = open_socket(family, SOCK_STREAM);
        const int client = open_socket(family, SOCK_STREAM), datagrams = open_socket(family, SOCK_DGRAM);
        const int sender = open_socket(family, SOCK_DGRAM);
        bind_to_loopback(listener, family);
        ASSERT_EQ(listen(listener, 1), 0);
        connect_to(client, listener);
        const int accepted = keep(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        bind_to_loopback(datagrams, family);
        connect_to(sender, datagrams);
        add(fresh, "TCP" + six + ":[" + inode_of(fresh) + "]");
        add(listener, "TCP" + six + ":[" + own_address(listener) + "]");
        add(client, "TCP" + six + ":[" + both_addresses(client) + "]");
        add(accepted, "TCP" + six + ":[" + both_addresses(accepted) + "]");
        add(datagrams, "UDP" + six + ":[" + own_address(datagrams) + "]");
        add(sender, "UDP" + six + ":[" + both_addresses(sender) + "]");
    }
    ASSERT_FALSE(HasFailure());
    // A read of nobody waits; none of these is to.
    for (const int fd : fds) {
        timeval soon{.tv_sec = 0, .tv_usec = 1000};
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
    }
    EXPECT_EQ(paths_of(fds), expected);
}

TEST_F(Sockets, of_unix_have_names_and_peers) {
    const std::string path = "/tmp/argtrace_socket", name("\0argtrace/socket", 16);
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    keep(pair[0]);
    keep(pair[1]);
    const auto bind_to = [](int fd, const std::string &to) {
        sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
        std::memcpy(address.sun_path, to.data(), to.size());
        const socklen_t size = offsetof(sockaddr_un, sun_path) + to.size();
        EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr *>(&address), size), 0) << strerror(errno);
    };
    const int listener = open_socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK), client = open_socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK);
    unlink(path.c_str());
    bind_to(listener, path);
    ASSERT_EQ(listen(listener, 1), 0);
    connect_to(client, listener);
    const int accepted = keep(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    const int datagrams = open_socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK), unnamed = open_socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK);
    bind_to(datagrams, name);
    const int netlink = open_socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK);
    int lonely[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, lonely), 0);
    close(lonely[1]);
    keep(lonely[0]);
    const std::vector<std::string> paths =
        paths_of({pair[0], pair[1], listener, client, accepted, datagrams, unnamed, netlink, lonely[0]});
    const std::string datagram = paths[5].substr(0, paths[5].find(':'));
    EXPECT_TRUE(datagram == "UNIX" || datagram == "UNIX-DGRAM") << datagram;
    EXPECT_EQ(paths[0], "UNIX-STREAM:[" + inode_of(pair[0]) + "->" + inode_of(pair[1]) + "]");
    EXPECT_EQ(paths[1], "UNIX-STREAM:[" + inode_of(pair[1]) + "->" + inode_of(pair[0]) + "]");
    EXPECT_EQ(paths[2], "UNIX-STREAM:[" + inode_of(listener) + ",\"" + path + "\"]");
    EXPECT_EQ(paths[3], "UNIX-STREAM:[" + inode_of(client) + "->" + inode_of(accepted) + "]");
    EXPECT_EQ(paths[4], "UNIX-STREAM:[" + inode_of(accepted) + "->" + inode_of(client) + ",\"" + path + "\"]");
    EXPECT_EQ(paths[5], datagram + ":[" + inode_of(datagrams) + ",@\"argtrace/socket\"]");
    EXPECT_EQ(paths[6].substr(paths[6].find(':')), ":[" + inode_of(unnamed) + "]");
    EXPECT_EQ(paths[7], "NETLINK:[" + inode_of(netlink) + "]");
    EXPECT_EQ(paths[8], datagram + ":[" + inode_of(lonely[0]) + "]");
    unlink(path.c_str());
}

} // namespace
} // namespace vmtest
