// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <memory>
#include <utility>

#include "export/export_file.h"
#include "export/exporter.h"
#include "export/frame_tree.h"

namespace argtrace {

/// Chains of callers with what was spent in the last of each: "dd;vfs_read;ext4_file_read_iter 1234",
/// as flamegraph.pl, inferno and speedscope read them.
class FoldedExporter : public SerialExporter {
public:
    FoldedExporter(ExportFile &file, std::unique_ptr<FrameTree> tree)
        : file_(file), tree_(std::move(tree)) {}

    void lost(std::uint32_t, std::uint64_t, std::uint64_t) override {}
    void finish() override;
    std::string left_out() const override { return tree_->left_out(); }

private:
    void event(const EventView &view) override { tree_->add(view); }
    void write(const CallNode &node, std::string &path);

    ExportFile &file_;
    std::unique_ptr<FrameTree> tree_;
};

} // namespace argtrace
