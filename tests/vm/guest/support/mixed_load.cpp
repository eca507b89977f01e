// SPDX-License-Identifier: GPL-2.0-only
#include "support/mixed_load.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

namespace vmtest {

namespace {

// For calls that do not fail: only the process that waits for us could be informed.
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "mixed load: line %d: %s: %s\n", __LINE__, #condition,            \
                         strerror(errno));                                                         \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

void *shared_memory(std::size_t size) {
    void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    return memory;
}

/// A child that enters the list and runs `body`; it must end with `status`.
template<typename Body>
void in_a_child(ThreadList &threads, int status, Body body) {
    const pid_t pid = fork();
    MUST(pid >= 0);
    if (pid == 0) {
        threads.enter();
        body();
        _exit(0);
    }
    int ended = 0;
    MUST(waitpid(pid, &ended, 0) == pid);
    MUST(ended == status);
}

void files(const std::string &directory) {
    const std::string file = directory + "/file", other = directory + "/other";
    char block[5000];
    std::memset(block, 'x', sizeof(block));
    MUST(mkdir(directory.c_str(), 0700) == 0);
    const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    MUST(fd >= 0);
    for (int i = 0; i < 5; i++)
        MUST(write(fd, block, sizeof(block)) == sizeof(block));
    MUST(lseek(fd, 100, SEEK_SET) == 100);
    MUST(read(fd, block, 1000) == 1000);
    MUST(pread(fd, block, 333, 4000) == 333);
    MUST(pwrite(fd, block, 444, 9000) == 444);
    iovec parts[2] = {{block, 10}, {block + 100, 20}};
    MUST(writev(fd, parts, 2) == 30);
    MUST(preadv(fd, parts, 2, 50) == 30);
    MUST(ftruncate(fd, 12345) == 0);
    MUST(fallocate(fd, 0, 12345, 5000) == 0);
    MUST(fsync(fd) == 0);
    MUST(fchmod(fd, 0640) == 0);
    MUST(fchown(fd, 1, 1) == 0);
    MUST(flock(fd, LOCK_EX) == 0);
    MUST(flock(fd, LOCK_UN) == 0);
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    MUST(fcntl(fd, F_SETLK, &lock) == 0);
    MUST(fcntl(fd, F_GETFL) >= 0);

    const int copy = open(other.c_str(), O_RDWR | O_CREAT, 0600);
    MUST(copy >= 0);
    off_t from = 0;
    MUST(sendfile(copy, fd, &from, 3000) == 3000);
    auto *mapped =
        static_cast<char *>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    MUST(mapped != MAP_FAILED);
    mapped[0] = 'y';
    mapped[4096] = 'z';
    MUST(msync(mapped, 8192, MS_SYNC) == 0);
    MUST(munmap(mapped, 8192) == 0);
    close(copy);
    close(fd);

    struct stat info;
    struct timespec times[2] = {{1, 0}, {2, 0}};
    MUST(link(file.c_str(), (directory + "/link").c_str()) == 0);
    MUST(symlink("file", (directory + "/symlink").c_str()) == 0);
    MUST(mkfifo((directory + "/fifo").c_str(), 0600) == 0);
    MUST(readlink((directory + "/symlink").c_str(), block, sizeof(block)) == 4);
    MUST(stat((directory + "/symlink").c_str(), &info) == 0 && info.st_nlink == 2);
    MUST(lstat((directory + "/symlink").c_str(), &info) == 0);
    MUST(access(file.c_str(), R_OK) == 0);
    MUST(access((directory + "/none").c_str(), R_OK) == -1);
    MUST(utimensat(AT_FDCWD, file.c_str(), times, 0) == 0);
    MUST(truncate(other.c_str(), 10) == 0);
    MUST(rename(other.c_str(), (directory + "/renamed").c_str()) == 0);
    DIR *listing = opendir(directory.c_str());
    MUST(listing);
    while (readdir(listing))
        ;
    closedir(listing);
    for (const char *name : {"/file", "/link", "/symlink", "/fifo", "/renamed"})
        MUST(unlink((directory + name).c_str()) == 0);
    MUST(rmdir(directory.c_str()) == 0);

    for (const char *path : {"/proc/self/stat", "/proc/self/maps", "/proc/meminfo",
                             "/sys/devices/system/cpu/online", "/dev/zero"}) {
        const int proc = open(path, O_RDONLY | O_CLOEXEC);
        MUST(proc >= 0);
        MUST(read(proc, block, 1024) > 0);
        close(proc);
    }
}

void processes(ThreadList &threads) {
    in_a_child(threads, 7 << 8, [] { _exit(7); });
    in_a_child(threads, SIGKILL, [] { raise(SIGKILL); });
    in_a_child(threads, 0, [] {
        const int null = open("/dev/null", O_WRONLY);
        MUST(dup2(null, 1) == 1);
        execl("/bin/ls", "ls", "-l", "/dev", nullptr);
        MUST(false);
    });
    in_a_child(threads, 0, [&threads] {
        MUST(setsid() > 0);
        MUST(nice(3) >= 0);
        in_a_child(threads, 0, [] {
            execl("/bin/dd", "dd", "if=/dev/zero", "of=/dev/null", "bs=777", "count=20",
                  "status=none", nullptr);
            MUST(false);
        });
    });
    std::atomic<int> turn{0};
    auto body = [&](int self) {
        threads.enter();
        for (int i = 0; i < 5; i++) {
            while (turn.load() != self)
                turn.wait(!self);
            turn = !self;
            turn.notify_all();
        }
    };
    std::thread first(body, 0), second(body, 1);
    first.join();
    second.join();

    rlimit limit;
    rusage usage;
    cpu_set_t cpus;
    MUST(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    MUST(getrusage(RUSAGE_SELF, &usage) == 0);
    MUST(sched_getaffinity(0, sizeof(cpus), &cpus) == 0);
    MUST(sched_setaffinity(0, sizeof(cpus), &cpus) == 0);
    MUST(sched_yield() == 0);
    timespec while_asleep = {0, 1000000};
    MUST(nanosleep(&while_asleep, nullptr) == 0);
    utsname name;
    MUST(uname(&name) == 0);
    MUST(syscall(SYS_getcpu, nullptr, nullptr, nullptr) == 0);
}

void pipes(ThreadList &threads) {
    int ends[2], others[2];
    char data[6000];
    std::memset(data, 'p', sizeof(data));
    MUST(pipe(ends) == 0 && pipe2(others, O_NONBLOCK) == 0);
    MUST(write(ends[1], data, 100) == 100);
    MUST(read(ends[0], data, 200) == 100);
    MUST(read(others[0], data, 1) == -1 && errno == EAGAIN);
    MUST(write(ends[1], data, 50) == 50);
    MUST(tee(ends[0], others[1], 50, 0) == 50);
    pollfd wanted[2] = {{ends[0], POLLIN, 0}, {others[0], POLLIN, 0}};
    MUST(poll(wanted, 2, -1) == 2);
    MUST(read(others[0], data, 200) == 50);
    MUST(splice(ends[0], nullptr, others[1], nullptr, 50, 0) == 50);
    MUST(fcntl(ends[0], F_SETPIPE_SZ, 16384) == 16384);
    // More than fits at once, so that the child sleeps and is woken.
    in_a_child(threads, 0, [&] {
        const pid_t writer = fork();
        MUST(writer >= 0);
        if (writer == 0) {
            threads.enter();
            close(ends[0]);
            for (int i = 0; i < 10; i++)
                MUST(write(ends[1], data, sizeof(data)) == sizeof(data));
            _exit(0);
        }
        for (ssize_t got = 0, one; got < ssize_t{10 * sizeof(data)}; got += one)
            MUST((one = read(ends[0], data, 3000)) > 0);
        MUST(waitpid(writer, nullptr, 0) == writer);
    });
    for (int fd : {ends[0], ends[1], others[0], others[1]})
        close(fd);
}

void datagrams_and_pairs() {
    int pair[2];
    char data[3000] = "hello";
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    MUST(send(pair[0], data, 1000, 0) == 1000);
    MUST(recv(pair[1], data, sizeof(data), 0) == 1000);
    iovec part = {data, 500};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    MUST(sendmsg(pair[1], &message, 0) == 500);
    MUST(recvmsg(pair[0], &message, 0) == 500);
    close(pair[0]);
    close(pair[1]);

    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    const int in = socket(AF_INET, SOCK_DGRAM, 0), out = socket(AF_INET, SOCK_DGRAM, 0);
    MUST(in >= 0 && out >= 0);
    MUST(bind(in, reinterpret_cast<sockaddr *>(&address), length) == 0);
    MUST(getsockname(in, reinterpret_cast<sockaddr *>(&address), &length) == 0);
    for (int i = 0; i < 5; i++) {
        MUST(sendto(out, data, 700, 0, reinterpret_cast<sockaddr *>(&address), length) == 700);
        MUST(recvfrom(in, data, sizeof(data), 0, nullptr, nullptr) == 700);
    }
    close(in);
    close(out);
}

/// A stream socket from one process to another; the kernel chooses the address.
void connection(ThreadList &threads, const sockaddr *wanted, socklen_t wanted_length) {
    char data[3000] = "hello";
    const int one = 1, family = wanted->sa_family;
    sockaddr_storage bound = {};
    auto *address = reinterpret_cast<sockaddr *>(&bound);
    socklen_t length = sizeof(bound);
    const int listener = socket(family, SOCK_STREAM, 0);
    MUST(listener >= 0);
    MUST(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0);
    MUST(bind(listener, wanted, wanted_length) == 0);
    MUST(listen(listener, 5) == 0);
    MUST(getsockname(listener, address, &length) == 0);
    in_a_child(threads, 0, [&] {
        const pid_t client = fork();
        MUST(client >= 0);
        if (client == 0) {
            threads.enter();
            const int to = socket(family, SOCK_STREAM, 0);
            MUST(connect(to, address, length) == 0);
            MUST(send(to, data, sizeof(data), MSG_NOSIGNAL) == sizeof(data));
            MUST(shutdown(to, SHUT_WR) == 0);
            MUST(recv(to, data, 100, MSG_WAITALL) == 100);
            _exit(0);
        }
        const int from = accept(listener, nullptr, nullptr);
        MUST(from >= 0);
        while (recv(from, data, sizeof(data), 0) > 0)
            ;
        MUST(send(from, data, 100, MSG_NOSIGNAL) == 100);
        MUST(waitpid(client, nullptr, 0) == client);
        close(from);
    });
    close(listener);
}

void sockets(ThreadList &threads) {
    datagrams_and_pairs();
    sockaddr_in inet = {};
    inet.sin_family = AF_INET;
    inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connection(threads, reinterpret_cast<sockaddr *>(&inet), sizeof(inet));
    // The kernel chooses an abstract name.
    sockaddr_un local = {};
    local.sun_family = AF_UNIX;
    connection(threads, reinterpret_cast<sockaddr *>(&local), sizeof(sa_family_t));
}

volatile sig_atomic_t signals_seen;

void signals() {
    struct sigaction action = {}, before;
    action.sa_handler = [](int) { signals_seen = signals_seen + 1; };
    MUST(sigaction(SIGUSR1, &action, &before) == 0);
    MUST(sigaction(SIGALRM, &action, nullptr) == 0);
    signals_seen = 0;
    for (int i = 0; i < 5; i++)
        MUST(kill(getpid(), SIGUSR1) == 0);
    MUST(signals_seen == 5);

    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGALRM);
    MUST(sigprocmask(SIG_BLOCK, &set, &old) == 0);
    MUST(raise(SIGUSR1) == 0);
    sigset_t pending;
    MUST(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1));
    const int fd = signalfd(-1, &set, SFD_NONBLOCK);
    signalfd_siginfo info;
    MUST(fd >= 0 && read(fd, &info, sizeof(info)) == sizeof(info));
    close(fd);
    const itimerval soon = {{0, 0}, {0, 2000}};
    MUST(setitimer(ITIMER_REAL, &soon, nullptr) == 0);
    MUST(sigsuspend(&old) == -1 && errno == EINTR);
    MUST(sigprocmask(SIG_SETMASK, &old, nullptr) == 0);
    MUST(sigaction(SIGUSR1, &before, nullptr) == 0);
    MUST(signals_seen == 6);
}

