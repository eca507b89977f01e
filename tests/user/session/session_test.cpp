// SPDX-License-Identifier: GPL-2.0-only
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <iterator>
#include <sstream>
#include <unistd.h>

#include "model/counts.h"
#include "model/module_version.h"
#include "render/info.h"
#include "render/status.h"
#include "session/device.h"
#include "session/open_error.h"
#include "session/options.h"
#include "session/selection.h"
#include "support/packet_builder.h"
#include "support/thrown.h"
#include "util/capabilities.h"
#include "util/output.h"

namespace argtrace {
namespace {

argtrace_info module_info() {
    argtrace_info info{};
    info.size = sizeof(info);
    info.api_version = ARGTRACE_API_VERSION;
    info.record_version = ARGTRACE_RECORD_VERSION;
    info.max_args = 64;
    info.features = ARGTRACE_FEATURE_NAMED;
    info.authority = ARGTRACE_MAY_TRACE;
    info.memory_limit = 256u << 20;
    info.memory_used = 8u << 20;
    info.max_probes = 65536;
    info.packet_size_min = 4096;
    info.packet_size_max = 1u << 20;
    info.nr_packets_max = 1024;
    info.nr_cpus = 2;
    std::strcpy(info.module_version, "0.1.0");
    return info;
}

SessionOptions buffer(std::uint64_t bytes) {
    SessionOptions options;
    options.buffer = bytes;
    return options;
}

TEST(Versions, SameIsFine) {
    EXPECT_NO_THROW(check_versions(module_info()));
}

TEST(Versions, OtherIsASentenceWithBothAndTheWayOut) {
    argtrace_info info = module_info();
    info.api_version = 7;
    info.record_version = 3;
    std::strcpy(info.module_version, "9.8.7");
    std::string text = thrown([&] { check_versions(info); });
    EXPECT_NE(text.find("module (argtrace 9.8.7, API 7, records 3)"), std::string::npos) << text;
    const std::string tool =
        fmt::format("this tool (argtrace {}, API {}, records {})", ARGTRACE_VERSION,
                    ARGTRACE_API_VERSION, ARGTRACE_RECORD_VERSION);
    EXPECT_NE(text.find(tool), std::string::npos) << text;
    EXPECT_NE(text.find("rmmod argtrace && modprobe argtrace"), std::string::npos) << text;

    info = module_info();
    info.record_version = ARGTRACE_RECORD_VERSION + 1;
    EXPECT_THROW(check_versions(info), Error);
    std::memset(info.module_version, 'x', sizeof(info.module_version)); // no NUL
    EXPECT_EQ(module_version(info).size(), sizeof(info.module_version));
}

TEST(OpenErrors, SayTheWayOut) {
    const OpenCircumstances root{.root = true, .lockdown = "[none] integrity confidentiality\n"};
    const OpenCircumstances locked{.root = true, .lockdown = "none [integrity] confidentiality\n"};
    EXPECT_STREQ(explain_open(ENOENT, root).what(), "the argtrace module is not loaded: run `modprobe argtrace` (or "
                                                    "`insmod argtrace.ko`)");
    EXPECT_STREQ(explain_open(EACCES, {.lockdown = locked.lockdown}).what(),
                 "no permission to open /dev/argtrace: run as root; a udev rule can open it to a "
                 "group of users (see ACCESS in argtrace(1))");
    for (const char *lockdown : {root.lockdown.c_str(), "", "][", "no brackets"})
        EXPECT_STREQ(explain_open(EPERM, {.root = true, .lockdown = lockdown}).what(),
                     "no permission to trace: run as root (CAP_SYS_ADMIN or CAP_PERFMON is "
                     "needed)");
    std::string text = explain_open(EPERM, locked).what();
    EXPECT_NE(text.find("locked down (integrity)"), std::string::npos) << text;
    EXPECT_NE(std::string(explain_open(EMFILE, root).what()).find("Too many open files"),
              std::string::npos);
}

TEST(OpenErrors, NameTheModeToWhoeverMayTrace) {
    constexpr std::uint64_t perfmon = 1ull << CAP_PERFMON, admin = 1ull << CAP_SYS_ADMIN;
    const OpenCircumstances::Access of_root{0600, "root", "root"}, of_a_group{0660, "root", "tracing"},
        read_only{0640, "root", "tracing"};
    const auto text = [](std::uint64_t capabilities, const std::optional<OpenCircumstances::Access> &access) {
        return std::string(explain_open(EACCES, {.capabilities = capabilities, .access = access}).what());
    };
    const std::string new_rule = "but must be able to open the file as well; write a udev rule with MODE=\"0660\" and as "
                                 "GROUP= a group that its user is in (see ACCESS in argtrace(1))";
    EXPECT_EQ(text(perfmon, of_root), "no permission to open /dev/argtrace, which belongs to root:root and has mode 0600: "
                                      "this process has CAP_PERFMON, " + new_rule);
    EXPECT_EQ(text(admin | perfmon, read_only), "no permission to open /dev/argtrace, which belongs to root:tracing and has "
                                                "mode 0640: this process has CAP_SYS_ADMIN, " + new_rule);
    EXPECT_EQ(text(perfmon, of_a_group),
              "no permission to open /dev/argtrace, which belongs to root:tracing and has mode 0660: this process has "
              "CAP_PERFMON, but must be able to open the file as well; add its user to the group tracing, or change "
              "GROUP=\"tracing\" in the udev rule to a group that its user is in (see ACCESS in argtrace(1))");
    for (const auto &without : {text(1ull << CAP_BPF, of_root), text(perfmon, {})})
        EXPECT_NE(without.find("run as root"), std::string::npos) << without;
}

TEST(OpenErrors, NoDeviceNoModule) {
    EXPECT_EQ(thrown([] { Device::open("/nowhere/argtrace"); }),
              std::string(explain_open(ENOENT, {}).what()));
    std::string text = thrown([] { Device::open("/dev/null"); });
    EXPECT_NE(text.find("does not belong to the argtrace module"), std::string::npos) << text;
}

TEST(RequestErrors, NameTheParameter) {
    std::string text = explain_request("make a session", ENOSPC, module_info()).what();
    EXPECT_NE(text.find("memory limit of 256M"), std::string::npos) << text;
    EXPECT_NE(text.find("8M are in use"), std::string::npos) << text;
    EXPECT_NE(text.find("memory_limit_mb"), std::string::npos) << text;
    EXPECT_STREQ(explain_request("read the session", EIO, module_info()).what(),
                 "cannot read the session: Input/output error");
    EXPECT_STREQ(explain_request("add the functions", ESHUTDOWN, module_info()).what(),
                 "cannot add the functions: the argtrace module is being unloaded; load it again with `modprobe argtrace`");
}

TEST(Options, NothingGivenIsTheModulesChoice) {
    argtrace_session_attr attr = session_attributes({}, module_info());
    EXPECT_EQ(attr.packet_size, 0u);
    EXPECT_EQ(attr.nr_packets, 0u);
    EXPECT_EQ(attr.format, 0u);
}

TEST(Options, Buffer) {
    auto geometry = [](std::uint64_t bytes) {
        argtrace_session_attr attr = session_attributes(buffer(bytes), module_info());
        return std::pair(attr.packet_size, attr.nr_packets);
    };
    using Geometry = std::pair<__u32, __u32>;
    EXPECT_EQ(geometry(4u << 20), Geometry(65536, 64));
    EXPECT_EQ(geometry(128u << 10), Geometry(65536, 2));
    EXPECT_EQ(geometry(64u << 10), Geometry(32768, 2));
    EXPECT_EQ(geometry(8u << 10), Geometry(4096, 2));
    EXPECT_EQ(geometry((4u << 20) + 1), Geometry(65536, 128)); // rounded up
    EXPECT_EQ(geometry(64u << 20), Geometry(65536, 1024));
    EXPECT_EQ(geometry(128u << 20), Geometry(131072, 1024)); // more packets are not possible
    EXPECT_EQ(geometry(1u << 30), Geometry(1u << 20, 1024));
    EXPECT_EQ(thrown([&] { geometry(8191); }),
              "a buffer of 8191 per CPU is not possible: give 8K to 1G");
    EXPECT_THROW(geometry((1u << 30) + 1), Error);
    EXPECT_THROW(geometry(~0ull), Error);
}

TEST(Options, FlightRecordersHaveManySmallPackets) {
    argtrace_info info = module_info();
    info.features = ARGTRACE_FEATURE_FLIGHT;
    auto geometry = [&](std::optional<std::uint64_t> bytes) {
        SessionOptions options;
        options.flight = true;
        options.buffer = bytes;
        argtrace_session_attr attr = session_attributes(options, info);
        EXPECT_EQ(attr.flags, ARGTRACE_SESSION_FLIGHT);
        return std::pair(attr.packet_size, attr.nr_packets);
    };
    using Geometry = std::pair<__u32, __u32>;
    EXPECT_EQ(geometry({}), Geometry(16384, 256));
    EXPECT_EQ(geometry(64u << 20), Geometry(65536, 1024)); // more packets are not possible
    EXPECT_EQ(geometry(128u << 10), Geometry(8192, 16));
    EXPECT_EQ(geometry(8u << 10), Geometry(4096, 2));
    info.features = 0;
    EXPECT_EQ(thrown([&] { geometry({}); }),
              "the loaded module has no flight recorder: leave out --flight");
}

TEST(Options, Format) {
    SessionOptions options;
    options.named = true;
    options.no_caller = true;
    argtrace_info info = module_info();
    EXPECT_EQ(session_attributes(options, info).format,
              unsigned{ARGTRACE_FORMAT_NAMED | ARGTRACE_FORMAT_NO_CALLER});
    info.features = 0;
    EXPECT_THROW(session_attributes(options, info), Error);
}

TEST(Options, AgainstASessionThatIsThere) {
    argtrace_info info = module_info();
    argtrace_session_attr session{};
    session.packet_size = 65536;
    session.nr_packets = 64;
    EXPECT_NO_THROW(check_attributes(session, {}, info));
    EXPECT_NO_THROW(check_attributes(session, buffer(4u << 20), info));
    EXPECT_NO_THROW(check_attributes(session, buffer(3u << 20), info)); // rounded to the same
    EXPECT_EQ(thrown([&] { check_attributes(session, buffer(16u << 20), info); }),
              "there is a session already, with a buffer of 4M per CPU: end it with "
              "`argtrace clear` before you use --buffer 16M");
    SessionOptions options;
    options.named = false;
    EXPECT_NO_THROW(check_attributes(session, options, info));
    options.named = true;
    EXPECT_THROW(check_attributes(session, options, info), Error);
    options = {};
    options.no_caller = true;
    EXPECT_THROW(check_attributes(session, options, info), Error);
    session.format = ARGTRACE_FORMAT_NO_CALLER;
    EXPECT_NO_THROW(check_attributes(session, options, info));
    info.features = ARGTRACE_FEATURE_FLIGHT;
    options = {};
    options.flight = true;
    EXPECT_EQ(
        thrown([&] { check_attributes(session, options, info); }),
        "there is a session already, which is no flight recorder: end it with `argtrace clear` "
        "before you use --flight");
    session.flags = ARGTRACE_SESSION_FLIGHT;
    EXPECT_NO_THROW(check_attributes(session, options, info));
    EXPECT_NO_THROW(check_attributes(session, {}, info)); // add to it without saying it again
}

std::vector<Probe> three_probes() {
    std::vector<Probe> probes(3);
    probes[0].function = "vfs_read";
    probes[0].addr = 30;
    probes[1].function = "vfs_write";
    probes[1].addr = 20;
    probes[2].function = "do_exit";
    probes[2].addr = 10;
    return probes;
}

std::vector<ProbePlace> functions_at(std::initializer_list<std::uint64_t> addrs) {
    std::vector<ProbePlace> places;
    for (const std::uint64_t addr : addrs)
        places.push_back({ARGTRACE_KIND_ENTRY, addr});
    return places;
}

// A function and a tracepoint may have one address, and the same pattern never means both.
TEST(Selection, Tracepoints) {
    std::vector<Probe> probes(3);
    probes[0].function = "__traceiter_sched_switch";
    probes[0].addr = 10;
    probes[1].function = "t:sched:sched_switch";
    probes[1].addr = 10;
    probes[1].kind = ARGTRACE_KIND_TRACEPOINT;
    probes[2].function = "t:pelt_cfs_tp";
    probes[2].addr = 20;
    probes[2].kind = ARGTRACE_KIND_TRACEPOINT;
    const auto select = [&probes](std::vector<std::string> words) {
        return select_places(probes, parse_specs(words, PatternSyntax::glob));
    };
    using Places = std::vector<ProbePlace>;
    EXPECT_EQ(select({"*"}), functions_at({10}));
    EXPECT_EQ(select({"t:*"}),
              (Places{{ARGTRACE_KIND_TRACEPOINT, 10}, {ARGTRACE_KIND_TRACEPOINT, 20}}));
    EXPECT_EQ(select({"t:sched:*"}), (Places{{ARGTRACE_KIND_TRACEPOINT, 10}}));
    EXPECT_EQ(select({"tracepoint:sched_switch"}), (Places{{ARGTRACE_KIND_TRACEPOINT, 10}}));
    EXPECT_EQ(select({"t:*", "!t:sched:*"}), (Places{{ARGTRACE_KIND_TRACEPOINT, 20}}));
    EXPECT_EQ(thrown([&] { select({"t:sched:pelt_cfs_tp"}); }),
              "t:sched:pelt_cfs_tp: is not traced; did you mean t:pelt_cfs_tp?");
}

TEST(Selection, NamesAndGlobs) {
    auto select = [](std::vector<std::string> words) {
        return select_places(three_probes(), parse_specs(words, PatternSyntax::glob));
    };
    EXPECT_EQ(select({"vfs_read"}), functions_at({30}));
    EXPECT_EQ(select({"vfs_*", "vfs_read"}), functions_at({20, 30}));
    EXPECT_EQ(select({"*"}), functions_at({10, 20, 30}));
    EXPECT_EQ(thrown([&] {
                  select({"vfs_write", "vfs_raed"});
              }),
              "vfs_raed: is not traced; did you mean vfs_read?");
    EXPECT_EQ(thrown([&] { select({"zzz"}); }), "zzz: is not traced");
    EXPECT_EQ(thrown([&] { select({"ext4_*"}); }), "ext4_*: no function that is traced matches");
}

TEST(Selection, Patterns) {
    auto select = [](std::vector<std::string> words, PatternSyntax syntax = PatternSyntax::glob) {
        return select_places(three_probes(), parse_specs(words, syntax));
    };
    EXPECT_EQ(select({"!vfs_read", "*"}), functions_at({10, 20}));
    EXPECT_EQ(select({"^vfs_(read|write)$"}, PatternSyntax::regex), functions_at({20, 30}));
    EXPECT_EQ(thrown([&] {
                  select({"vfs_read", "!vfs_*"});
              }),
              "no function is left to remove: all that are named are excluded with '!'");
    EXPECT_EQ(thrown([&] { select({"!vfs_*"}); }),
              "only exclusions are given; add '*'\n"
              "  !vfs_*\n"
              "  ^");
    EXPECT_EQ(thrown([&] { select({"vmlinux:vfs_read"}); }),
              "the functions that are traced go by their names alone, without a module\n"
              "  vmlinux:vfs_read\n"
              "  ^");
    EXPECT_EQ(thrown([&] { select({"vfs_read (file)"}); }),
              "a function is removed as a whole, not some of its arguments\n"
              "  vfs_read (file)\n"
              "           ^");
}

std::vector<argtrace_counts> two_counts() {
    std::vector<argtrace_counts> counts(2);
    counts[0].records = 10;
    counts[0].filtered = 2;
    counts[0].lost[ARGTRACE_LOST_FULL] = 3;
    counts[0].lost[ARGTRACE_LOST_RECURSION] = 1;
    counts[1].records = 5;
    counts[1].lost[ARGTRACE_LOST_MAX - 1] = 7; // a cause of a later module
    return counts;
}

TEST(Counts, EveryCallHasOneOutcome) {
    auto counts = two_counts();
    EXPECT_EQ(hits(counts[0]), 16u);
    EXPECT_EQ(lost_total(counts[0]), 4u);
    EXPECT_EQ(hits(counts[1]), 12u);
    EXPECT_EQ(describe_lost(counts[0]), "3 ring full, 1 inside argtrace itself");
    EXPECT_EQ(describe_lost(counts[1]), "7 another cause");
    counts[0] = total_of(counts);
    EXPECT_EQ(hits(counts[0]), 28u);
    EXPECT_EQ(describe_lost(argtrace_counts{}), "");

    counts[1].sampled = 100;
    counts[1].capped = 20;
    counts[1].faults = 1000; // beside what became of the calls
    EXPECT_EQ(hits(counts[1]), 132u);
    counts[0] = total_of(counts);
    EXPECT_EQ(hits(counts[0]), 28u + 132);
    EXPECT_EQ(counts[0].sampled, 100u);
    EXPECT_EQ(counts[0].capped, 20u);
    EXPECT_EQ(counts[0].faults, 1000u);
}

TEST(Status, Json) {
    auto probes = three_probes();
    probes.resize(2);
    std::string out;
    append_status_json(out, probes, two_counts());
    EXPECT_EQ(out.substr(0, out.find('\n')),
              "{\"func\":\"vfs_read\",\"hits\":16,\"records\":10,\"lost\":{\"full\":3,"
              "\"recursion\":1,\"no_buffer\":0},\"filtered\":2,\"sampled\":0,\"capped\":0,\"faults\":0}");
    std::string last = out.substr(out.rfind('\n', out.size() - 2) + 1);
    auto totals = nlohmann::json::parse(last);
    EXPECT_FALSE(totals.contains("func"));
    EXPECT_EQ(totals["hits"], 28);
    EXPECT_EQ(totals["records"], 15);
    EXPECT_EQ(totals["filtered"], 2);

    out.clear();
    append_status_json(out, {}, {});
    EXPECT_EQ(out, "{\"hits\":0,\"records\":0,\"lost\":{\"full\":0,\"recursion\":0,"
                   "\"no_buffer\":0},\"filtered\":0,\"sampled\":0,\"capped\":0,\"faults\":0}\n");
}

TEST(Status, JsonOfWhatProgramsCount) {
    auto probes = three_probes();
    probes.resize(2);
    auto counts = two_counts();
    counts[0].sampled = 3;
    counts[0].capped = 4;
    counts[1].capped = 1;
    counts[1].faults = 9;
    std::string out;
    append_status_json(out, probes, counts);
    EXPECT_NE(out.find("{\"func\":\"vfs_read\",\"hits\":23,"), out.npos) << out;
    EXPECT_TRUE(out.ends_with(",\"filtered\":2,\"sampled\":3,\"capped\":5,\"faults\":9}\n")) << out;
}

TEST(Status, Text) {
    auto probes = three_probes();
    probes.resize(2);
    std::string out;
    append_status_text(out, probes, two_counts());
    EXPECT_EQ(out, "FUNC       HITS  RECORDS  LOST  FILTERED\n"
                   "vfs_read     16       10     4         2\n"
                   "vfs_write    12        5     7         0\n"
                   "total        28       15    11         2\n");
}

TEST(Status, SaysWhoFollowsReturns) {
    auto probes = three_probes();
    probes.resize(2);
    probes[0].flags |= ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0);
    probes[1].flags = probes[0].flags | ARGTRACE_PROBE_BY_KRETPROBE | ARGTRACE_PROBE_BY_REASON(ARGTRACE_BY_BPF);
    std::string out;
    append_status_json(out, probes, two_counts());
    EXPECT_TRUE(out.starts_with("{\"func\":\"vfs_read\",\"return_by\":\"trampoline\",\"hits\"")) << out;
    EXPECT_NE(out.find("{\"func\":\"vfs_write\",\"return_by\":\"kretprobe\",\"return_by_reason\":\"bpf\",\"hits\""), out.npos)
        << out;
    out.clear();
    append_status_text(out, probes, two_counts());
    EXPECT_TRUE(out.ends_with("\nreturns by kretprobe (a BPF program comes first): vfs_write\n")) << out;
    // Only the first of many is named.
    const Probe one = probes[1];
    probes.assign(11, one);
    out.clear();
    append_status_text(out, probes, std::vector<argtrace_counts>(probes.size()));
    EXPECT_TRUE(out.ends_with("vfs_write, vfs_write and 3 more\n")) << out;
}

TEST(Status, TextOfWhatProgramsCount) {
    auto probes = three_probes();
    probes.resize(2);
    auto counts = two_counts();
    counts[1].faults = 123456789;
    std::string out;
    append_status_text(out, probes, counts);
    EXPECT_EQ(out, "FUNC       HITS  RECORDS  LOST  FILTERED     FAULTS\n"
                   "vfs_read     16       10     4         2          0\n"
                   "vfs_write    12        5     7         0  123456789\n"
                   "total        28       15    11         2  123456789\n");
    counts[0].sampled = 100;
    counts[1].capped = 8;
    out.clear();
    append_status_text(out, probes, counts);
    EXPECT_EQ(out,
              "FUNC       HITS  RECORDS  LOST  FILTERED  SAMPLED  CAPPED     FAULTS\n"
              "vfs_read    116       10     4         2      100       0          0\n"
              "vfs_write    20        5     7         0        0       8  123456789\n"
              "total       136       15    11         2      100       8  123456789\n");
    // As wide as the terminal, as long as numbers leave any room.
    probes[0].function = std::string(70, 'x');
    out.clear();
    append_status_text(out, probes, counts, {}, std::nullopt, 80);
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(line.size(), 80u) << line;
    for (auto *count : {&counts[0].records, &counts[0].sampled, &counts[0].capped})
        *count = 1'000'000'000'000'000'000;
    out.clear();
    append_status_text(out, probes, counts, {}, std::nullopt, 80);
    EXPECT_NE(out.find("\ntotal  3000"), out.npos) << out;
}

TEST(Status, FitsALineWhereNamesAreLong) {
    auto probes = three_probes();
    probes.resize(2);
    probes[0].function = std::string(70, 'x');
    std::string out;
    append_status_text(out, probes, two_counts(), {}, std::nullopt, 80);
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(line.size(), 80u) << line;
    EXPECT_NE(out.find("\n" + probes[0].function + "\n"), out.npos) << out;
    // A wider terminal has room for it.
    out.clear();
    append_status_text(out, probes, two_counts(), {}, std::nullopt, 120);
    EXPECT_NE(out.find("\n" + probes[0].function + "    16 "), out.npos) << out;
}

// As in `argtrace status | sort -k2 -rn`.
TEST(Status, ARowIsALineWhereThereIsNoTerminal) {
    auto probes = three_probes();
    probes.resize(2);
    probes[0].function = std::string(127, 'x');
    std::string out;
    append_status_text(out, probes, two_counts());
    std::istringstream lines(out);
    std::size_t rows = 0;
    for (std::string line; std::getline(lines, line); ++rows) {
        std::istringstream words(line);
        const std::vector<std::string> cells{std::istream_iterator<std::string>(words), {}};
        EXPECT_EQ(cells.size(), 5u) << line;
    }
    EXPECT_EQ(rows, 4u) << out;
}

TEST(Status, IsSorted) {
    const auto names = [](StatusOrder order) {
        auto probes = three_probes();
        std::vector<argtrace_counts> counts(3);
        counts[0].records = 1; // of each function another count is the largest
        counts[1].filtered = 7;
        counts[2].lost[ARGTRACE_LOST_FULL] = 4;
        counts[0].sampled = 1;
        counts[1].capped = 1;
        counts[2].faults = 1;
        sort_status(probes, counts, order);
        return probes[0].function;
    };
    const auto probes = three_probes();
    EXPECT_EQ(names(parse_status_order("hits")), probes[1].function);
    EXPECT_EQ(names(parse_status_order("records")), probes[0].function);
    EXPECT_EQ(names(parse_status_order("lost")), probes[2].function);
    EXPECT_EQ(names(parse_status_order("filtered")), probes[1].function);
    EXPECT_EQ(names(parse_status_order("sampled")), probes[0].function);
    EXPECT_EQ(names(parse_status_order("capped")), probes[1].function);
    EXPECT_EQ(names(parse_status_order("faults")), probes[2].function);
    EXPECT_EQ(names(parse_status_order("name")),
              std::min({probes[0].function, probes[1].function, probes[2].function}));
    EXPECT_THROW(parse_status_order("nonsense"), Error);
}

TEST(Status, FunctionsThatWereNotCalledCanBeLeftOut) {
    auto probes = three_probes();
    std::vector<argtrace_counts> counts(3);
    counts[1].filtered = 7;
    const std::string called = probes[1].function;
    EXPECT_EQ(drop_uncalled(probes, counts), 2u);
    ASSERT_EQ(probes.size(), 1u);
    EXPECT_EQ(probes[0].function, called);
    ASSERT_EQ(counts.size(), 1u);
    EXPECT_EQ(counts[0].filtered, 7u);
}

TEST(Status, OfAFlightRecorder) {
    auto probes = three_probes();
    probes.resize(2);
    std::string out;
    const SessionState state{ARGTRACE_CLOCK_MONOTONIC, {}, 12};
    append_status_text(out, probes, two_counts(), {}, state);
    EXPECT_TRUE(out.ends_with("\nflight recorder: 12 of the records have been overwritten since\n"))
        << out;
    out.clear();
    append_status_json(out, probes, two_counts(), {}, state);
    EXPECT_TRUE(out.ends_with(",\"filtered\":2,\"sampled\":0,\"capped\":0,\"faults\":0,\"overwritten\":12,\"clock\":\"mono\"}\n")) << out;
    EXPECT_EQ(out.find("overwritten"), out.rfind("overwritten")) << "known of all together only";
}

TEST(Status, OfSomeProcesses) {
    auto probes = three_probes();
    probes.resize(2);
    std::string out;
    const SessionState state{ARGTRACE_CLOCK_TSC, {{12, 345}, true}, std::nullopt};
    append_status_text(out, probes, two_counts(), {}, state);
    EXPECT_TRUE(out.ends_with("2\nclock: tsc\nonly calls of processes 12, 345 and their children; "
                              "the others are filtered\n"))
        << out;
    out.clear();
    append_status_json(out, probes, two_counts(), {}, state);
    EXPECT_TRUE(out.ends_with(
        ",\"filtered\":2,\"sampled\":0,\"capped\":0,\"faults\":0,\"clock\":\"tsc\",\"processes\":[12,345],\"children\":true}\n"))
        << out;
}

TEST(Status, OfOneThatTakesStacks) {
    auto probes = three_probes();
    probes.resize(2);
    SessionState state{ARGTRACE_CLOCK_TSC, {}, std::nullopt};
    state.stack_loss = StackLoss{};
    std::string out;
    append_status_text(out, probes, two_counts(), {}, state);
    EXPECT_EQ(out.find("no stack"), out.npos) << out;
    out.clear();
    append_status_json(out, probes, two_counts(), {}, state);
    EXPECT_TRUE(out.ends_with(",\"stacks_lost\":{\"full\":0,\"recursion\":0,\"unknown\":0},\"clock\":\"tsc\"}\n")) << out;
    state.stack_loss = StackLoss{12, 0, 3};
    out.clear();
    append_status_text(out, probes, two_counts(), {}, state);
    EXPECT_TRUE(out.ends_with("\n15 calls have no stack: 12 with no room for one more, 3 that the kernel's unwinder does not know\n"))
        << out;
    EXPECT_EQ(stack_loss_sentence({0, 1, 0}), "1 call has no stack: 1 while the kernel's unwinder was at work");
}

TEST(Status, OfOneThatTakesStacksOfUserCode) {
    UserStackLoss loss;
    EXPECT_TRUE(stack_loss_sentences(loss).empty());
    loss.lost[ARGTRACE_STACK_LOST_FULL] = 1;
    loss.incomplete[ARGTRACE_END_NO_TABLE] = 2;
    loss.incomplete[ARGTRACE_END_32_BIT] = 1;
    EXPECT_EQ(stack_loss_sentences(loss),
              (std::vector<std::string>{"1 call has no stack of user code: 1 with no room for one more",
                                        "3 stacks of user code are incomplete, which [... REASON] shows: 2 in code that nothing says how to "
                                        "unwind, 1 of 32-bit code"}));
    std::string out;
    append_stack_loss_json(out, loss);
    EXPECT_EQ(out, ",\"user_stacks_lost\":{\"full\":1,\"recursion\":0,\"unknown\":0},\"user_stacks_incomplete\":{\"no_table\":2,"
                   "\"no_rule\":0,\"unreadable\":0,\"no_call\":0,\"unmapped\":0,\"32_bit\":1},"
                   "\"user_mappings_lost\":{\"files\":0,\"processes\":0,\"tables\":0}");
    UserStackLoss mappings;
    mappings.unnumbered = 1;
    mappings.unknown = 2;
    mappings.refused = 3;
    EXPECT_EQ(stack_loss_sentences(mappings),
              (std::vector<std::string>{"1 mapping of files was not followed, as there were too many files or no memory: its code is in [anonymous]",
                                        "the mappings of 2 processes are not known, as there was no memory",
                                        "the module has refused the unwind table of 3 files, without which stacks may be incomplete, as its "
                                        "memory limit leaves no room: raise it, in /sys/module/argtrace/parameters/memory_limit_mb"}));
}

TEST(Status, StacksWithoutRoomHaveARemedy) {
    EXPECT_EQ(stack_loss_remedy({0, 4, 5}, 4096, true), "");
    EXPECT_EQ(stack_loss_remedy({1, 0, 0}, 4096, true), "make room for more stacks with --stack-table-size 32768");
    EXPECT_EQ(stack_loss_remedy({1, 0, 0}, ARGTRACE_STACK_ENTRIES_MIN, false),
              "make room for more stacks: `argtrace clear`, then `argtrace add --stack-table-size 512 ...`");
    EXPECT_EQ(stack_loss_remedy({1, 0, 0}, ARGTRACE_STACK_ENTRIES_MAX / 2, true),
              "make room for more stacks with --stack-table-size 1048576");
    EXPECT_EQ(stack_loss_remedy({1, 0, 0}, ARGTRACE_STACK_ENTRIES_MAX, true),
              "no table has room for more than 1048576 stacks: take those of fewer functions, or of calls that a condition chooses");
}

TEST(Status, EachCauseOfLossHasItsRemedy) {
    argtrace_counts counts{};
    EXPECT_TRUE(loss_remedies(counts, false, true, "16M").empty());
    counts.lost[ARGTRACE_LOST_FULL] = 1;
    EXPECT_EQ(loss_remedies(counts, false, true, "16M"),
              std::vector<std::string>{"calls were lost to full rings: use --buffer 16M"});
    EXPECT_EQ(loss_remedies(counts, false, false, "16M"),
              std::vector<std::string>{"calls were lost to full rings: `argtrace clear`, then "
                                       "`argtrace add --buffer 16M ...`"});
    EXPECT_EQ(loss_remedies(counts, true, false, "16M"),
              std::vector<std::string>{"calls were lost to interrupts that filled a whole ring at "
                                       "once: `argtrace clear`, then `argtrace add --flight "
                                       "--buffer 16M ...`"});
    counts.lost[ARGTRACE_LOST_RECURSION] = 1;
    counts.lost[ARGTRACE_LOST_NO_BUFFER] = 1;
    auto all = loss_remedies(counts, false, false, "16M");
    ASSERT_EQ(all.size(), 3u);
    EXPECT_NE(all[1].find("end other tracers"), std::string::npos);
    EXPECT_NE(all[2].find("`argtrace clear`, then `argtrace add --buffer"), std::string::npos);
}

TEST(Status, CallsInFlightAndNotFollowedAreHits) {
    auto probes = three_probes();
    probes.resize(2);
    probes[0].id = 7;
    probes[1].id = 8;
    probes[1].flags |= ARGTRACE_PROBE_RETURN;
    std::vector<argtrace_counts> counts(2);
    counts[0].records = 3;
    SessionState state{ARGTRACE_CLOCK_TSC, {}, std::nullopt};
    state.returns[8].in_flight = 2;
    state.returns[8].unfollowed[ARGTRACE_UNFOLLOWED_TAKEN] = 40;
    std::string out;
    append_status_text(out, probes, counts, {}, state);
    EXPECT_NE(out.find("HITS  RECORDS  LOST  FILTERED  IN-FLIGHT  UNFOLLOWED\n"), out.npos) << out;
    EXPECT_NE(out.find("42        0     0         0          2          40\n"), out.npos) << out;
    EXPECT_NE(out.find("45        3     0         0          2          40\n"), out.npos) << out;
    EXPECT_NE(out.find("2 in flight, 40 taken elsewhere by another session, a live patch or another tracer\n"), out.npos) << out;
    EXPECT_NE(out.find("--return-by"), out.npos) << out;
    out.clear();
    append_status_json(out, probes, counts, {}, state);
    EXPECT_NE(out.find("\"hits\":42,"), out.npos) << out;
    EXPECT_NE(out.find("\"hits\":45,"), out.npos) << out;
    EXPECT_NE(out.find("\"in_flight\":2,\"unfollowed\":{\"stack\":0,\"taken\":40,"), out.npos) << out;

    sort_status(probes, counts, StatusOrder::hits, state.returns);
    EXPECT_EQ(probes[0].id, 8u);
    EXPECT_EQ(drop_uncalled(probes, counts, state.returns), 0u);
    EXPECT_EQ(drop_uncalled(probes, counts), 1u);
}

TEST(Status, CallsTakenElsewhereHaveARemedy) {
    ReturnTotals returns;
    returns.unfollowed.fill(1);
    returns.unfollowed[ARGTRACE_UNFOLLOWED_TAKEN] = 0;
    EXPECT_EQ(taken_remedy(returns), "");
    returns.unfollowed[ARGTRACE_UNFOLLOWED_TAKEN] = 1;
    EXPECT_NE(taken_remedy(returns).find("--return-by"), std::string::npos);
}

TEST(Status, MarksWhatIsForced) {
    auto probes = three_probes();
    probes.resize(2);
    probes[1].forced = true;
    std::string out;
    append_status_text(out, probes, two_counts());
    EXPECT_NE(out.find("\nvfs_write~ "), out.npos) << out;
    out.clear();
    append_status_json(out, probes, two_counts());
    EXPECT_NE(out.find("{\"func\":\"vfs_write\",\"forced\":true,\"hits\":"), out.npos) << out;
}

TEST(Summary, OneSentence) {
    auto counts = two_counts();
    EXPECT_EQ(trace_summary(10, counts[0]),
              "10 events shown; 16 calls: 10 recorded, 4 lost (3 ring full, 1 inside argtrace "
              "itself), 2 filtered");
    argtrace_counts one{};
    one.records = 1;
    EXPECT_EQ(trace_summary(1, one), "1 event shown; 1 call: 1 recorded, 0 lost, 0 filtered");

    EXPECT_EQ(calls_summary(one, 0), "1 call: 1 recorded, 0 lost, 0 filtered, 0 overwritten since");
    one.faults = 1;
    EXPECT_EQ(calls_summary(one), "1 call: 1 recorded, 0 lost, 0 filtered; 1 fault");
    one.sampled = 3;
    one.capped = 4;
    one.faults = 5;
    EXPECT_EQ(calls_summary(one),
              "8 calls: 1 recorded, 0 lost, 0 filtered, 3 sampled out, 4 capped; 5 faults");
    EXPECT_EQ(calls_summary(one, 6), "8 calls: 1 recorded, 0 lost, 0 filtered, 3 sampled out, 4 capped, 6 "
                                     "overwritten since; 5 faults");
}

TEST(Info, TextAndJson) {
    argtrace_info info = module_info();
    std::string text, json;
    append_info_text(text, "6.12.0", &info);
    EXPECT_NE(text.find(fmt::format("module                  0.1.0, API {}, records {}\n",
                                    ARGTRACE_API_VERSION, ARGTRACE_RECORD_VERSION)),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("8M of 256M in use\n"), std::string::npos);

    append_info_json(json, "6.12.0", &info);
    auto object = nlohmann::json::parse(json);
    EXPECT_EQ(object["tool"]["version"], ARGTRACE_VERSION);
    EXPECT_EQ(object["kernel"], "6.12.0");
    EXPECT_EQ(object["module"]["features"][0], "named");
    EXPECT_NE(text.find("authority               trace\n"), std::string::npos) << text;
    EXPECT_EQ(object["module"]["authority"], nlohmann::json::array({"trace"}));
    EXPECT_EQ(object["module"]["memory_limit"], 256u << 20);

    json.clear();
    info.features = ARGTRACE_FEATURE_TIMER | 1ull << 63;
    append_info_json(json, "6.12.0", &info);
    EXPECT_EQ(nlohmann::json::parse(json)["module"]["features"], nlohmann::json::array({"timer", "bit 63"}));

    json.clear();
    append_info_json(json, "6.12.0", nullptr);
    EXPECT_TRUE(nlohmann::json::parse(json)["module"].is_null());
}

TEST(OutputTest, TellsWhenNobodyReads) {
    auto before = std::signal(SIGPIPE, SIG_IGN);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    Fd reader(ends[0]), writer(ends[1]);
    Output output(writer.get());
    output.buffer() += "hello\n";
    EXPECT_FALSE(output.full());
    EXPECT_TRUE(output.flush());
    EXPECT_TRUE(output.buffer().empty());
    char text[16];
    EXPECT_EQ(::read(reader.get(), text, sizeof(text)), 6);

    EXPECT_FALSE(output.abandoned());
    reader = Fd();
    EXPECT_TRUE(output.abandoned());
    output.buffer() += "more";
    EXPECT_FALSE(output.flush());
    std::signal(SIGPIPE, before);
}

} // namespace
} // namespace argtrace
