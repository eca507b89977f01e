// SPDX-License-Identifier: GPL-2.0-only
#include "export/folded.h"

#include <fmt/format.h>

namespace argtrace {

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
    write(tree_->finish(), path);
    file_.finish();
}

} // namespace argtrace
