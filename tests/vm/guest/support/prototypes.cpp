// SPDX-License-Identifier: GPL-2.0-only
#include "support/prototypes.h"

#include <bpf/btf.h>
#include <gtest/gtest.h>

namespace vmtest {

KernelBtf::KernelBtf() : btf_(btf__load_vmlinux_btf()) {
    EXPECT_NE(btf_, nullptr);
    for (std::uint32_t id = 1; btf_ && id < btf__type_cnt(btf_); id++) {
        const btf_type *type = btf__type_by_id(btf_, id);
        if (btf_is_func(type))
            functions_.emplace(btf__name_by_offset(btf_, type->name_off), id);
    }
}

KernelBtf::~KernelBtf() {
    btf__free(btf_);
}

std::optional<KernelFunction> KernelBtf::function(const std::string &name) const {
    const auto [first, last] = functions_.equal_range(name);
    if (first == last || std::next(first) != last)
        return std::nullopt;
    const btf_type *prototype = btf__type_by_id(btf_, btf__type_by_id(btf_, first->second)->type);
    const btf_param *params = btf_params(prototype);
    KernelFunction function{name, {}, prototype->type ? parameter("ret", prototype->type) : std::nullopt};
    for (unsigned i = 0; i < btf_vlen(prototype); i++) {
        const std::string parameter_name = btf__name_by_offset(btf_, params[i].name_off);
        auto found = params[i].type ? parameter(parameter_name, params[i].type) : std::nullopt;
        if (parameter_name.empty() || !found)
            return std::nullopt;
        function.parameters.push_back(std::move(*found));
    }
    return function;
}

std::optional<KernelParameter> KernelBtf::parameter(const std::string &name,
                                                    std::uint32_t type) const {
    const btf_type *real = btf__type_by_id(btf_, type);
    KernelParameter parameter;
    while (btf_is_mod(real) || btf_is_typedef(real)) {
        const std::string called = btf_is_typedef(real) ? btf__name_by_offset(btf_, real->name_off) : "";
        parameter.is_big_endian |= called == "__be16" || called == "__be32" || called == "__be64";
        real = btf__type_by_id(btf_, real->type);
    }

    parameter.name = name;
    parameter.size = btf_is_ptr(real) ? 8 : real->size;
    if (btf_is_enum(real)) {
        for (unsigned i = 0; i < btf_vlen(real); i++) {
            const struct btf_enum &one = btf_enum(real)[i];
            parameter.enum_values[btf__name_by_offset(btf_, one.name_off)] =
                parameter.cut(static_cast<std::uint32_t>(one.val));
        }
        parameter.is_enum = true;
        parameter.is_signed = btf_kflag(real);
    } else if (btf_is_enum64(real)) {
        for (unsigned i = 0; i < btf_vlen(real); i++) {
            const struct btf_enum64 &one = btf_enum64(real)[i];
            parameter.enum_values[btf__name_by_offset(btf_, one.name_off)] =
                parameter.cut(btf_enum64_value(&one));
        }
        parameter.is_enum = true;
        parameter.is_signed = btf_kflag(real);
    } else if (btf_is_int(real) && real->size <= 8) {
        parameter.is_signed = btf_int_encoding(real) & BTF_INT_SIGNED;
    } else if (!btf_is_ptr(real)) {
        return std::nullopt;
    }
    return parameter;
}

} // namespace vmtest
