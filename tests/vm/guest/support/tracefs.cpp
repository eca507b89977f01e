// SPDX-License-Identifier: GPL-2.0-only
#include "support/tracefs.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

#include "support/kallsyms.h"
#include "support/machine.h"

namespace vmtest {

int write_tracefs(const std::string &path, const std::string &text) {
    const int fd = open((tracing_directory + path).c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int error = 0;
    // tracefs takes one word of a write to a filter at a time.
    for (std::size_t at = 0; at < text.size() && error == 0;) {
        const ssize_t written = write(fd, text.data() + at, text.size() - at);
        if (written < 0)
            error = errno;
        else
            at += static_cast<std::size_t>(written);
    }
    close(fd);
    return error;
}

bool has_fprobe() {
    return kallsyms_text().find(" register_fprobe\n") != std::string::npos;
}

bool has_func_args() {
    return access((tracing_directory + "options/func-args").c_str(), F_OK) == 0;
}

unsigned long tracefs_lost() {
    unsigned long lost = 0;
    for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
        std::istringstream lines(
            read_file(tracing_directory + "per_cpu/cpu" + std::to_string(cpu) + "/stats"));
        for (std::string line; std::getline(lines, line);) {
            for (const char *what : {"overrun: ", "commit overrun: ", "dropped events: "}) {
                if (line.rfind(what, 0) == 0)
                    lost += std::stoul(line.substr(line.find(": ") + 2));
            }
        }
    }
    return lost;
}

} // namespace vmtest
