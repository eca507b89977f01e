// SPDX-License-Identifier: GPL-2.0-only
// Texts in memory of the kernel and of the process: of every length, cut, without an end, and as
// conditions see them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

class Strings : public testing::Test {
protected:
    static constexpr std::size_t page = 4096;

    void SetUp() override {
        need_argtrace();
        run({"argtrace", "clear"});
        need_module("argtrace_expressions");
        // Two pages, the second of which may not be read.
        user_ = static_cast<char *>(
            mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        ASSERT_NE(user_, MAP_FAILED);
        ASSERT_EQ(mprotect(user_ + page, page, PROT_NONE), 0);
    }
    void TearDown() override {
        munmap(user_, 2 * page);
        run({"argtrace", "clear"});
        EXPECT_EQ(unload_module("argtrace_expressions"), 0);
    }

    static void add(const std::vector<std::string> &words) {
        std::vector<std::string> command{"argtrace", "add"};
        command.insert(command.end(), words.begin(), words.end());
        const Outcome outcome = run(command);
        ASSERT_EQ(outcome.status, 0) << outcome.err;
    }

    static std::vector<json> recorded() {
        const Outcome outcome = run({"argtrace", "trace", "--json", "--duration", "300ms"});
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return json_lines(outcome.out);
    }

    /// Calls ax_address0() and its likes with the text, which ends where a page does.
    static void call_with_kernel_text(const std::string &text) {
        const int file = open("/sys/kernel/debug/argtrace_expressions/text", O_WRONLY);
        ASSERT_EQ(write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
        close(file);
    }
    void call_with_user_text(const std::string &text) const {
        char *at = user_ + page - text.size() - 1;
        memcpy(at, text.c_str(), text.size() + 1);
        call_with(at);
    }
    static void call_with(const char *address) {
        std::ofstream("/sys/kernel/debug/argtrace_expressions/address")
            << reinterpret_cast<std::uintptr_t>(address);
    }

    char *user_ = nullptr;
};

std::string letters(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; i++)
        text += static_cast<char>('a' + i % 26);
    return text;
}

TEST_F(Strings, of_every_length) {
    add({"--buffer", "16M",
         "ax_address0(str(text) as whole, str(text, 16) as part, str(text, 1) as one, "
         "str(text, 1024) as all)",
         "ax_address1(str(user(text)) as whole, str(user(text), 16) as part, str(user(text), 1) as one, "
         "str(user(text), 1024) as all)"});
    std::vector<std::size_t> lengths;
    for (std::size_t length = 1; length <= 70; length++)
        lengths.push_back(length);
    for (std::size_t length : {127, 128, 129, 254, 255, 256, 257, 258, 1023, 1024, 1025, 2000})
        lengths.push_back(length);
    for (const std::size_t length : lengths) {
        call_with_kernel_text(letters(length));
        call_with_user_text(letters(length));
    }
    call_with_user_text(""); // nothing can be written to a file
    lengths.push_back(0);

    // Each call is one of both functions; kernel and user text take turns, and the last is the process's.
    const auto both = recorded();
    const std::size_t calls = 2 * lengths.size() - 1;
    ASSERT_EQ(both.size(), 2 * calls);
    std::vector<json> events;
    for (std::size_t call = 0; call < calls; call++)
        events.push_back(both[2 * call + (call % 2 == 1 || call + 1 == calls)]);
    const std::map<std::string, std::size_t> limits = {
        {"whole", 256}, {"part", 16}, {"one", 1}, {"all", 1024}};
    for (std::size_t i = 0; i < events.size(); i++) {
        const std::size_t length = lengths[i / 2];
        std::vector<std::string> cut;
        for (const auto &[name, value] : events[i]["args"].items()) {
            const std::size_t limit = limits.at(name);
            EXPECT_EQ(value, letters(std::min(length, limit))) << name << " of " << length;
            if (length > limit)
                cut.push_back(name);
        }
        const json said = events[i].value("cut", json::array());
        EXPECT_EQ(said.get<std::vector<std::string>>(), cut) << events[i].dump();
    }
}

// Each ends where its page does, and the next cannot be read.
TEST_F(Strings, socket_addresses_end_with_their_page) {
    add({"ax_address0(sockaddr(user(text)) as address)"});
    const auto call_with_address = [this](const void *address, std::size_t size) {
        char *at = user_ + page - size;
        memcpy(at, address, size);
        call_with(at);
    };
    sockaddr_in four = {};
    four.sin_family = AF_INET;
    four.sin_port = htons(443);
    four.sin_addr.s_addr = htonl(0x0a000001);
    sockaddr_in6 six = {};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(22);
    six.sin6_addr.s6_addr[15] = 1;
    sockaddr_un local = {};
    local.sun_family = AF_UNIX;
    const std::string name = "/run/a_name_of_more_than_26_characters";
    strcpy(local.sun_path, name.c_str());
    sockaddr_un abstract = local;
    abstract.sun_path[0] = 0;
    const sa_family_t netlink = AF_NETLINK;
    call_with_address(&four, sizeof(four));
    call_with_address(&four, sizeof(four) - 1);
    call_with_address(&six, sizeof(six));
    call_with_address(&local, sizeof(local));
    call_with_address(&local, sizeof(sa_family_t) + name.size());
    call_with_address(&abstract, sizeof(abstract));
    call_with_address(&netlink, sizeof(netlink));
    call_with(user_ + page);

    const auto events = recorded();
    json shown;
    for (const json &event : events)
        shown.push_back(event["args"]["address"]);
    EXPECT_EQ(shown, json({"10.0.0.1:443", nullptr, "[::1]:22", name, name, "@" + name.substr(1),
                           "family 16", nullptr}));
}

TEST_F(Strings, of_arrays_need_no_end) {
    add({"ax_address0(user(p)->text as text, str(user(p)->text, 3) as three, user(p)->bytes as bytes, "
         "(char *)&p->text - (char *)p as at)",
         "ax_address1(call) if user(p)->text == \"abcdefgh\"", "ax_address2(call) if user(p)->text == \"abc\"",
         "ax_address3(call) if user(p)->text ~ \"abc*\"", "ax_address4(call) if user(p)->text ~ \"*fgh\"",
         "ax_address5(call) if user(p)->text == \"\"", "ax_address6(call) if user(p)->text ~ \"*\"",
         "ax_address7(call) if user(p)->text ~ \"*de*\"", "ax_address8(call) if user(p)->text ~ \"a?c*\""});
    memset(user_, 'm', page);
    call_with(user_);
    auto events = recorded();
    ASSERT_EQ(events.size(), 2u); // 0 and 6
    EXPECT_EQ(events[0]["args"]["text"], "mmmmmmmm");
    EXPECT_EQ(events[0]["args"]["three"], "mmm");
    EXPECT_EQ(events[0]["cut"], json({"three"}));
    const std::size_t at = events[0]["args"]["at"];
    const std::map<std::string, std::vector<unsigned>> accepted = {
        {std::string("abcdefgh", 8), {0, 1, 3, 4, 6, 7, 8}},
        {std::string("abc\0efgh", 8), {0, 2, 3, 6, 8}},
        {std::string("abcdefg\0", 8), {0, 3, 6, 7, 8}},
        {std::string("\0bcdefgh", 8), {0, 5, 6}},
        {std::string("ab\0defgh", 8), {0, 6}},
    };
    for (const auto &[text, functions] : accepted) {
        memcpy(user_ + at, text.data(), text.size());
        call_with(user_);
        std::vector<unsigned> found;
        for (const json &event : recorded()) {
            const std::string name = event["func"];
            found.push_back(static_cast<unsigned>(std::stoul(name.substr(strlen("ax_address")))));
            if (found.back() == 0) {
                EXPECT_EQ(event["args"]["text"], text.substr(0, text.find('\0')));
            }
        }
        std::sort(found.begin(), found.end());
        EXPECT_EQ(found, functions) << text;
    }
}

TEST_F(Strings, conditions_see_what_is_recorded) {
    const std::pair<const char *, std::vector<const char *>> conditions[] = {
        {"text == \"kernel\"", {"kernel"}},
        {"text != \"kernel\"", {"", "k", "kerne", "kernels", "user", "/usr/lib/libc.so", "[k]?*"}},
        {"text ~ \"kern*\"", {"kerne", "kernel", "kernels"}},
        {"text ~ \"*el\"", {"kernel"}},
        {"text ~ \"*erne*\"", {"kerne", "kernel", "kernels"}},
        {"text ~ \"k?rn[a-f]l\"", {"kernel"}},
        {"text ~ \"[!k]*\"", {"user", "/usr/lib/libc.so", "[k]?*"}},
        {"text ~ \"/usr/*.so\"", {"/usr/lib/libc.so"}},
        {"text ~ \"\\\\[k]\\\\?\\\\*\"", {"[k]?*"}},
        {"text !~ \"*e*\"", {"", "k", "/usr/lib/libc.so", "[k]?*"}},
        {"text == \"\"", {""}},
        {"text ~ \"*\"",
         {"", "k", "kerne", "kernel", "kernels", "user", "/usr/lib/libc.so", "[k]?*"}},
        {"str(text, 4) == \"kern\"", {"kerne", "kernel", "kernels"}},
        {"text[0] == 'k' && text[1]", {"kerne", "kernel", "kernels"}},
        {"(text == \"k\") + (text ~ \"u*\")", {"k", "user"}},
    };
    const char *const texts[] = {
        "", "k", "kerne", "kernel", "kernels", "user", "/usr/lib/libc.so", "[k]?*"};
    for (const bool of_user : {false, true}) {
        const auto placed = [of_user](std::string condition) {
            for (std::size_t at = 0; of_user && (at = condition.find("text", at)) != condition.npos; at += 10)
                condition.replace(at, 4, "user(text)");
            return condition;
        };
        std::vector<std::string> specs{"ax_address15(" + placed("str(text)") + " as it)"};
        for (const auto &[condition, holds_for] : conditions)
            specs.push_back("ax_address" + std::to_string(specs.size() - 1) + "(" + placed("str(text)") + " as it) if " +
                            placed(condition));
        run({"argtrace", "clear"});
        add(specs);
        std::size_t calls = 0;
        for (const char *text : texts) {
            if (of_user)
                call_with_user_text(text);
            else if (*text)
                call_with_kernel_text(text);
            calls += of_user || *text;
        }
        std::map<std::string, std::vector<std::string>> found;
        for (const json &event : recorded())
            found[event["func"]].push_back(event["args"]["it"]);
        EXPECT_EQ(found["ax_address15"].size(), calls);
        for (std::size_t i = 0; i < std::size(conditions); i++) {
            std::vector<std::string> expected;
            for (const char *text : conditions[i].second) {
                if (of_user || *text)
                    expected.push_back(text);
            }
            EXPECT_EQ(found["ax_address" + std::to_string(i)], expected) << placed(conditions[i].first);
        }
    }
}

TEST_F(Strings, of_the_process_that_are_not_there_yet_are_unreadable) {
    char path[] = "/tmp/strings.XXXXXX";
    const int file = mkstemp(path);
    ASSERT_GE(file, 0);
    unlink(path);
    std::string text = letters(100);
    text.resize(page);
    ASSERT_EQ(write(file, text.data(), page), static_cast<ssize_t>(page));
    add({"ax_address0(str(user(text)) as whole)", "ax_address1(call) if user(text) == \"\"",
         "ax_address2(call) if user(text) != \"\""});
    // A page of a file which this process has not used, and then has.
    const char *mapped =
        static_cast<const char *>(mmap(nullptr, page, PROT_READ, MAP_PRIVATE, file, 0));
    ASSERT_NE(mapped, MAP_FAILED);
    call_with(mapped);
    EXPECT_EQ(*const_cast<const volatile char *>(mapped), 'a');
    call_with(mapped);
    const auto events = recorded();
    ASSERT_EQ(events.size(), 3u);
    EXPECT_TRUE(events[0]["args"]["whole"].is_null()) << events[0].dump();
    EXPECT_EQ(events[1]["args"]["whole"], letters(100));
    EXPECT_EQ(events[2]["func"], "ax_address2");
    for (const json &line : json_lines(run({"argtrace", "status", "--json"}).out)) {
        if (line.contains("func")) {
            EXPECT_EQ(line["faults"], 1) << line.dump();
        }
    }
    munmap(const_cast<char *>(mapped), page);
    close(file);
}

TEST_F(Strings, comm_is_that_of_the_caller) {
    add({"ax_address0(comm as name, comm == \"argtrace_vm_tes\" as full, comm ~ \"*_vm_*\" as "
         "part)",
         "ax_address1(comm as name) if comm == \"argtrace_vm_test\""});
    call_with(user_);
    const auto events = recorded();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0]["args"]["name"], "argtrace_vm_tes");
    EXPECT_EQ(events[0]["args"]["full"], 1);
    EXPECT_EQ(events[0]["args"]["part"], 1);
}

} // namespace
} // namespace vmtest