void events() {
    const int epoll = epoll_create1(0), event = eventfd(0, 0);
    const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    MUST(epoll >= 0 && event >= 0 && timer >= 0);
    epoll_event wanted = {};
    wanted.events = EPOLLIN;
    MUST(epoll_ctl(epoll, EPOLL_CTL_ADD, event, &wanted) == 0);
    MUST(epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &wanted) == 0);
    std::uint64_t value = 3;
    MUST(write(event, &value, sizeof(value)) == sizeof(value));
    MUST(epoll_wait(epoll, &wanted, 1, -1) == 1);
    MUST(read(event, &value, sizeof(value)) == sizeof(value) && value == 3);
    const itimerspec soon = {{0, 0}, {0, 1000000}};
    MUST(timerfd_settime(timer, 0, &soon, nullptr) == 0);
    MUST(epoll_wait(epoll, &wanted, 1, -1) == 1);
    MUST(read(timer, &value, sizeof(value)) == sizeof(value));
    for (int fd : {epoll, event, timer})
        close(fd);
}

void memory(ThreadList &threads) {
    constexpr std::size_t size = 64 * 4096;
    auto *area = static_cast<char *>(
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    MUST(area != MAP_FAILED);
    for (std::size_t i = 0; i < size; i += 4096)
        area[i] = 1;
    MUST(mprotect(area + 4096, 4096, PROT_READ) == 0);
    MUST(madvise(area + 16 * 4096, 8 * 4096, MADV_DONTNEED) == 0);
    MUST(area[16 * 4096] == 0);
    MUST(mlock(area, 8192) == 0);
    MUST(munlock(area, 8192) == 0);
    unsigned char resident[64];
    MUST(mincore(area, size, resident) == 0);
    in_a_child(threads, 0, [&] {
        for (std::size_t i = 8 * 4096; i < size; i += 4096)
            area[i] = 2; // makes a private copy of the page
    });
    MUST(munmap(area + 32 * 4096, 4096) == 0);
    auto *moved =
        static_cast<char *>(mremap(area + 33 * 4096, 31 * 4096, 96 * 4096, MREMAP_MAYMOVE));
    MUST(moved != MAP_FAILED);
    moved[95 * 4096] = 1;
    MUST(munmap(moved, 96 * 4096) == 0);
    MUST(munmap(area, 32 * 4096) == 0);
    void *end = sbrk(0);
    MUST(sbrk(200000) != reinterpret_cast<void *>(-1));
    MUST(brk(end) == 0);
    const int fd = memfd_create("load", 0);
    MUST(fd >= 0 && ftruncate(fd, 8192) == 0);
    close(fd);
}

} // namespace

