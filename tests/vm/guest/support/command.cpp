// SPDX-License-Identifier: GPL-2.0-only
#include "support/command.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <sstream>

#include "support/machine.h"

namespace vmtest {

namespace {

std::atomic<int> next_number = 0;

// The name is unique: other commands may run at the same time, in our threads and our children.
std::string path_for(const char *what) {
    return std::string("/tmp/") + what + "." + std::to_string(getpid()) + "." +
           std::to_string(next_number++);
}

int create(const std::string &path) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    EXPECT_GE(file, 0) << path;
    return file;
}

} // namespace

Background::Background(const std::vector<std::string> &words)
    : out_path_(path_for("out")), err_path_(path_for("err")) {
    const int out = create(out_path_), err = create(err_path_);
    pid_ = fork();
    EXPECT_GE(pid_, 0);
    if (pid_ != 0) {
        close(out);
        close(err);
        return;
    }
    if (dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
        _exit(125);
    std::vector<char *> argv;
    for (const std::string &word : words)
        argv.push_back(const_cast<char *>(word.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    _exit(127);
}

Background::~Background() {
    if (pid_ > 0)
        end(SIGKILL);
}

std::string Background::out_so_far() const {
    const std::string text = read_file(out_path_);
    return text.substr(0, text.rfind('\n') + 1); // without a line npos + 1 is 0
}

std::string Background::err_so_far() const { return read_file(err_path_); }

bool Background::is_running() {
    siginfo_t info{};
    return pid_ > 0 &&
           waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
}

Outcome Background::end(int signal) {
    kill(pid_, signal);
    return wait();
}

Outcome Background::wait() {
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    pid_ = -1;
    Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                    read_file(out_path_), read_file(err_path_)};
    unlink(out_path_.c_str());
    unlink(err_path_.c_str());
    return outcome;
}

Outcome run(const std::vector<std::string> &words) { return Background(words).wait(); }

namespace {

std::vector<nlohmann::ordered_json> json_objects(const std::string &text) {
    std::vector<nlohmann::ordered_json> objects;
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line)) {
        auto object = nlohmann::ordered_json::parse(line, nullptr, false);
        if (object.is_discarded())
            ADD_FAILURE() << "not JSON: " << line;
        else
            objects.push_back(std::move(object));
    }
    return objects;
}

bool is_summary(const nlohmann::ordered_json &object) { return object.contains("shown"); }

} // namespace

std::vector<nlohmann::ordered_json> json_lines(const std::string &text) {
    auto objects = json_objects(text);
    if (!objects.empty() && is_summary(objects.back()))
        objects.pop_back();
    return objects;
}

nlohmann::ordered_json json_summary(const std::string &text) {
    const auto objects = json_objects(text);
    return !objects.empty() && is_summary(objects.back()) ? objects.back()
                                                          : nlohmann::ordered_json();
}

} // namespace vmtest
