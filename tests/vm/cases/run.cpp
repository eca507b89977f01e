// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "cases/case.h"

namespace cases {
namespace {

/// An empty folder that goes with its contents.
class Folder {
public:
    Folder() {
        std::string pattern = std::filesystem::temp_directory_path() / "argtrace-case.XXXXXX";
        if (!mkdtemp(pattern.data()))
            throw std::runtime_error("no folder for the case: " + pattern);
        path_ = pattern;
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;

    const std::filesystem::path &path() const { return path_; }

private:
    std::filesystem::path path_;
};

struct Result {
    bool ended = false; ///< within its time
    int status = -1;    ///< as a shell shows it
    std::string out, err;
};

std::string contents(const std::filesystem::path &path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

[[noreturn]] void become(const std::string &command, const Environment &environment,
                         const std::filesystem::path &folder,
                         const std::filesystem::path &streams) {
    setpgid(0, 0);
    const auto redirect = [](const char *path, int flags, int target) {
        const int file = open(path, flags, 0600);
        if (file < 0 || file == target) // it is where a test without standard input has nothing
            return file == target;
        return dup2(file, target) == target && close(file) == 0;
    };
    if (chdir(folder.c_str()) < 0 || !redirect("/dev/null", O_RDONLY, STDIN_FILENO) ||
        !redirect((streams / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO) ||
        !redirect((streams / "err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO))
        _exit(126);
    setenv("PATH", environment.path.c_str(), 1);
    setenv("BASH_ENV", environment.functions.c_str(), 1);
    setenv("LC_ALL", "C", 1); // the only locale that the guest has
    setenv("SHELL", "/bin/sh", 1); // script(1) asks for it; users have others, and CI has none
    unsetenv("COLUMNS");
    execlp("bash", "bash", "-c", command.c_str(), nullptr);
    _exit(127);
}

/// Polls, as a signal handler or a timer of this process would meet others of the test program.
bool wait_for(pid_t pid, unsigned seconds, int &status) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > end)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

Result run(const std::string &command, const Environment &environment,
           const std::filesystem::path &folder) {
    Folder streams;
    const pid_t pid = fork();
    if (pid < 0)
        throw std::runtime_error("cannot fork");
    if (pid == 0)
        become(command, environment, folder, streams.path());

    // By either of the two, whichever comes first: the group must be there when it is to be killed.
    setpgid(pid, pid);

    Result result;
    int status = 0;
    result.ended = wait_for(pid, environment.time_limit_seconds, status);
    // Whatever the command has left running, too.
    kill(-pid, SIGKILL);
    if (!result.ended)
        waitpid(pid, &status, 0);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.out = contents(streams.path() / "out");
    result.err = contents(streams.path() / "err");
    return result;
}

std::string indented(const std::string &text) {
    std::istringstream lines(text);
    std::string result;
    for (std::string line; std::getline(lines, line);)
        result += "    " + line + "\n";
    return result;
}

std::optional<std::string> judge(const Step &step, const Result &result,
                                 const Environment &environment) {
    std::string wrong;
    if (!result.ended)
        wrong += "  did not end within " + std::to_string(environment.time_limit_seconds) + " s\n";
    else if (result.status != step.status)
        wrong += "  exit status " + std::to_string(result.status) + ", expected " +
                 std::to_string(step.status) + "\n";
    if (const auto differs = compare_output(step.out, result.out))
        wrong += "  stdout: " + *differs + "\n";
    if (const auto differs = compare_output(step.err, result.err))
        wrong += "  stderr: " + *differs + "\n";
    if (wrong.empty())
        return std::nullopt;
    return wrong + "  its stdout:\n" + indented(result.out) + "  its stderr:\n" +
           indented(result.err);
}

} // namespace

std::optional<std::string> unmet_need(const Case &test) {
#ifndef __x86_64__
    if (test.needs_x86_64)
        return "it names registers or functions of x86-64";
#endif
    for (const Need &need : test.needs) {
        if ((access(need.path.c_str(), F_OK) == 0) != need.present)
            return need.path + (need.present ? " does not exist here" : " exists here");
    }
    return std::nullopt;
}

std::optional<std::string> run_case(const Case &test, const Environment &environment) {
    Folder folder;
    for (const Step &step : test.steps) {
        const auto wrong = judge(step, run(step.command, environment, folder.path()), environment);
        if (wrong)
            return test.file + ":" + std::to_string(step.line) + ": " + step.command + "\n" +
                   *wrong;
    }
    return std::nullopt;
}

} // namespace cases
