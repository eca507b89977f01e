// SPDX-License-Identifier: GPL-2.0-only
#include "elf/demangle.h"

#include <cstdlib>
#include <memory>
#include <optional>

#include <cxxabi.h>

#include "elf/demangle_rust.h"

namespace argtrace::elf {

namespace {

constexpr std::size_t mangled_max = 4096;

/// References to what a name has said before: each may double its length, so that 260 characters can
/// stand for a gigabyte. Of 152,640 names in LLVM, clang, node and gdb three have more.
constexpr int references_max = 32;

bool may_explode(std::string_view mangled) {
    int references = 0;
    for (std::size_t i = 0; i + 1 < mangled.size(); i++) {
        if (mangled[i] != 'S' && mangled[i] != 'T')
            continue;
        std::size_t end = i + 1;
        while (end < mangled.size() && ((mangled[end] >= '0' && mangled[end] <= '9') || (mangled[end] >= 'A' && mangled[end] <= 'Z')))
            end++;
        if (end < mangled.size() && mangled[end] == '_' && ++references > references_max)
            return true;
    }
    return false;
}

std::optional<std::string> demangle_cxx(std::string_view mangled) {
    if (may_explode(mangled))
        return std::nullopt;
    int status = 0;
    const std::unique_ptr<char, void (*)(void *)> name(abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), std::free);
    if (!name)
        return std::nullopt;
    return name.get();
}

/// "NAME.SUFFIX": no mangling has a dot but Rust's legacy one, which ends differently.
std::string_view without_suffix(std::string_view symbol) {
    return symbol.substr(0, symbol.find('.'));
}

} // namespace

std::string demangle(std::string_view symbol) {
    if (symbol.size() > mangled_max || !(symbol.starts_with("_Z") || symbol.starts_with("_R")))
        return std::string(symbol);
    if (const auto rust = demangle_legacy_rust(symbol))
        return rust->name + std::string(rust->suffix);
    const std::string_view mangled = without_suffix(symbol), suffix = symbol.substr(mangled.size());
    const auto name = symbol[1] == 'R' ? demangle_rust(mangled) : demangle_cxx(mangled);
    return name ? *name + std::string(suffix) : std::string(symbol);
}

} // namespace argtrace::elf
