// SPDX-License-Identifier: GPL-2.0-only
#include "spec/object_scope.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "elf/needed.h"
#include "elf/object.h"
#include "model/probe_kind.h"
#include "model/process_filter.h"
#include "spec/user_objects.h"
#include "util/file.h"
#include "util/glob.h"
#include "util/process_maps.h"

namespace argtrace {

namespace {

constexpr std::string_view all_objects = "*";
constexpr std::size_t processes_shown = 5;

bool is_glob(const Spec::Word &word) {
    return !word.quoted && argtrace::is_glob(word.text);
}

/// A name is compared with the file's, and a path with the whole.
bool is_meant(const Spec::Word &word, std::string_view path) {
    path = without_deleted_mark(path);
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

/// Calls `visit` with each file that the process has mapped and that is not known, by device and inode; it is then.
template<typename Visit>
void for_each_new_file(std::uint32_t pid, std::set<std::pair<std::uint64_t, std::uint64_t>> &known, const Visit &visit) {
    for_each_code_mapping(fmt::format("{}", pid), [&](const CodeMapping &mapping) {
        if (mapping.path.starts_with('/') && mapping.inode != 0 && known.insert({mapping.device, mapping.inode}).second)
            visit(ObjectFile{mapping.path, path_here(pid, mapping)});
    });
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
    const std::string processes = describe(ProcessFilter{scope_.pids, false});
    return scope_.command.empty() ? processes : fmt::format("{} and {}", processes, scope_.command);
}

Error ObjectFinder::none_has(const Spec &spec, std::size_t objects, std::string_view thing) const {
    return error_in(spec, fmt::format("{}: none of the {} objects of {} has such a {}", spec.title(), objects, owners(), thing));
}

/// Once, if processes have another file of that name mapped: one that an update has replaced, or one of a container.
void ObjectFinder::tell_other_builds(std::string_view object, const std::string &path, FoundObjects &found) {
    struct stat ours = {};
    if (!told_.insert(path).second || ::stat(path.c_str(), &ours) != 0)
        return;
    std::vector<std::uint32_t> pids;
    std::string other;
    for_each_number("/proc", [&](std::uint32_t pid) {
        for_each_code_mapping(fmt::format("{}", pid), [&](const CodeMapping &mapping) {
            if (!object_matches(object, file_name(without_deleted_mark(mapping.path))) || (mapping.inode == ours.st_ino && mapping.device == ours.st_dev))
                return;
            other = mapping.path;
            if (pids.empty() || pids.back() != pid)
                pids.push_back(pid);
        });
    });
    if (pids.empty())
        return;
    const bool is_one = pids.size() == 1, more = pids.size() > processes_shown;
    pids.resize(std::min(pids.size(), processes_shown));
    found.left.push_back(fmt::format("{} is meant, and not that of {}{}, which {} another file of that name mapped, {}: -p stands for theirs", path,
                                     describe(ProcessFilter{std::move(pids), false}), more ? " ..." : "", is_one ? "has" : "have", other));
}

void ObjectFinder::list_mapped(std::uint32_t pid) {
    for_each_new_file(pid, listed_files_, [&](ObjectFile file) { listed_->push_back({std::move(file)}); });
}

void ObjectFinder::list_needed(const Spec &spec) {
    std::vector<std::string> names{scope_.command};
    std::set<std::string> known;
    for (std::size_t i = 0; i < names.size(); i++) {
        const std::string path = find_user_object(names[i]);
        if (path.empty() || !known.insert(path).second)
            continue;
        const auto object = elf::Object::open(path);
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

/// Those with a build id that begins so, of the scope or else of all processes.
FoundObjects ObjectFinder::find_build(const Spec &spec) {
    std::string id = spec.module->text.substr(build_word.size() + 1);
    std::ranges::transform(id, id.begin(), [](unsigned char digit) { return static_cast<char>(std::tolower(digit)); });
    FoundObjects found;
    std::set<std::pair<std::uint64_t, std::uint64_t>> known;
    const auto add = [&](const ObjectFile &file) {
        const auto object = elf::Object::open(file.here);
        if (object && object->build_id().starts_with(id))
            found.files.push_back(file);
    };
    if (scope_.given())
        for (const Listed &one : listed(spec))
            add(one);
    else
        for_each_number("/proc", [&](std::uint32_t pid) {
            for_each_new_file(pid, known, add);
        });
    if (found.files.empty())
        throw error_in(spec, spec.module->at,
                       fmt::format("{}: no object {} has that build id; of a file that nobody runs write the path", spec.module->text,
                                   scope_.given() ? fmt::format("of {}", owners()) : std::string("that a process has mapped")));
    return found;
}

FoundObjects ObjectFinder::find(const Spec &spec) {
    if (spec.module && spec.module->text.starts_with(fmt::format("{}:", build_word)))
        return find_build(spec);
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
        tell_other_builds(word.text, path, found);
    return found;
}

} // namespace argtrace
