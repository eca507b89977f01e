// SPDX-License-Identifier: GPL-2.0-only
#include "elf/debug_file.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include <sys/stat.h>
#include <zlib.h>

#include "elf/debuginfod.h"

namespace argtrace::elf {

namespace {

constexpr const char *system_folder = "/usr/lib/debug";

std::uint32_t checksum_of(const Object &object) {
    constexpr std::uint64_t piece = 1 << 20;
    uLong sum = ::crc32(0, nullptr, 0);
    for (std::uint64_t at = 0; at < object.size(); at += piece) {
        const Text bytes = object.read(at, piece);
        sum = ::crc32(sum, reinterpret_cast<const Bytef *>(bytes.data()), static_cast<uInt>(bytes.size()));
    }
    return static_cast<std::uint32_t>(sum);
}

/// What .gnu_debuglink has: a name, zeros up to the next multiple of four, and a CRC32.
struct DebugLink {
    std::string name;
    std::uint32_t checksum;
};

std::optional<DebugLink> debug_link_of(const Object &object) {
    const Object::Section *section = object.section(".gnu_debuglink");
    if (!section)
        return std::nullopt;
    const Text content = object.content(*section);
    const std::size_t end = view(content).find('\0');
    DebugLink link = {};
    if (end == 0 || end == std::string_view::npos)
        return std::nullopt;
    link.name = view(content).substr(0, end);
    const std::size_t at = (end + 4) & ~std::size_t(3);
    if (at + sizeof(link.checksum) > content.size() || link.name.find('/') != std::string::npos)
        return std::nullopt;
    std::memcpy(&link.checksum, content.data() + at, sizeof(link.checksum));
    return link;
}

/// Where a file of that name may be. The object's own folder counts below the folders of debug files
/// and beside the object.
std::vector<std::string> places_of(const Object &object, const std::string &name, const std::vector<std::string> &folders) {
    const std::string own = std::filesystem::path(object.path()).parent_path();
    std::vector<std::string> places;
    if (own.starts_with('/')) {
        places.push_back(own + '/' + name);
        places.push_back(own + "/.debug/" + name);
    }
    for (const std::string &folder : folders) {
        if (own.starts_with('/'))
            places.push_back(folder + own + '/' + name);
        places.push_back(folder + '/' + name);
    }
    return places;
}

/// Where separate debug files are looked for, in this order.
std::vector<std::string> folders_of(const DebugFiles &more) {
    std::vector<std::string> folders = more.folders;
    folders.emplace_back(system_folder);
    return folders;
}

/// The name below such a folder of what has that build id.
std::string name_by(const std::string &build_id) {
    return "/.build-id/" + build_id.substr(0, 2) + '/' + build_id.substr(2);
}

/// Opens no device, which may notice it: the path is one that a recording says.
std::optional<Object> open_regular(const std::string &path) {
    struct stat status;
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) ? Object::open(path) : std::nullopt;
}

bool is_build_id(std::string_view text) {
    return text.size() > 2 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// The file of a server, if it has one, and it has that build id.
std::optional<Object> fetch(const std::string &build_id, Fetched what) {
    std::string path;
    Fd file = is_build_id(build_id) ? fetch_by_build_id(build_id, what, path) : Fd();
    auto found = file ? Object::open(std::move(file), path) : std::nullopt;
    return found && found->build_id() == build_id ? std::move(found) : std::nullopt;
}

} // namespace

std::optional<Object> find_debug_file(const Object &object, const DebugFiles &more) {
    const std::vector<std::string> folders = folders_of(more);
    if (const std::string &id = object.build_id(); id.size() > 2) {
        for (const std::string &folder : folders) {
            auto found = Object::open(folder + name_by(id) + ".debug");
            if (found && found->build_id() == id)
                return found;
        }
    }
    if (const std::optional<DebugLink> link = debug_link_of(object))
        for (const std::string &place : places_of(object, link->name, folders)) {
            auto found = Object::open(place);
            if (found && checksum_of(*found) == link->checksum)
                return found;
        }
    return more.debuginfod ? fetch(object.build_id(), Fetched::debug_file) : std::nullopt;
}

std::optional<Object> find_object(const CodeObject &wanted, const DebugFiles &more) {
    const std::string &id = wanted.build_id;
    if (!is_build_id(id))
        return std::nullopt;
    const auto is_wanted = [&id](const std::optional<Object> &found) { return found && found->build_id() == id; };
    if (wanted.path.starts_with('/'))
        if (auto found = open_regular(wanted.path); is_wanted(found))
            return found;
    const std::vector<std::string> folders = folders_of(more);
    const std::string name = name_by(id);
    for (const std::string &folder : folders)
        if (auto found = open_regular(folder + name); is_wanted(found))
            return found;
    if (!wanted.segments.empty()) {
        std::optional<Object> debug_file;
        for (const std::string &folder : folders)
            if (!is_wanted(debug_file))
                debug_file = open_regular(folder + name + ".debug");
        if (!is_wanted(debug_file) && more.debuginfod)
            debug_file = fetch(id, Fetched::debug_file);
        if (is_wanted(debug_file)) {
            debug_file->take_code_segments(wanted.segments);
            return debug_file;
        }
    }
    return more.debuginfod ? fetch(id, Fetched::executable) : std::nullopt;
}

} // namespace argtrace::elf
