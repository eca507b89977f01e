// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdio>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace argtrace::test {

/// A file with that text for as long as this lives: one at a time.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string &text)
        : path_(testing::TempDir() + "argtrace_test_" + std::to_string(getpid())) {
        std::ofstream(path_) << text;
    }
    ~TemporaryFile() { std::remove(path_.c_str()); }
    TemporaryFile(const TemporaryFile &) = delete;
    TemporaryFile &operator=(const TemporaryFile &) = delete;

    const std::string &path() const { return path_; }

private:
    std::string path_;
};

} // namespace argtrace::test
