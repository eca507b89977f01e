// SPDX-License-Identifier: GPL-2.0-only
#include "spec/kernel_layout.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include <bpf/btf.h>

#include "btf/name_at.h"

namespace argtrace {

namespace {

struct WantedMember {
    std::string_view structure, name;
    std::uint32_t *offset;
    bool is_found = false;
};

} // namespace

std::optional<KernelLayout> layout_of(const btf *kernel) {
    KernelLayout layout;
    std::array<WantedMember, 11> wanted{{
        {"module", "list", &layout.module.list},
        {"module", "name", &layout.module.name},
        {"module", "kallsyms", &layout.module.kallsyms},
        {"mod_kallsyms", "symtab", &layout.module_symbols.symtab},
        {"mod_kallsyms", "num_symtab", &layout.module_symbols.num_symtab},
        {"mod_kallsyms", "strtab", &layout.module_symbols.strtab},
        {"mod_kallsyms", "typetab", &layout.module_symbols.typetab},
        {"ftrace_page", "next", &layout.ftrace_page.next},
        {"ftrace_page", "records", &layout.ftrace_page.records},
        {"ftrace_page", "index", &layout.ftrace_page.index},
        {"dyn_ftrace", "ip", &layout.ftrace_call.ip},
    }};
    const std::uint32_t end = btf__type_cnt(kernel);
    for (std::uint32_t id = 1; id < end; id++) {
        const btf_type *type = btf__type_by_id(kernel, id);
        if (!btf_is_struct(type) || type->name_off == 0)
            continue;
        const std::string_view structure = name_at(kernel, type->name_off);
        if (std::ranges::find(wanted, structure, &WantedMember::structure) == wanted.end())
            continue;
        if (structure == "dyn_ftrace")
            layout.ftrace_call.size = type->size;
        for (int i = 0; i < btf_vlen(type); i++) {
            const std::string_view name = name_at(kernel, btf_members(type)[i].name_off);
            const std::uint32_t bit = btf_member_bit_offset(type, i);
            for (WantedMember &member : wanted) {
                if (member.structure != structure || member.name != name)
                    continue;
                if (std::exchange(member.is_found, true) || bit % 8 != 0)
                    return std::nullopt; // which of them it is, is not known
                *member.offset = bit / 8;
            }
        }
    }
    return std::ranges::all_of(wanted, &WantedMember::is_found) && layout.ftrace_call.size >= sizeof(std::uint64_t) ? std::optional(layout) : std::nullopt;
}

} // namespace argtrace
