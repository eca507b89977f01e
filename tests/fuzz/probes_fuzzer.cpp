// SPDX-License-Identifier: GPL-2.0-only
//
// Probes as the module or a file describes them: read, and the types in them prepared for showing.

#include <cstdlib>
#include <span>

#include "btf/format.h"
#include "fuzzer.h"
#include "uapi/probe.h"
#include "util/error.h"

using namespace argtrace;

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    if (size == 0)
        return 0;
    const std::size_t count = data[0] % 4; // how many there should be
    const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
    try {
        for (const Probe &probe : parse_probes(bytes, count)) {
            if (!probe.types.empty())
                ProbeFormats{probe};
            std::vector<std::byte> again; // what was read can be written, and read again
            append_probe(again, probe);
            const Probe same = parse_probes(again, 1).at(0);
            if (same.args != probe.args || same.program != probe.program)
                std::abort();
        }
    } catch (const Error &) {
    }
    return 0;
}
