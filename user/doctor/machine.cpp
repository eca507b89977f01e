// SPDX-License-Identifier: GPL-2.0-only
#include "doctor/machine.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <memory>
#include <system_error>
#include <sys/utsname.h>
#include <unistd.h>

#include "session/device.h"
#include "util/file.h"

namespace argtrace {

namespace {

bool is_refusal(int error) {
    return error == EACCES || error == EPERM;
}

} // namespace

bool Machine::Text::refused() const {
    return is_refusal(error);
}

bool Machine::Names::refused() const {
    return is_refusal(error);
}

Machine Machine::here() {
    Machine machine;
    utsname system{};
    ::uname(&system);
    machine.release = system.release;
    machine.architecture = system.machine;
    machine.cpus = static_cast<std::uint32_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF)));
    try {
        machine.module = Device::open_any().info();
    } catch (const Error &error) {
        machine.refusal = error.what();
    }
    return machine;
}

Machine::Text Machine::read(const std::string &path) const {
    try {
        const argtrace::Text text = read_file(root + path);
        return {0, std::string(view(text))};
    } catch (const std::system_error &error) {
        return {error.code().value()};
    }
}

Machine::Names Machine::list(const std::string &path) const {
    const std::unique_ptr<DIR, int (*)(DIR *)> folder(::opendir((root + path).c_str()), ::closedir);
    if (!folder)
        return {errno};
    Names names;
    while (const dirent *entry = ::readdir(folder.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..")
            names.names.emplace_back(name);
    }
    std::sort(names.names.begin(), names.names.end());
    return names;
}

bool Machine::exists(const std::string &path) const {
    return ::access((root + path).c_str(), F_OK) == 0;
}

std::optional<Machine::Symbols> Machine::symbols(const std::set<std::string> &names) const {
    Symbols found;
    bool any = false;
    const auto look_at = [&](std::string_view line) {
        any = true;
        // "ffffffff81000000 T _text", with zeros as the address for those who may not see it. Those of per-CPU variables begin at zero.
        found.addresses_shown = found.addresses_shown || line.substr(0, line.find(' ')).find_first_not_of('0') != line.npos;
        line = line.substr(0, line.find('\t')); // of a module
        const std::string name(line.substr(line.rfind(' ') + 1));
        if (names.contains(name))
            found.names.insert(name);
    };
    try {
        read_lines(root + "/proc/kallsyms", look_at);
    } catch (const std::system_error &) {
        return std::nullopt;
    }
    return any ? std::optional(found) : std::nullopt;
}

std::string_view without_newline(std::string_view text) {
    while (text.ends_with('\n'))
        text.remove_suffix(1);
    return text;
}

} // namespace argtrace
