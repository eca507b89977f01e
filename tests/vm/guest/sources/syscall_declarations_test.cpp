// SPDX-License-Identifier: GPL-2.0-only
// The arguments of all system calls, as the tool lists them, against the kernel's own declarations of them: its
// include/linux/syscalls.h, which tests/vm/run takes into the guest.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/machine.h"

namespace vmtest {
namespace {

constexpr char declarations_file[] = "/root/syscalls.h";

/// The names of the parameters, in their order; "" where a declaration has only the type.
using ParameterNames = std::vector<std::string>;

std::string without_c_comments(const std::string &text) {
    std::string rest;
    std::size_t from = 0;
    for (std::size_t at; (at = text.find("/*", from)) != std::string::npos;) {
        rest.append(text, from, at - from).push_back(' ');
        const std::size_t end = text.find("*/", at + 2);
        if (end == std::string::npos)
            return rest;
        from = end + 2;
    }
    return rest.append(text, from);
}

/// Words, and each other character that is no space.
std::vector<std::string> c_tokens(const std::string &text) {
    std::vector<std::string> tokens;
    bool in_word = false;
    for (const char c : text) {
        const bool is_word = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
        if (is_word && in_word)
            tokens.back().push_back(c);
        else if (!std::isspace(static_cast<unsigned char>(c)))
            tokens.emplace_back(1, c);
        in_word = is_word;
    }
    return tokens;
}

/// "" for `aio_context_t`, `unsigned long`, `struct iocb __user *`.
std::string parameter_name(const std::string &parameter) {
    static const std::vector<std::string> of_types = {"int", "long", "char", "short", "unsigned", "__user"};
    const std::vector<std::string> tokens = c_tokens(parameter);
    if (tokens.size() < 2 || tokens.back() == "*" || std::count(of_types.begin(), of_types.end(), tokens.back()))
        return "";
    if (tokens.size() == 2 && (tokens[0] == "struct" || tokens[0] == "enum" || tokens[0] == "const"))
        return "";
    return tokens.back();
}

ParameterNames parameter_names(const std::string &parameters) {
    ParameterNames names;
    if (c_tokens(parameters) == std::vector<std::string>{"void"})
        return names;
    for (std::size_t from = 0; from <= parameters.size();) {
        const std::size_t end = std::min(parameters.find(',', from), parameters.size());
        names.push_back(parameter_name(parameters.substr(from, end - from)));
        from = end + 1;
    }
    return names;
}

/// By name, without "sys_". Some have several declarations, of which the kernel's configuration chooses one.
std::multimap<std::string, ParameterNames> declared_syscalls() {
    static const std::string begin = "asmlinkage long sys_";
    const std::string text = without_c_comments(read_file(declarations_file));
    std::multimap<std::string, ParameterNames> declared;
    for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
        const std::size_t open = text.find('(', at), close = text.find(");", at);
        if (open == std::string::npos || close == std::string::npos || open > close)
            continue;
        const std::vector<std::string> name = c_tokens(text.substr(at + begin.size(), open - at - begin.size()));
        if (name.size() == 1)
            declared.emplace(name[0], parameter_names(text.substr(open + 1, close - open - 1)));
    }
    return declared;
}

/// As many, and none that has another's name. The declarations and the definitions do not always name them alike.
bool are_declared_so(const ParameterNames &listed, const ParameterNames &declared) {
    if (listed.size() != declared.size())
        return false;
    for (std::size_t i = 0; i < declared.size(); ++i) {
        const auto same = std::find(listed.begin(), listed.end(), declared[i]);
        if (same != listed.end() && same - listed.begin() != static_cast<std::ptrdiff_t>(i))
            return false;
    }
    return true;
}

std::string joined_names(const ParameterNames &names) {
    std::string text;
    for (const std::string &name : names)
        text += (text.empty() ? "" : ", ") + (name.empty() ? std::string("?") : name);
    return "(" + text + ")";
}

TEST(SyscallDeclarations, all_arguments_are_listed_in_their_order) {
    need_argtrace();
    const auto declared = declared_syscalls();
    const Outcome outcome = run({"argtrace", "list", "--json", "s:*"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    unsigned compared = 0, with_a_name = 0;
    for (const auto &call : json_lines(outcome.out)) {
        const std::string name = call.at("func").get<std::string>().substr(2);
        const auto [begin, end] = declared.equal_range(name);
        if (begin == end)
            continue;
        ParameterNames listed;
        for (const auto &argument : call.at("args"))
            listed.push_back(argument.at("name"));
        std::string wanted;
        bool found = false;
        for (auto it = begin; it != end; ++it) {
            wanted += " " + joined_names(it->second);
            found |= are_declared_so(listed, it->second);
            with_a_name += !listed.empty() && !it->second.empty() && listed[0] == it->second[0];
        }
        EXPECT_TRUE(found) << name << joined_names(listed) << " is declared as" << wanted;
        ++compared;
    }
    std::printf("%u system calls compared, %u declarations of another name left\n", compared,
                static_cast<unsigned>(declared.size()) - compared);
    EXPECT_GT(compared, 250u);
    EXPECT_GT(with_a_name, 150u) << "the names have been read";
}

} // namespace
} // namespace vmtest
