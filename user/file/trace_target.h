// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

#include "util/fd.h"

namespace argtrace {

/// Where a trace is written to. A file that exists stays as it is until keep(): the trace goes to
/// a temporary file beside it, which takes its place only then, so that a recording that never
/// begins destroys none. Pipes, devices, and files that cannot be replaced are written directly.
class TraceTarget {
public:
    /// "-" is stdout, which must not be a terminal. Throws Error when it cannot be written.
    explicit TraceTarget(const std::string &path);

    /// A file that is open; `name` is for the user.
    TraceTarget(Fd file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}

    /// Removes the temporary file, if it has not been kept.
    ~TraceTarget();
    TraceTarget(TraceTarget &&other) noexcept;
    TraceTarget &operator=(TraceTarget &&) = delete;

    int fd() const { return file_.get(); }

    /// How a sentence calls it.
    const std::string &name() const { return name_; }

    /// The trace has its name from now on. Throws Error.
    void keep();
    bool kept() const { return temporary_.empty(); }

    /// keep() would take the place of an earlier file.
    bool replaces() const { return replaces_; }

private:
    void open_directly(const std::string &path);
    bool open_beside(const std::string &path);

    Fd file_;
    std::string name_;
    std::string path_;      // of what it takes the place
    std::string temporary_; // empty: the trace is written in place, or has been kept
    bool replaces_ = false;
};

} // namespace argtrace
