// SPDX-License-Identifier: GPL-2.0-only
// Functions of a module that are traced from its first call on: `--on-load`, and the deferred
// probes that argtrace arms while the kernel loads another module.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "onload.h"
#include "support/command.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;
using Calls = std::vector<std::pair<std::string, json>>; // function, arguments

constexpr char module_path[] = "/root/argtrace_onload.ko";
constexpr char module_name[] = "argtrace_onload";
constexpr char session_name[] = "on_load";

void unload() {
    ASSERT_TRUE(eventually([] {
        const int error = unload_module(module_name);
        return error == 0 || error == ENOENT;
    }));
}

/// What the init function calls, of functions whose arguments are known.
const Calls init_calls = {
    {"ol_init", json::object()},
    {"ol_prepare", {{"step", OL_PREPARE_STEP}, {"mode", "OL_CAREFUL"}}},
    {"ol_first", {{"a", OL_FIRST_A}, {"b", OL_FIRST_B}}},
    {"ol_call_other_twin", json::object()},
};
/// The exit function itself is notrace, as all that are marked __exit.
const Calls exit_calls = {{"ol_first", {{"a", 0}, {"b", 0}}}};

Calls joined(Calls a, const Calls &b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

class OnLoad : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        unload();
        run({"argtrace", "clear"});
    }
    void TearDown() override {
        run({"argtrace", "clear"});
        unload();
    }

    static void add(std::vector<std::string> words, const std::string &file = module_path) {
        words.insert(words.begin(), {"argtrace", "add", "--on-load", file});
        const Outcome outcome = run(words);
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        said_ = outcome.err;
    }

    static void fails(const std::vector<std::string> &words, const std::string &part) {
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.status, 1);
        EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
    }

    /// All calls that have gathered.
    static Calls calls() {
        const Outcome outcome = run({"argtrace", "trace", "--json", "--duration", "0.1"});
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        Calls calls;
        for (const json &line : json_lines(outcome.out))
            calls.emplace_back(line["func"], line["args"]);
        return calls;
    }

    /// What they have returned, in the order of that.
    static Calls results() {
        Calls results;
        for (const json &line : json_lines(run({"argtrace", "trace", "--json", "--duration", "0.1"}).out))
            results.emplace_back(line["func"], line.value("ret", json("missing")));
        return results;
    }

    /// Whether the module may come now.
    static bool waits(const Background &tracer) {
        return tracer.err_so_far().find(" when it is loaded") != std::string::npos;
    }

    /// What status says of the module.
    static json order() {
        for (const json &line : json_lines(run({"argtrace", "status", "--json"}).out))
            if (line.value("on_load", "") == module_name)
                return line;
        return {};
    }

    static inline std::string said_;
};

TEST_F(OnLoad, the_init_function_is_seen_from_its_first_call) {
    add({"*", "!later_set"});
    EXPECT_EQ(said_, "argtrace: *: 2 functions are left out: 2 that share their names with others "
                     "(ol_twin; --force takes them)\n");
    EXPECT_EQ(order()["loads"], 0);
    ASSERT_EQ(load_module(module_path), 0);
    EXPECT_EQ(calls(), init_calls);
    EXPECT_FALSE(is_armed("ol_prepare")) << "it has gone with the module's init part";
    EXPECT_TRUE(is_armed("ol_later"));
    EXPECT_EQ(order()["loads"], 1);
    EXPECT_EQ(order()["functions"], 5);
    EXPECT_EQ(order()["traced"], 5);
    EXPECT_EQ(order()["absent"], 0);
    EXPECT_EQ(order()["refused"], 0);

    std::ofstream("/sys/module/argtrace_onload/parameters/later") << 77 << std::flush;
    EXPECT_EQ(calls(), (Calls{{"ol_later", {{"number", 77}, {"last", true}}}}));
}

