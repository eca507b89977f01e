// SPDX-License-Identifier: GPL-2.0-only
#include "reading.h"

#include <memory>
#include <stdexcept>

#include "render/json.h"
#include "render/text.h"
#include "session/merge.h"
#include "util/output.h"

namespace argtrace::bench {

namespace {

/// Packet after packet, as a reader of files does.
std::uint64_t decode_all(Workload &workload) {
    std::uint64_t events = 0;
    EventBatch batch;
    Decoder decoder;
    for (const RingView &ring : workload.rings()) {
        for (std::uint32_t i = 0; i < ring.nr_packets; ++i) {
            const std::span packet(ring.packets + std::size_t{i} * ring.packet_size,
                                   ring.packet_size);
            batch.clear();
            if (decoder.open(packet) != DecodeStatus::ok ||
                decoder.decode(decoder.header().used, 0, workload.schema(), batch) !=
                    DecodeStatus::ok)
                throw std::logic_error("the workload is malformed");
            events += batch.events.size();
        }
    }
    return events;
}

std::unique_ptr<Renderer> make_renderer(Step step, CallerNames &callers) {
    if (step == Step::text)
        return std::make_unique<TextRenderer>(callers, true);
    if (step == Step::json)
        return std::make_unique<JsonRenderer>(callers, false);
    return nullptr;
}

} // namespace

std::uint64_t read_all(Workload &workload, Step step, int fd) {
    if (step == Step::decode)
        return decode_all(workload);

    CallerNames callers(workload.symbols());
    const auto renderer = make_renderer(step, callers);
    Output output(fd);
    const auto rings = workload.rings();
    Merge merge(rings, workload.schema());
    std::uint64_t events = 0;
    for (std::uint32_t packets = 1; packets <= Workload::nr_packets; ++packets) {
        workload.publish(packets);
        merge.collect_rest();
        while (const auto view = merge.next()) {
            ++events;
            if (!renderer)
                continue;
            renderer->event(output.buffer(), *view);
            if (output.full() && !output.flush())
                return events;
        }
        merge.release();
    }
    if (!output.flush())
        throw std::runtime_error("nobody takes the output");
    return events;
}

} // namespace argtrace::bench
