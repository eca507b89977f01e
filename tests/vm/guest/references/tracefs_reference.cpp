// SPDX-License-Identifier: GPL-2.0-only
#include "references/tracefs_reference.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "support/machine.h"
#include "support/tracefs.h"

namespace vmtest {
namespace {

void empty_buffer() {
    close(open((tracing_directory + "trace").c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
}

/// Decimal, with zeros before it.
bool parse_digits(std::string_view text, std::uint64_t &value) {
    value = std::strtoull(std::string(text).c_str(), nullptr, 10);
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

} // namespace

std::string_view take(std::string_view &text, std::string_view end) {
    const std::size_t at = text.find(end);
    const std::string_view taken = text.substr(0, at);
    text.remove_prefix(at == text.npos ? text.size() : at + end.size());
    return taken;
}

bool parse_value(std::string_view text, std::uint64_t &value) {
    const std::string word(text);
    char *end = nullptr;
    errno = 0;
    value = word[0] == '-' ? static_cast<std::uint64_t>(std::strtoll(word.c_str(), &end, 10))
                           : std::strtoull(word.c_str(), &end, 0);
    return errno == 0 && !word.empty() && *end == '\0';
}

void TracefsReference::begin() {
    pause();
    empty_buffer();
    EXPECT_EQ(write_tracefs("buffer_size_kb", "8192"), 0);
}

void TracefsReference::pause() {
    EXPECT_EQ(write_tracefs("tracing_on", "0"), 0);
}

void TracefsReference::resume() {
    EXPECT_EQ(write_tracefs("tracing_on", "1"), 0);
}

void TracefsReference::end() {
    empty_buffer();
    EXPECT_EQ(write_tracefs("buffer_size_kb", "1408"), 0);
    resume();
}

std::vector<ReferenceCall>
TracefsReference::calls(const std::vector<KernelFunction> &functions) {
    EXPECT_EQ(tracefs_lost(), 0u);
    Find by_name;
    for (const KernelFunction &function : functions)
        by_name[function.name] = &function;
    std::vector<ReferenceCall> calls;
    std::istringstream lines(read_file(tracing_directory + "trace"));
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line[0] == '#')
            continue;
        ReferenceCall call;
        EXPECT_TRUE(parse(line, by_name, call)) << line;
        call.line = std::move(line);
        calls.push_back(std::move(call));
    }
    return calls;
}

std::vector<KernelFunction> EventReference::arm(const std::vector<KernelFunction> &functions) {
    begin();
    std::vector<KernelFunction> taken;
    std::string refused;
    for (const KernelFunction &function : functions) {
        const int error = write_tracefs("dynamic_events", definition(group_ + "/" + function.name, function.name) + "\n");
        if (error == 0)
            taken.push_back(function);
        else
            refused += " " + function.name + " (" + strerror(error) + ")";
    }
    std::printf("the kernel refused %zu functions:%s\n", functions.size() - taken.size(), refused.empty() ? " none" : refused.c_str());
    EXPECT_EQ(write_tracefs("events/" + group_ + "/enable", "1"), 0);
    resume();
    return taken;
}

void EventReference::disarm() {
    EXPECT_EQ(write_tracefs("events/" + group_ + "/enable", "0"), 0);
    // Opening the file with O_TRUNC would remove all events.
    const int fd = open((tracing_directory + "dynamic_events").c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    EXPECT_GE(fd, 0) << strerror(errno);
    close(fd);
    end();
}

// COMM-TID [CPU] FLAGS TIME: CALL
bool TracefsReference::parse(std::string_view text, const Find &functions, ReferenceCall &call) {
    const std::string_view task = take(text, " [0"); // a comm may have blanks
    call.tid = std::atoi(task.data() + task.rfind('-') + 1);
    take(text, "] ");
    if (text.size() < 5)
        return false;
    call.irqs = text[0];
    call.interrupt = text[2];
    std::string_view time = take(text, ": ");
    time.remove_prefix(time.rfind(' ') + 1);
    const std::size_t point = time.find('.');
    std::uint64_t us = 0;
    if (point == time.npos || !parse_value(time.substr(0, point), call.us) || !parse_digits(time.substr(point + 1), us))
        return false;
    call.us = call.us * 1000000 + us;
    return parse_call(text, functions, call);
}

} // namespace vmtest
