// SPDX-License-Identifier: GPL-2.0-only
#include "spec/user_objects.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "model/probe_kind.h"
#include "util/error.h"
#include "util/file.h"
#include "util/program_path.h"

namespace argtrace {

namespace {

namespace fs = std::filesystem;

// glibc, sysdeps/generic/dl-cache.h: struct cache_file_new, struct file_entry_new; FLAG_ELF_LIBC6 with FLAG_X8664_LIB64 or
// FLAG_AARCH64_LIB64.
constexpr std::string_view cache_magic = "glibc-ld.so.cache1.1";
constexpr std::size_t cache_header_bytes = 48, cache_entry_bytes = 24;
#if defined(__aarch64__)
constexpr std::uint32_t cache_flags = 0x0a03;
#else
constexpr std::uint32_t cache_flags = 0x0303;
#endif

constexpr std::string_view library_folders[] = {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu",
                                                "/usr/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib",
                                                "/usr/local/lib"};

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
    std::uint32_t number = 0;
    if (at <= bytes.size() && bytes.size() - at >= sizeof(number))
        std::memcpy(&number, bytes.data() + at, sizeof(number));
    return number;
}

std::string text_at(std::string_view bytes, std::size_t at) {
    if (at >= bytes.size())
        return {};
    const std::string_view rest = bytes.substr(at);
    return std::string(rest.substr(0, rest.find('\0')));
}

bool is_file(const fs::path &path) {
    std::error_code error;
    return fs::is_regular_file(path, error);
}

// The cache lists the best version first.
std::string library_in_cache(std::string_view library) {
    try {
        const Text cache = read_file("/etc/ld.so.cache");
        for (const LibraryPath &known : parse_linker_cache(view(cache)))
            if (object_matches(library, known.name) && is_file(known.path))
                return known.path;
    } catch (const std::system_error &) {
        // There is none: static systems, and initial ones.
    }
    return {};
}

std::string library_in_folders(std::string_view library) {
    std::string best;
    for (const std::string_view folder : library_folders) {
        std::error_code error;
        for (const fs::directory_entry &entry : fs::directory_iterator(folder, error)) {
            const std::string name = entry.path().filename();
            if (object_matches(library, name) && is_file(entry.path()) && (best.empty() || entry.path().string() < best))
                best = entry.path();
        }
        if (!best.empty())
            return best;
    }
    return best;
}

} // namespace

std::vector<LibraryPath> parse_linker_cache(std::string_view bytes) {
    // Older systems have a cache of the old form in front.
    const std::size_t begin = bytes.find(cache_magic);
    if (begin == bytes.npos || bytes.size() - begin < cache_header_bytes)
        return {};
    bytes.remove_prefix(begin);
    const std::uint32_t count = number_at(bytes, cache_magic.size());
    std::vector<LibraryPath> libraries;
    for (std::uint32_t i = 0; i < count; i++) {
        const std::size_t entry = cache_header_bytes + std::size_t{i} * cache_entry_bytes;
        if (entry + cache_entry_bytes > bytes.size())
            break;
        if (number_at(bytes, entry) == cache_flags)
            libraries.push_back({text_at(bytes, number_at(bytes, entry + 4)), text_at(bytes, number_at(bytes, entry + 8))});
    }
    return libraries;
}

std::string find_user_object(std::string_view object) {
    if (object.starts_with("lib") && object.find('/') == object.npos) {
        if (std::string path = library_in_cache(object); !path.empty())
            return path;
        if (std::string path = library_in_folders(object); !path.empty())
            return path;
    }
    return find_program(object);
}

std::shared_ptr<const UserFile> open_user_file(const ObjectFile &object) {
    Fd file(::open(object.here.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)); // a FIFO would have us wait
    if (!file)
        throw Error(fmt::format("{}: {}", object.path, std::generic_category().message(errno)));
    struct stat status = {};
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
        throw Error(fmt::format("{}: is no regular file: code is traced in programs and libraries", object.path));
    return std::make_shared<const UserFile>(UserFile{std::move(file), object.path});
}

std::optional<UserObject> open_user_object(const ObjectFile &object) {
    std::shared_ptr<const UserFile> file = open_user_file(object);
    std::string path(without_deleted_mark(object.path));
    std::string name(file_name(path));
    std::optional<elf::Object> content = elf::Object::open(Fd(::dup(file->file.get())), std::move(path));
    if (!content)
        return std::nullopt;
    return UserObject{std::move(file), std::move(*content), std::move(name)};
}

Error no_user_object(const Spec &spec, const ObjectFile &file) {
    return error_in(spec, fmt::format("{}: {} is no 64-bit ELF file, such as programs and libraries are", spec.title(), file.path));
}

} // namespace argtrace
