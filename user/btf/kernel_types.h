// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "btf/prototype.h"

struct btf;

namespace argtrace {

struct BtfDeleter {
    void operator()(btf *types) const;
};

using BtfPtr = std::unique_ptr<btf, BtfDeleter>;

/// The functions that the BTF of the kernel and of its modules describes.
/// "" stands for the kernel itself where a module is asked for.
class KernelTypes {
public:
    /// The running kernel's BTF; that of a module is read when one of its functions is
    /// asked for. Throws Error when the kernel has none or it cannot be read.
    static KernelTypes load(const std::string &directory = "/sys/kernel/btf");

    /// Types made elsewhere. Modules are read from `directory`, if it is not empty.
    explicit KernelTypes(BtfPtr kernel, std::string directory = {});

    KernelTypes(KernelTypes &&) noexcept;
    KernelTypes &operator=(KernelTypes &&) noexcept;
    ~KernelTypes();

    /// Gives a module its types; they may build on kernel(). Null: there are none for it.
    void add_module(const std::string &module, BtfPtr types);

    /// The kernel's own types.
    btf *kernel() const;

    /// A copy of the kernel's own types, made when it is first asked for, to build further ones on: to do that with
    /// libbpf moves the strings of those beneath.
    btf *copy_of_kernel();

    /// Takes types that build on that copy, for prototypes that refer to them.
    const btf *keep(BtfPtr types);

    /// Whether there is BTF for that module.
    bool has_module(std::string_view module);

    /// The different prototypes BTF has for functions of that name. None: not described.
    /// More than one: functions share the name, and which is which cannot be told.
    std::vector<Prototype> prototypes(std::string_view function, std::string_view module = {});

    /// The names of all described functions, sorted, each once. They stay valid as long as
    /// this object. Empty when there is no BTF for that module.
    std::vector<std::string_view> functions(std::string_view module = {});

private:
    class Table;

    Table *table(std::string_view module);

    std::string directory_;
    std::unique_ptr<Table> kernel_;
    std::map<std::string, std::unique_ptr<Table>, std::less<>> modules_; // null: has none
    BtfPtr copy_;
    std::vector<BtfPtr> kept_; // build on copy_
};

/// The prototype that a BTF_KIND_FUNC_PROTO describes.
Prototype prototype_of(const btf *types, const char *function, std::uint32_t function_proto);

} // namespace argtrace
