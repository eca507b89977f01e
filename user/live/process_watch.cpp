// SPDX-License-Identifier: GPL-2.0-only
#include "live/process_watch.h"

#include <cerrno>
#include <cstring>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "session/processes.h"
#include "util/error.h"

namespace argtrace {

namespace {

Error cannot_watch(std::uint32_t pid, int error) {
    if (error == ESRCH || error == EINVAL || error == ENOENT) // the latter two: of a thread
        return no_process(pid);
    return Error(fmt::format("{}: cannot be watched: {}", pid, std::strerror(error)));
}

} // namespace

ProcessWatch::ProcessWatch(std::span<const std::uint32_t> pids)
    : events_(::epoll_create1(EPOLL_CLOEXEC)), running_(pids.size()) {
    if (!events_)
        throw Error(fmt::format("cannot watch processes: {}", std::strerror(errno)));
    for (const std::uint32_t pid : pids) {
        Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
        if (!process)
            throw cannot_watch(pid, errno);
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = process.get();
        if (::epoll_ctl(events_.get(), EPOLL_CTL_ADD, process.get(), &event) != 0)
            throw cannot_watch(pid, errno);
        processes_.push_back(std::move(process));
    }
}

bool ProcessWatch::ended() {
    epoll_event event;
    while (::epoll_wait(events_.get(), &event, 1, 0) > 0) {
        ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, event.data.fd, nullptr);
        --running_;
    }
    return running_ == 0;
}

} // namespace argtrace
