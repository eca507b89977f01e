// SPDX-License-Identifier: GPL-2.0-only
//
// What a user may write to say which calls are meant and what of them is recorded. What compiles
// must be a program that the module takes.

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <bpf/btf.h>

#include "btf/kernel_types.h"
#include "fuzzer.h"
#include "lang/compile.h"
#include "lang/disassemble.h"
#include "support/program_interpreter.h"
#include "util/error.h"

using namespace argtrace;

namespace {

/// Structs with what path(), cgroup_path() and pfn() look for.
class KernelStructs {
public:
    explicit KernelStructs(btf *types) : types_(types), untyped_(btf__add_ptr(types, 0)) {}

    /// Its size is what its members have.
    int add(const char *name, std::initializer_list<std::pair<const char *, int>> members) {
        const auto size_of = [this](int type) {
            return static_cast<std::uint32_t>(btf__resolve_size(types_, static_cast<std::uint32_t>(type)));
        };
        std::uint32_t size = 0;
        for (const auto &[member, type] : members)
            size += size_of(type);
        const int made = btf__add_struct(types_, name, size);
        std::uint32_t offset = 0;
        for (const auto &[member, type] : members) {
            btf__add_field(types_, member, type, 8 * offset, 0);
            offset += size_of(type);
        }
        return made;
    }

    int pointer_to(int type) { return btf__add_ptr(types_, type); }
    int untyped() const { return untyped_; }

private:
    btf *types_;
    int untyped_;
};

/// Types of all shapes; the function f(p, n, s, c, r, m, file, page, folio, dentry) has parameters of some.
struct FuzzedFunction {
    FuzzedFunction() : types(btf__new_empty()) {
        btf *b = types.get();
        const int s32 = btf__add_int(b, "int", 4, BTF_INT_SIGNED);
        const int u64 = btf__add_int(b, "unsigned long", 8, 0);
        const int character = btf__add_int(b, "char", 1, BTF_INT_SIGNED);
        const int wide = btf__add_int(b, "__int128", 16, BTF_INT_SIGNED);
        const int u16 = btf__add_typedef(b, "__be16", btf__add_int(b, "unsigned short", 2, 0));
        const int text = btf__add_array(b, s32, character, 16);
        const int numbers = btf__add_array(b, s32, s32, 4);
        const int color = btf__add_enum(b, "color", 4);
        btf__add_enum_value(b, "RED", 0);
        btf__add_enum_value(b, "GREEN", 5);
        const int inner = btf__add_struct(b, nullptr, 8);
        btf__add_field(b, "a", s32, 0, 3);
        btf__add_field(b, "b", s32, 3, 29);
        btf__add_field(b, "port", u16, 32, 0);
        const int untyped = btf__add_ptr(b, 0);
        const int names = btf__add_ptr(b, character);
        const int self = btf__add_ptr(b, names + 2);
        const int node = btf__add_struct(b, "node", 88);
        btf__add_field(b, "next", self, 0, 0);
        btf__add_field(b, nullptr, inner, 64, 0);
        btf__add_field(b, "inner", inner, 128, 0);
        btf__add_field(b, "text", text, 192, 0);
        btf__add_field(b, "numbers", numbers, 320, 0);
        btf__add_field(b, "name", names, 448, 0);
        btf__add_field(b, "any", untyped, 512, 0);
        btf__add_field(b, "color", color, 576, 0);
        btf__add_field(b, "wide", wide, 576, 0);
        KernelStructs structs(b);
        const int any = structs.untyped();
        const int dentry = structs.add("dentry", {{"d_parent", any}, {"d_name", names}});
        const int vfsmount = structs.add("vfsmount", {{"mnt_root", any}});
        structs.add("mount", {{"mnt_parent", any}, {"mnt_mountpoint", any}, {"mnt", vfsmount}, {"mnt_ns", any}});
        structs.add("mnt_namespace", {{"root", any}});
        const int path = structs.add("path", {{"mnt", structs.pointer_to(vfsmount)}, {"dentry", structs.pointer_to(dentry)}});
        const int file = structs.add("file", {{"f_op", any}, {"f_path", path}});
        const int kernfs_node = structs.add("kernfs_node", {{"parent", any}, {"name", names}});
        const int cgroup = structs.add("cgroup", {{"kn", structs.pointer_to(kernfs_node)}});
        const int css_set = structs.add("css_set", {{"dfl_cgrp", structs.pointer_to(cgroup)}});
        structs.add("task_struct", {{"comm", text}, {"cgroups", structs.pointer_to(css_set)}});
        const int page = structs.add("page", {{"flags", u64}, {"lru", any}});
        const int folio = structs.add("folio", {{"page", page}, {"index", u64}});
        const int to_file = structs.pointer_to(file), to_page = structs.pointer_to(page);
        const int to_folio = structs.pointer_to(folio), to_dentry = structs.pointer_to(dentry);
        proto = static_cast<std::uint32_t>(btf__add_func_proto(b, 0));
        btf__add_func_param(b, "p", self);
        btf__add_func_param(b, "n", s32);
        btf__add_func_param(b, "s", names);
        btf__add_func_param(b, "c", color);
        btf__add_func_param(b, "r", inner);
        btf__add_func_param(b, "m", node);
        btf__add_func_param(b, "file", to_file);
        btf__add_func_param(b, "page", to_page);
        btf__add_func_param(b, "folio", to_folio);
        btf__add_func_param(b, "dentry", to_dentry);
        if (self != node - 1 || btf_vlen(btf__type_by_id(b, proto)) != 10)
            std::abort();
    }

    lang::Scope scope() {
        Prototype prototype;
        prototype.function = "f";
        prototype.source = {types.get(), proto};
        constexpr const char *all[]{"p", "n", "s", "c", "r", "m", "file", "page", "folio", "dentry"};
        std::vector<Argument> places(std::size(all));
        for (std::uint8_t i = 0; i < std::size(all); i++) {
            places[i].name = all[i];
            places[i].loc = i == 5 ? ARGTRACE_LOC_STACK : ARGTRACE_LOC_REG;
            places[i].index = i < 5 ? i : i == 5 ? 0 : static_cast<std::uint8_t>(i - 5); // registers in which another one is
            places[i].offset = i == 5 ? 8 : 0;
        }
        return {*index, prototype, places};
    }

    BtfPtr types;
    std::uint32_t proto;
    std::unique_ptr<lang::Types> index;
};

void require(const lang::Program &program) {
    const FakeMemory memory;
    const std::string wrong = ProgramInterpreter(program, memory).verify();
    if (!wrong.empty()) {
        std::fprintf(stderr, "%s\n", wrong.c_str());
        for (const std::string &line : lang::disassemble(program))
            std::fprintf(stderr, "%s\n", line.c_str());
        std::abort();
    }
    (void)program.bytes();
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    static FuzzedFunction function;
    if (!function.index)
        function.index = std::make_unique<lang::Types>(function.types.get(), [](std::string_view) { return 0xffffffff82000008; });
    static const lang::Scope scope = function.scope();
    if (size > 512) // an argument of a command line
        return 0;
    const std::string text(reinterpret_cast<const char *>(data), size);
    try {
        const lang::Expression condition = lang::parse_condition(text);
        require(lang::compile(scope, std::span(&condition, 1), {}));
    } catch (const Error &) {
    }
    try {
        const lang::ParsedArguments parsed = lang::parse_arguments("(" + text + ")", 0);
        require(lang::compile(scope, {}, parsed.arguments));
    } catch (const Error &) {
    }
    return 0;
}
