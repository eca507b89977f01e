// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/spec.h"
#include "spec/user_objects.h"
#include "util/error.h"

namespace argtrace {

/// Where the object of a SPEC is looked for before the machine as a whole.
struct ObjectScope {
    std::vector<std::uint32_t> pids = {}; ///< those that these processes have mapped
    std::string command = {};             ///< and what the dynamic linker will load for this program; empty: there is none

    bool given() const { return !pids.empty() || !command.empty(); }
};

/// The files that a SPEC's object stands for, at least one.
struct FoundObjects {
    std::vector<ObjectFile> files;
    std::vector<std::string> left = {}; ///< a sentence for what has been left out, and why
};

/// Finds the files that a SPEC calls an object: those of the scope that it names, be it by a glob; else, as long as it is no glob, the one
/// that the machine has of that name.
class ObjectFinder {
public:
    explicit ObjectFinder(ObjectScope scope) : scope_(std::move(scope)) {}

    /// Throws Error, which says how to name an object, or that there is none.
    FoundObjects find(const Spec &spec);

    /// Says that none of so many objects of the scope has such a thing: "function".
    Error none_has(const Spec &spec, std::size_t objects, std::string_view thing) const;

private:
    struct Listed : ObjectFile {
        bool will_be = false; ///< that of a program which is to run
    };

    const std::vector<Listed> &listed(const Spec &spec);
    void list_mapped(std::uint32_t pid);
    void list_needed(const Spec &spec);
    FoundObjects find_build(const Spec &spec);
    std::vector<ObjectFile> seen_by_all(const std::string &path) const;
    void tell_other_builds(std::string_view object, const std::string &path, FoundObjects &found);
    std::string owners() const;

    ObjectScope scope_;
    std::optional<std::vector<Listed>> listed_; ///< once it is asked for
    std::set<std::pair<std::uint64_t, std::uint64_t>> listed_files_; ///< device and inode of those that are mapped
    std::set<std::string> told_; ///< paths of which it is known who has another file of that name
};

/// Objects that stay open, with what a finder has read of each: `Object` is a UserObject with more.
template<typename Object>
class OpenObjects {
public:
    /// Those of the files that are such objects as user code is in; `read` is given each that has not been open before. They stay where they
    /// are as long as this. Throws Error as open_user_object() does, or when it is the only file and no such object.
    template<typename Read>
    std::vector<Object *> open(const Spec &spec, std::span<const ObjectFile> files, const Read &read) {
        std::vector<Object *> objects;
        for (const ObjectFile &file : files) {
            std::unique_ptr<Object> &kept = objects_[file.here];
            if (!kept)
                kept = open_one(file, read);
            if (kept)
                objects.push_back(kept.get());
            else if (files.size() == 1)
                throw no_user_object(spec, file);
        }
        return objects;
    }

private:
    template<typename Read>
    static std::unique_ptr<Object> open_one(const ObjectFile &file, const Read &read) {
        std::optional<UserObject> opened = open_user_object(file);
        if (!opened)
            return nullptr;
        auto object = std::make_unique<Object>(Object{std::move(*opened)});
        read(*object);
        return object;
    }

    std::map<std::string, std::unique_ptr<Object>> objects_; ///< by their paths here
};

} // namespace argtrace
