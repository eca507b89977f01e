// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <bpf/btf.h>
#include <numeric>
#include <vector>

#include "btf/display_types.h"

namespace argtrace::test {

/// The types of all parameters of a prototype.
inline std::vector<std::byte> all_display_types(const btf *types, std::uint32_t proto) {
    const btf_type *type = types ? btf__type_by_id(types, proto) : nullptr;
    std::vector<std::uint32_t> all(type && btf_is_func_proto(type) ? btf_vlen(type) : 0);
    std::iota(all.begin(), all.end(), 0);
    return display_types(types, proto, all);
}

} // namespace argtrace::test
