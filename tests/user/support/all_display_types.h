// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <bpf/btf.h>
#include <vector>

#include "btf/display_types.h"

namespace argtrace::test {

/// The types of all parameters of a prototype.
inline std::vector<std::byte> all_display_types(const btf *types, std::uint32_t proto) {
    const btf_type *type = types ? btf__type_by_id(types, proto) : nullptr;
    std::vector<ShownValue> all;
    for (std::uint32_t i = 0; type && btf_is_func_proto(type) && i < btf_vlen(type); ++i)
        all.push_back(parameter_type(types, proto, i));
    return display_types(types, all);
}

} // namespace argtrace::test
