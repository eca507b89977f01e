// SPDX-License-Identifier: GPL-2.0-only
#include "spec/object_scope.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "elf/needed.h"
#include "elf/object.h"
#include "model/probe_kind.h"
#include "spec/user_objects.h"
#include "util/error.h"
#include "util/process_maps.h"
#include "util/program_path.h"

namespace argtrace {

namespace {

constexpr std::string_view all_objects = "*";
constexpr std::size_t processes_shown = 5;

bool is_glob(const Spec::Word &word) {
    return !word.quoted && word.text.find_first_of("*?") != word.text.npos;
}

std::string_view without_mark(std::string_view path) {
    path.remove_suffix(path.ends_with(deleted_mark) ? deleted_mark.size() : 0);
    return path;
}

/// A name is compared with the file's, and a path with the whole.
bool is_meant(const Spec::Word &word, std::string_view path) {
    path = without_mark(path);
    const bool has_folder = word.text.find('/') != word.text.npos;
    if (is_glob(word))
        return word.matches(has_folder ? path : file_name(path));
    return has_folder ? word.text == path : object_matches(word.text, file_name(path));
}

/// The mapping leads to the file even if it has been deleted, or its path is of another mount namespace, but that takes a capability.
std::string path_here(std::uint32_t pid, const CodeMapping &mapping) {
    std::string by_mapping = fmt::format("/proc/{}/map_files/{:x}-{:x}", pid, mapping.begin, mapping.end);
    return ::access(by_mapping.c_str(), R_OK) == 0 ? std::move(by_mapping) : fmt::format("/proc/{}/root{}", pid, mapping.path);
}

/// Processes that have another file of that name mapped: one that an update has replaced, or one of a container. Empty if there is none.
std::string describe_other_builds(std::string_view object, const std::string &path) {
    struct stat ours = {};
    if (::stat(path.c_str(), &ours) != 0)
        return {};
    std::vector<std::string> pids;
    std::string other;
    std::error_code error;
    for (const std::filesystem::directory_entry &entry : std::filesystem::directory_iterator("/proc", error)) {
        std::string pid = entry.path().filename();
        if (pid.find_first_not_of("0123456789") != pid.npos)
            continue;
        bool has_other = false;
        for_each_code_mapping(pid, [&](const CodeMapping &mapping) {
            if (!object_matches(object, file_name(without_mark(mapping.path))) || (mapping.inode == ours.st_ino && mapping.device == ours.st_dev))
                return;
            has_other = true;
            other = mapping.path;
        });
        if (has_other)
            pids.push_back(std::move(pid));
    }
    if (pids.empty())
        return {};
    const auto shown = pids.begin() + static_cast<std::ptrdiff_t>(std::min(pids.size(), processes_shown));
    return fmt::format("{} is meant, and not that of {} {}{}, which {} another file of that name mapped, {}: -p stands for theirs", path,
                       pids.size() == 1 ? "process" : "processes", fmt::join(pids.begin(), shown, ", "), shown < pids.end() ? " ..." : "",
                       pids.size() == 1 ? "has" : "have", other);
}

Error no_object(const Spec &spec) {
    return error_in(spec, spec.pattern_at,
                    fmt::format("an object is missing: {}, where OBJECT is a path, a program, or a library as libc is one",
                                title_of(*spec.kind, "OBJECT", spec.pattern.text())));
}

} // namespace

std::string ObjectFinder::owners() const {
    if (scope_.pids.empty())
        return scope_.command;
    const std::string processes = fmt::format("{} {}", scope_.pids.size() == 1 ? "process" : "processes", fmt::join(scope_.pids, ", "));
    return scope_.command.empty() ? processes : fmt::format("{} and {}", processes, scope_.command);
}

void ObjectFinder::list_mapped(std::uint32_t pid) {
    for_each_code_mapping(fmt::format("{}", pid), [&](const CodeMapping &mapping) {
        if (mapping.path.starts_with('/') && mapping.inode != 0 && listed_files_.insert({mapping.device, mapping.inode}).second)
            listed_->push_back({{mapping.path, path_here(pid, mapping)}});
    });
}

void ObjectFinder::list_needed(const Spec &spec) {
    std::vector<std::string> names{scope_.command};
    std::set<std::string> known;
    for (std::size_t i = 0; i < names.size(); i++) {
        const std::string path = find_user_object(names[i]);
        if (path.empty() || !known.insert(path).second)
            continue;
        const auto object = elf::Object::open(Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
        if (!object && i == 0)
            throw error_in(spec, fmt::format("{}: {} is no 64-bit ELF file, so what it will load is not known: name the object", spec.title(), path));
        if (!object)
            continue;
        listed_->push_back({{path, path}, true});
        for (std::string &name : elf::needed_libraries(*object))
            names.push_back(std::move(name));
        if (std::string interpreter = elf::interpreter(*object); !interpreter.empty())
            names.push_back(std::move(interpreter));
    }
}

const std::vector<ObjectFinder::Listed> &ObjectFinder::listed(const Spec &spec) {
    if (listed_)
        return *listed_;
    listed_.emplace();
    for (const std::uint32_t pid : scope_.pids)
        list_mapped(pid);
    if (!scope_.command.empty())
        list_needed(spec);
    return *listed_;
}

/// A path as the processes see it, each file that it leads them to once.
std::vector<ObjectFile> ObjectFinder::seen_by_all(const std::string &path) const {
    std::vector<ObjectFile> files;
    std::set<std::pair<dev_t, ino_t>> known;
    for (const std::uint32_t pid : scope_.pids) {
        std::string here = fmt::format("/proc/{}/root{}", pid, path);
        struct stat status = {};
        if (::stat(here.c_str(), &status) == 0 && S_ISREG(status.st_mode) && known.insert({status.st_dev, status.st_ino}).second)
            files.push_back({path, std::move(here)});
    }
    return files;
}

FoundObjects ObjectFinder::find(const Spec &spec) {
    Spec::Word word{std::string(all_objects), spec.pattern_at};
    if (spec.module)
        word = *spec.module;
    else if (spec.pattern.text() != all_objects)
        throw no_object(spec);
    if (is_glob(word) && !scope_.given())
        throw error_in(spec, word.at,
                       fmt::format("{}: which objects there are depends on the process: name it with -p PID; otherwise OBJECT is a path, a program, or "
                                   "a library as libc is one",
                                   spec.title()));
    std::vector<ObjectFile> files;
    // What a program to come will load under a name is what the machine has of it.
    if (is_glob(word) || !scope_.pids.empty())
        for (const Listed &one : listed(spec))
            if ((is_glob(word) || !one.will_be) && is_meant(word, one.path))
                files.push_back(one);
    if (files.empty() && word.text.starts_with('/') && !is_glob(word))
        files = seen_by_all(word.text);
    if (!files.empty())
        return {std::move(files)};
    if (is_glob(word))
        throw error_in(spec, word.at, fmt::format("{}: no object of {} is called so", spec.title(), owners()));
    std::string path = find_user_object(word.text);
    if (path.empty())
        throw error_in(spec, word.at,
                       fmt::format("{}: there is no such library or program; a file is written with its folder: {}", word.text,
                                   title_of(*spec.kind, "./" + word.text, spec.pattern.text())));
    FoundObjects found{{{path, path}}};
    if (scope_.pids.empty() && word.text.find('/') == word.text.npos)
        if (std::string others = describe_other_builds(word.text, path); !others.empty())
            found.left.push_back(std::move(others));
    return found;
}

} // namespace argtrace
