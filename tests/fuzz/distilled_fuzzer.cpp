// SPDX-License-Identifier: GPL-2.0-only
//
// The sections .BTF.base and .BTF of a module, as --on-load takes them: two bytes say how long the
// first is.

#include <algorithm>
#include <string_view>

#include <bpf/btf.h>

#include "btf/distilled.h"
#include "fuzzer.h"
#include "util/error.h"

using namespace argtrace;

namespace {

BtfPtr make_kernel() {
    BtfPtr kernel(btf__new_empty());
    btf *const types = kernel.get();
    btf__add_struct(types, "other", 8);
    const int number = btf__add_int(types, "int", 4, BTF_INT_SIGNED);
    btf__add_float(types, "double", 8);
    btf__add_struct(types, "file", 16);
    btf__add_field(types, "f_flags", number, 0, 0);
    btf__add_struct(types, "list_head", 16);
    btf__add_struct(types, "list_head", 24);
    btf__add_union(types, "both", 8);
    btf__add_enum(types, "kind", 4);
    btf__add_enum_value(types, "KIND", 3);
    return kernel;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    static const BtfPtr kernel = make_kernel();
    if (size < 2)
        return 0;
    const std::string_view sections(reinterpret_cast<const char *>(data) + 2, size - 2);
    const std::size_t base = std::min<std::size_t>(data[0] | data[1] << 8, sections.size());
    try {
        (void)load_distilled(sections.substr(base), sections.substr(0, base), "fuzzed",
                             kernel.get());
    } catch (const Error &) {
    }
    return 0;
}
