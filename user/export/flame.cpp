// SPDX-License-Identifier: GPL-2.0-only
#include "export/flame.h"

#include <fmt/format.h>

namespace argtrace {

void FlameExporter::finish() {
    FlameGraph::Words words;
    words.title = fmt::format("{}{}",
                              unit_ == FlameGraph::Unit::calls ? "Calls by their stacks"
                                                               : "Time in calls",
                              host_.empty() ? "" : " on " + host_);
    if (lost_ > 0)
        words.lost = fmt::format("{} calls were lost", lost_);
    words.groups = 1; // tasks
    graph_.draw(tree_->finish(), words, [this](std::string &piece) {
        file_.write(piece);
        piece.clear();
    });
    file_.finish();
}

std::string FlameExporter::left_out() const {
    std::string text = tree_->left_out();
    if (graph_.narrow() > 0)
        text += fmt::format("{}{} frames of less than a tenth of a pixel were left out",
                            text.empty() ? "" : ", ", graph_.narrow());
    return text;
}

} // namespace argtrace
