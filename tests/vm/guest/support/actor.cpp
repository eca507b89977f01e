// SPDX-License-Identifier: GPL-2.0-only
#include "support/actor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <thread>

namespace vmtest {

namespace {

constexpr const char *burst = "/sys/kernel/debug/argtrace_test/burst";

struct Order {
    char what;
    std::uint64_t count;
};

/// Uses only what a child of a multithreaded process may use.
void call_functions_now(std::uint64_t count) {
    char text[32];
    const int length = snprintf(text, sizeof(text), "%llu", static_cast<unsigned long long>(count));
    const int file = open(burst, O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, text, static_cast<std::size_t>(length)) != length)
        _exit(1);
    close(file);
}

void call_in_children(std::uint64_t count, int generations) {
    const pid_t child = fork();
    if (child == 0) {
        if (generations > 1)
            call_in_children(count, generations - 1);
        else
            call_functions_now(count);
        _exit(0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0)
        _exit(1);
}

pid_t start_thread() {
    static volatile pid_t tid = 0;
    std::thread([] {
        tid = static_cast<pid_t>(syscall(SYS_gettid));
        for (;;)
            pause();
    }).detach();
    while (tid == 0)
        usleep(1000);
    return tid;
}

[[noreturn]] void act(int orders, int answers) {
    for (Order order{}; read(orders, &order, sizeof(order)) == sizeof(order);) {
        pid_t answer = 0;
        switch (order.what) {
        case 'q':
            _exit(0);
        case 'c':
            call_functions_now(order.count);
            break;
        case 't':
            std::thread([&] { call_functions_now(order.count); }).join();
            break;
        case 'f':
            call_in_children(order.count, 1);
            break;
        case 'g':
            call_in_children(order.count, 2);
            break;
        case 'T':
            answer = start_thread();
            break;
        case 'x': {
            const std::string command = "echo " + std::to_string(order.count) + " >" + burst;
            execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
            _exit(1);
        }
        }
        if (write(answers, &answer, sizeof(answer)) != sizeof(answer))
            _exit(1);
    }
    _exit(0);
}

pid_t fork_as(pid_t tid) {
    if (tid == 0)
        return fork();
    clone_args args{};
    args.exit_signal = SIGCHLD;
    args.set_tid = reinterpret_cast<std::uintptr_t>(&tid);
    args.set_tid_size = 1;
    return static_cast<pid_t>(syscall(SYS_clone3, &args, sizeof(args)));
}

} // namespace

Actor::Actor(pid_t tid) {
    int orders[2], answers[2];
    EXPECT_EQ(pipe2(orders, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(answers, O_CLOEXEC), 0);
    pid_ = fork_as(tid);
    if (pid_ == 0) {
        close(orders[1]);
        close(answers[0]);
        act(orders[0], answers[1]);
    }
    EXPECT_GT(pid_, 0);
    close(orders[0]);
    close(answers[1]);
    to_ = orders[1];
    from_ = answers[0];
}

Actor::~Actor() {
    end();
}

void Actor::end() {
    if (pid_ <= 0)
        return;
    // The end of the pipe would not do: actors that were started later hold it as well.
    const Order order{'q', 0};
    EXPECT_EQ(write(to_, &order, sizeof(order)), static_cast<ssize_t>(sizeof(order)));
    reap();
}

void Actor::reap() {
    close(to_);
    close(from_);
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    EXPECT_EQ(status, 0);
    pid_ = -1;
}

void Actor::tell(char what, std::uint64_t count) {
    const Order order{what, count};
    ASSERT_EQ(write(to_, &order, sizeof(order)), static_cast<ssize_t>(sizeof(order)));
    pid_t answer = 0;
    ASSERT_EQ(read(from_, &answer, sizeof(answer)), static_cast<ssize_t>(sizeof(answer)));
}

void Actor::call_in_shell(std::uint64_t count) {
    const Order order{'x', count};
    ASSERT_EQ(write(to_, &order, sizeof(order)), static_cast<ssize_t>(sizeof(order)));
    reap();
}

pid_t Actor::thread() {
    const Order order{'T', 0};
    EXPECT_EQ(write(to_, &order, sizeof(order)), static_cast<ssize_t>(sizeof(order)));
    pid_t answer = 0;
    EXPECT_EQ(read(from_, &answer, sizeof(answer)), static_cast<ssize_t>(sizeof(answer)));
    return answer;
}

} // namespace vmtest
