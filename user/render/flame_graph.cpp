// SPDX-License-Identifier: GPL-2.0-only
#include "render/flame_graph.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "render/flame_page.h"

namespace argtrace {

namespace {

constexpr double width = 1200;
constexpr double margin = 10;
constexpr double row = 18;
constexpr double head = 62;     // above the frames
constexpr double letter = 7.25; // of the font, in pixels
constexpr double narrowest = 0.1;
constexpr std::size_t piece = 1 << 16;

std::string escaped(std::string_view text) {
    std::string safe;
    for (const char one : text) {
        switch (one) {
        case '<':
            safe += "&lt;";
            break;
        case '>':
            safe += "&gt;";
            break;
        case '&':
            safe += "&amp;";
            break;
        case '"':
            safe += "&quot;";
            break;
        default:
            safe += one;
        }
    }
    return safe;
}

std::string duration(std::uint64_t ns) {
    struct Unit {
        double size;
        std::string_view name;
    };
    for (const Unit unit : {Unit{1e9, "s"}, Unit{1e6, "ms"}, Unit{1e3, "us"}}) {
        if (static_cast<double>(ns) >= unit.size)
            return fmt::format("{:.3g} {}", static_cast<double>(ns) / unit.size, unit.name);
    }
    return fmt::format("{} ns", ns);
}

/// The same for the same name, and mostly different for different names.
unsigned shade(std::string_view name) {
    unsigned hash = 2166136261u;
    for (const char one : name)
        hash = (hash ^ static_cast<unsigned char>(one)) * 16777619u;
    return hash >> 8;
}

std::string colour(std::string_view name, bool task, const CallNode &node) {
    const unsigned number = shade(name);
    if (task)
        return fmt::format("hsl({},25%,{}%)", 205 + number % 20, 72 + number / 32 % 12);
    if (node.in_user)
        return fmt::format("hsl({},48%,{}%)", 172 + number % 24, 58 + number / 32 % 14);
    if (node.in_module)
        return fmt::format("hsl({},55%,{}%)", 75 + number % 30, 58 + number / 32 % 14);
    return fmt::format("hsl({},88%,{}%)", 12 + number % 34, 58 + number / 64 % 14);
}

std::size_t depth_of(const CallNode &node) {
    std::size_t depth = 0;
    for (const auto &[name, callee] : node.callees)
        depth = std::max(depth, 1 + depth_of(*callee));
    return depth;
}

} // namespace

struct FlameGraph::Frame {
    std::string_view name;
    double x = 0; // of the whole
    std::uint64_t total = 0;
    std::size_t depth = 0;
};

std::string FlameGraph::amount(std::uint64_t of) const {
    if (unit_ == Unit::nanoseconds)
        return duration(of);
    return fmt::format("{} {}{}", of, unit_ == Unit::ticks ? "tick" : "call", of == 1 ? "" : "s");
}

std::string FlameGraph::about(const CallNode &node, const Frame &frame, double part) const {
    std::string text =
        fmt::format("{}: {} ({:.2f}%)", frame.name, amount(frame.total), 100 * part);
    if (unit_ == Unit::nanoseconds && node.calls > 0)
        text += fmt::format(", of that {} itself, {} call{}", amount(node.self), node.calls,
                            node.calls == 1 ? "" : "s");
    return text;
}

bool FlameGraph::is_narrow(std::uint64_t part, std::uint64_t whole) {
    return static_cast<double>(part) / static_cast<double>(std::max<std::uint64_t>(whole, 1)) * (width - 2 * margin) < narrowest;
}

void FlameGraph::draw_frames(const CallNode &node, const Frame &frame) {
    const double part = static_cast<double>(frame.total) / static_cast<double>(whole_);
    const double pixels = part * (width - 2 * margin);
    if (is_narrow(frame.total, whole_)) {
        ++narrow_;
        return;
    }
    const double y = head + row * static_cast<double>(depth_ - frame.depth);
    const auto letters = static_cast<std::size_t>(std::max(0.0, pixels - 6) / letter);
    std::string label;
    if (letters >= frame.name.size())
        label = escaped(frame.name);
    else if (letters >= 4)
        label = escaped(frame.name.substr(0, letters - 2)) + "..";
    fmt::format_to(std::back_inserter(out_),
                   "<g class=\"frame\" data-name=\"{}\" data-x=\"{:.8f}\" data-w=\"{:.8f}\" "
                   "data-d=\"{}\"><title>{}</title><rect x=\"{:.2f}\" y=\"{:.0f}\" "
                   "width=\"{:.2f}\" height=\"{:.0f}\" fill=\"{}\"/><text x=\"{:.2f}\" "
                   "y=\"{:.0f}\">{}</text></g>\n",
                   escaped(frame.name), frame.x, part, frame.depth,
                   escaped(about(node, frame, part)), margin + frame.x * (width - 2 * margin), y,
                   pixels, row - 1, colour(frame.name, frame.depth <= groups_, node),
                   margin + frame.x * (width - 2 * margin) + 3, y + 13, label);
    if (out_.size() > piece)
        (*take_)(out_);
    double x = frame.x;
    for (const auto &[name, callee] : node.callees) {
        const std::uint64_t total = callee->total();
        draw_frames(*callee, {name, x, total, frame.depth + 1});
        x += static_cast<double>(total) / static_cast<double>(whole_);
    }
}

void FlameGraph::draw(const CallNode &root, const Words &words, const Take &take) {
    const std::uint64_t total = root.total();
    take_ = &take;
    groups_ = words.groups;
    whole_ = std::max<std::uint64_t>(total, 1);
    depth_ = std::max(depth_of(root), words.depth);
    const double height = head + row * static_cast<double>(depth_ + 1) + 34;
    if (page_ == Page::html)
        out_ += html_head;
    fmt::format_to(std::back_inserter(out_), flame_head, fmt::arg("width", width),
                   fmt::arg("height", height), fmt::arg("style", flame_style),
                   fmt::arg("title", escaped(words.title)), fmt::arg("lost", escaped(words.lost)),
                   fmt::arg("bottom", height - 12));
    if (total > 0)
        draw_frames(root, {"all", 0, total, 0});
    out_ += flame_script;
    if (page_ == Page::html)
        out_ += html_tail;
    take(out_);
}

} // namespace argtrace
