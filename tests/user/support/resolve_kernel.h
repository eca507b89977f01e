// SPDX-License-Identifier: GPL-2.0-only
// A kernel in small with two modules, and what specs resolve to in it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "btf/kernel_types.h"
#include "spec/resolve.h"
#include "support/btf_builder.h"
#include "support/thrown.h"

namespace argtrace {

inline constexpr const char *small_kallsyms =
    "ffffffff81000000 T vfs_read\n"
    "ffffffff81000040 T vfs_write\n"
    "ffffffff81000080 T native_nmi\n"
    "ffffffff810000c0 t align_show\n"
    "ffffffff81000100 t align_show\n"
    "ffffffff81000140 t split.isra.0\n"
    "ffffffff81000150 t split.cold\n"
    "ffffffff81000180 T memcpy_asm\n"
    "ffffffff810001c0 t differs\n"
    "ffffffff81000200 T alias_one\n"
    "ffffffff81000200 T alias_two\n"
    "ffffffff83000000 T _sinittext\n"
    "ffffffff83000040 t start_kernel\n"
    "ffffffff83001000 T _einittext\n"
    "ffffffffc0000000 t init_once\t[ext4]\n"
    "ffffffffc0000040 t ext4_open\t[ext4]\n"
    "ffffffffc0001000 t init_once\t[xfs]\n"
    "ffffffffc0002000 t foreign_open\t[foreign]\n";

inline constexpr const char *small_traceable =
    "vfs_read\n"
    "vfs_write\n"
    "align_show\n"
    "align_show\n"
    "split.isra.0\n"
    "memcpy_asm\n"
    "differs\n"
    "alias_one\n"
    "init_once [ext4]\n"
    "ext4_open [ext4]\n"
    "init_once [xfs]\n"
    "foreign_open [foreign]\n";

inline KernelTypes make_types() {
    BtfBuilder b;
    const int int_ = b.integer("int", 4, BTF_INT_SIGNED);
    const int size = b.name("size_t", b.integer("long unsigned int", 8));
    const int file = b.pointer(b.structure("file", 16));
    b.function("vfs_read", int_, {{"file", file}, {"count", size}});
    for (const char *name : {"vfs_write", "native_nmi", "align_show", "split", "inlined",
                             "alias_one", "alias_two", "start_kernel"})
        b.function(name, 0, {{"file", file}});
    b.function("differs", 0, {{"a", int_}});
    b.function("differs", 0, {{"a", file}});

    std::map<std::string, BtfPtr> modules;
    for (const char *module : {"ext4", "xfs"}) {
        BtfBuilder m(b.get());
        const int object = m.pointer(m.structure(module, 8));
        m.function("init_once", 0, {{"object", object}});
        m.function("ext4_open", 0, {{"object", object}});
        modules[module] = m.take();
    }
    KernelTypes types(b.take());
    for (auto &[name, module] : modules)
        types.add_module(name, std::move(module));
    return types;
}

inline Kernel make_kernel() {
    return Kernel({
        [] { return Kallsyms::parse(small_kallsyms); },
        make_types,
        [] { return Traceable::parse(small_traceable); },
    });
}

/// One in which nobody may ask tracefs, which is slow and may be missing.
inline Kernel make_kernel_without_tracefs() {
    return Kernel({
        [] { return Kallsyms::parse(small_kallsyms); },
        make_types,
        []() -> Traceable { throw Error("tracefs is not mounted"); },
    });
}

inline Request request(const std::vector<std::string> &specs) {
    return {parse_specs(specs, PatternSyntax::glob)};
}

inline std::vector<Probe> resolved(Kernel &kernel, const std::vector<std::string> &specs) {
    return resolve(kernel, request(specs)).probes;
}

inline std::vector<std::string> names(const std::vector<Probe> &probes) {
    std::vector<std::string> found;
    for (const Probe &probe : probes)
        found.push_back(probe.function);
    return found;
}

inline std::string refused_function(const std::string &spec) {
    Kernel kernel = make_kernel();
    return thrown([&] { resolved(kernel, {spec}); });
}

inline Resolved resolved_with(const std::vector<std::string> &specs, bool force, bool raw) {
    Kernel kernel = make_kernel();
    return resolve(kernel, {parse_specs(specs, PatternSyntax::glob), force, raw});
}

} // namespace argtrace
