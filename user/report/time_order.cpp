// SPDX-License-Identifier: GPL-2.0-only
#include "report/time_order.h"

namespace argtrace {

void TimeOrder::add(Packet packet) {
    if (!packet->batch.events.empty())
        streams_[packet->cpu].packets.push_back(std::move(packet));
}

} // namespace argtrace