struct ThreadList::Shared {
    static constexpr std::uint32_t most = 16000;
    std::atomic<std::uint32_t> count;
    pid_t tids[most];
};

ThreadList::ThreadList() : shared_(static_cast<Shared *>(shared_memory(sizeof(Shared)))) {}

ThreadList::~ThreadList() {
    munmap(shared_, sizeof(Shared));
}

void ThreadList::enter() {
    const std::uint32_t place = shared_->count.fetch_add(1);
    MUST(place < Shared::most);
    shared_->tids[place] = static_cast<pid_t>(syscall(SYS_gettid));
}

void ThreadList::forget() {
    shared_->count = 0;
}

std::vector<pid_t> ThreadList::all() const {
    return {shared_->tids, shared_->tids + shared_->count.load()};
}

void mixed_load_round(const std::string &directory, ThreadList &threads) {
    files(directory);
    processes(threads);
    pipes(threads);
    sockets(threads);
    signals();
    events();
    memory(threads);
}

std::set<pid_t> do_mixed_load_rounds(const std::string &directory, int rounds) {
    ThreadList threads;
    const pid_t pid = fork();
    EXPECT_GE(pid, 0);
    if (pid == 0) {
        threads.enter();
        while (rounds-- > 0)
            mixed_load_round(directory, threads);
        _exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
    // A process that has been waited for may still be finishing.
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const std::vector<pid_t> tids = threads.all();
    return {tids.begin(), tids.end()};
}

struct MixedLoad::Shared {
    std::atomic<bool> stop;
    std::atomic<std::uint64_t> rounds;
};

MixedLoad::MixedLoad(unsigned processes)
    : shared_(static_cast<Shared *>(shared_memory(sizeof(Shared)))) {
    for (unsigned i = 0; i < processes; i++) {
        const pid_t pid = fork();
        EXPECT_GE(pid, 0);
        if (pid > 0)
            processes_.push_back(pid);
        if (pid != 0)
            continue;
        ThreadList threads;
        const std::string directory = "/tmp/load." + std::to_string(getpid());
        while (!shared_->stop) {
            mixed_load_round(directory, threads);
            threads.forget();
            shared_->rounds++;
        }
        _exit(0);
    }
}

MixedLoad::~MixedLoad() {
    stop();
    munmap(shared_, sizeof(Shared));
}

std::uint64_t MixedLoad::stop() {
    shared_->stop = true;
    for (const pid_t pid : processes_) {
        int status = 0;
        EXPECT_EQ(waitpid(pid, &status, 0), pid);
        EXPECT_EQ(status, 0) << "a process of the load";
    }
    processes_.clear();
    return shared_->rounds;
}

} // namespace vmtest
