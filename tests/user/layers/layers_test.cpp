// SPDX-License-Identifier: GPL-2.0-only
// The folders of user/ are layers, and those of kmod/ are floors: a file includes what is in its own folder or below it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace argtrace {
namespace {

/// From the top. Folders in one row do not know each other. Those that are not there yet have their
/// place already.
const std::vector<std::vector<std::string>> layers = {
    {"cli"},
    {"live", "report"},
    {"answer", "export"},
    {"record", "render"},
    {"analyze", "doctor"},
    {"session", "file"},
    {"decode"},
    {"spec"},
    {"lang"},
    {"modules"},
    {"abi", "dwarf"},
    {"btf", "elf", "symbols", "uapi"},
    {"model"},
    {"util"},
};

std::optional<std::size_t> layer_of(const std::string &folder) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (std::find(layers[i].begin(), layers[i].end(), folder) != layers[i].end())
            return i;
    }
    return std::nullopt;
}

/// What is wrong with including `header` in a file of `folder`; empty if nothing is.
std::string objection(const std::string &folder, const std::string &header) {
    // In include/: the kernel's headers, which every layer may include.
    if (header == "uapi/argtrace.h" || header == "uapi/argtrace_map.h" || header == "uapi/argtrace_program.h" || header == "uapi/argtrace_stack.h" ||
        header == "uapi/argtrace_timer.h" || header == "uapi/argtrace_user.h")
        return "";
    const auto slash = header.find('/');
    if (slash == std::string::npos)
        return "names no folder";
    const std::string other = header.substr(0, slash);
    if (other == folder)
        return "";
    const auto from = layer_of(folder), to = layer_of(other);
    if (!from || !to)
        return "'" + (from ? other : folder) + "' is no layer: give it a row";
    return *to > *from ? "" : "'" + other + "' is not below '" + folder + "'";
}

TEST(Layers, IncludeDownwardsOnly) {
    EXPECT_EQ(objection("render", "util/utf8.h"), "");
    EXPECT_EQ(objection("render", "render/line.h"), "");
    EXPECT_EQ(objection("util", "uapi/argtrace.h"), "");
    EXPECT_EQ(objection("spec", "lang/parser.h"), "");
    EXPECT_EQ(objection("lang", "spec/spec.h"), "'spec' is not below 'lang'");
    EXPECT_EQ(objection("session", "render/line.h"), "'render' is not below 'session'");
    EXPECT_EQ(objection("record", "render/line.h"), "'render' is not below 'record'");
    EXPECT_EQ(objection("export", "render/line.h"), "");
    EXPECT_EQ(objection("render", "export/exporter.h"), "'export' is not below 'render'");
    EXPECT_EQ(objection("live", "session/session.h"), "");
    EXPECT_EQ(objection("live", "answer/pairs.h"), "");
    EXPECT_EQ(objection("live", "cli/options.h"), "'cli' is not below 'live'");
    EXPECT_EQ(objection("live", "report/output.h"), "'report' is not below 'live'");
    EXPECT_EQ(objection("report", "live/tracing.h"), "'live' is not below 'report'");
    EXPECT_EQ(objection("session", "live/tracing.h"), "'live' is not below 'session'");
    EXPECT_EQ(objection("elf", "uapi/argtrace_user.h"), "");
    EXPECT_EQ(objection("elf", "symbols/kallsyms.h"), "'symbols' is not below 'elf'");
    EXPECT_EQ(objection("util", "uapi/probe.h"), "'uapi' is not below 'util'");
    EXPECT_EQ(objection("util", "nowhere/probe.h"), "'nowhere' is no layer: give it a row");
    EXPECT_EQ(objection("util", "glob.h"), "names no folder");
}

/// What the tool shares with the module beside the ABI: a list without kernel state.
constexpr const char *shared_with_module = "../../kmod/source/returns/refused.h";

