// SPDX-License-Identifier: GPL-2.0-only
// Runs programs, above all the tool itself.
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace vmtest {

struct Outcome {
    int status = -1; ///< exit status, 128 + N after signal N
    std::string out;
    std::string err;
};

/// A program in the background with stdout and stderr in files; the destructor kills it.
class Background {
public:
    explicit Background(const std::vector<std::string> &words);
    ~Background();
    Background(const Background &) = delete;
    Background &operator=(const Background &) = delete;

    pid_t pid() const { return pid_; }
    /// Whole lines: it may be in the middle of writing one.
    std::string out_so_far() const;
    std::string err_so_far() const;
    bool is_running();

    /// Sends the signal and waits.
    Outcome end(int signal);
    Outcome wait();

private:
    std::string out_path_, err_path_;
    pid_t pid_;
};

Outcome run(const std::vector<std::string> &words);

/// One object a line, less the summary that ends events; the test fails where a line is not JSON.
std::vector<nlohmann::ordered_json> json_lines(const std::string &text);

/// The object that ends the events; null where there is none.
nlohmann::ordered_json json_summary(const std::string &text);

} // namespace vmtest
