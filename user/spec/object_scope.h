// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "spec/spec.h"
#include "spec/user_objects.h"

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

    /// "the process 12": who has the files of the scope.
    std::string owners() const;

private:
    struct Listed : ObjectFile {
        bool will_be = false; ///< that of a program which is to run
    };

    const std::vector<Listed> &listed(const Spec &spec);
    void list_mapped(std::uint32_t pid);
    void list_needed(const Spec &spec);
    std::vector<ObjectFile> seen_by_all(const std::string &path) const;

    ObjectScope scope_;
    std::optional<std::vector<Listed>> listed_; ///< once it is asked for
    std::set<std::pair<std::uint64_t, std::uint64_t>> listed_files_; ///< device and inode of those that are mapped
};

} // namespace argtrace
