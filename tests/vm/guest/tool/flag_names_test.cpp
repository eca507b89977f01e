// SPDX-License-Identifier: GPL-2.0-only
// Counts the arguments that are flags, going by their names, and those of them for which -d knows the names of the constants.
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <cstddef>
#include <iostream>
#include <regex>
#include <string>

#include "support/command.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

/// Linux 6.12 had 1,863 of 2,478 when this was written. An update of it may lose some; a change that names more raises this.
constexpr std::size_t named_min = 1850;

class FlagNames : public testing::Test {
protected:
    void SetUp() override { need_argtrace(); }

    /// Whether it is a number called flags, mode, prot or gfp*, or alloc_flags, create_mode ...
    static bool is_counted(const std::string &function, const json &argument) {
        static const std::regex names("\\w*flags|(\\w+_)?mode|\\w*prot|gfp\\w*");
        const std::string type = argument["type"];
        // *_irqrestore() takes the saved state of interrupts, which has no names.
        return std::regex_match(argument["name"].get<std::string>(), names) && type.find('*') == type.npos && type != "bool" &&
               function.find("_irqrestore") == function.npos;
    }

    /// The names come from the table of calls, from an enum, or from a value that is computed from the argument: "flags.flags".
    static bool has_names(const json &arguments, std::size_t index) {
        const json &argument = arguments[index];
        const std::string type = argument["type"], computed = argument["name"].get<std::string>() + '.';
        return argument.contains("names") || type.find("enum ") != type.npos ||
               (index + 1 < arguments.size() && arguments[index + 1]["name"].get<std::string>().starts_with(computed));
    }
};

TEST_F(FlagNames, of_most_arguments_are_known) {
    // -d of all functions would take four times as long.
    const Outcome list = run({"sh", "-c", "argtrace list --json 'vmlinux:*' 2>/dev/null | grep -E '\"name\":\"\\w*(flags|mode|prot|gfp)' |"
                                          R"sed(sed -E 's/\{"func":"([^"]*)".*/vmlinux:\1/' | sort -u >/tmp/flag_names;)sed"
                                          "argtrace list -d --json @/tmp/flag_names"});
    ASSERT_EQ(list.status, 0) << list.err;
    std::size_t counted = 0, named = 0;
    for (const json &function : json_lines(list.out)) {
        const json &arguments = function["args"];
        for (std::size_t i = 0; i < arguments.size(); i++) {
            if (!is_counted(function["func"], arguments[i]))
                continue;
            counted++;
            named += has_names(arguments, i);
        }
    }
    std::cout << named << " of " << counted << " arguments that are flags have names\n";
    EXPECT_GT(counted, 2000u);
    EXPECT_GE(named, counted / 2);
    utsname kernel{};
    ASSERT_EQ(uname(&kernel), 0);
    if (std::string(kernel.release).starts_with("6.12.") && !is_sanitizer_kernel()) {
        EXPECT_GE(named, named_min);
    }
}

} // namespace
} // namespace vmtest