TEST_F(OnLoad, returns_are_followed_from_the_first_call_on) {
    const auto init_results = [](const json &of_init) {
        return Calls{{"ol_prepare", OL_PREPARE_RESULT}, {"ol_first", nullptr}, {"ol_call_other_twin", nullptr}, {"ol_init", of_init}};
    };
    add({"-r", "*", "!later_set"});
    for (int load = 1; load <= 2; load++) {
        ASSERT_EQ(load_module(module_path), 0);
        EXPECT_EQ(results(), init_results(0)) << "load " << load;
        EXPECT_EQ(order()["traced"], 5);
        std::ofstream("/sys/module/argtrace_onload/parameters/later") << 77 << std::flush;
        EXPECT_EQ(results(), (Calls{{"ol_later", OL_LATER_RESULT(77)}}));
        unload();
        EXPECT_EQ(results(), (Calls{{"ol_first", nullptr}}));
    }
    EXPECT_NE(run({"insmod", module_path, "fail=1"}).status, 0);
    EXPECT_EQ(results(), init_results("-EINVAL"));
    EXPECT_EQ(RawDevice().info().in_flight, 0u);
}

TEST_F(OnLoad, and_again_each_time_until_it_is_removed) {
    add({"*", "!later_set"});
    for (int load = 1; load <= 3; load++) {
        ASSERT_EQ(load_module(module_path), 0);
        unload();
        EXPECT_EQ(calls(), joined(init_calls, exit_calls)) << "load " << load;
        EXPECT_EQ(order()["loads"], load);
        EXPECT_EQ(order()["traced"], 5);
    }
    EXPECT_EQ(run({"argtrace", "rm", "--on-load", "argtrace-onload"}).status, 0);
    ASSERT_EQ(load_module(module_path), 0);
    EXPECT_FALSE(is_armed("ol_later"));
    fails({"argtrace", "rm", "--on-load", module_name},
          "nothing waits for that module to be loaded");
}

/// Has the module call ol_later() that often.
void call_later(std::uint64_t calls) {
    std::ofstream later("/sys/module/argtrace_onload/parameters/later");
    for (std::uint64_t i = 0; i < calls; ++i)
        later << "77" << std::flush;
    EXPECT_TRUE(later.good());
}

/// That status has all calls, of which so many at least were lost.
void expect_calls(std::uint64_t calls, std::uint64_t least_lost) {
    const json totals = json::parse(run({"sh", "-c", "argtrace status --json | tail -1"}).out, nullptr, false);
    ASSERT_FALSE(totals.is_discarded());
    EXPECT_EQ(totals["hits"], calls) << totals;
    EXPECT_GE(totals["lost"]["full"], least_lost) << totals;
    EXPECT_EQ(totals["records"].get<std::uint64_t>() + totals["lost"]["full"].get<std::uint64_t>(), calls) << totals;
}

constexpr std::uint64_t calls_that_fill_rings = 3000;

TEST_F(OnLoad, totals_are_those_of_all_loads) {
    add({"-b", "16K", "ol_later"});
    for (std::uint64_t load = 1; load <= 3; load++) {
        ASSERT_EQ(load_module(module_path), 0);
        call_later(calls_that_fill_rings);
        expect_calls(load * calls_that_fill_rings, load * calls_that_fill_rings / 3);
        unload();
        expect_calls(load * calls_that_fill_rings, load * calls_that_fill_rings / 3);
    }
    const Outcome trace = run({"argtrace", "trace", "--json", "--duration", "0.1"});
    EXPECT_EQ(json_summary(trace.out)["hits"], 3 * calls_that_fill_rings) << trace.err;
    EXPECT_EQ(json_summary(trace.out)["shown"], json_summary(trace.out)["records"]);
}

// Functions that nothing waits for are added again.
TEST_F(OnLoad, totals_of_what_is_added_again_are_those_of_all_loads) {
    for (std::uint64_t load = 1; load <= 3; load++) {
        ASSERT_EQ(load_module(module_path), 0);
        std::vector<std::string> words{"argtrace", "add", "ol_later"};
        if (load == 1)
            words.insert(words.end(), {"-b", "16K"});
        const Outcome added = run(words);
        ASSERT_EQ(added.status, 0) << added.err;
        call_later(calls_that_fill_rings);
        unload();
        expect_calls(load * calls_that_fill_rings, load * calls_that_fill_rings / 3);
    }
    ASSERT_EQ(load_module(module_path), 0);
    ASSERT_EQ(run({"argtrace", "add", "ol_later"}).status, 0);
    expect_calls(3 * calls_that_fill_rings, 3 * calls_that_fill_rings / 3);
    const Outcome trace = run({"argtrace", "trace", "--json", "--duration", "0.1"});
    EXPECT_EQ(json_summary(trace.out)["hits"], 3 * calls_that_fill_rings) << trace.err;
    EXPECT_EQ(json_summary(trace.out)["shown"], json_summary(trace.out)["records"]);
}

