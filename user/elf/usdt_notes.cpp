// SPDX-License-Identifier: GPL-2.0-only
#include "elf/usdt_notes.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>

#include "elf/byte_reader.h"

namespace argtrace::elf {

namespace {

// <sys/sdt.h>
constexpr std::string_view note_section = ".note.stapsdt", base_section = ".stapsdt.base";
constexpr std::string_view note_owner{"stapsdt\0", 8};
constexpr std::uint32_t note_type = 3; // NT_STAPSDT

constexpr std::uint64_t section_max = 64 << 20;
constexpr std::size_t usdt_notes_max = 1 << 20, note_name_max = 255, arguments_max = 4096;

constexpr std::uint64_t padded(std::uint64_t size) {
    return (size + 3) / 4 * 4;
}

// What ends with a NUL; nothing where that is missing.
std::optional<std::string_view> take_text(std::string_view &bytes, std::size_t most) {
    const std::size_t end = bytes.find('\0');
    if (end == bytes.npos || end > most)
        return std::nullopt;
    const std::string_view text = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    return text;
}

// Nobody can write, and no terminal should be given, a name of other characters.
bool is_printable(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

class NoteReader {
public:
    explicit NoteReader(const Object &object) : object_(object), base_(object.section(base_section)) {}

    std::optional<UsdtNote> read(std::string_view description) const {
        ByteReader numbers(description);
        const auto noted_address = numbers.number<std::uint64_t>();
        const auto noted_base = numbers.number<std::uint64_t>();
        const auto noted_semaphore = numbers.number<std::uint64_t>();
        std::string_view rest = numbers.rest();
        const auto provider = take_text(rest, note_name_max), name = take_text(rest, note_name_max), arguments = take_text(rest, arguments_max);
        if (numbers.failed() || !provider || !name || !arguments || name->empty() || !is_printable(*provider) || !is_printable(*name) ||
            !is_printable(*arguments))
            return std::nullopt;
        const std::uint64_t moved = base_ && noted_base != 0 ? base_->header.sh_addr - noted_base : 0;
        const std::uint64_t address = noted_address + moved;
        const std::optional<std::uint64_t> offset = object_.offset_of(address);
        std::optional<std::uint64_t> semaphore = 0;
        if (noted_semaphore != 0)
            semaphore = object_.offset_of(noted_semaphore + moved);
        if (!offset || !semaphore || (noted_semaphore != 0 && *semaphore == 0) || *semaphore % sizeof(std::uint16_t) != 0)
            return std::nullopt;
        return UsdtNote{std::string(*provider), std::string(*name), std::string(*arguments), address, *offset, *semaphore};
    }

private:
    const Object &object_;
    const Object::Section *base_;
};

void read_section(std::string_view bytes, const NoteReader &reader, std::vector<UsdtNote> &notes) {
    ByteReader rest(bytes);
    while (!rest.at_end() && notes.size() < usdt_notes_max) {
        const auto owner_size = rest.number<std::uint32_t>(), size = rest.number<std::uint32_t>(), type = rest.number<std::uint32_t>();
        const std::string_view owner = rest.take(padded(owner_size)).substr(0, owner_size);
        // The padding of the last one may be missing.
        const std::string_view description = rest.take(std::min<std::uint64_t>(padded(size), std::max<std::uint64_t>(size, rest.rest().size())));
        if (rest.failed())
            return;
        if (owner != note_owner || type != note_type)
            continue;
        if (std::optional<UsdtNote> note = reader.read(description.substr(0, size)))
            notes.push_back(std::move(*note));
    }
}

} // namespace

std::vector<UsdtNote> read_usdt_notes(const Object &object) {
    const NoteReader reader(object);
    std::vector<UsdtNote> notes;
    for (const Object::Section &section : object.sections())
        if (section.header.sh_type == SHT_NOTE && section.name == note_section && section.header.sh_size <= section_max)
            read_section(view(object.content(section)), reader, notes);
    const auto key = [](const UsdtNote &note) { return std::tie(note.address, note.provider, note.name); };
    std::ranges::stable_sort(notes, {}, key);
    const auto same = [key](const UsdtNote &a, const UsdtNote &b) { return key(a) == key(b); };
    notes.erase(std::unique(notes.begin(), notes.end(), same), notes.end());
    return notes;
}

} // namespace argtrace::elf
