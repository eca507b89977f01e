// SPDX-License-Identifier: GPL-2.0-only
#include "report/block_writer.h"

#include <algorithm>
#include <utility>

namespace argtrace {

BlockWriter::BlockWriter(WorkerPool &workers, const Symbols &symbols, const MakeRenderer &make,
                         Output &output)
    : workers_(workers), output_(output) {
    for (unsigned i = 0; i < workers.size(); ++i) {
        tools_.push_back(std::make_unique<Worker>(symbols));
        tools_.back()->renderer = make(tools_.back()->callers);
    }
}

BlockWriter::~BlockWriter() {
    for (std::future<Line> &text : texts_)
        text.wait();
}

void BlockWriter::begin(std::uint64_t now) {
    tools_[0]->renderer->begin(output_.buffer(), now);
}

bool BlockWriter::next_block() {
    submit();
    return texts_.size() <= 2 * std::size_t{workers_.size()} || write_first();
}

void BlockWriter::submit() {
    if (block_.events.empty())
        return;
    block_.widths = widths_;
    ++block_number_;
    auto block = std::make_shared<Block>(std::exchange(block_, {}));
    texts_.push_back(workers_.submit([this, block](unsigned worker) {
        Renderer &renderer = *tools_[worker]->renderer;
        std::size_t &line = tools_[worker]->line;
        Line text;
        text.reserve(block->events.size() * line);
        renderer.widen(block->widths);
        renderer.follow(block->before);
        for (const auto &[batch, event] : block->events)
            renderer.event(text, batch->view(*event));
        line = std::max(line, text.size() / block->events.size() + 1);
        return text;
    }));
}

bool BlockWriter::write_first() {
    const Line text = texts_.front().get();
    texts_.pop_front();
    return output_.write(text.view());
}

bool BlockWriter::flush() {
    submit();
    while (!texts_.empty()) {
        if (!write_first())
            return false;
    }
    return output_.flush();
}

} // namespace argtrace