TEST_F(OnLoad, a_recording_has_the_totals_of_all_loads) {
    const std::string file = "/tmp/loads.dat";
    const Outcome recorded =
        run({"argtrace", "record", "-o", file, "--on-load", module_path, "ol_later", "--", "sh", "-c",
             "for load in 1 2 3; do insmod " + std::string(module_path) +
                 "; for call in $(seq 100); do echo 77 >/sys/module/argtrace_onload/parameters/later; done; rmmod argtrace_onload; done"});
    EXPECT_EQ(recorded.status, 0) << recorded.err;
    EXPECT_NE(recorded.err.find(" 300 calls: "), std::string::npos) << recorded.err;
    EXPECT_EQ(json_summary(run({"argtrace", "report", "--json", file}).out)["hits"], 300);
    unlink(file.c_str());
}

TEST_F(OnLoad, an_init_function_that_fails_is_seen_as_well) {
    add({"*", "!later_set"});
    EXPECT_NE(run({"insmod", module_path, "fail=1"}).status, 0);
    EXPECT_EQ(calls(), init_calls);
    EXPECT_EQ(order()["traced"], 5);
    EXPECT_EQ(read_file("/sys/kernel/tracing/enabled_functions"), "");
    ASSERT_EQ(load_module(module_path), 0);
    EXPECT_EQ(calls(), init_calls) << "the next one begins anew";
}

TEST_F(OnLoad, a_trace_of_its_own_waits_for_the_module) {
    Background trace({"argtrace", "trace", "--json", "-n", "2", "--on-load", module_path,
                      "ol_first(b)", "ol_prepare"});
    ASSERT_TRUE(eventually([&] { return waits(trace); }));
    ASSERT_EQ(load_module(module_path), 0);
    const Outcome outcome = trace.wait();
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("tracing 2 functions of argtrace_onload when it is loaded"),
              std::string::npos)
        << outcome.err;
    const auto events = json_lines(outcome.out);
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0]["func"], "ol_prepare");
    EXPECT_EQ(events[1]["args"], (json{{"b", OL_FIRST_B}}));
    EXPECT_FALSE(is_armed("ol_first"));
}

// The module comes when the tool has begun long since, and before it others may have been where it
// is.
TEST_F(OnLoad, its_callers_have_their_names) {
    const std::string later = "echo 77 >/sys/module/argtrace_onload/parameters/later";
    const auto expect_names = [](const std::vector<json> &events) {
        ASSERT_FALSE(events.empty());
        for (const json &event : events) {
            const std::string caller = event["caller"];
            const bool is_later = event["func"] == "ol_later";
            const bool is_named = caller.starts_with(is_later ? "later_set+0x" : "ol_init+0x") &&
                                  caller.ends_with(" [argtrace_onload]");
            // ol_init() may be gone by now; and it is called by the kernel.
            const bool is_init = event["func"] == "ol_init";
            EXPECT_TRUE(is_named || is_init || (!is_later && caller.starts_with("0x"))) << event;
        }
        EXPECT_EQ(events.back()["func"], "ol_later");
    };
    Background trace(
        {"argtrace", "trace", "--json", "-n", "5", "--on-load", module_path, "*", "!later_set"});
    ASSERT_TRUE(eventually([&] { return waits(trace); }));
    ASSERT_EQ(run({"sh", "-c", "insmod " + std::string(module_path) + " && " + later}).status, 0);
    expect_names(json_lines(trace.wait().out));

    unload();
    const std::string file = "/tmp/callers.dat";
    const Outcome recorded =
        run({"argtrace", "record", "-o", file, "--on-load", module_path, "*", "!later_set", "--",
             "sh", "-c", "insmod " + std::string(module_path) + " && " + later});
    EXPECT_EQ(recorded.status, 0) << recorded.err;
    unload();
    expect_names(json_lines(run({"argtrace", "report", "--json", file}).out));
    unlink(file.c_str());
}

TEST_F(OnLoad, functions_that_share_a_name) {
    add({"--force", "ol_twin"});
    ASSERT_EQ(load_module(module_path), 0);
    EXPECT_EQ(order()["traced"], 2);
    EXPECT_EQ(calls(), (Calls{{"ol_twin", {{"number", OL_TWIN_ONE}}},
                              {"ol_twin", {{"number", OL_TWIN_TWO}}}}));
}

