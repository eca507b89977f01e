// SPDX-License-Identifier: GPL-2.0-only
// Expressions that meet memory which cannot be read: a condition is not met, a value is none and
// never a zero, and both are counted. Beside that the accounts of calls that are sampled or capped.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/command.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

const std::string addresses_directory = "/sys/kernel/debug/argtrace_expressions/";
constexpr std::size_t fault_page_size = 4096;

/// Memory of this process: of its pages one was written to, one never, one may not be read, and
/// one is gone.
class UserPages {
public:
    UserPages() {
        constexpr int prot = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
        begin_ = static_cast<char *>(mmap(nullptr, 4 * fault_page_size, prot, flags, -1, 0));
        EXPECT_NE(begin_, MAP_FAILED);
        // A large page would bring all of them.
        EXPECT_EQ(madvise(begin_, 4 * fault_page_size, MADV_NOHUGEPAGE), 0);
        memset(forbidden(), 'f', fault_page_size);
        memset(begin_, 'm', fault_page_size);
        EXPECT_EQ(mprotect(forbidden(), fault_page_size, PROT_NONE), 0);
        EXPECT_EQ(munmap(gone(), fault_page_size), 0);
    }
    ~UserPages() { munmap(begin_, 3 * fault_page_size); }
    UserPages(const UserPages &) = delete;
    UserPages &operator=(const UserPages &) = delete;

    char *mapped() const { return begin_; }
    char *untouched() const { return begin_ + fault_page_size; }
    char *forbidden() const { return begin_ + 2 * fault_page_size; }
    char *gone() const { return begin_ + 3 * fault_page_size; }

private:
    char *begin_;
};

std::uint64_t user_address(const char *pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
}

class Faults : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        run({"argtrace", "clear"});
        need_module("argtrace_expressions");
        const json known = json::parse(read_file(addresses_directory + "addresses"));
        page_ = known["page"];
        object_ = known["object"];
        bad_ = {
            {"NULL", 0},
            {"a member of NULL", 8},
            {"the first page", 4088},
            {"user memory that was never used", user_address(pages_.untouched())},
            {"user memory that may not be read", user_address(pages_.forbidden())},
            {"user memory that is gone", user_address(pages_.gone())},
            {"the end of user memory", 0x7ffffffff000},
            {"the end of what is canonical", 0x7ffffffffffc},
            {"not canonical", 0x800000000000},
            {"not canonical either", 0xffff7fffffffffff},
            {"random", 0x0123456789abcdef},
            {"poison", known["poison"]},
            {"other poison", known["other_poison"]},
            {"of freed objects", 0x6b6b6b6b6b6b6b6b},
            {"beyond all memory", known["beyond_memory"]},
            {"behind a page of vmalloc", page_ + fault_page_size},
            {"the vsyscall page", 0xffffffffff600000},
            {"an error", static_cast<std::uint64_t>(-ENOENT)},
            {"the last word", ~std::uint64_t{7}},
            {"the last byte", ~std::uint64_t{0}},
            {"user memory", user_address(pages_.mapped())},
        };
    }

    void TearDown() override {
        run({"argtrace", "clear"});
        EXPECT_EQ(unload_module("argtrace_expressions"), 0);
    }

    /// Calls ax_address0() and its likes with it.
    static void call_with(std::uint64_t address) {
        std::ofstream(addresses_directory + "address") << address;
    }
    static void call_with_freed_memory() { std::ofstream(addresses_directory + "freed") << 1; }

    /// The counts of the session's functions, and "total".
    static std::map<std::string, json> status() {
        std::map<std::string, json> counts;
        for (const json &line : json_lines(run({"argtrace", "status", "--all", "--json"}).out))
            counts[line.contains("func") ? line["func"].get<std::string>() : "total"] = line;
        return counts;
    }

    static void add(const std::vector<std::string> &words) {
        std::vector<std::string> command{"argtrace", "add"};
        command.insert(command.end(), words.begin(), words.end());
        const Outcome outcome = run(command);
        ASSERT_EQ(outcome.status, 0) << outcome.err;
    }

    /// What the session has recorded so far, as events or as lines.
    static Outcome recorded(bool as_json) {
        std::vector<std::string> command{"argtrace", "trace", "--duration", "300ms", "--no-header"};
        if (as_json)
            command.push_back("--json");
        const Outcome outcome = run(command);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return outcome;
    }

    UserPages pages_;
    std::uint64_t page_ = 0, object_ = 0;
    std::vector<std::pair<std::string, std::uint64_t>> bad_;
};

/// The values as a SPEC has them, with a comma behind each.
std::string listed(std::span<const char *const> values) {
    std::string text;
    for (const char *value : values)
        text += std::string(value) + ", ";
    return text;
}

