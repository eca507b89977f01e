// SPDX-License-Identifier: GPL-2.0-only
#include "export/folded.h"

#include <fmt/format.h>

namespace argtrace {

std::string FoldedExporter::describe_left_out(const CallTree &tree) {
    std::string text;
    const auto add = [&text](std::uint64_t count, std::string_view what) {
        if (count > 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
    };
    add(tree.without_duration(), "calls without a duration are not in it");
    add(tree.merged(), "calls are counted for their callers, as there were too many different "
                       "chains of them");
    return text;
}

void FoldedExporter::write(const CallNode &node, std::string &path) {
    if (node.self > 0)
        file_.write(fmt::format("{} {}\n", path, node.self));
    const std::size_t length = path.size();
    for (const auto &[name, callee] : node.callees) {
        path += length > 0 ? ";" : "";
        path += name;
        write(*callee, path);
        path.resize(length);
    }
}

void FoldedExporter::finish() {
    std::string path;
    write(tree_.finish(), path);
    file_.finish();
}

} // namespace argtrace