TEST_F(OnLoad, another_build_is_not_traced) {
    const std::string other = "/tmp/argtrace_onload_other.ko";
    std::string content = read_file(module_path);
    const std::size_t version = content.find("srcversion=");
    ASSERT_NE(version, std::string::npos);
    char &digit = content[version + strlen("srcversion=")];
    digit = digit == '0' ? '1' : '0';
    std::ofstream(other, std::ios::binary) << content << std::flush;

    add({"*"});
    ASSERT_EQ(load_module(other), 0);
    EXPECT_TRUE(calls().empty());
    EXPECT_EQ(order()["other_builds"], 1);
    EXPECT_EQ(order()["traced"], 0);
    EXPECT_NE(run({"argtrace", "status"}).out.find("another build was loaded"), std::string::npos);
    unload();
    ASSERT_EQ(load_module(module_path), 0);
    EXPECT_FALSE(calls().empty());
    unlink(other.c_str());
}

TEST_F(OnLoad, what_is_wrong_is_said) {
    fails({"argtrace", "add", "--on-load", module_path, "ol_frist"},
          "ol_frist: no such function in the module argtrace_onload; did you mean ol_first?");
    fails({"argtrace", "add", "--on-load", module_path, "vfs_read"},
          "vfs_read: no such function in the module argtrace_onload");
    fails({"argtrace", "add", "--on-load", module_path, "ol_untraceable"},
          "ol_untraceable: cannot be traced: it is marked notrace");
    fails({"argtrace", "add", "--on-load", module_path, "ol_twin"},
          "2 functions of the module "
          "argtrace_onload have that name");
    fails({"argtrace", "add", "--on-load", module_path, "ext4:*"},
          "with --on-load the functions are those of argtrace_onload, not of ext4");
    fails({"argtrace", "add", "--on-load", "no_such_module_at_all", "*"},
          "no_such_module_at_all: no such module");
    fails({"argtrace", "add", "--on-load", "/root/none.ko", "*"},
          "/root/none.ko: cannot be read: No such file");
    fails({"argtrace", "add", "--btf", module_path, "ol_first"},
          "no module argtrace_onload is loaded: to trace one from its load on use `argtrace add "
          "--on-load argtrace_onload`");
    EXPECT_EQ(run({"argtrace", "status"}).out.find("ON LOAD"), std::string::npos);

    add({"ol_first"});
    fails({"argtrace", "add", "--on-load", module_path, "ol_first"},
          "ol_first: waits for argtrace_onload to be loaded already");
    ASSERT_EQ(load_module(module_path), 0);
    add({"ol_later"});
    EXPECT_NE(said_.find("argtrace_onload is loaded already"), std::string::npos) << said_;
    EXPECT_FALSE(is_armed("ol_later"));
}

// Without the tool.

struct Order {
    std::vector<std::byte> probes;
    std::uint32_t count = 1;
    std::string module = module_name;
    std::string srcversion = {};
};

int give(const RawDevice &device, const Order &order, std::uint32_t *failed = nullptr) {
    argtrace_on_load request{};
    request.size = sizeof(request);
    request.probes = reinterpret_cast<std::uintptr_t>(order.probes.data());
    request.length = order.probes.size();
    request.count = order.count;
    order.module.copy(request.module, sizeof(request.module));
    order.srcversion.copy(request.srcversion, sizeof(request.srcversion));
    const int error = device.call(ARGTRACE_IOC_ON_LOAD, &request);
    if (failed)
        *failed = request.failed;
    return error;
}

int take_back(const RawDevice &device, const std::string &module, std::uint32_t flags = 0) {
    argtrace_on_load_remove request{};
    request.size = sizeof(request);
    request.flags = flags;
    module.copy(request.module, sizeof(request.module));
    return device.call(ARGTRACE_IOC_ON_LOAD_REMOVE, &request);
}

std::vector<argtrace_on_load_order> orders(const RawDevice &device) {
    std::vector<argtrace_on_load_order> all(16);
    argtrace_list list{};
    list.size = sizeof(list);
    list.buffer = reinterpret_cast<std::uintptr_t>(all.data());
    list.length = all.size() * sizeof(all[0]);
    EXPECT_EQ(device.call(ARGTRACE_IOC_ON_LOAD_LIST, &list), 0);
    EXPECT_EQ(list.next, 0u);
    all.resize(list.count);
    return all;
}

