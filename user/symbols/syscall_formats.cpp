// SPDX-License-Identifier: GPL-2.0-only
#include "symbols/syscall_formats.h"

#include <filesystem>
#include <system_error>

#include <fmt/core.h>

#include "util/error.h"
#include "util/file.h"
#include "util/lines.h"

namespace argtrace {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view event_prefix = "sys_enter_";

std::map<std::string, std::string, std::less<>> read_names(const fs::path &events) {
    std::map<std::string, std::string, std::less<>> names;
    for (const fs::directory_entry &event : fs::directory_iterator(events)) {
        const std::string name = event.path().filename();
        if (name.starts_with(event_prefix))
            names.emplace(name.substr(event_prefix.size()), std::string());
    }
    return names;
}

// "	field:const char * filename;	offset:16;	size:8;	signed:0;"
std::optional<WrittenParameter> parameter_in(std::string_view line) {
    constexpr std::string_view begin = "field:";
    const std::size_t at = line.find(begin);
    const std::size_t end = line.find(';');
    if (at == line.npos || end == line.npos || end < at)
        return std::nullopt;
    const std::string_view field = line.substr(at + begin.size(), end - at - begin.size());
    const std::size_t blank = field.rfind(' ');
    if (blank == field.npos)
        return std::nullopt;
    return WrittenParameter{std::string(field.substr(0, blank)), std::string(field.substr(blank + 1))};
}

// Behind the fields that all events have comes the call's number (__syscall_nr in kernel/trace/trace_syscalls.c), then the
// arguments, and then what the kernel may have copied of what they point to.
bool is_argument(const WrittenParameter &field) {
    return !field.name.starts_with("common_") && field.name != "__syscall_nr" &&
           !field.type.starts_with("__data_loc");
}

std::vector<WrittenParameter> parse(std::string_view format) {
    std::vector<WrittenParameter> arguments;
    for_each_line(format, [&](std::string_view line) {
        const std::optional<WrittenParameter> field = parameter_in(line);
        if (field && is_argument(*field))
            arguments.push_back(*field);
    });
    return arguments;
}

} // namespace

SyscallFormats SyscallFormats::load(std::span<const std::string> directories) {
    std::string denied;
    bool mounted = false;
    for (const std::string &directory : directories) {
        const std::string path = directory + "/events/syscalls";
        std::error_code none;
        mounted = mounted || fs::exists(directory + "/events", none);
        try {
            SyscallFormats formats(read_names(path));
            formats.directory_ = path;
            return formats;
        } catch (const fs::filesystem_error &e) {
            const int error = e.code().value();
            if (error == EPERM || error == EACCES)
                denied = path;
            else if (error != ENOENT && error != ENOTDIR)
                throw Error(fmt::format("{}: {}", path, e.code().message()));
        }
    }
    if (!denied.empty())
        throw Error(fmt::format("{}, where tracefs describes system calls, cannot be read by this user: run argtrace as root", denied));
    if (mounted)
        throw Error("this kernel's tracefs does not describe system calls (CONFIG_FTRACE_SYSCALLS)");
    throw Error("tracefs, which describes system calls, is not mounted: mount -t tracefs tracefs /sys/kernel/tracing");
}

std::vector<std::string_view> SyscallFormats::names() const {
    std::vector<std::string_view> names;
    for (const auto &[name, text] : texts_)
        names.push_back(name);
    return names;
}

std::optional<std::vector<WrittenParameter>> SyscallFormats::arguments(std::string_view name) const {
    const auto found = texts_.find(name);
    if (found == texts_.end())
        return std::nullopt;
    if (directory_.empty())
        return parse(found->second);
    const std::string path = fmt::format("{}/{}{}/format", directory_, event_prefix, name);
    try {
        return parse(view(read_file(path)));
    } catch (const std::system_error &e) {
        throw Error(fmt::format("{}: {}", path, e.code().message()));
    }
}

} // namespace argtrace
