// SPDX-License-Identifier: GPL-2.0-only
#include "live/stop_signal.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>

#include <fmt/format.h>

#include "util/error.h"

namespace argtrace {

namespace {

volatile std::sig_atomic_t signal_seen = 0;
volatile std::sig_atomic_t event_fd = -1;
volatile std::sig_atomic_t echoed = 0; // the terminal shows ^C for Ctrl-C

bool echoes_controls(int fd) {
    termios settings{};
    return ::tcgetattr(fd, &settings) == 0 && (settings.c_lflag & ECHO) &&
           (settings.c_lflag & ECHOCTL);
}

void set_handler(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler; // without SA_RESTART, so that a blocked call returns
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    struct sigaction hangup {};
    if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        ::sigaction(SIGHUP, &action, nullptr);
}

void on_signal(int signal) {
    int saved = errno;
    signal_seen = 1;
    if (signal == SIGINT && echoed) // or the summary would follow the ^C on its line
        [[maybe_unused]]
        ssize_t ended = ::write(STDERR_FILENO, "\n", 1);
    std::uint64_t one = 1;
    [[maybe_unused]] ssize_t written = ::write(event_fd, &one, sizeof(one));
    set_handler(SIG_DFL);
    errno = saved;
}

} // namespace

StopSignal::StopSignal() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!event_)
        throw Error(fmt::format("cannot make an eventfd: {}", std::strerror(errno)));
    signal_seen = 0;
    event_fd = event_.get();
    echoed = echoes_controls(STDERR_FILENO);
    set_handler(on_signal);
}

StopSignal::~StopSignal() {
    set_handler(SIG_DFL);
}

bool StopSignal::requested() const {
    return signal_seen != 0;
}

} // namespace argtrace