std::vector<std::byte> function(const std::string &name, unsigned args = 2) {
    return RawProbe::words(0, args, name).bytes();
}

std::uint64_t memory_used() {
    return RawDevice().info().memory_used;
}

TEST_F(OnLoad, orders_that_are_refused) {
    RawDevice bare, device;
    EXPECT_EQ(give(bare, {function("ol_first")}), EBADFD);
    EXPECT_EQ(take_back(bare, module_name), EBADFD);
    ASSERT_EQ(device.session(), 0);
    const std::uint64_t before = memory_used();

    EXPECT_EQ(give(device, {function("ol_first"), 0}), EINVAL);
    EXPECT_EQ(give(device, {function("ol_first"), 2}), EINVAL) << "one is missing";
    EXPECT_EQ(give(device, {function("ol_first") + function("ol_later"), 1}), EINVAL);
    EXPECT_EQ(give(device, {function("ol_first"), 0xffffffff}), E2BIG);
    EXPECT_EQ(give(device, {function("ol_first"), 1, ""}), EINVAL);
    EXPECT_EQ(give(device, {function("ol_first"), 1, "argtrace-onload"}), EINVAL);
    EXPECT_EQ(give(device, {function("ol_first"), 1, std::string(64, 'm')}), EINVAL);
    EXPECT_EQ(give(device, {function("ol_first"), 1, module_name, std::string(32, 'A')}), EINVAL);
    std::uint32_t failed = 0;
    EXPECT_EQ(give(device, {function("ol_first") + function(""), 2}, &failed), EINVAL);
    EXPECT_EQ(failed, 1u);
    EXPECT_EQ(give(device, {RawProbe::words(0xffffffff81000000, 1, "ol_first").bytes()}, &failed),
              EINVAL)
        << "with an address";
    EXPECT_EQ(failed, 0u);
    EXPECT_EQ(device.add(function("ol_first"), 1), EINVAL) << "without one";
    argtrace_on_load unreadable{};
    unreadable.size = sizeof(unreadable);
    unreadable.probes = 8;
    unreadable.length = 4096;
    unreadable.count = 1;
    strcpy(unreadable.module, module_name);
    EXPECT_EQ(device.call(ARGTRACE_IOC_ON_LOAD, &unreadable), EFAULT);
    unreadable.flags = 1;
    EXPECT_EQ(device.call(ARGTRACE_IOC_ON_LOAD, &unreadable), EINVAL);

    EXPECT_EQ(take_back(device, module_name), ENOENT);
    EXPECT_EQ(take_back(device, "", ARGTRACE_REMOVE_ALL), ENOENT);
    EXPECT_EQ(take_back(device, module_name, ARGTRACE_REMOVE_ALL), EINVAL);
    EXPECT_EQ(take_back(device, "", 0), EINVAL);
    EXPECT_EQ(take_back(device, module_name, 2), EINVAL);
    EXPECT_TRUE(orders(device).empty());
    EXPECT_EQ(memory_used(), before);
}

TEST_F(OnLoad, orders_are_listed_and_go_with_their_session) {
    const std::uint64_t before = memory_used();
    {
        RawDevice device;
        ASSERT_EQ(device.session("", 4096, 4), 0);
        ASSERT_EQ(give(device, {function("ol_first") + function("ol_later"), 2}), 0);
        ASSERT_EQ(give(device, {function("ol_first"), 1, "another", "ABC"}), 0);
        std::uint32_t failed = 0;
        EXPECT_EQ(give(device, {function("ol_prepare") + function("ol_later~"), 2}, &failed),
                  EEXIST);
        EXPECT_EQ(failed, 1u);
        ASSERT_EQ(orders(device).size(), 2u);
        EXPECT_EQ(orders(device)[0].count, 2u);
        EXPECT_STREQ(orders(device)[1].module, "another");
        EXPECT_STREQ(orders(device)[1].srcversion, "ABC");

        argtrace_list list{};
        list.size = sizeof(list);
        EXPECT_EQ(device.call(ARGTRACE_IOC_ON_LOAD_LIST, &list), 0);
        EXPECT_EQ(list.count, 0u) << "there is no room";
        EXPECT_EQ(list.next, orders(device)[0].id);
        list = {};
        list.size = sizeof(list);
        list.flags = ARGTRACE_LIST_REMOVED;
        EXPECT_EQ(device.call(ARGTRACE_IOC_ON_LOAD_LIST, &list), EINVAL);

        EXPECT_EQ(take_back(device, module_name), 0);
        EXPECT_EQ(orders(device).size(), 1u);
    }
    EXPECT_EQ(memory_used(), before);
}

