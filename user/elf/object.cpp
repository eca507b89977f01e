// SPDX-License-Identifier: GPL-2.0-only
#include "elf/object.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include <fmt/format.h>

namespace argtrace::elf {

namespace {

/// What is larger is not read: a file may claim, being sparse, to have terabytes.
constexpr std::uint64_t read_max = 1u << 30;

/// Linkers make a dozen. They are looked through for each function.
constexpr Elf64_Half segments_max = 256;

/// The structure at that place; zeros where the bytes end.
template<typename T>
T structure_at(std::string_view bytes, std::size_t offset) {
    T value = {};
    if (offset <= bytes.size() && sizeof(T) <= bytes.size() - offset)
        std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
}

std::uint64_t align4(std::uint64_t size) {
    return (size + 3) & ~std::uint64_t(3);
}

/// The build id that is among these notes.
std::string build_id_in(std::string_view notes) {
    while (notes.size() >= sizeof(Elf64_Nhdr)) {
        const auto note = structure_at<Elf64_Nhdr>(notes, 0);
        const std::uint64_t at = sizeof(note) + align4(note.n_namesz), end = at + align4(note.n_descsz);
        if (at > notes.size() || note.n_descsz > notes.size() - at)
            break;
        if (note.n_type == NT_GNU_BUILD_ID && notes.substr(sizeof(note), note.n_namesz) == std::string_view("GNU", 4)) {
            std::string id;
            for (const char byte : notes.substr(at, note.n_descsz))
                id += fmt::format("{:02x}", static_cast<unsigned char>(byte));
            return id;
        }
        notes.remove_prefix(std::min<std::uint64_t>(end, notes.size()));
    }
    return {};
}

/// Unpacks a section; `size` is how much it claims to be when it is unpacked.
Text unpack_section(std::string_view packed, std::uint32_t type, std::uint64_t size) {
    constexpr std::uint32_t elfcompress_zstd = 2; // glibc 2.36 has no name for it
    // What is damaged must not take gigabytes: zlib makes at most 1032 bytes of one, and zstd mostly says how many it makes.
    if (size > read_max || (type == ELFCOMPRESS_ZLIB ? size / 1032 > packed.size() : type != elfcompress_zstd))
        return {};
    if (const auto said = ZSTD_getFrameContentSize(packed.data(), packed.size());
        type == elfcompress_zstd && (said == ZSTD_CONTENTSIZE_ERROR || (said != ZSTD_CONTENTSIZE_UNKNOWN && said > size)))
        return {};
    Text content(size);
    if (type == ELFCOMPRESS_ZLIB) {
        uLongf length = size;
        if (::uncompress(reinterpret_cast<Bytef *>(content.data()), &length, reinterpret_cast<const Bytef *>(packed.data()),
                         packed.size()) != Z_OK ||
            length != size)
            return {};
        return content;
    }
    if (::ZSTD_decompress(content.data(), size, packed.data(), packed.size()) != size)
        return {};
    return content;
}

/// Before SHF_COMPRESSED there was a section .zdebug_frame, which begins with this and its size.
constexpr std::string_view old_packed_magic = "ZLIB";
constexpr std::size_t old_packed_header = 12;

std::uint64_t big_endian(std::string_view bytes) {
    std::uint64_t number = 0;
    for (const char byte : bytes)
        number = number << 8 | static_cast<unsigned char>(byte);
    return number;
}

} // namespace

Text Object::read(std::uint64_t offset, std::uint64_t size) const {
    if (offset >= size_)
        return {};
    size = std::min(size, size_ - offset);
    if (size > read_max)
        return {};
    if (const Text *memory = std::get_if<Text>(&source_))
        return Text(memory->begin() + static_cast<std::ptrdiff_t>(offset), memory->begin() + static_cast<std::ptrdiff_t>(offset + size));
    Text bytes(size);
    std::size_t have = 0;
    while (have < size) {
        const ssize_t n = ::pread(std::get<Fd>(source_).get(), bytes.data() + have, size - have, static_cast<off_t>(offset + have));
        if (n <= 0)
            break;
        have += static_cast<std::size_t>(n);
    }
    bytes.resize(have);
    return bytes;
}

int Object::fd() const {
    const Fd *file = std::get_if<Fd>(&source_);
    return file ? file->get() : -1;
}

template<typename T>
std::vector<T> Object::read_table(std::uint64_t offset, std::uint64_t count) const {
    const Text bytes = read(offset, std::min<std::uint64_t>(count, read_max / sizeof(T)) * sizeof(T));
    std::vector<T> table(bytes.size() / sizeof(T));
    if (!table.empty())
        std::memcpy(table.data(), bytes.data(), table.size() * sizeof(T));
    return table;
}

bool Object::read_headers() {
    const Text bytes = read(0, sizeof(header_));
    if (bytes.size() < sizeof(header_))
        return false;
    header_ = structure_at<Elf64_Ehdr>(view(bytes), 0);
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 || header_.e_ident[EI_CLASS] != ELFCLASS64 ||
        header_.e_ident[EI_DATA] != ELFDATA2LSB)
        return false;
    if (header_.e_phentsize == sizeof(Elf64_Phdr))
        segments_ = read_table<Elf64_Phdr>(header_.e_phoff, std::min(header_.e_phnum, segments_max));
    if (header_.e_shentsize != sizeof(Elf64_Shdr) || header_.e_shoff == 0)
        return true;
    // What does not fit into the header is in the first section's.
    const std::vector<Elf64_Shdr> first = read_table<Elf64_Shdr>(header_.e_shoff, 1);
    if (first.empty())
        return true;
    const std::uint64_t count = header_.e_shnum ? header_.e_shnum : first[0].sh_size;
    const std::uint64_t names = header_.e_shstrndx == SHN_XINDEX ? first[0].sh_link : header_.e_shstrndx;
    const std::vector<Elf64_Shdr> headers = read_table<Elf64_Shdr>(header_.e_shoff, count);
    Text text;
    if (names < headers.size())
        text = read(headers[names].sh_offset, headers[names].sh_size);
    sections_.reserve(headers.size());
    for (const Elf64_Shdr &header : headers) {
        const std::string_view rest = view(text).substr(std::min<std::size_t>(header.sh_name, text.size()));
        // No name that anybody looks for is that long, and many sections may share an endless one.
        sections_.push_back({std::string(rest.substr(0, std::min<std::size_t>(rest.find('\0'), 64))), header});
    }
    return true;
}

