// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

#include <bpf/btf.h>

namespace argtrace {

/// The string at that offset, such as the name_off of a type or a member; empty if there is none. It lasts as long as `types`.
inline const char *name_at(const btf *types, std::uint32_t offset) {
    const char *name = btf__name_by_offset(types, offset);
    return name ? name : "";
}

} // namespace argtrace
