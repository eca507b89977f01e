// SPDX-License-Identifier: GPL-2.0-only
// End-to-end tests that are no more than "run this, expect that", written down in files;
// docs/testing.md describes their format.
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <vector>

namespace cases {

/// What one or, for `...`, any number of lines of output must be.
struct Expected {
    enum class Kind { literal, pattern, any_lines };
    Kind kind;
    std::string text; ///< as in the file
    std::regex pattern;
};

struct Step {
    int line; ///< where `run` is in the file
    std::string command;
    int status = 0;
    std::vector<Expected> out, err;
};

/// A path that must exist where the case runs, or must not.
struct Need {
    std::string path;
    bool present;
};

struct Case {
    std::string name;
    std::string file;
    int line;
    bool needs_kernel = true;
    bool needs_x86_64 = false; ///< it names registers or functions of that architecture
    std::vector<Need> needs;
    std::vector<Step> steps;
};

/// Reads all cases of a file. Throws std::runtime_error with "FILE:LINE: what is wrong".
std::vector<Case> read_cases(const std::string &path);

/// The same for a file's text; `file` is the name in messages.
std::vector<Case> parse_cases(const std::string &file, const std::string &text);

/// Where the commands of a case run.
struct Environment {
    std::string functions;           ///< a file that bash reads first
    std::string path;                ///< PATH
    unsigned time_limit_seconds = 0; ///< of each command
};

/// The first need that is not met, as a sentence.
std::optional<std::string> unmet_need(const Case &test);

/// Runs the steps in a new, empty folder, up to the first that does not do as expected: what that
/// did instead.
std::optional<std::string> run_case(const Case &test, const Environment &environment);

/// Whether `text` is what `expected` says: nothing if so, else what differs.
std::optional<std::string> compare_output(const std::vector<Expected> &expected,
                                          const std::string &text);

} // namespace cases
