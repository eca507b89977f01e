// SPDX-License-Identifier: GPL-2.0-only
#include "elf/go_version.h"

#include <string_view>

namespace argtrace::elf {

namespace {

// Go's debug/buildinfo/buildinfo.go
constexpr std::string_view magic = "\xff Go buildinf:";
constexpr std::size_t flags_at = 15, header_size = 32, version_max = 127;
constexpr unsigned char has_strings = 2; // they follow the header

} // namespace

std::optional<std::string> go_version(const Object &object) {
    const Object::Section *section = object.section(".go.buildinfo");
    if (!section)
        return std::nullopt;
    const Text content = object.content(*section);
    const std::string_view bytes(content.data(), content.size());
    if (bytes.size() <= header_size || !bytes.starts_with(magic) || !(static_cast<unsigned char>(bytes[flags_at]) & has_strings))
        return std::nullopt;
    const auto size = static_cast<unsigned char>(bytes[header_size]); // a number of one byte up to 127
    if (size > version_max || bytes.size() - header_size - 1 < size)
        return std::nullopt;
    return std::string(bytes.substr(header_size + 1, size));
}

} // namespace argtrace::elf
