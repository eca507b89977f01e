// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "export/export_file.h"
#include "export/exporter.h"
#include "export/frame_tree.h"
#include "export/stacked_events.h"
#include "render/caller.h"
#include "render/pprof.h"

namespace argtrace {

/// Calls, or ticks, by the stacks that were recorded with them, for pprof and what reads its profiles. The task is in labels.
class PprofStackExporter : public SerialExporter {
public:
    PprofStackExporter(ExportFile &file, const ExportSource &source)
        : file_(file), names_(source.symbols), host_(source.info.host), begin_(source.info.begin_realtime) {}

    void lost(std::uint32_t, std::uint64_t, std::uint64_t calls) override { lost_ += calls; }
    void finish() override;
    std::string left_out() const override;

private:
    void event(const EventView &view) override;

    /// What samples are told apart by: both stacks, the probe whose calls they are of, and the task.
    struct Sample {
        std::uint64_t kernel = 0, user = 0; ///< 0: it could not be taken
        const Probe *probe = nullptr;
        std::uint32_t pid = 0; ///< 0: in an interrupt, or idle
        std::string task;

        auto operator<=>(const Sample &) const = default;
    };

    ExportFile &file_;
    CallerNames names_;
    std::string host_;
    std::uint64_t begin_ = 0, lost_ = 0;
    StackedEvents events_;
    std::map<Sample, std::uint64_t> samples_;
    std::uint64_t too_many_ = 0;
};

/// What was spent in calls, by a tree of them.
class PprofTreeExporter : public SerialExporter {
public:
    PprofTreeExporter(ExportFile &file, const ExportSource &source, std::unique_ptr<FrameTree> tree)
        : file_(file), names_(source.symbols), tree_(std::move(tree)), begin_(source.info.begin_realtime) {}

    void lost(std::uint32_t, std::uint64_t, std::uint64_t) override {}
    void finish() override;
    std::string left_out() const override { return tree_->left_out(); }

private:
    void event(const EventView &view) override { tree_->add(view); }

    ExportFile &file_;
    CallerNames names_;
    std::unique_ptr<FrameTree> tree_;
    std::uint64_t begin_;
};

} // namespace argtrace
