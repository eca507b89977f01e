// SPDX-License-Identifier: GPL-2.0-only
// The folders of user/ are layers: a file includes what is in its own folder or in a lower layer.
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
    {"modules", "abi"},
    {"btf", "symbols", "uapi"},
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
        header == "uapi/argtrace_timer.h")
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
    EXPECT_EQ(objection("util", "uapi/probe.h"), "'uapi' is not below 'util'");
    EXPECT_EQ(objection("util", "nowhere/probe.h"), "'nowhere' is no layer: give it a row");
    EXPECT_EQ(objection("util", "glob.h"), "names no folder");
}

/// What the tool shares with the module beside the ABI: a list without kernel state.
constexpr const char *shared_with_module = "../../kmod/source/returns/refused.h";

TEST(Layers, AreKept) {
    const std::regex include(R"re(^\s*#\s*include\s*"([^"]+)")re");
    std::size_t includes = 0;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(ARGTRACE_TEST_USER)) {
        const std::filesystem::path &path = entry.path();
        if (path.extension() != ".h" && path.extension() != ".cpp")
            continue;
        const auto relative = path.lexically_relative(ARGTRACE_TEST_USER);
        std::ifstream file(path);
        std::smatch found;
        for (std::string line; std::getline(file, line);) {
            if (!std::regex_search(line, found, include))
                continue;
            ++includes;
            if (found[1] == shared_with_module)
                continue;
            EXPECT_EQ(objection(relative.begin()->string(), found[1]), "")
                << relative << " includes " << found[1];
        }
    }
    EXPECT_GT(includes, 300u) << "not the tree that was meant";
}

} // namespace
} // namespace argtrace
