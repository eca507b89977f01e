// SPDX-License-Identifier: GPL-2.0-only
#include "btf/kernel_types.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>

#include "btf/declaration.h"
#include "btf/shape.h"
#include "util/error.h"
#include "util/name_index.h"

namespace argtrace {

Prototype prototype_of(const btf *types, const char *function, std::uint32_t function_proto) {
    const btf_type *proto = btf__type_by_id(types, function_proto);
    const btf_param *params = btf_params(proto);

    Prototype prototype;
    prototype.function = function;
    prototype.source = {types, function_proto};
    prototype.result = declare(types, proto->type);
    prototype.result_shape = shape_of(types, proto->type);
    prototype.text = declare(types, function_proto, function);
    for (int i = 0; i < btf_vlen(proto); i++) {
        if (i == btf_vlen(proto) - 1 && params[i].type == 0) {
            prototype.variadic = true;
            break;
        }
        const char *name = btf__name_by_offset(types, params[i].name_off);
        prototype.parameters.push_back({name && *name ? name : fmt::format("arg{}", i),
                                        declare(types, params[i].type),
                                        shape_of(types, params[i].type)});
    }
    return prototype;
}

void BtfDeleter::operator()(btf *types) const {
    btf__free(types);
}

/// The functions of one BTF object.
class KernelTypes::Table {
public:
    explicit Table(BtfPtr types) : types_(std::move(types)) {
        const btf *base = btf__base_btf(types_.get());
        const std::uint32_t end = btf__type_cnt(types_.get());
        for (std::uint32_t id = base ? btf__type_cnt(base) : 1; id < end; id++) {
            const btf_type *type = btf__type_by_id(types_.get(), id);
            if (!btf_is_func(type))
                continue;
            const btf_type *proto = btf__type_by_id(types_.get(), type->type);
            const char *name = btf__name_by_offset(types_.get(), type->name_off);
            if (name && proto && btf_is_func_proto(proto))
                functions_.push_back({name, type->type});
        }
        by_name_ =
            NameIndex(functions_.size(), [this](std::size_t i) { return functions_[i].name; });
    }

    btf *types() const { return types_.get(); }

    std::vector<Prototype> prototypes(std::string_view name) const {
        std::vector<Prototype> found;
        by_name_.for_each_candidate(name, [&](std::uint32_t i) {
            if (functions_[i].name != name)
                return;
            Prototype next =
                prototype_of(types(), functions_[i].name.data(), functions_[i].proto);
            if (std::find(found.begin(), found.end(), next) == found.end())
                found.push_back(std::move(next));
        });
        return found;
    }

    std::vector<std::string_view> names() const {
        std::vector<std::string_view> names;
        for (const Function &function : functions_)
            names.push_back(function.name);
        std::sort(names.begin(), names.end());
        names.erase(std::unique(names.begin(), names.end()), names.end());
        return names;
    }

private:
    struct Function {
        std::string_view name; // ends in a NUL, in the BTF's strings
        std::uint32_t proto;   // its FUNC_PROTO
    };

    BtfPtr types_;
    std::vector<Function> functions_;
    NameIndex by_name_; // of functions_
};

KernelTypes KernelTypes::load(const std::string &directory) {
    libbpf_set_print(nullptr);
    const std::string path = directory + "/vmlinux";
    BtfPtr types(btf__parse(path.c_str(), nullptr));
    if (types)
        return KernelTypes(std::move(types), directory);

    const int error = errno;
    if (error == ENOENT)
        throw Error(fmt::format("{} does not exist: this kernel has no type information; it must "
                                "be built with CONFIG_DEBUG_INFO_BTF=y",
                                path));
    throw Error(fmt::format("{}: the kernel's type information cannot be read: {}", path,
                            std::strerror(error)));
}

KernelTypes::KernelTypes(BtfPtr kernel, std::string directory)
    : directory_(std::move(directory)), kernel_(std::make_unique<Table>(std::move(kernel))) {}

KernelTypes::KernelTypes(KernelTypes &&) noexcept = default;

KernelTypes &KernelTypes::operator=(KernelTypes &&other) noexcept {
    // Split BTF refers to its base: it goes first.
    kept_ = std::move(other.kept_);
    copy_ = std::move(other.copy_);
    modules_ = std::move(other.modules_);
    kernel_ = std::move(other.kernel_);
    directory_ = std::move(other.directory_);
    return *this;
}

KernelTypes::~KernelTypes() = default;

void KernelTypes::add_module(const std::string &module, BtfPtr types) {
    modules_[module] = types ? std::make_unique<Table>(std::move(types)) : nullptr;
}

btf *KernelTypes::kernel() const {
    return kernel_->types();
}

btf *KernelTypes::copy_of_kernel() {
    if (!copy_) {
        std::uint32_t size = 0;
        const void *data = btf__raw_data(kernel(), &size);
        copy_.reset(data ? btf__new(data, size) : nullptr);
    }
    if (!copy_)
        throw Error("there is no memory for a copy of the kernel's type information");
    return copy_.get();
}

const btf *KernelTypes::keep(BtfPtr types) {
    return kept_.emplace_back(std::move(types)).get();
}

KernelTypes::Table *KernelTypes::table(std::string_view module) {
    if (module.empty())
        return kernel_.get();
    const auto known = modules_.find(module);
    if (known != modules_.end())
        return known->second.get();

    std::unique_ptr<Table> made;
    if (!directory_.empty()) {
        libbpf_set_print(nullptr);
        const std::string path = fmt::format("{}/{}", directory_, module);
        BtfPtr types(btf__parse_split(path.c_str(), kernel()));
        if (types)
            made = std::make_unique<Table>(std::move(types));
    }
    return modules_.emplace(module, std::move(made)).first->second.get();
}

bool KernelTypes::has_module(std::string_view module) {
    return table(module) != nullptr;
}

std::vector<Prototype> KernelTypes::prototypes(std::string_view function, std::string_view module) {
    const Table *described = table(module);
    return described ? described->prototypes(function) : std::vector<Prototype>();
}

std::vector<std::string_view> KernelTypes::functions(std::string_view module) {
    const Table *described = table(module);
    return described ? described->names() : std::vector<std::string_view>();
}

} // namespace argtrace
