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

/// A flame graph of what was spent in calls, by a tree of them.
class FlameExporter : public SerialExporter {
public:
    /// `tree` is of that unit.
    FlameExporter(ExportFile &file, const ExportSource &source, FlameGraph::Page page,
                  FlameGraph::Unit unit, std::unique_ptr<FrameTree> tree)
        : file_(file), tree_(std::move(tree)), host_(source.info.host), unit_(unit),
          graph_(page, unit) {}

    void lost(std::uint32_t, std::uint64_t, std::uint64_t calls) override { lost_ += calls; }
    void finish() override;
    std::string left_out() const override;

private:
    void event(const EventView &view) override { tree_->add(view); }
    ExportFile &file_;
    std::unique_ptr<FrameTree> tree_;
    std::string host_;
    FlameGraph::Unit unit_;
    FlameGraph graph_;
    std::uint64_t lost_ = 0;
};

} // namespace argtrace
