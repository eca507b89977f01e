// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "model/call_node.h"

namespace argtrace {

/// A flame graph for any browser, with all that it needs in the file: a frame is as wide as what was
/// spent in it, and stands on its caller. Pointing at a frame tells about it, a click makes it as wide
/// as the picture, and words are searched for.
class FlameGraph {
public:
    enum class Page { svg, html };
    enum class Unit { nanoseconds, calls, ticks };

    struct Words {
        std::string title;
        std::string lost; ///< what is missing; may be empty
        std::size_t depth = 0; ///< frames that stand on one another, if there are more than in the tree
        /// So many frames from the bottom are no functions, but what these are divided by.
        std::size_t groups = 0;
    };

    /// Is given the picture piece by piece, and leaves each empty.
    using Take = std::function<void(std::string &piece)>;

    /// A frame with such a part of the whole is not drawn, nor what stands on it.
    static bool is_narrow(std::uint64_t part, std::uint64_t whole);

    FlameGraph(Page page, Unit unit) : page_(page), unit_(unit) {}

    void draw(const CallNode &root, const Words &words, const Take &take);

    /// Frames that nobody could see, and that are not in the picture.
    std::uint64_t narrow() const { return narrow_; }

private:
    struct Frame;

    void draw_frames(const CallNode &node, const Frame &frame);
    std::string amount(std::uint64_t of) const;
    std::string about(const CallNode &node, const Frame &frame, double part) const;

    Page page_;
    Unit unit_;
    std::size_t groups_ = 0;
    std::uint64_t narrow_ = 0;
    std::uint64_t whole_ = 0;
    std::size_t depth_ = 0;
    std::string out_;
    const Take *take_ = nullptr;
};

} // namespace argtrace
