// SPDX-License-Identifier: GPL-2.0-only
#include "export/flame.h"

#include <fmt/format.h>

namespace argtrace {

namespace {

std::string_view title_of_unit(FlameGraph::Unit unit) {
    switch (unit) {
    case FlameGraph::Unit::calls:
        return "Calls by their stacks";
    case FlameGraph::Unit::ticks:
        return "Where the processors were";
    default:
        return "Time in calls";
    }
}

} // namespace

void FlameExporter::finish() {
    const CallNode &root = tree_->finish();
    const FlameGraph::Unit unit = tree_->unit();
    FlameGraph::Words words;
    words.title = fmt::format("{}{}", title_of_unit(unit), host_.empty() ? "" : " on " + host_);
    if (lost_ > 0)
        words.lost = fmt::format("{} {} were lost", lost_, unit == FlameGraph::Unit::ticks ? "ticks" : "calls");
    words.groups = 1; // tasks
    FlameGraph graph(page_, unit);
    graph.draw(root, words, [this](std::string &piece) {
        file_.write(piece);
        piece.clear();
    });
    narrow_ = graph.narrow();
    file_.finish();
}

std::string FlameExporter::left_out() const {
    std::string text = tree_->left_out();
    if (narrow_ > 0)
        text += fmt::format("{}{} frames of less than a tenth of a pixel were left out",
                            text.empty() ? "" : ", ", narrow_);
    return text;
}

} // namespace argtrace