TEST_F(OnLoad, what_is_not_there_is_left_out_and_counted) {
    RawDevice device;
    ASSERT_EQ(device.session(), 0);
    // One is no function of it, one is there but once, one more often, one is not traceable.
    ASSERT_EQ(
        give(device, {function("vfs_read") + function("ol_later") + function("ol_later") +
                          function("ol_twin") + function("ol_untraceable") + function("ol_first"),
                      6}),
        0);
    ASSERT_EQ(load_module(module_path), 0);
    const argtrace_on_load_order order = orders(device).at(0);
    EXPECT_EQ(order.armed, 1u);
    EXPECT_EQ(order.absent, 4u);
    EXPECT_EQ(order.refused, 1u);
    EXPECT_EQ(order.error, 0);
    ASSERT_EQ(device.counts().size(), 1u);
    EXPECT_EQ(hits(device.counts().at(0)), 1u) << "ol_first";
}

// Its file's, which build on a .BTF.base where Kbuild makes one, are those that the kernel shows
// once it is loaded.
TEST_F(OnLoad, its_file_has_its_types) {
    ASSERT_EQ(load_module(module_path), 0);
    const std::string functions = std::string(module_name) + ":*";
    const Outcome kernels = run({"argtrace", "list", functions});
    EXPECT_NE(kernels.out.find("void ol_first(u8 a, s64 b)"), std::string::npos) << kernels.out;
    const std::string file = std::string(module_name) + "=" + module_path;
    const Outcome files = run({"argtrace", "list", "--btf", file, functions});
    EXPECT_EQ(files.status, 0) << files.err;
    EXPECT_EQ(files.out, kernels.out);
}

TEST_F(OnLoad, aliases_are_one_function) {
    RawDevice device;
    ASSERT_EQ(device.session(), 0);
    ASSERT_EQ(give(device, {function("init_module", 0) + function("ol_init", 0), 2}), 0);
    ASSERT_EQ(load_module(module_path), 0);
    EXPECT_EQ(orders(device).at(0).armed, 2u);
    ASSERT_EQ(device.counts(ARGTRACE_LIST_REMOVED).size(), 1u);
    EXPECT_EQ(hits(device.counts(ARGTRACE_LIST_REMOVED).at(0)), 1u);
}

TEST_F(OnLoad, while_modules_come_and_go) {
    remove_session(session_name);
    {
        // Each of them ends when it is killed.
        Child loader([] {
            for (;;) {
                load_module(module_path);
                unload_module(module_name);
            }
        });
        const auto orderer = [] {
            for (;; usleep(1000)) {
                RawDevice device, own;
                if (device.session(session_name, 4096, 4) != 0 || own.session("", 4096, 4) != 0)
                    continue;
                give(device, {function("ol_first") + function("ol_later"), 2});
                give(own, {function("ol_init", 0) + function("ol_prepare"), 2});
                take_back(device, module_name);
                give(device, {function("ol_init", 0) + function("ol_call_other_twin", 0), 2});
                remove_session(session_name);
            }
        };
        const Child one(orderer), two(orderer);

        // One session that stays: it misses no call, however often the module goes.
        RawDevice device;
        ASSERT_EQ(device.session("", 4096, 4), 0);
        ASSERT_EQ(give(device, {function("ol_first") + function("ol_init", 0), 2}), 0);
        ASSERT_EQ(device.reader(), 0);
        for (int i = 0; i < 5; i++)
            run({"argtrace", "add", "argtrace_onload:ol_*"}); // it is there, or it is not
        ASSERT_TRUE(eventually([&] { return orders(device).at(0).loads >= 20; }));
        loader.kill_and_wait();
        unload();
        // A load calls ol_init() and ol_first(), an unload ol_first().
        std::uint64_t called = 0;
        for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
            RawRing ring(device, cpu, 4096, 4);
            called += ring.drain() + ring.control()->lost;
        }
        EXPECT_EQ(called, 3 * std::uint64_t{orders(device).at(0).loads});
        // The counts are those of all loads.
        std::uint64_t counted = 0;
        for (const argtrace_counts &counts : device.counts(ARGTRACE_LIST_REMOVED))
            counted += hits(counts);
        EXPECT_EQ(counted, called);
        EXPECT_EQ(take_back(device, module_name), 0);
    }
    run({"argtrace", "clear"});
    remove_session(session_name);
    unload();
    expect_nothing_left();
}

