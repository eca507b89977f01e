// SPDX-License-Identifier: GPL-2.0-only
#include "session/processes.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <limits>

#include <fmt/format.h>

#include "session/session.h"

namespace argtrace {

namespace {

constexpr std::uint32_t pid_max = std::numeric_limits<std::int32_t>::max();

/// The process that the thread belongs to; 0 when there is no such thread.
std::uint32_t process_of_thread(std::uint32_t tid) {
    std::ifstream status(fmt::format("/proc/{}/status", tid));
    for (std::string word; status >> word;) {
        std::uint32_t process = 0;
        if (word == "Tgid:" && status >> process)
            return process;
    }
    return 0;
}

} // namespace

void parse_pids(std::string_view what, std::string_view text, std::vector<std::uint32_t> &pids) {
    const char *at = text.data(), *end = at + text.size();
    for (;;) {
        std::uint32_t pid = 0;
        const auto [rest, problem] = std::from_chars(at, end, pid);
        if (problem != std::errc{} || pid == 0 || pid > pid_max || (rest != end && *rest != ','))
            throw Error(fmt::format("{} takes the numbers of processes, such as 12 or 12,34, not "
                                    "'{}'",
                                    what, text));
        if (std::find(pids.begin(), pids.end(), pid) == pids.end())
            pids.push_back(pid);
        if (rest == end)
            return;
        at = rest + 1;
    }
}

Error no_process(std::uint32_t pid) {
    const std::uint32_t process = process_of_thread(pid);
    if (process != 0 && process != pid)
        return Error(fmt::format("{0}: is a thread of process {1}, whose threads can only be "
                                 "traced together: use -p {1}",
                                 pid, process));
    return Error(fmt::format("{}: no such process", pid));
}

void Session::set_processes(const ProcessFilter &filter) {
    if (filter.pids.size() > ARGTRACE_PROCESSES_MAX)
        throw Error(fmt::format("{} processes are too many: name at most {}, or one that starts "
                                "them and --follow",
                                filter.pids.size(), ARGTRACE_PROCESSES_MAX));
    argtrace_process_filter request{};
    request.size = sizeof(request);
    request.flags = (filter.children ? ARGTRACE_PROCESSES_CHILDREN : 0) |
                    (filter.excludes ? ARGTRACE_PROCESSES_EXCLUDE : 0);
    request.pids = reinterpret_cast<std::uintptr_t>(filter.pids.data());
    request.count = static_cast<std::uint32_t>(filter.pids.size());
    const int error = device_.request(ARGTRACE_IOC_PROCESSES, &request);
    if (error == ESRCH && request.failed < filter.pids.size())
        throw no_process(filter.pids[request.failed]);
    if (error != 0)
        throw explain_request("choose the processes", error, device_.info());
}

ProcessFilter Session::processes() const {
    return list_processes(0);
}

ProcessFilter Session::processes_in_events() const {
    return list_processes(ARGTRACE_PROCESSES_INITIAL);
}

ProcessFilter Session::list_processes(std::uint32_t flags) const {
    ProcessFilter filter;
    filter.pids.resize(ARGTRACE_PROCESSES_MAX);
    argtrace_process_filter request{};
    request.size = sizeof(request);
    request.flags = flags;
    request.pids = reinterpret_cast<std::uintptr_t>(filter.pids.data());
    request.count = static_cast<std::uint32_t>(filter.pids.size());
    const int error = device_.request(ARGTRACE_IOC_PROCESSES_LIST, &request);
    if (error != 0)
        throw explain_request("list the processes", error, info_);
    filter.pids.resize(std::min<std::size_t>(request.count, filter.pids.size()));
    filter.children = request.flags & ARGTRACE_PROCESSES_CHILDREN;
    filter.excludes = request.flags & ARGTRACE_PROCESSES_EXCLUDE;
    return filter;
}

} // namespace argtrace
