// SPDX-License-Identifier: GPL-2.0-only
#include "util/output_readers.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "util/file.h"

namespace argtrace {

namespace {

constexpr std::string_view terminals = "/dev/pts/";

std::string link_target(const std::string &path) {
    char target[256];
    const ssize_t length = ::readlink(path.c_str(), target, sizeof(target));
    return length > 0 ? std::string(target, static_cast<std::size_t>(length)) : "";
}

/// What follows `label` on a line of its own in a file of /proc.
std::string field(const std::string &path, std::string_view label) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(label)) {
            const std::size_t at = line.find_first_not_of(" \t", label.size());
            return at == line.npos ? "" : line.substr(at);
        }
    }
    return "";
}

std::string comm_of(std::uint32_t pid) {
    return field(fmt::format("/proc/{}/status", pid), "Name:");
}

/// Where a descriptor of a process leads to, named as in /proc; of the master side of a terminal,
/// as its slave is named. Empty where data does not come out of it.
std::string readable_end(std::uint32_t pid, std::uint32_t fd) {
    const std::string path = fmt::format("/proc/{}/fd/{}", pid, fd);
    const std::string target = link_target(path);
    struct stat link {};
    if (target.starts_with("pipe:"))
        return ::lstat(path.c_str(), &link) == 0 && (link.st_mode & S_IRUSR) ? target : "";
    if (target.ends_with("/ptmx"))
        return std::string(terminals) +
               field(fmt::format("/proc/{}/fdinfo/{}", pid, fd), "tty-index:");
    return "";
}

/// The sshd that we run below, nearest first.
std::optional<std::uint32_t> sshd_above() {
    for (std::uint32_t pid = static_cast<std::uint32_t>(::getpid()); pid > 1;) {
        if (comm_of(pid).starts_with("sshd"))
            return pid;
        const std::string parent = field(fmt::format("/proc/{}/status", pid), "PPid:");
        pid = static_cast<std::uint32_t>(std::strtoul(parent.c_str(), nullptr, 10));
    }
    return std::nullopt;
}

class Search {
public:
    std::vector<ProcessName> run() {
        follow_stdout("self");
        // A process found may write to a pipe that another reads, seen before it in /proc.
        while (changed_) {
            changed_ = false;
            for_each_number("/proc", [this](std::uint32_t pid) { look_at(pid); });
        }
        if (socket_) {
            if (const auto sshd = sshd_above())
                found_.insert(*sshd);
        }
        std::vector<ProcessName> processes;
        for (const std::uint32_t pid : found_)
            processes.push_back({pid, comm_of(pid)});
        return processes;
    }

private:
    void follow_stdout(const std::string &process) {
        const std::string target =
            link_target(fmt::format("/proc/{}/fd/{}", process, STDOUT_FILENO));
        socket_ = socket_ || target.starts_with("socket:");
        if (target.starts_with("pipe:") || target.starts_with(terminals))
            changed_ = ways_.insert(target).second || changed_;
    }

    void look_at(std::uint32_t pid) {
        if (pid == own_ || found_.contains(pid))
            return;
        bool reads = false;
        for_each_number(fmt::format("/proc/{}/fd", pid), [&](std::uint32_t fd) {
            reads = reads || ways_.contains(readable_end(pid, fd));
        });
        if (!reads)
            return;
        found_.insert(pid);
        follow_stdout(fmt::format("{}", pid));
    }

    const std::uint32_t own_ = static_cast<std::uint32_t>(::getpid());
    std::set<std::string> ways_; // what the output goes through
    std::set<std::uint32_t> found_;
    bool changed_ = false;
    bool socket_ = false;
};

} // namespace

std::vector<ProcessName> output_readers() {
    return Search().run();
}

bool in_initial_pid_namespace() {
    return link_target("/proc/self/ns/pid") == "pid:[4026531836]"; // PROC_PID_INIT_INO
}

} // namespace argtrace
