// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "export/call_tree.h"
#include "export/export_file.h"
#include "export/exporter.h"

namespace argtrace {

/// Chains of callers with the ns spent in the last of each: "dd;vfs_read;ext4_file_read_iter 1234",
/// as flamegraph.pl, inferno and speedscope read them.
class FoldedExporter : public Exporter {
public:
    FoldedExporter(ExportFile &file, const ExportSource &source)
        : file_(file), tree_(source.symbols) {}

    void event(const EventView &view) override { tree_.add(*view.event); }
    void lost(std::uint32_t, std::uint64_t, std::uint64_t) override {}
    void finish() override;
    std::string left_out() const override { return describe_left_out(tree_); }

    /// The sentence of exporters that are made of a tree.
    static std::string describe_left_out(const CallTree &tree);

private:
    void write(const CallNode &node, std::string &path);

    ExportFile &file_;
    CallTree tree_;
};

} // namespace argtrace