void Object::read_build_id() {
    constexpr std::uint64_t notes_max = 64 << 10;
    for (const Elf64_Phdr &segment : segments_) {
        if (segment.p_type != PT_NOTE || !build_id_.empty())
            continue;
        build_id_ = build_id_in(view(read(segment.p_offset, std::min(segment.p_filesz, notes_max))));
    }
    for (const Section &section : sections_) {
        if (section.header.sh_type != SHT_NOTE || !build_id_.empty())
            continue;
        build_id_ = build_id_in(view(read(section.header.sh_offset, std::min(section.header.sh_size, notes_max))));
    }
}

std::optional<Object> Object::parse(Object object) {
    if (!object.read_headers())
        return std::nullopt;
    object.read_build_id();
    return object;
}

std::optional<Object> Object::open(const std::string &path) {
    return open(Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)), path);
}

std::optional<Object> Object::open(Fd file, std::string path) {
    struct stat status = {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return std::nullopt;
    Object object;
    object.size_ = static_cast<std::uint64_t>(status.st_size);
    object.source_ = std::move(file);
    object.path_ = std::move(path);
    return parse(std::move(object));
}

std::optional<Object> Object::from_memory(std::span<const std::byte> image, std::string path) {
    Object object;
    const auto *const start = reinterpret_cast<const char *>(image.data());
    Text copy(start, start + image.size());
    object.size_ = copy.size();
    object.source_ = std::move(copy);
    object.path_ = std::move(path);
    return parse(std::move(object));
}

std::optional<std::uint64_t> Object::address_of(std::uint64_t file_offset) const {
    for (const Elf64_Phdr &segment : segments_)
        if (segment.p_type == PT_LOAD && file_offset >= segment.p_offset && file_offset - segment.p_offset < segment.p_filesz)
            return segment.p_vaddr + (file_offset - segment.p_offset);
    return std::nullopt;
}

std::optional<std::uint64_t> Object::offset_of(std::uint64_t address) const {
    for (const Elf64_Phdr &segment : segments_)
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
            return segment.p_offset + (address - segment.p_vaddr);
    return std::nullopt;
}

std::vector<CodeSegment> Object::code_segments() const {
    std::vector<CodeSegment> found;
    for (const Elf64_Phdr &segment : segments_)
        if (segment.p_type == PT_LOAD && segment.p_flags & PF_X)
            found.push_back({segment.p_offset, segment.p_vaddr, segment.p_filesz});
    return found;
}

void Object::take_code_segments(std::span<const CodeSegment> segments) {
    std::erase_if(segments_, [](const Elf64_Phdr &segment) { return segment.p_type == PT_LOAD && segment.p_flags & PF_X; });
    std::vector<Elf64_Phdr> code;
    for (const CodeSegment &segment : segments.first(std::min<std::size_t>(segments.size(), segments_max))) {
        Elf64_Phdr header = {};
        header.p_type = PT_LOAD;
        header.p_flags = PF_R | PF_X;
        header.p_offset = segment.offset;
        header.p_vaddr = segment.address;
        header.p_filesz = header.p_memsz = segment.size;
        code.push_back(header);
    }
    segments_.insert(segments_.end(), code.begin(), code.end());
}

const Object::Section *Object::section(std::string_view name) const {
    for (const Section &section : sections_)
        if (section.name == name)
            return &section;
    return nullptr;
}

Text Object::content(const Section &section) const {
    const Elf64_Shdr &header = section.header;
    if (header.sh_type == SHT_NOBITS)
        return {};
    Text bytes = read(header.sh_offset, header.sh_size);
    if (header.sh_flags & SHF_COMPRESSED) {
        const auto packed = structure_at<Elf64_Chdr>(view(bytes), 0);
        return unpack_section(view(bytes).substr(std::min(sizeof(packed), bytes.size())), packed.ch_type, packed.ch_size);
    }
    if (section.name.starts_with(".zdebug_") && view(bytes).starts_with(old_packed_magic) && bytes.size() >= old_packed_header)
        return unpack_section(view(bytes).substr(old_packed_header), ELFCOMPRESS_ZLIB, big_endian(view(bytes).substr(4, 8)));
    return bytes;
}

} // namespace argtrace::elf
