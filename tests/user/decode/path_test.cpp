// SPDX-License-Identifier: GPL-2.0-only
#include "decode/path.h"

#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/socket.h>

#include "uapi/argtrace_program.h"

namespace argtrace {
namespace {

std::string recorded(std::uint16_t flags, std::string_view names,
                     const argtrace_pseudo *pseudo = nullptr) {
    std::string data(reinterpret_cast<const char *>(&flags), sizeof(flags));
    if (pseudo)
        data.append(reinterpret_cast<const char *>(pseudo), sizeof(*pseudo));
    return data.append(names);
}

std::optional<std::string> text_of(std::string_view data) {
    std::vector<std::byte> bytes{std::byte{'<'}};
    if (!append_path(bytes, std::as_bytes(std::span(data))))
        return std::nullopt;
    EXPECT_EQ(bytes.front(), std::byte{'<'});
    return std::string(reinterpret_cast<const char *>(bytes.data()) + 1, bytes.size() - 1);
}

TEST(Path, NamesAreTurnedRound) {
    EXPECT_EQ(text_of(recorded(0, "")), "/");
    EXPECT_EQ(text_of(recorded(0, "etc/")), "/etc");
    EXPECT_EQ(text_of(recorded(0, "passwd/etc/")), "/etc/passwd");
    EXPECT_EQ(text_of(recorded(0, "d/c/b/a/")), "/a/b/c/d");
    EXPECT_EQ(text_of(recorded(0, "a b\n\xff/c/")), "/c/a b\n\xff");
}

TEST(Path, MarksAreShown) {
    EXPECT_EQ(text_of(recorded(ARGTRACE_PATH_CUT, "d/c/")), ".../c/d");
    EXPECT_EQ(text_of(recorded(ARGTRACE_PATH_DELETED, "x/tmp/")), "/tmp/x (deleted)");
    EXPECT_EQ(text_of(recorded(ARGTRACE_PATH_DETACHED, "x/tmp/")), "/tmp/x (detached)");
    EXPECT_EQ(text_of(recorded(ARGTRACE_PATH_CHANGING, "x/tmp/")), "/tmp/x (changing)");
    EXPECT_EQ(text_of(recorded(ARGTRACE_PATH_CUT | ARGTRACE_PATH_DELETED | ARGTRACE_PATH_DETACHED |
                                   ARGTRACE_PATH_CHANGING,
                               "x/tmp/")),
              ".../tmp/x (deleted) (detached) (changing)");
    EXPECT_EQ(text_of(recorded(0x8000, "x/")), "/x") << "a flag of the future";
    EXPECT_EQ(text_of(recorded(ARGTRACE_PATH_NONE, "")), "") << "a file that is being opened";
    EXPECT_EQ(text_of(recorded(ARGTRACE_PATH_NONE, "x/")), std::nullopt);
    EXPECT_EQ(text_of(recorded(ARGTRACE_PATH_NONE | ARGTRACE_PATH_DELETED, "")), std::nullopt);
}

TEST(Path, WhatIsInNoFolderIsNamedAsItsFileSystemDoesIt) {
    const auto pseudo = [](std::uint32_t magic, std::string_view name) {
        const argtrace_pseudo pseudo{.magic = magic, .reserved = 0, .inode = 4711};
        return text_of(recorded(ARGTRACE_PATH_PSEUDO, name, &pseudo));
    };
    EXPECT_EQ(pseudo(PIPEFS_MAGIC, "/"), "pipe:[4711]");
    EXPECT_EQ(pseudo(SOCKFS_MAGIC, "PACKET/"), "PACKET:[4711]");
    EXPECT_EQ(pseudo(ANON_INODE_FS_MAGIC, "[eventfd]/"), "anon_inode:[eventfd]");
    EXPECT_EQ(pseudo(0x50494446, "/"), "anon_inode:[pidfd]");
    EXPECT_EQ(pseudo(0x6e736673, "//"), "namespace:[4711]");
    EXPECT_EQ(pseudo(TMPFS_MAGIC, "memfd:x/"), "/memfd:x (deleted)");
    EXPECT_EQ(pseudo(HUGETLBFS_MAGIC, "memfd:huge/"), "/memfd:huge (deleted)");
    EXPECT_EQ(pseudo(0x1234, "what/"), "what:[4711]");
}

std::string recorded_socket(const argtrace_socket &socket, std::string_view name,
                            std::string_view names) {
    const argtrace_pseudo pseudo{.magic = SOCKFS_MAGIC, .reserved = 0, .inode = 4711};
    std::string data = recorded(ARGTRACE_PATH_PSEUDO | ARGTRACE_PATH_SOCKET, "", &pseudo);
    data.append(reinterpret_cast<const char *>(&socket), sizeof(socket));
    return data.append(name).append(names);
}

argtrace_socket internet(int family, const char *local, unsigned local_port, const char *peer,
                         unsigned peer_port) {
    argtrace_socket socket{};
    socket.family = family;
    socket.local_port = local_port;
    socket.peer_port = peer_port;
    EXPECT_EQ(inet_pton(family, local, socket.local), 1);
    EXPECT_EQ(inet_pton(family, peer, socket.peer), 1);
    return socket;
}

TEST(Path, SocketsHaveTheirAddresses) {
    const auto text = [](const argtrace_socket &socket, std::string_view names) {
        return text_of(recorded_socket(socket, "", names));
    };
    EXPECT_EQ(text(internet(AF_INET, "0.0.0.0", 0, "0.0.0.0", 0), "TCP/"), "TCP:[4711]");
    EXPECT_EQ(text(internet(AF_INET, "0.0.0.0", 22, "0.0.0.0", 0), "TCP/"), "TCP:[0.0.0.0:22]");
    EXPECT_EQ(text(internet(AF_INET, "10.0.0.1", 22, "10.0.0.2", 50000), "TCP/"),
              "TCP:[10.0.0.1:22->10.0.0.2:50000]");
    EXPECT_EQ(text(internet(AF_INET6, "::1", 53, "::", 0), "UDPv6/"), "UDPv6:[[::1]:53]");
    EXPECT_EQ(text(internet(AF_INET6, "fe80::1", 1, "fe80::2", 2), "TCPv6/"),
              "TCPv6:[[fe80::1]:1->[fe80::2]:2]");
}

TEST(Path, UnixSocketsHaveTheirNamesAndPeers) {
    using namespace std::literals;
    const auto text = [](std::uint64_t peer, std::string_view name) {
        argtrace_socket socket{};
        socket.family = AF_UNIX;
        socket.name_size = name.size();
        socket.peer_inode = peer;
        return text_of(recorded_socket(socket, name, "UNIX-STREAM/"));
    };
    EXPECT_EQ(text(0, ""), "UNIX-STREAM:[4711]");
    EXPECT_EQ(text(4712, ""), "UNIX-STREAM:[4711->4712]");
    EXPECT_EQ(text(0, "/run/x\0"sv), "UNIX-STREAM:[4711,\"/run/x\"]");
    EXPECT_EQ(text(4712, "/run/x"), "UNIX-STREAM:[4711->4712,\"/run/x\"]");
    EXPECT_EQ(text(0, "\0a/b"sv), "UNIX-STREAM:[4711,@\"a/b\"]");
}

TEST(Path, MalformedSocketsAreRefused) {
    argtrace_socket socket = internet(AF_INET, "0.0.0.0", 22, "0.0.0.0", 0);
    const std::string whole = recorded_socket(socket, "", "TCP/");
    EXPECT_EQ(text_of(whole.substr(0, sizeof(std::uint16_t) + sizeof(argtrace_pseudo) + 47)), std::nullopt);
    EXPECT_EQ(text_of(recorded_socket(socket, "", "")), std::nullopt);
    EXPECT_EQ(text_of(recorded(ARGTRACE_PATH_SOCKET, whole)), std::nullopt) << "a socket that is a file";
    socket.family = AF_APPLETALK;
    EXPECT_EQ(text_of(recorded_socket(socket, "", "TCP/")), std::nullopt);
    socket.family = AF_UNIX;
    socket.name_size = 200;
    EXPECT_EQ(text_of(recorded_socket(socket, "/run/x", "UNIX/")), std::nullopt);
    socket.name_size = sizeof("/run/xUNIX/") - 1;
    EXPECT_EQ(text_of(recorded_socket(socket, "/run/x", "UNIX/")), std::nullopt);
}

TEST(Path, MalformedOnesAreRefused) {
    const argtrace_pseudo pipe{.magic = PIPEFS_MAGIC, .reserved = 0, .inode = 1};
    EXPECT_EQ(text_of(""), std::nullopt);
    EXPECT_EQ(text_of("x"), std::nullopt);
    EXPECT_EQ(text_of(recorded(0, "x")), std::nullopt);
    EXPECT_EQ(text_of(recorded(0, "x/y")), std::nullopt);
    EXPECT_EQ(text_of(recorded(ARGTRACE_PATH_PSEUDO, "")), std::nullopt);
    EXPECT_EQ(text_of(recorded(ARGTRACE_PATH_PSEUDO, "fifteen bytes!/")), std::nullopt);
    EXPECT_EQ(text_of(recorded(ARGTRACE_PATH_PSEUDO, "", &pipe)), std::nullopt);
    EXPECT_EQ(text_of(recorded(0, "//")), "//") << "names that are empty";
}

} // namespace
} // namespace argtrace
