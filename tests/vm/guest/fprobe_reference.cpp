// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tracefs.h"
#include "tracefs_reference.h"

namespace vmtest {
namespace {

const std::string group_name = "at_reference";

class FprobeReference : public TracefsReference {
public:
    std::vector<KernelFunction> arm(const std::vector<KernelFunction> &functions) override {
        begin();
        std::vector<KernelFunction> taken;
        std::string refused;
        for (const KernelFunction &function : functions) {
            const int error =
                write_tracefs("dynamic_events", "f:" + group_name + "/" + function.name + " " +
                                                    function.name + " $arg*\n");
            if (error == 0)
                taken.push_back(function);
            else
                refused += " " + function.name + " (" + strerror(error) + ")";
        }
        std::printf("fprobe refused %zu functions:%s\n", functions.size() - taken.size(),
                    refused.empty() ? " none" : refused.c_str());
        EXPECT_EQ(write_tracefs("events/" + group_name + "/enable", "1"), 0);
        resume();
        return taken;
    }

    void disarm() override {
        EXPECT_EQ(write_tracefs("events/" + group_name + "/enable", "0"), 0);
        // Opening the file with O_TRUNC would remove all events.
        const int fd =
            open((tracing_directory + "dynamic_events").c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
        EXPECT_GE(fd, 0) << strerror(errno);
        close(fd);
        end();
    }

protected:
    // FUNCTION: (FUNCTION+OFFSET/SIZE) NAME=VALUE ...
    bool parse_call(std::string_view text, const Find &functions, ReferenceCall &call) override {
        call.function = take(text, ": ");
        take(text, ")");
        const auto function = functions.find(call.function);
        if (function == functions.end())
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
