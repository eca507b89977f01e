// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <sstream>
#include <string_view>

#include "machine.h"
#include "reference.h"
#include "tracefs.h"

namespace vmtest {
namespace {

const std::string kGroup = "at_reference";

/// Takes from `text` what lies before `end`, and both away.
std::string_view take(std::string_view &text, std::string_view end) {
    const std::size_t at = text.find(end);
    const std::string_view taken = text.substr(0, at);
    text.remove_prefix(at == text.npos ? text.size() : at + end.size());
    return taken;
}

/// Decimal with or without sign, or hexadecimal.
bool parse_value(std::string_view text, std::uint64_t &value) {
    const std::string word(text);
    char *end = nullptr;
    errno = 0;
    value = word[0] == '-' ? static_cast<std::uint64_t>(std::strtoll(word.c_str(), &end, 10))
                           : std::strtoull(word.c_str(), &end, 0);
    return errno == 0 && !word.empty() && *end == '\0';
}

class FprobeReference : public Reference {
public:
    std::vector<KernelFunction> arm(const std::vector<KernelFunction> &functions) override {
        EXPECT_EQ(write_tracefs("tracing_on", "0"), 0);
        close(open((kTracing + "trace").c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
        EXPECT_EQ(write_tracefs("buffer_size_kb", "8192"), 0);
        std::vector<KernelFunction> taken;
        std::string refused;
        for (const KernelFunction &function : functions) {
            const int error = write_tracefs("dynamic_events", "f:" + kGroup + "/" + function.name +
                                                                  " " + function.name + " $arg*\n");
            if (error == 0)
                taken.push_back(function);
            else
                refused += " " + function.name + " (" + strerror(error) + ")";
        }
        std::printf("fprobe refused %zu functions:%s\n", functions.size() - taken.size(),
                    refused.empty() ? " none" : refused.c_str());
        EXPECT_EQ(write_tracefs("events/" + kGroup + "/enable", "1"), 0);
        EXPECT_EQ(write_tracefs("tracing_on", "1"), 0);
        return taken;
    }

    void pause() override { EXPECT_EQ(write_tracefs("tracing_on", "0"), 0); }

    std::vector<ReferenceCall> calls(const std::vector<KernelFunction> &functions) override {
        EXPECT_EQ(tracefs_lost(), 0u);
        std::map<std::string_view, const KernelFunction *> by_name;
        for (const KernelFunction &function : functions)
            by_name[function.name] = &function;
        std::vector<ReferenceCall> calls;
        std::istringstream lines(read_file(kTracing + "trace"));
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

    void disarm() override {
        EXPECT_EQ(write_tracefs("events/" + kGroup + "/enable", "0"), 0);
        // Opened like that the file drops all events at once.
        const int fd = open((kTracing + "dynamic_events").c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
        EXPECT_GE(fd, 0) << strerror(errno);
        close(fd);
        close(open((kTracing + "trace").c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
        EXPECT_EQ(write_tracefs("buffer_size_kb", "1408"), 0);
        EXPECT_EQ(write_tracefs("tracing_on", "1"), 0);
    }

private:
    /// COMM-TID [CPU] FLAGS TIME: FUNCTION: (FUNCTION+OFFSET/SIZE) NAME=VALUE ...
    static bool parse(std::string_view text,
                      const std::map<std::string_view, const KernelFunction *> &by_name,
                      ReferenceCall &call) {
        const std::string_view task = take(text, " [0"); // a comm may have blanks
        call.tid = std::atoi(task.data() + task.rfind('-') + 1);
        take(text, "] ");
        if (text.size() < 5)
            return false;
        call.irqs = text[0];
        call.interrupt = text[2];
        take(text, ": ");
        call.function = take(text, ": ");
        take(text, ")");
        const auto function = by_name.find(call.function);
        if (function == by_name.end())
            return false;
        for (const KernelParameter &parameter : function->second->parameters) {
            std::uint64_t value = 0;
            if (take(text, " ") != "" || take(text, "=") != parameter.name ||
                !parse_value(text.substr(0, text.find(' ')), value))
                return false;
            text.remove_prefix(std::min(text.find(' '), text.size()));
            call.values.push_back(value);
        }
        return text.empty();
    }
};

} // namespace

std::unique_ptr<Reference> fprobe_reference() {
    return std::make_unique<FprobeReference>();
}

} // namespace vmtest