TEST_F(OnLoad, argtrace_goes_while_modules_come_and_go) {
    const Child loader([] {
        for (;;) {
            load_module(module_path);
            unload_module(module_name);
        }
    });
    for (int round = 0; round < 5; round++) {
        {
            // A session without a name ends with its file, but for a module that is just coming or going.
            RawDevice device, nameless;
            ASSERT_EQ(device.session(session_name, 4096, 4), 0);
            ASSERT_EQ(nameless.session("", 4096, 4), 0);
            for (RawDevice *each : {&device, &nameless})
                ASSERT_EQ(give(*each, {function("ol_first") + function("ol_init", 0), 2}), 0);
            ASSERT_TRUE(eventually([&] { return orders(nameless).at(0).loads >= 2; }));
        }
        ASSERT_EQ(unload_module("argtrace"), 0);
        need_argtrace();
    }
}

/// Sessions that take long to remove, and after them one whose probe waits for the module: its init function is followed.
void make_sessions_that_wait() {
    constexpr int sessions = 12;
    for (int i = 0; i < sessions; i++) {
        RawDevice device;
        ASSERT_EQ(device.session("before_" + std::to_string(i), 4096, 2), 0);
        ASSERT_EQ(device.add(RawProbe::words(address_of("vfs_rename"), 1, "vfs_rename").bytes(), 1), 0);
    }
    RawDevice last;
    ASSERT_EQ(last.session("waits", 4096, 2), 0);
    ASSERT_EQ(give(last, {RawProbe::call(0, 0, "ol_init").bytes()}), 0);
}

// What is followed then would return to a module that is not there any more.
TEST_F(OnLoad, nothing_is_armed_once_argtrace_is_being_unloaded) {
    unsigned while_unloading = 0;
    for (const unsigned delay_ms : {50, 200, 500}) {
        make_sessions_that_wait();
        ASSERT_FALSE(HasFatalFailure());
        const pid_t unloader = fork();
        if (unloader == 0)
            _exit(unload_module("argtrace"));
        usleep(delay_ms * 1000);
        while_unloading += waitpid(unloader, nullptr, WNOHANG) == 0;
        EXPECT_EQ(load_module(module_path, "sleep_ms=3000"), 0);
        waitpid(unloader, nullptr, 0);
        unload();
        // If it was not unloaded then.
        ASSERT_TRUE(eventually([] {
            const int error = unload_module("argtrace");
            return error == 0 || error == ENOENT;
        }));
        need_argtrace();
    }
    EXPECT_GT(while_unloading, 0u) << "it was gone each time: this shows nothing";
}

/// Tracepoints of a module that passes one in its init function.
class OnLoadPoints : public OnLoad {
protected:
    static constexpr char module[] = "argtrace_points";
    static constexpr char path[] = "/root/argtrace_points.ko";

    void SetUp() override {
        OnLoad::SetUp();
        unload_points();
    }
    void TearDown() override {
        OnLoad::TearDown();
        unload_points();
    }

    static void unload_points() {
        ASSERT_TRUE(eventually([] {
            const int error = unload_module(module);
            return error == 0 || error == ENOENT;
        }));
    }

    static std::vector<std::byte> tracepoint(const std::string &title) {
        RawProbe probe = RawProbe::words(0, 1, title);
        probe.header.kind = ARGTRACE_KIND_TRACEPOINT;
        return probe.bytes();
    }

    static Child loader() {
        return Child([] {
            for (;;) {
                load_module(path);
                unload_module(module);
            }
        });
    }
};

