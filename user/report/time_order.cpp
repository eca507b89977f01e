// SPDX-License-Identifier: GPL-2.0-only
#include "report/time_order.h"

namespace argtrace {

void TimeOrder::add(Packet packet) {
    if (packet->batch.events.empty())
        return;
    CpuStream &stream = streams_[packet->cpu];
    stream.packets.push_back(std::move(packet));
    if (stream.packets.size() == 1)
        stream.open();
}

} // namespace argtrace
