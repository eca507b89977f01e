// SPDX-License-Identifier: GPL-2.0-only
#include "render/renderer.h"

#include <algorithm>

#include <fmt/format.h>

#include "render/text.h"
#include "util/nanoseconds.h"

namespace argtrace {

void Widths::include(const Event &event) {
    const auto digits = [](std::uint64_t number) { return fmt::format_int(number).size(); };
    time = std::max(time, digits(event.ts / nanoseconds_per_second) + sizeof(".123456789") - 1);
    tid = std::max(tid, digits(event.tid));
    cpu = std::max(cpu, digits(event.cpu));

    const std::string_view name = event.comm_view();
    const bool plain = std::all_of(name.begin(), name.end(), [](char character) {
        return character >= 0x20 && character < 0x7f;
    });
    std::size_t size = name.size();
    if (!plain) {
        Line shown;
        append_visible(shown, name);
        size = shown.view().size();
    }
    comm = std::max(comm, size > 0 ? size : unknown_comm.size());
}

bool Widths::include(const Widths &other) {
    const Widths before = *this;
    time = std::max(time, other.time);
    comm = std::max(comm, other.comm);
    tid = std::max(tid, other.tid);
    cpu = std::max(cpu, other.cpu);
    return time != before.time || comm != before.comm || tid != before.tid || cpu != before.cpu;
}

} // namespace argtrace
