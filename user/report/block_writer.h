// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "render/caller.h"
#include "render/line.h"
#include "render/renderer.h"
#include "report/decoded_packet.h"
#include "util/output.h"
#include "util/worker_pool.h"

namespace argtrace {

/// Events -> text, made by workers in blocks and written in order.
class BlockWriter {
public:
    using MakeRenderer = std::function<std::unique_ptr<Renderer>(CallerNames &)>;

    /// The arguments must outlive the writer. Each worker gets a renderer of its own.
    BlockWriter(WorkerPool &workers, const Symbols &symbols, const MakeRenderer &make,
                Output &output);
    ~BlockWriter();

    /// What stands before the first event; `now` is the clock of the events.
    void begin(std::uint64_t now);

    /// Makes room in the columns; the same events give the same text, however many workers.
    void widen(const Widths &widths) { widths_.include(widths); }

    /// Takes one event of the packet. False once nobody reads the output any more.
    [[nodiscard]] bool event(const std::shared_ptr<DecodedPacket> &packet, const Event &event) {
        if (packet->shown_in != block_number_) {
            packet->shown_in = block_number_;
            block_.packets.push_back(packet);
        }
        block_.events.emplace_back(&packet->batch, &event);
        if (block_.events.size() == 1)
            block_.before = last_.value_or(event.ts);
        last_ = event.ts;
        return block_.events.size() < block_events || next_block();
    }

    /// Writes what there is. False once nobody reads the output any more.
    [[nodiscard]] bool flush();

private:
    struct Block {
        std::vector<std::pair<const EventBatch *, const Event *>> events;
        std::vector<std::shared_ptr<DecodedPacket>> packets; // they have the events
        Widths widths;
        std::uint64_t before = 0; // the time of the event before the first one
    };

    struct Worker {
        explicit Worker(const Symbols &symbols) : callers(symbols) {}

        CallerNames callers;
        std::unique_ptr<Renderer> renderer;
        std::size_t line = 128; // characters that lines have, roughly
    };

    static constexpr std::size_t block_events = 4096;

    bool next_block();
    void submit();
    bool write_first();

    WorkerPool &workers_;
    std::vector<std::unique_ptr<Worker>> tools_;
    Output &output_;
    Widths widths_;
    Block block_;
    std::optional<std::uint64_t> last_; // the time of the last event
    std::uint64_t block_number_ = 1;
    std::deque<std::future<Line>> texts_;
};

} // namespace argtrace
