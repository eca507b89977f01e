// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "export/export_file.h"
#include "export/exporter.h"
#include "export/frame_tree.h"
#include "render/flame_graph.h"

namespace argtrace {

/// A flame graph of what was spent in calls, or of ticks, by a tree of them.
class FlameExporter : public SerialExporter {
public:
    FlameExporter(ExportFile &file, const ExportSource &source, FlameGraph::Page page,
                  std::unique_ptr<FrameTree> tree)
        : file_(file), tree_(std::move(tree)), host_(source.info.host), page_(page) {}

    void lost(std::uint32_t, std::uint64_t, std::uint64_t calls) override { lost_ += calls; }
    void finish() override;
    std::string left_out() const override;

private:
    void event(const EventView &view) override { tree_->add(view); }
    ExportFile &file_;
    std::unique_ptr<FrameTree> tree_;
    std::string host_;
    FlameGraph::Page page_;
    std::uint64_t narrow_ = 0;
    std::uint64_t lost_ = 0;
};

} // namespace argtrace
