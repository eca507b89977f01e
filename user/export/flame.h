// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>

#include "export/call_tree.h"
#include "export/export_file.h"
#include "export/exporter.h"
#include "render/flame_graph.h"

namespace argtrace {

/// A flame graph of the time that was spent in calls.
class FlameExporter : public Exporter {
public:
    FlameExporter(ExportFile &file, const ExportSource &source, FlameGraph::Page page)
        : file_(file), tree_(source.symbols), host_(source.info.host),
          graph_(page, FlameGraph::Unit::nanoseconds) {}

    void event(const EventView &view) override { tree_.add(*view.event); }
    void lost(std::uint32_t, std::uint64_t, std::uint64_t calls) override { lost_ += calls; }
    void finish() override;
    std::string left_out() const override;

private:
    ExportFile &file_;
    CallTree tree_;
    std::string host_;
    FlameGraph graph_;
    std::uint64_t lost_ = 0;
};

} // namespace argtrace
