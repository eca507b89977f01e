// SPDX-License-Identifier: GPL-2.0-only
#include "lang/constants.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>

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
        // include/linux/fs.h
        {"FMODE_READ", 0x1}, {"FMODE_WRITE", 0x2}, {"FMODE_LSEEK", 0x4}, {"FMODE_PREAD", 0x8},
        {"FMODE_PWRITE", 0x10}, {"FMODE_EXEC", 0x20}, {"MAY_EXEC", 0x1}, {"MAY_WRITE", 0x2},
        {"MAY_READ", 0x4}, {"MAY_APPEND", 0x8}, {"MAY_ACCESS", 0x10}, {"MAY_OPEN", 0x20},
        {"MAY_CHDIR", 0x40},
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
        ROW(MAP_SYNC), ROW(MAP_FIXED_NOREPLACE), ROW(MADV_NORMAL), ROW(MADV_WILLNEED),
        ROW(MADV_DONTNEED), ROW(MADV_FREE), ROW(MADV_HUGEPAGE), ROW(MADV_NOHUGEPAGE),
        // include/uapi/asm-generic/signal.h; libc's SIGRTMIN is another
        ROW(SIGHUP), ROW(SIGINT), ROW(SIGQUIT), ROW(SIGILL), ROW(SIGTRAP), ROW(SIGABRT),
        ROW(SIGIOT), ROW(SIGBUS), ROW(SIGFPE), ROW(SIGKILL), ROW(SIGUSR1), ROW(SIGSEGV),
        ROW(SIGUSR2), ROW(SIGPIPE), ROW(SIGALRM), ROW(SIGTERM), ROW(SIGSTKFLT), ROW(SIGCHLD),
        ROW(SIGCONT), ROW(SIGSTOP), ROW(SIGTSTP), ROW(SIGTTIN), ROW(SIGTTOU), ROW(SIGURG),
        ROW(SIGXCPU), ROW(SIGXFSZ), ROW(SIGVTALRM), ROW(SIGPROF), ROW(SIGWINCH), ROW(SIGIO),
        ROW(SIGPOLL), ROW(SIGPWR), ROW(SIGSYS), {"SIGRTMIN", 32},
        // include/linux/socket.h, include/linux/net.h
        ROW(AF_UNSPEC), ROW(AF_UNIX), ROW(AF_LOCAL), ROW(AF_INET), ROW(AF_INET6), ROW(AF_NETLINK),
        ROW(AF_PACKET), ROW(AF_BLUETOOTH), ROW(AF_ALG), ROW(AF_VSOCK), ROW(AF_XDP),
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
        {"MS_SYNCHRONOUS", 16}, {"MS_REMOUNT", 32}, {"MS_BIND", 4096}, {"MS_MOVE", 8192},
        {"MS_REC", 16384}, {"MS_PRIVATE", 1 << 18}, {"MS_SLAVE", 1 << 19}, {"MS_SHARED", 1 << 20},
        // Where BTF has no enumerators of these names.
        {"true", 1}, {"false", 0}, {"NULL", 0},
};

#undef ROW

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
