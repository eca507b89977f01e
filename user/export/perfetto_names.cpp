// SPDX-License-Identifier: GPL-2.0-only
#include "export/perfetto_names.h"

#include "export/perfetto_fields.h"

namespace argtrace {

std::uint64_t PerfettoNames::id(std::string_view text, ProtobufWriter &data) {
    if (const auto known = ids_.find(text); known != ids_.end())
        return known->second;
    if (ids_.size() == names_max)
        return 0;
    const std::uint64_t id = first_ + step_ * ids_.size();
    ids_.emplace(text, id);
    const std::size_t entry = data.open(field_);
    data.number(perfetto::interned::id, id);
    data.text(perfetto::interned::text, text);
    data.close(entry);
    return id;
}

} // namespace argtrace
