// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

namespace argtrace {

/// A folder that an export is written to: a temporary one beside it, which takes its name in
/// keep(). There may be an empty one of that name, but nothing else.
class FolderTarget {
public:
    /// Throws Error when there can be no such folder.
    explicit FolderTarget(std::string path);

    /// Removes the temporary folder, if it has not been kept.
    ~FolderTarget();
    FolderTarget(const FolderTarget &) = delete;
    FolderTarget &operator=(const FolderTarget &) = delete;

    /// Where its files go meanwhile.
    const std::string &folder() const { return temporary_; }

    void keep();

private:
    std::string path_;
    std::string temporary_;
    bool kept_ = false;
};

} // namespace argtrace
