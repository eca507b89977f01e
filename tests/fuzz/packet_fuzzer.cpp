// SPDX-License-Identifier: GPL-2.0-only
//
// A packet of any bytes: decoded and shown, within its bytes and to an end.

#include <cstdlib>
#include <span>
#include <vector>

#include "decode/decode.h"
#include "fuzzer.h"
#include "render/json.h"
#include "render/text.h"
#include "report/symbol_table.h"
#include "support/packet_builder.h"

using namespace argtrace;

namespace {

/// One probe of each kind of argument: their ids are 1 to 4.
Schema make_schema() {
    Probe types;
    types.id = 2;
    types.function = "types";
    for (std::uint8_t type = ARGTRACE_TYPE_U8; type <= ARGTRACE_TYPE_PTR; ++type)
        types.args.push_back(test::argument("a", type));
    Probe bytes;
    bytes.id = 3;
    bytes.function = "bytes";
    bytes.args = {test::argument("b", ARGTRACE_TYPE_BYTES), test::not_captured("n"),
                  test::argument("i", ARGTRACE_TYPE_S32)};
    bytes.args[0].size = 5;

    Probe outputs;
    outputs.id = 4;
    outputs.function = "outputs";
    outputs.args = {test::output("s", ARGTRACE_TYPE_STR, 8), test::argument("i", ARGTRACE_TYPE_S32),
                    test::output("b", ARGTRACE_TYPE_BYTES, 6), test::output("n", ARGTRACE_TYPE_S16),
                    test::output("t", ARGTRACE_TYPE_STR, 300)};

    Schema schema;
    schema.add(outputs);
    schema.add(test::vfs_read(1));
    schema.add(types);
    schema.add(bytes);
    return schema;
}

void show(const EventBatch &batch) {
    // To make these takes longer than an input.
    static const SymbolTable symbols;
    static CallerNames callers(symbols);
    static TextRenderer text(callers, true);
    static JsonRenderer json(callers, true);
    std::string out;
    for (const Event &event : batch.events) {
        text.event(out, batch.view(event));
        json.event(out, batch.view(event));
        out.clear();
    }
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    static const Schema schema = make_schema();
    // The header is mended where that is what keeps everything else from being seen: every second
    // input, by its last byte.
    const auto bytes = std::as_bytes(std::span(data, size));
    std::vector<std::byte> packet(bytes.begin(), bytes.end());
    if (size > sizeof(argtrace_packet) && data[size - 1] % 2 == 0) {
        auto &header = *reinterpret_cast<argtrace_packet *>(packet.data());
        header.magic = ARGTRACE_PACKET_MAGIC;
        header.version = ARGTRACE_RECORD_VERSION;
        header.size = static_cast<std::uint32_t>(size);
        header.header = sizeof(header);
        header.format &= ARGTRACE_FORMAT_NAMED | ARGTRACE_FORMAT_NO_CALLER;
        header.clock_id = ARGTRACE_CLOCK_MONOTONIC;
    }

    Decoder decoder;
    EventBatch batch;
    if (decoder.open(packet) != DecodeStatus::ok)
        return 0;
    std::size_t before = 0;
    while (decoder.decode(size, 0, schema, batch) != DecodeStatus::ok) {
        if (!decoder.skip(size))
            break;
        if (decoder.offset() <= before) // it must come to an end
            std::abort();
        before = decoder.offset();
    }
    show(batch);
    return 0;
}