/// What a file includes with quotation marks.
std::vector<std::string> headers_in(const std::filesystem::path &path) {
    const std::regex include(R"re(^\s*#\s*include\s*"([^"]+)")re");
    std::ifstream file(path);
    std::vector<std::string> headers;
    std::smatch found;
    for (std::string line; std::getline(file, line);)
        if (std::regex_search(line, found, include))
            headers.push_back(found[1]);
    return headers;
}

/// The files of C and C++ below a folder, relative to it.
std::vector<std::filesystem::path> sources_in(const std::filesystem::path &folder) {
    std::vector<std::filesystem::path> sources;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(folder))
        if (const std::string type = entry.path().extension(); type == ".h" || type == ".cpp" || type == ".c" || type == ".S")
            sources.push_back(entry.path().lexically_relative(folder));
    return sources;
}

TEST(Layers, AreKept) {
    const std::filesystem::path user(ARGTRACE_TEST_USER);
    std::size_t includes = 0;
    for (const std::filesystem::path &file : sources_in(user)) {
        for (const std::string &header : headers_in(user / file)) {
            ++includes;
            if (header == shared_with_module)
                continue;
            EXPECT_EQ(objection(file.begin()->string(), header), "") << file << " includes " << header;
        }
    }
    EXPECT_GT(includes, 300u) << "not the tree that was meant";
}

/// From the ground, which has no idea of probes, to the door. docs/architecture.md says what each of them does. Files that are
/// in no folder are named without their extension.
const std::vector<std::vector<std::string>> floors = {
    {"arch", "base"}, {"read", "filter"}, {"sink"}, {"mapping"}, {"stack"},  {"program"}, {"probe"},
    {"lane", "session"}, {"call"},        {"source"}, {"arm"},   {"ioctl"},  {"device", "main"},
};

/// Where a file of the module belongs: its folder, or without one its own name.
std::string place_of(const std::filesystem::path &file) {
    return file.has_parent_path() ? file.begin()->string() : file.stem().string();
}

std::optional<std::size_t> floor_of(const std::string &place) {
    for (std::size_t i = 0; i < floors.size(); ++i)
        if (std::find(floors[i].begin(), floors[i].end(), place) != floors[i].end())
            return i;
    return std::nullopt;
}

/// What is wrong with including `header` in a file of the module; empty if nothing is.
std::string floor_objection(const std::filesystem::path &file, const std::filesystem::path &header) {
    const std::string here = place_of(file), there = place_of(header);
    const auto from = floor_of(here), to = floor_of(there);
    if (!from || !to)
        return "'" + (from ? there : here) + "' is on no floor: give it a row";
    // The ground's two folders are one, and lanes and sessions are described together. Other folders of one floor do not know each
    // other.
    const bool together = here == there || (*from == *to && (*from == 0 || !file.has_parent_path()));
    return together || *to < *from ? "" : "'" + there + "' is not below '" + here + "'";
}

TEST(Layers, FloorsIncludeDownwardsOnly) {
    EXPECT_EQ(floor_objection("probe/plan.c", "base/memory.h"), "");
    EXPECT_EQ(floor_objection("probe/plan.c", "probe/plan.h"), "");
    EXPECT_EQ(floor_objection("session.h", "lane.h"), "");
    EXPECT_EQ(floor_objection("base/clock.h", "arch/clock.h"), "");
    EXPECT_EQ(floor_objection("arch/x86/walk.c", "base/recursion.h"), "");
    EXPECT_EQ(floor_objection("arch/x86/walk.c", "read/load.h"), "'read' is not below 'arch'");
    EXPECT_EQ(floor_objection("main.c", "source/returns/returns.h"), "");
    EXPECT_EQ(floor_objection("sink/ring.c", "session.h"), "'session' is not below 'sink'");
    EXPECT_EQ(floor_objection("sink/ring.c", "stack/table.h"), "'stack' is not below 'sink'");
    EXPECT_EQ(floor_objection("probe/plan.h", "source/returns/returns.h"), "'source' is not below 'probe'");
    EXPECT_EQ(floor_objection("lane.h", "call/record.h"), "'call' is not below 'lane'");
    EXPECT_EQ(floor_objection("attic/x.c", "lane.h"), "'attic' is on no floor: give it a row");
}

TEST(Layers, FloorsAreKept) {
    const std::filesystem::path kmod = std::filesystem::path(ARGTRACE_TEST_USER).parent_path() / "kmod";
    std::size_t includes = 0;
    for (const std::filesystem::path &file : sources_in(kmod)) {
        for (const std::string &header : headers_in(kmod / file)) {
            ++includes;
            // As the compiler looks for it: beside the file, then from kmod/.
            const std::filesystem::path beside = file.parent_path() / header;
            const bool is_beside = std::filesystem::exists(kmod / beside);
            const std::filesystem::path included = is_beside ? beside : std::filesystem::path(header);
            EXPECT_TRUE(std::filesystem::exists(kmod / included)) << file << " includes " << header;
            EXPECT_EQ(floor_objection(file, included), "") << file << " includes " << header;
        }
    }
    EXPECT_GT(includes, 250u) << "not the tree that was meant";
}

} // namespace
} // namespace argtrace