const char *const reading_values[] = {
    "*number",
    "number[3]",
    "*number == 0",
    "!*number",
    "*number + 1",
    "*number ? 1 : 2",
    "*number && 1",
    "*number || 1",
    "pid == 0 || *number",
    "text[0]",
    "str(text)",
    "str(text, 8)",
    "buf(text, 16)",
    "buf(text, (call & 7) + 1)",
    "text == \"\"",
    "text ~ \"*x\"",
    "p->u64_",
    "p->bool_",
    "p->fields.d",
    "p->be16_",
    "p->self->s8_",
    "p->array",
    "p->array[1]",
    "p->text",
    "p->packed",
    "*p",
    "p->u64_ / (p->u64_ | 1)",
};

TEST_F(Faults, values_are_none_and_never_zero) {
    add({"ax_address0(" + listed(reading_values) + "call, number, pid > 0 || *number as short)",
         "ax_address1(*number)", "ax_address2(call)"});
    for (const auto &[name, address] : bad_)
        call_with(address);
    call_with_freed_memory();
    const std::size_t calls = bad_.size() + 1;

    auto counts = status();
    EXPECT_EQ(counts["ax_address0"]["faults"], calls);
    EXPECT_EQ(counts["ax_address1"]["faults"], calls);
    EXPECT_EQ(counts["ax_address2"]["faults"], 0);
    for (const char *function : {"ax_address0", "ax_address1", "ax_address2"}) {
        EXPECT_EQ(counts[function]["records"], calls);
        EXPECT_EQ(counts[function]["hits"], calls);
    }
    EXPECT_EQ(counts["total"]["faults"], 2 * calls);

    std::size_t seen = 0;
    for (const json &event : json_lines(recorded(true).out)) {
        const json &args = event["args"];
        if (event["func"] == "ax_address1") {
            EXPECT_TRUE(args["*number"].is_null()) << event.dump();
        }
        if (event["func"] != "ax_address0")
            continue;
        const std::string name = seen < bad_.size() ? bad_[seen].first : "freed";
        for (const char *value : reading_values)
            EXPECT_TRUE(args.contains(value) && args[value].is_null())
                << value << " of " << name << ": " << event.dump();
        // What has nothing to do with the address is there.
        EXPECT_TRUE(args["call"].is_number()) << event.dump();
        EXPECT_EQ(args["short"], 1) << event.dump();
        if (seen < bad_.size()) {
            EXPECT_FALSE(args["number"].is_null()) << event.dump();
        }
        seen++;
    }
    EXPECT_EQ(seen, calls);
}

TEST_F(Faults, values_are_question_marks_in_text) {
    add({"ax_address0(*number as number, str(text) as text, *p as all, p->array as array, call)"});
    for (const auto &[name, address] : bad_)
        call_with(address);
    const std::string text = recorded(false).out;
    std::size_t found = 0;
    for (std::size_t at = 0;
         (at = text.find("ax_address0(number=?, text=?, all=?, array=?, call=", at)) != text.npos;
         at++)
        found++;
    EXPECT_EQ(found, bad_.size()) << text;
}

TEST_F(Faults, conditions_are_not_met) {
    const char *const never_met[] = {
        "*number == 0",
        "*number != 0",
        "!*number",
        "*number == *number",
        "*number >= 0 || *number < 0",
        "*number || pid > 0",
        "!(*number && 0)",
        "text == \"\"",
        "text != \"x\"",
        "text ~ \"*\"",
        "text !~ \"*x*\"",
        "p->self->self == 0 || 1",
        "p->text != \"x\"",
        "pid > 0 && p->be16_ != 1",
        "(p->u64_ ? 1 : 2) > 0",
    };
    std::vector<std::string> specs;
    for (const char *condition : never_met)
        specs.push_back("ax_address" + std::to_string(specs.size()) + "(call) if " + condition);
    // What is decided before the memory is looked at is met.
    specs.push_back("ax_address15(call) if pid > 0 || *number == 0");
    add(specs);
    for (const auto &[name, address] : bad_)
        call_with(address);
    call_with_freed_memory();
    const std::size_t calls = bad_.size() + 1;
    auto counts = status();
    for (std::size_t i = 0; i < specs.size(); i++) {
        const json &one = counts["ax_address" + std::to_string(i)];
        const bool is_met = i + 1 == specs.size();
        EXPECT_EQ(one["hits"], calls) << specs[i];
        EXPECT_EQ(one["records"], is_met ? calls : 0) << specs[i];
        EXPECT_EQ(one["filtered"], is_met ? 0 : calls) << specs[i];
        EXPECT_EQ(one["faults"], is_met ? 0 : calls) << specs[i];
    }
    EXPECT_EQ(counts["total"]["faults"], (specs.size() - 1) * calls);
}

