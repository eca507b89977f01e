// SPDX-License-Identifier: GPL-2.0-only
#include "export/frame_tree.h"

#include <memory>

#include "util/visible.h"

namespace argtrace {

namespace {

constexpr std::size_t nodes_max = 1 << 20;

} // namespace

std::string task_frame(const Event &event) {
    if (event.context & ARGTRACE_CTX_NMI)
        return "[nmi]";
    if (event.context & ARGTRACE_CTX_HARDIRQ)
        return "[hardirq]";
    if (event.context & ARGTRACE_CTX_SOFTIRQ)
        return "[softirq]";
    std::string name = frame_name(visible_text(event.comm_view())); // as `stacks --by comm` has it
    return name.empty() ? "?" : name;
}

CallNode &FrameNodes::child(CallNode &node, std::string_view name) {
    const auto found = node.callees.find(name);
    if (found != node.callees.end())
        return *found->second;
    if (nodes_ == nodes_max) {
        ++merged_;
        return node;
    }
    ++nodes_;
    return *node.callees.emplace(name, std::make_unique<CallNode>()).first->second;
}

} // namespace argtrace
