// SPDX-License-Identifier: GPL-2.0-only
#include "symbols/kcore.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include "util/hex.h"
#include "util/lines.h"

namespace argtrace {

namespace {

/// More than any kernel writes.
constexpr std::uint64_t notes_size_max = 1 << 20;

constexpr std::string_view info_owner = "VMCOREINFO";

/// The place behind so many bytes of a note, whose parts are aligned.
std::size_t aligned(std::size_t size) {
    return (size + 3) & ~std::size_t{3};
}

} // namespace

std::optional<Kcore> Kcore::open(const std::string &path) {
    Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file)
        return std::nullopt;
    Kcore core(std::move(file));
    if (!core.read_headers())
        return std::nullopt;
    return core;
}

bool Kcore::read_file(std::uint64_t offset, std::span<std::byte> to) const {
    while (!to.empty()) {
        const ssize_t got = pread(file_.get(), to.data(), to.size(), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to = to.subspan(static_cast<std::size_t>(got));
        offset += static_cast<std::uint64_t>(got);
    }
    return true;
}

bool Kcore::read_headers() {
    Elf64_Ehdr header;
    if (!read_file(0, std::as_writable_bytes(std::span(&header, 1))) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_CORE || header.e_phentsize != sizeof(Elf64_Phdr))
        return false;
    std::vector<Elf64_Phdr> parts(header.e_phnum);
    if (!read_file(header.e_phoff, std::as_writable_bytes(std::span(parts))))
        return false;
    bool noted = false;
    for (const Elf64_Phdr &part : parts) {
        if (part.p_type == PT_LOAD)
            segments_.push_back({part.p_vaddr, part.p_filesz, part.p_offset});
        else if (part.p_type == PT_NOTE)
            noted |= read_notes(part.p_offset, part.p_filesz);
    }
    return noted && !segments_.empty();
}

bool Kcore::read_notes(std::uint64_t offset, std::uint64_t size) {
    if (size > notes_size_max)
        return false;
    std::vector<char> bytes(size);
    if (!read_file(offset, std::as_writable_bytes(std::span(bytes))))
        return false;
    for (std::string_view rest(bytes.data(), bytes.size()); rest.size() >= sizeof(Elf64_Nhdr);) {
        Elf64_Nhdr header;
        std::memcpy(&header, rest.data(), sizeof(header));
        rest.remove_prefix(sizeof(header));
        const std::size_t name_size = aligned(header.n_namesz);
        if (name_size > rest.size() || header.n_descsz > rest.size() - name_size)
            return false;
        if (rest.substr(0, header.n_namesz).starts_with(info_owner)) {
            add_info(rest.substr(name_size, header.n_descsz));
            return true;
        }
        rest.remove_prefix(std::min(rest.size(), name_size + aligned(header.n_descsz)));
    }
    return false;
}

// "SYMBOL(_stext)=ffffffff81000000" are lines of it.
void Kcore::add_info(std::string_view text) {
    for_each_line(text, [this](std::string_view line) {
        constexpr std::string_view begin = "SYMBOL(", middle = ")=";
        const std::size_t end = line.find(middle);
        if (!line.starts_with(begin) || end == line.npos)
            return;
        if (const auto address = parse_hex(line.substr(end + middle.size())))
            noted_[std::string(line.substr(begin.size(), end - begin.size()))] = *address;
    });
}

std::optional<std::uint64_t> Kcore::noted_symbol(std::string_view name) const {
    const auto found = noted_.find(name);
    return found == noted_.end() ? std::nullopt : std::optional(found->second);
}

bool Kcore::read(std::uint64_t address, std::span<std::byte> to) const {
    for (const Segment &segment : segments_)
        if (address >= segment.address && address - segment.address < segment.size)
            return to.size() <= segment.size - (address - segment.address) && read_file(segment.offset + (address - segment.address), to);
    return false;
}

std::optional<RawBytes> Kcore::bytes(std::uint64_t address, std::size_t size) const {
    RawBytes bytes(size);
    if (!read(address, bytes))
        return std::nullopt;
    return bytes;
}

} // namespace argtrace