TEST_F(OnLoadPoints, orders_go_by_the_last_part_of_the_name) {
    RawDevice device;
    ASSERT_EQ(device.session(), 0);
    // A function and a tracepoint of one name are two; a name is nobody else's, whatever its group is said to be.
    ASSERT_EQ(give(device, {tracepoint("t:argtrace_points:at_empty") + function("at_empty") + tracepoint("pass_write") +
                                function("pass_write") + tracepoint("t:at_point") + tracepoint("t:"),
                            6, module}),
              0);
    std::uint32_t failed = 0;
    EXPECT_EQ(give(device, {tracepoint("t:other:at_point"), 1, module}, &failed), EEXIST);
    EXPECT_EQ(failed, 0u);
    ASSERT_EQ(load_module(path), 0);
    const argtrace_on_load_order order = orders(device).at(0);
    EXPECT_EQ(order.loads, 1u);
    EXPECT_EQ(order.armed, 3u) << "two tracepoints and a function";
    EXPECT_EQ(order.absent, 3u);
    EXPECT_EQ(order.refused, 0u);
    EXPECT_EQ(order.error, 0);
    std::uint64_t passed = 0;
    for (const argtrace_counts &counts : device.counts())
        passed += hits(counts);
    EXPECT_EQ(passed, 1u) << "in the init function";
}

TEST_F(OnLoadPoints, other_kinds_do_not_wait) {
    RawDevice device;
    ASSERT_EQ(device.session(), 0);
    for (const int kind : {int{ARGTRACE_KIND_SYSCALL}, int{ARGTRACE_KIND_TIMER}, ARGTRACE_KIND_TIMER + 1}) {
        RawProbe probe = RawProbe::words(0, 0, "at_empty");
        probe.header.kind = static_cast<std::uint16_t>(kind);
        EXPECT_EQ(give(device, {probe.bytes(), 1, module}), EINVAL) << kind;
    }
    EXPECT_EQ(device.add(tracepoint("t:argtrace_points:at_empty"), 1), EINVAL) << "without an address";
    EXPECT_TRUE(orders(device).empty());
}

TEST_F(OnLoadPoints, those_of_another_build_are_not_traced) {
    RawDevice device;
    ASSERT_EQ(device.session(), 0);
    ASSERT_EQ(give(device, {tracepoint("t:at_empty"), 1, module, "ANOTHERBUILD"}), 0);
    ASSERT_EQ(load_module(path), 0);
    const argtrace_on_load_order order = orders(device).at(0);
    EXPECT_EQ(order.loads, 1u);
    EXPECT_EQ(order.other_builds, 1u);
    EXPECT_EQ(order.armed, 0u);
    EXPECT_TRUE(device.counts().empty());
}

TEST_F(OnLoadPoints, none_is_missed_while_the_module_comes_and_goes) {
    {
        Child loads = loader();
        const Child others([] {
            for (;; usleep(1000)) {
                RawDevice own;
                if (own.session("", 4096, 4) != 0)
                    continue;
                give(own, {tracepoint("t:at_empty") + function("pass_write"), 2, module});
                take_back(own, module);
                give(own, {tracepoint("t:at_point"), 1, module});
            }
        });
        RawDevice device;
        ASSERT_EQ(device.session("", 4096, 4), 0);
        ASSERT_EQ(device.reader(), 0);
        EXPECT_EQ(give(device, {tracepoint("t:at_empty") + tracepoint("t:at_point"), 2, module}), 0);
        ASSERT_TRUE(eventually([&] { return orders(device).at(0).loads >= 20; }));
        loads.kill_and_wait();
        unload_points();
        std::uint64_t passed = 0;
        for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
            RawRing ring(device, cpu, 4096, 4);
            passed += ring.drain() + ring.control()->lost;
        }
        EXPECT_EQ(passed, orders(device).at(0).loads);
    }
    expect_nothing_left();
}

TEST_F(OnLoadPoints, argtrace_goes_while_the_module_comes_and_goes) {
    const Child loads = loader();
    for (int round = 0; round < 5; round++) {
        {
            RawDevice device;
            ASSERT_EQ(device.session("", 4096, 4), 0);
            ASSERT_EQ(give(device, {tracepoint("t:at_empty") + tracepoint("t:at_point"), 2, module}), 0);
            ASSERT_TRUE(eventually([&] { return orders(device).at(0).loads >= 2; }));
        }
        ASSERT_EQ(unload_module("argtrace"), 0);
        need_argtrace();
    }
}

} // namespace
} // namespace vmtest