std::string letters(std::size_t at, std::size_t count) {
    std::string text;
    for (std::size_t i = at; i < at + count; i++)
        text += static_cast<char>('a' + i % 26);
    return text;
}

TEST_F(Faults, what_can_be_read_up_to_the_end_of_a_page_is_read) {
    add({"ax_address0(*number as word, text[0] as letter, str(text) as text, str(text, 4) as four, "
         "buf(text, 4) as bytes, buf(text, 8) as more, text[7] as last, *(u64 *)text as wide)"});
    const std::uint64_t end = page_ + fault_page_size;
    call_with(end - 4); // no NUL before the end
    call_with(end - 8);
    call_with(end - 1);
    const auto events = json_lines(recorded(true).out);
    ASSERT_EQ(events.size(), 3u);
    const auto is_null = [&](std::size_t i, const char *name) {
        return events[i]["args"][name].is_null();
    };
    EXPECT_FALSE(is_null(0, "word")) << events[0].dump();
    EXPECT_TRUE(is_null(0, "text")) << events[0].dump();
    EXPECT_EQ(events[0]["args"]["four"], letters(fault_page_size - 4, 4));
    EXPECT_FALSE(is_null(0, "bytes"));
    EXPECT_TRUE(is_null(0, "more"));
    EXPECT_TRUE(is_null(0, "last"));
    EXPECT_TRUE(is_null(0, "wide"));

    EXPECT_FALSE(is_null(1, "more"));
    EXPECT_FALSE(is_null(1, "last"));
    EXPECT_FALSE(is_null(1, "wide"));
    EXPECT_TRUE(is_null(1, "text"));

    EXPECT_FALSE(is_null(2, "letter"));
    EXPECT_TRUE(is_null(2, "word"));
    EXPECT_TRUE(is_null(2, "four"));
}

const char *const user_values[] = {
    "*user(number)",
    "user(number)[1]",
    "*(u64 *)user(number)",
    "user(text)[0]",
    "str(user(text))",
    "str(user(text), 8)",
    "buf(user(text), 16)",
    "buf(user(text), (call & 7) + 1)",
    "user(text) ~ \"*x\"",
    "user(p)->be16_",
    "user(p)->self->s8_",
    "user(p)->array",
    "*user(p)",
    "*(u64 *)user((u64)number)",
};

TEST_F(Faults, memory_that_is_the_programs_is_never_the_kernels) {
    add({"ax_address0(" + listed(user_values) + "call)", "ax_address1(call) if *user(number) == 0 || pid > 0"});
    bad_.pop_back(); // user memory that is there
    bad_.insert(bad_.end(), {{"memory of the kernel's", page_}, {"an object of the kernel's", object_}});
    for (const auto &[name, address] : bad_)
        call_with(address);
    auto counts = status();
    EXPECT_EQ(counts["ax_address0"]["faults"], bad_.size());
    EXPECT_EQ(counts["ax_address1"]["faults"], bad_.size());
    EXPECT_EQ(counts["ax_address1"]["records"], 0);
    std::size_t seen = 0;
    for (const json &event : json_lines(recorded(true).out)) {
        for (const char *value : user_values)
            EXPECT_TRUE(event["args"].contains(value) && event["args"][value].is_null())
                << value << " of " << bad_.at(seen).first << ": " << event.dump();
        seen++;
    }
    EXPECT_EQ(seen, bad_.size());
}

TEST_F(Faults, memory_of_the_program_is_read_up_to_the_end_of_a_page) {
    add({"ax_address0(*user(number) as word, str(user(text)) as text, str(user(text), 4) as four, buf(user(text), 4) as bytes, "
         "user(text) ~ \"ab*\" as match, *(u64 *)user(text) as wide)",
         "ax_address1(call) if user(text) == \"abc\""});
    char *user = pages_.mapped() + fault_page_size;
    memcpy(user - 4, "abc", 4);
    call_with(user_address(user - 4));
    memcpy(user - 4, "abcd", 4);
    call_with(user_address(user - 4));
    const auto counts = status();
    EXPECT_EQ(counts.at("ax_address1").at("records"), 1);
    std::vector<json> events;
    for (const json &event : json_lines(recorded(true).out)) {
        if (event["func"] == "ax_address0")
            events.push_back(event);
    }
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0]["args"]["text"], "abc");
    EXPECT_EQ(events[0]["args"]["four"], "abc");
    EXPECT_EQ(events[0]["args"]["match"], 1);
    EXPECT_FALSE(events[0]["args"]["word"].is_null());
    EXPECT_FALSE(events[0]["args"]["bytes"].is_null());
    EXPECT_TRUE(events[0]["args"]["wide"].is_null());
    EXPECT_TRUE(events[1]["args"]["text"].is_null());
    EXPECT_EQ(events[1]["args"]["four"], "abcd");
}

} // namespace
} // namespace vmtest
