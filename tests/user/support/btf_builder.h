// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <bpf/btf.h>
#include <gtest/gtest.h>

#include "btf/kernel_types.h"

namespace argtrace {

/// The bytes of BTF: what there is without its base.
inline std::string_view raw_btf(const btf *types) {
    std::uint32_t size = 0;
    const void *data = btf__raw_data(types, &size);
    return {static_cast<const char *>(data), size};
}

/// Makes BTF through libbpf's writer. A negative id from it fails the test.
class BtfBuilder {
public:
    struct Member {
        const char *name;
        int type;
        unsigned bit_offset;
        unsigned bit_size = 0;
    };

    struct Param {
        const char *name;
        int type;
    };

    BtfBuilder() : types_(btf__new_empty()) {}
    explicit BtfBuilder(btf *base) : types_(btf__new_empty_split(base)) {}

    btf *get() const { return types_.get(); }
    BtfPtr take() { return std::move(types_); }

    int integer(const char *name, unsigned bytes, int encoding = 0) {
        return checked(btf__add_int(get(), name, bytes, encoding));
    }
    int floating(const char *name, unsigned bytes) {
        return checked(btf__add_float(get(), name, bytes));
    }
    int pointer(int to) { return checked(btf__add_ptr(get(), to)); }
    int array(int index, int of, unsigned n) {
        return checked(btf__add_array(get(), index, of, n));
    }
    int constant(int of) { return checked(btf__add_const(get(), of)); }
    int volatile_(int of) { return checked(btf__add_volatile(get(), of)); }
    int restrict_(int of) { return checked(btf__add_restrict(get(), of)); }
    int tag(const char *name, int of) { return checked(btf__add_type_tag(get(), name, of)); }
    int name(const char *name, int of) { return checked(btf__add_typedef(get(), name, of)); }
    int forward(const char *name, btf_fwd_kind kind) {
        return checked(btf__add_fwd(get(), name, kind));
    }

    int structure(const char *name, unsigned bytes, std::initializer_list<Member> members = {}) {
        const int id = checked(btf__add_struct(get(), name, bytes));
        for (const Member &m : members)
            EXPECT_EQ(0, btf__add_field(get(), m.name, m.type, m.bit_offset, m.bit_size));
        return id;
    }
    int union_(const char *name, unsigned bytes, std::initializer_list<Member> members = {}) {
        const int id = checked(btf__add_union(get(), name, bytes));
        for (const Member &m : members)
            EXPECT_EQ(0, btf__add_field(get(), m.name, m.type, m.bit_offset, m.bit_size));
        return id;
    }
    // libbpf marks an enum as signed when it gets a negative value.
    int enumeration(const char *name, unsigned bytes, long long value) {
        const int id = checked(btf__add_enum(get(), name, bytes));
        EXPECT_EQ(0, btf__add_enum_value(get(), name ? name : "VALUE", value));
        return id;
    }
    int enumeration64(const char *name, unsigned bytes, bool is_signed) {
        const int id = checked(btf__add_enum64(get(), name, bytes, is_signed));
        EXPECT_EQ(0, btf__add_enum64_value(get(), "VALUE64", 1));
        return id;
    }

    int proto(int result, std::initializer_list<Param> params) {
        const int id = checked(btf__add_func_proto(get(), result));
        for (const Param &p : params)
            EXPECT_EQ(0, btf__add_func_param(get(), p.name, p.type));
        return id;
    }
    int function(const char *name, int result, std::initializer_list<Param> params) {
        return checked(btf__add_func(get(), name, BTF_FUNC_STATIC, proto(result, params)));
    }

private:
    static int checked(int id) {
        EXPECT_GT(id, 0);
        return id;
    }

    BtfPtr types_;
};

} // namespace argtrace
