// SPDX-License-Identifier: GPL-2.0-only
#include "btf/external.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <system_error>

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include "btf/raw.h"
#include "util/error.h"
#include "util/fd.h"
#include "util/file.h"

namespace argtrace {

namespace {

bool is_module_name(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               c == '_' || c == '-';
    });
}

/// Whether all that the types of one object say makes sense together with its base. Split BTF
/// does not name its base, but on another one its ids and string offsets point anywhere.
class Check {
public:
    explicit Check(const btf *types)
        : types_(types), end_(btf__type_cnt(types)), base_(btf__base_btf(types)),
          base_strings_(base_ ? RawBtf(base_).strings().size() : 0) {}

    bool fits() {
        for (std::uint32_t id = base_ ? btf__type_cnt(base_) : 1; id < end_; id++) {
            if (!fits(btf__type_by_id(types_, id)))
                return false;
        }
        return own_string_used_ || RawBtf(types_).strings().size() <= 1;
    }

private:
    // A string begins at `offset`: another one ends before it.
    bool is_string(std::uint32_t offset) {
        own_string_used_ = own_string_used_ || offset >= base_strings_;
        const char *text = btf__name_by_offset(types_, offset);
        if (!text)
            return false;
        if (offset == 0)
            return true;
        const char *before = btf__name_by_offset(types_, offset - 1);
        return before && *before == '\0';
    }

    bool is_type(std::uint32_t id) const {
        if (id >= end_)
            return false;
        const btf_type *type = btf__type_by_id(types_, id);
        return !btf_is_func(type) && !btf_is_var(type) && !btf_is_datasec(type) &&
               !btf_is_decl_tag(type);
    }

    bool fits(const btf_type *type) {
        if (!is_string(type->name_off))
            return false;
        switch (btf_kind(type)) {
        case BTF_KIND_PTR:
        case BTF_KIND_TYPEDEF:
        case BTF_KIND_VOLATILE:
        case BTF_KIND_CONST:
        case BTF_KIND_RESTRICT:
        case BTF_KIND_TYPE_TAG:
        case BTF_KIND_VAR:
            return is_type(type->type);
        case BTF_KIND_FUNC:
            return type->type < end_ && btf_is_func_proto(btf__type_by_id(types_, type->type));
        case BTF_KIND_FUNC_PROTO:
            return is_type(type->type) && params_fit(type);
        case BTF_KIND_ARRAY:
            return is_type(btf_array(type)->type) && is_type(btf_array(type)->index_type);
        case BTF_KIND_STRUCT:
        case BTF_KIND_UNION:
            return members_fit(type);
        default:
            return true;
        }
    }

    bool params_fit(const btf_type *type) {
        const btf_param *params = btf_params(type);
        return std::all_of(params, params + btf_vlen(type), [this](const btf_param &param) {
            return is_string(param.name_off) && is_type(param.type);
        });
    }

    bool members_fit(const btf_type *type) {
        const btf_member *members = btf_members(type);
        return std::all_of(members, members + btf_vlen(type), [this](const btf_member &member) {
            return is_string(member.name_off) && is_type(member.type);
        });
    }

    const btf *types_;
    std::uint32_t end_;
    const btf *base_;
    std::size_t base_strings_; // their length: those of the object itself follow
    bool own_string_used_ = false;
};

bool begins_with(std::string_view text, std::string_view magic) {
    return text.starts_with(magic);
}

// Throws Error when a file that begins like that has no BTF in it.
void check_form(const ExternalBtf &external) {
    Text text;
    try {
        text = read_file(external.path);
    } catch (const std::system_error &e) {
        throw Error(fmt::format("{}: cannot be read: {}", external.path, e.code().message()));
    }
    using namespace std::string_view_literals;
    const std::string_view bytes = view(text);
    if (begins_with(bytes, "\x7f"
                           "ELF"sv) ||
        begins_with(bytes, "\x9f\xeb"sv))
        return;
    if (begins_with(bytes, "\xfd"
                           "7zXZ"sv) ||
        begins_with(bytes, "\x28\xb5\x2f\xfd"sv) || begins_with(bytes, "\x1f\x8b"sv))
        throw Error(fmt::format("{}: is compressed: unpack it first (xz -d, zstd -d or gzip -d)",
                                external.path));
    throw Error(
        fmt::format("{}: is neither BTF nor an ELF file that could have it", external.path));
}

Error unfit(const std::string &path) {
    return Error(fmt::format("{}: its types do not fit this kernel's: they were made for another "
                             "one, or are damaged; build it for the kernel that runs",
                             path));
}

} // namespace

std::string explain_no_types(const std::string &path, bool debug_info) {
    const std::size_t suffix = path.rfind(".ko.");
    const bool packed = suffix != path.npos;
    const std::string file = packed ? path.substr(0, suffix + 3) : path;
    return fmt::format("{}: has no types (no .BTF section){}: {}`pahole -J --btf_base "
                       "/sys/kernel/btf/vmlinux {}` makes them of its debug information",
                       path,
                       debug_info ? "" : ", nor debug information, which building with -g gives it",
                       packed ? "unpack it, then " : "", file);
}

ExternalBtf parse_external(std::string_view text) {
    std::string_view path = text;
    std::string module;
    const std::size_t equals = text.find('=');
    if (equals != text.npos && text.substr(0, equals).find('/') == text.npos) {
        module = text.substr(0, equals);
        path = text.substr(equals + 1);
    } else {
        module = text.substr(text.rfind('/') + 1);
        module.resize(std::min(module.find('.'), module.size()));
    }
    if (!is_module_name(module))
        throw Error(fmt::format("--btf {}: '{}' is no module's name: give it as --btf MODULE=FILE",
                                text, module));
    if (path.empty())
        throw Error(fmt::format("--btf {}: the file is missing", text));
    std::replace(module.begin(), module.end(), '-', '_'); // as the kernel does
    if (module == "vmlinux")
        throw Error(fmt::format("--btf {}: it is for modules: the kernel's own types are read "
                                "from /sys/kernel/btf/vmlinux",
                                text));
    return {std::move(module), std::string(path)};
}

BtfPtr load_types(std::string_view bytes, const std::string &path, btf *kernel) {
    libbpf_set_print(nullptr);
    // libbpf takes split BTF from files alone: it does not export btf__new_split().
    const Fd file(memfd_create("argtrace-btf", MFD_CLOEXEC));
    if (!file || write(file.get(), bytes.data(), bytes.size()) != std::ssize(bytes))
        throw Error(fmt::format("{}: its types cannot be copied: {}", path, std::strerror(errno)));
    const std::string copy = fmt::format("/proc/self/fd/{}", file.get());
    BtfPtr types(btf__parse_raw(copy.c_str()));
    if (types && Check(types.get()).fits())
        return types;
    types.reset(btf__parse_raw_split(copy.c_str(), kernel));
    if (types && Check(types.get()).fits())
        return types;
    throw unfit(path);
}

BtfPtr load_external(const ExternalBtf &external, btf *kernel) {
    check_form(external);
    libbpf_set_print(nullptr);
    // With all its types, or with those alone that the kernel has not.
    BtfPtr types(btf__parse(external.path.c_str(), nullptr));
    if (types && Check(types.get()).fits())
        return types;
    types.reset(btf__parse_split(external.path.c_str(), kernel));
    const int error = errno;
    if (types && Check(types.get()).fits())
        return types;
    if (!types && (error == ENOENT || error == ENODATA))
        throw Error(explain_no_types(external.path, true));
    throw unfit(external.path);
}

} // namespace argtrace
