// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <elf.h>

#include "model/code_object.h"
#include "util/fd.h"
#include "util/file.h"

namespace argtrace::elf {

/// One ELF file of a 64-bit little-endian machine. Headers are read when it is opened, and sections
/// when they are asked for. They are read, not mapped: a process that truncates its own library
/// would kill whoever has it mapped. Nothing in the file is trusted: what is damaged is not there.
class Object {
public:
    /// Nothing if it is no such file, or cannot be read. The path is for messages and for the folder
    /// of a debug link; it may be of another mount namespace.
    static std::optional<Object> open(Fd file, std::string path);

    /// Likewise, without waiting for the other end of a FIFO that somebody has put there.
    static std::optional<Object> open(const std::string &path);

    /// A file that is in memory, which is copied: the vdso, whose offsets are those from the
    /// beginning of the image.
    static std::optional<Object> from_memory(std::span<const std::byte> image, std::string path = {});

    const std::string &path() const { return path_; }
    int machine() const { return header_.e_machine; } ///< EM_X86_64 ...
    std::uint64_t entry() const { return header_.e_entry; } ///< where the kernel begins with a program or its dynamic linker; 0: nowhere

    /// Whether it may be loaded at any address, so that those of a process are others than the file's.
    bool is_movable() const { return header_.e_type != ET_EXEC; }

    /// NT_GNU_BUILD_ID in lower-case hexadecimal digits; empty if it has none.
    const std::string &build_id() const { return build_id_; }

    /// By the segments that are loaded (PT_LOAD). Nothing if the place is in none of them.
    std::optional<std::uint64_t> address_of(std::uint64_t file_offset) const;
    std::optional<std::uint64_t> offset_of(std::uint64_t address) const;

    /// The segments, as the program headers have them.
    std::span<const Elf64_Phdr> segments() const { return segments_; }

    /// Those with code.
    std::vector<CodeSegment> code_segments() const;

    /// The file is a separate debug file, whose program headers do not say where in the object its segments are: it has the code there.
    void take_code_segments(std::span<const CodeSegment> segments);

    struct Section {
        std::string name;
        Elf64_Shdr header;
    };
    std::span<const Section> sections() const { return sections_; }

    /// The first section of that name; nullptr if there is none.
    const Section *section(std::string_view name) const;

    /// What a section consists of, unpacked if it is packed (SHF_COMPRESSED); empty if it has no
    /// bytes in this file.
    Text content(const Section &section) const;

    /// Bytes of the file: as many of these as there are.
    Text read(std::uint64_t offset, std::uint64_t size) const;

    /// The whole size of the file.
    std::uint64_t size() const { return size_; }

    /// To be given to libraries that read the file themselves; -1 if it is in memory.
    int fd() const;

private:
    Object() = default;
    static std::optional<Object> parse(Object object);
    bool read_headers();
    void read_build_id();
    template<typename T>
    std::vector<T> read_table(std::uint64_t offset, std::uint64_t count) const;

    std::variant<Fd, Text> source_;
    std::uint64_t size_ = 0;
    std::string path_, build_id_;
    Elf64_Ehdr header_ = {};
    std::vector<Elf64_Phdr> segments_;
    std::vector<Section> sections_;
};

} // namespace argtrace::elf
