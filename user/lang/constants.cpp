// SPDX-License-Identifier: GPL-2.0-only
#include "lang/constants.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/if_ether.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "lang/kernel_macros.h"
#include "util/errno_name.h"

namespace argtrace::lang {

namespace {

struct MacroRow {
    std::string_view name;
    std::int64_t value;
};

constexpr std::uint32_t errno_max = 531; // include/linux/errno.h

#define ROW(name)                                                                                  \
    { #name, name }

constexpr MacroRow macro_rows[] {
    // include/uapi/asm-generic/fcntl.h, and that of the machine. libc has another O_LARGEFILE, as
    // it needs none.
    ROW(O_ACCMODE), ROW(O_RDONLY), ROW(O_WRONLY), ROW(O_RDWR), ROW(O_CREAT), ROW(O_EXCL),
        ROW(O_NOCTTY), ROW(O_TRUNC), ROW(O_APPEND), ROW(O_NONBLOCK), ROW(O_NDELAY), ROW(O_DSYNC),
        ROW(O_SYNC), ROW(O_ASYNC), ROW(O_DIRECT), ROW(O_DIRECTORY), ROW(O_NOFOLLOW), ROW(O_NOATIME),
        ROW(O_CLOEXEC), ROW(O_PATH), ROW(O_TMPFILE),
#if defined(__aarch64__)
        {"O_LARGEFILE", 0400000},
#else
        {"O_LARGEFILE", 0100000},
#endif
        ROW(AT_FDCWD), ROW(AT_SYMLINK_NOFOLLOW), ROW(AT_REMOVEDIR), ROW(AT_SYMLINK_FOLLOW),
        ROW(AT_NO_AUTOMOUNT), ROW(AT_EMPTY_PATH), ROW(AT_EACCESS), ROW(F_DUPFD), ROW(F_GETFD),
        ROW(F_SETFD), ROW(F_GETFL), ROW(F_SETFL), ROW(F_SETLK), ROW(F_SETLKW), ROW(F_RDLCK),
        ROW(F_WRLCK), ROW(F_UNLCK), ROW(LOCK_SH), ROW(LOCK_EX), ROW(LOCK_NB), ROW(LOCK_UN),
        ROW(SEEK_SET), ROW(SEEK_CUR), ROW(SEEK_END), ROW(SEEK_DATA), ROW(SEEK_HOLE),
        // include/uapi/linux/fs.h, falloc.h
        {"RENAME_NOREPLACE", 1}, {"RENAME_EXCHANGE", 2}, {"RENAME_WHITEOUT", 4},
        ROW(FALLOC_FL_KEEP_SIZE), ROW(FALLOC_FL_PUNCH_HOLE), ROW(FALLOC_FL_NO_HIDE_STALE),
        ROW(FALLOC_FL_COLLAPSE_RANGE), ROW(FALLOC_FL_ZERO_RANGE), ROW(FALLOC_FL_INSERT_RANGE),
        ROW(FALLOC_FL_UNSHARE_RANGE), {"FALLOC_FL_WRITE_ZEROES", 0x80},
        // include/uapi/linux/stat.h
        ROW(S_IFMT), ROW(S_IFSOCK), ROW(S_IFLNK), ROW(S_IFREG), ROW(S_IFBLK), ROW(S_IFDIR),
        ROW(S_IFCHR), ROW(S_IFIFO), ROW(S_ISUID), ROW(S_ISGID), ROW(S_ISVTX), ROW(S_IRWXU),
        ROW(S_IRUSR), ROW(S_IWUSR), ROW(S_IXUSR), ROW(S_IRWXG), ROW(S_IRGRP), ROW(S_IWGRP),
        ROW(S_IXGRP), ROW(S_IRWXO), ROW(S_IROTH), ROW(S_IWOTH), ROW(S_IXOTH), {"S_IRWXUGO", 0777},
        {"S_IRUGO", 0444}, {"S_IWUGO", 0222}, {"S_IXUGO", 0111},
        // include/uapi/asm-generic/mman.h
        ROW(PROT_NONE), ROW(PROT_READ), ROW(PROT_WRITE), ROW(PROT_EXEC), ROW(PROT_GROWSDOWN),
        ROW(PROT_GROWSUP), ROW(MAP_SHARED), ROW(MAP_PRIVATE), ROW(MAP_SHARED_VALIDATE),
        ROW(MAP_TYPE), ROW(MAP_FIXED), ROW(MAP_ANONYMOUS), ROW(MAP_GROWSDOWN), ROW(MAP_LOCKED),
        ROW(MAP_NORESERVE), ROW(MAP_POPULATE), ROW(MAP_NONBLOCK), ROW(MAP_STACK), ROW(MAP_HUGETLB),
        ROW(MAP_SYNC), ROW(MAP_FIXED_NOREPLACE), {"MAP_DROPPABLE", 0x08}, ROW(MADV_NORMAL),
        ROW(MADV_RANDOM), ROW(MADV_SEQUENTIAL), ROW(MADV_WILLNEED), ROW(MADV_DONTNEED),
        ROW(MADV_FREE), ROW(MADV_REMOVE), ROW(MADV_DONTFORK), ROW(MADV_DOFORK),
        ROW(MADV_MERGEABLE), ROW(MADV_UNMERGEABLE), ROW(MADV_HUGEPAGE), ROW(MADV_NOHUGEPAGE),
        ROW(MADV_DONTDUMP), ROW(MADV_DODUMP), ROW(MADV_WIPEONFORK), ROW(MADV_KEEPONFORK),
        {"MADV_COLD", 20}, {"MADV_PAGEOUT", 21}, {"MADV_POPULATE_READ", 22},
        {"MADV_POPULATE_WRITE", 23}, {"MADV_DONTNEED_LOCKED", 24}, {"MADV_COLLAPSE", 25},
        {"MADV_GUARD_INSTALL", 102}, {"MADV_GUARD_REMOVE", 103},
        // include/uapi/asm-generic/signal.h; libc's SIGRTMIN is another
        ROW(SIGHUP), ROW(SIGINT), ROW(SIGQUIT), ROW(SIGILL), ROW(SIGTRAP), ROW(SIGABRT),
        ROW(SIGIOT), ROW(SIGBUS), ROW(SIGFPE), ROW(SIGKILL), ROW(SIGUSR1), ROW(SIGSEGV),
        ROW(SIGUSR2), ROW(SIGPIPE), ROW(SIGALRM), ROW(SIGTERM), ROW(SIGSTKFLT), ROW(SIGCHLD),
        ROW(SIGCONT), ROW(SIGSTOP), ROW(SIGTSTP), ROW(SIGTTIN), ROW(SIGTTOU), ROW(SIGURG),
        ROW(SIGXCPU), ROW(SIGXFSZ), ROW(SIGVTALRM), ROW(SIGPROF), ROW(SIGWINCH), ROW(SIGIO),
        ROW(SIGPOLL), ROW(SIGPWR), ROW(SIGSYS), {"SIGRTMIN", 32}, ROW(SA_NOCLDSTOP),
        ROW(SA_NOCLDWAIT), ROW(SA_SIGINFO), ROW(SA_ONSTACK), ROW(SA_RESTART), ROW(SA_NODEFER),
        ROW(SA_RESETHAND), {"SA_RESTORER", 0x04000000},
        // include/uapi/linux/eventpoll.h, include/uapi/asm-generic/poll.h
        ROW(EPOLLIN), ROW(EPOLLPRI), ROW(EPOLLOUT), ROW(EPOLLERR), ROW(EPOLLHUP),
        {"EPOLLNVAL", 0x20}, ROW(EPOLLRDNORM), ROW(EPOLLRDBAND), ROW(EPOLLWRNORM),
        ROW(EPOLLWRBAND), ROW(EPOLLMSG), ROW(EPOLLRDHUP), ROW(EPOLLEXCLUSIVE), ROW(EPOLLWAKEUP),
        ROW(EPOLLONESHOT), ROW(EPOLLET), ROW(EPOLL_CTL_ADD), ROW(EPOLL_CTL_DEL),
        ROW(EPOLL_CTL_MOD), ROW(POLLIN), ROW(POLLPRI), ROW(POLLOUT), ROW(POLLERR), ROW(POLLHUP),
        ROW(POLLNVAL), ROW(POLLRDNORM), ROW(POLLRDBAND), ROW(POLLWRNORM), ROW(POLLWRBAND),
        ROW(POLLMSG), ROW(POLLRDHUP),
        // include/uapi/asm-generic/socket.h
        ROW(SOL_SOCKET), ROW(SO_DEBUG), ROW(SO_REUSEADDR), ROW(SO_TYPE), ROW(SO_ERROR),
        ROW(SO_DONTROUTE), ROW(SO_BROADCAST), ROW(SO_SNDBUF), ROW(SO_RCVBUF), ROW(SO_KEEPALIVE),
        ROW(SO_OOBINLINE), ROW(SO_PRIORITY), ROW(SO_LINGER), ROW(SO_REUSEPORT), ROW(SO_PASSCRED),
        ROW(SO_PEERCRED), ROW(SO_RCVLOWAT), ROW(SO_SNDLOWAT), ROW(SO_RCVTIMEO), ROW(SO_SNDTIMEO),
        ROW(SO_BINDTODEVICE), ROW(SO_ATTACH_FILTER), ROW(SO_DETACH_FILTER), ROW(SO_PEERNAME),
        ROW(SO_TIMESTAMP), ROW(SO_ACCEPTCONN), ROW(SO_PEERSEC), ROW(SO_SNDBUFFORCE),
        ROW(SO_RCVBUFFORCE), ROW(SO_PASSSEC), ROW(SO_TIMESTAMPNS), ROW(SO_MARK),
        ROW(SO_TIMESTAMPING), ROW(SO_PROTOCOL), ROW(SO_DOMAIN), ROW(SO_RXQ_OVFL),
        ROW(SO_PEEK_OFF), ROW(SO_BUSY_POLL), ROW(SO_INCOMING_CPU), ROW(SO_ATTACH_BPF),
        ROW(SO_MEMINFO), ROW(SO_INCOMING_NAPI_ID), ROW(SO_COOKIE), ROW(SO_PEERGROUPS),
        ROW(SO_ZEROCOPY), ROW(SO_TXTIME),
        // include/uapi/linux/if_ether.h
        ROW(ETH_P_LOOP), ROW(ETH_P_IP), ROW(ETH_P_X25), ROW(ETH_P_ARP), ROW(ETH_P_BATMAN),
        ROW(ETH_P_TEB), ROW(ETH_P_RARP), ROW(ETH_P_ATALK), ROW(ETH_P_AARP), ROW(ETH_P_8021Q),
        ROW(ETH_P_IPX), ROW(ETH_P_IPV6), ROW(ETH_P_PAUSE), ROW(ETH_P_SLOW), ROW(ETH_P_MPLS_UC),
        ROW(ETH_P_MPLS_MC), ROW(ETH_P_PPP_DISC), ROW(ETH_P_PPP_SES), ROW(ETH_P_PAE),
        ROW(ETH_P_PROFINET), ROW(ETH_P_ETHERCAT), ROW(ETH_P_8021AD), ROW(ETH_P_LLDP),
        ROW(ETH_P_MACSEC), ROW(ETH_P_1588), ROW(ETH_P_NCSI), ROW(ETH_P_PRP), ROW(ETH_P_FCOE),
        ROW(ETH_P_IBOE), ROW(ETH_P_FIP), ROW(ETH_P_HSR), ROW(ETH_P_NSH), ROW(ETH_P_LOOPBACK),
        ROW(ETH_P_802_3), ROW(ETH_P_AX25), ROW(ETH_P_ALL), ROW(ETH_P_802_2), ROW(ETH_P_SNAP),
        ROW(ETH_P_CAN), ROW(ETH_P_CANFD),
        // include/linux/net.h, include/linux/socket.h
        ROW(SOCK_CLOEXEC), ROW(SOCK_NONBLOCK), ROW(MSG_OOB), ROW(MSG_PEEK), ROW(MSG_TRUNC),
        ROW(MSG_DONTWAIT), ROW(MSG_WAITALL), ROW(MSG_NOSIGNAL), ROW(MSG_MORE), ROW(MSG_ZEROCOPY),
        ROW(SHUT_RD), ROW(SHUT_WR), ROW(SHUT_RDWR),
        // include/uapi/linux/sched.h
        ROW(CLONE_VM), ROW(CLONE_FS), ROW(CLONE_FILES), ROW(CLONE_SIGHAND), ROW(CLONE_PTRACE),
        ROW(CLONE_VFORK), ROW(CLONE_PARENT), ROW(CLONE_THREAD), ROW(CLONE_NEWNS),
        ROW(CLONE_SYSVSEM), ROW(CLONE_SETTLS), ROW(CLONE_UNTRACED), ROW(CLONE_NEWCGROUP),
        ROW(CLONE_NEWUTS), ROW(CLONE_NEWIPC), ROW(CLONE_NEWUSER), ROW(CLONE_NEWPID),
        ROW(CLONE_NEWNET), ROW(CLONE_IO),
        // include/uapi/linux/mount.h
        {"MS_RDONLY", 1}, {"MS_NOSUID", 2}, {"MS_NODEV", 4}, {"MS_NOEXEC", 8},
        {"MS_SYNCHRONOUS", 16}, {"MS_REMOUNT", 32}, {"MS_MANDLOCK", 64}, {"MS_DIRSYNC", 128},
        {"MS_NOSYMFOLLOW", 256}, {"MS_NOATIME", 1024}, {"MS_NODIRATIME", 2048}, {"MS_BIND", 4096},
        {"MS_MOVE", 8192}, {"MS_REC", 16384}, {"MS_SILENT", 32768}, {"MS_POSIXACL", 1 << 16},
        {"MS_UNBINDABLE", 1 << 17}, {"MS_PRIVATE", 1 << 18}, {"MS_SLAVE", 1 << 19},
        {"MS_SHARED", 1 << 20}, {"MS_RELATIME", 1 << 21}, {"MS_STRICTATIME", 1 << 24},
        {"MS_LAZYTIME", 1 << 25},
        // Where BTF has no enumerators of these names.
        {"true", 1}, {"false", 0}, {"NULL", 0},
#undef ROW
#define ROW(name, value) {#name, value},
        ARGTRACE_KERNEL_MACROS(ROW)
#undef ROW
};

} // namespace

std::optional<std::int64_t> macro_constant(std::string_view name) {
    for (const MacroRow &row : macro_rows)
        if (row.name == name)
            return row.value;
    if (name == "EWOULDBLOCK")
        return EWOULDBLOCK;
    if (name.starts_with('E'))
        for (std::uint32_t number = 1; number <= errno_max; number++)
            if (errno_name(number) == name)
                return number;
    return std::nullopt;
}

std::vector<std::string_view> macro_names() {
    std::vector<std::string_view> names;
    for (const MacroRow &row : macro_rows)
        names.push_back(row.name);
    for (std::uint32_t number = 1; number <= errno_max; number++)
        if (const std::string_view name = errno_name(number); !name.empty())
            names.push_back(name);
    return names;
}

} // namespace argtrace::lang
