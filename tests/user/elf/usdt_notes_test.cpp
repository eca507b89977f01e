// SPDX-License-Identifier: GPL-2.0-only
// Notes of USDT probes, compared with what readelf says, and damaged ones.
#include "elf/usdt_notes.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "elf/symbol_addresses.h"

namespace argtrace::elf {
namespace {

std::string usdt_program() {
    return ARGTRACE_USDT_PROBES;
}

Object usdt_object(const std::string &path = usdt_program()) {
    auto object = Object::open(Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
    if (!object)
        throw std::runtime_error(path + " is no object");
    return std::move(*object);
}

/// "PROVIDER:NAME at ADDRESS with SEMAPHORE: ARGUMENTS"
std::set<std::string> notes_of_readelf(const std::string &path) {
    std::set<std::string> notes;
    const std::unique_ptr<FILE, int (*)(FILE *)> pipe(::popen(fmt::format("readelf -nW {}", path).c_str(), "r"), ::pclose);
    std::string provider, name, place;
    char line[8192];
    const auto value = [&line] {
        std::string_view text = line;
        text.remove_suffix(text.ends_with('\n') ? 1 : 0);
        text.remove_prefix(std::min(text.find(": ") + 2, text.size()));
        return std::string(text);
    };
    while (std::fgets(line, sizeof(line), pipe.get())) {
        unsigned long address = 0, base = 0, semaphore = 0;
        if (std::strstr(line, " Provider: "))
            provider = value();
        else if (std::strstr(line, " Name: "))
            name = value();
        else if (std::sscanf(line, " Location: %lx, Base: %lx, Semaphore: %lx", &address, &base, &semaphore) == 3)
            place = fmt::format("at {:#x} with {:#x}", address, semaphore);
        else if (std::strstr(line, " Arguments: "))
            notes.insert(fmt::format("{}:{} {}: {}", provider, name, place, value()));
    }
    return notes;
}

std::set<std::string> notes_of(const Object &object) {
    std::set<std::string> notes;
    for (const UsdtNote &note : read_usdt_notes(object)) {
        EXPECT_EQ(object.offset_of(note.address), note.offset);
        const std::uint64_t semaphore = note.semaphore ? object.address_of(note.semaphore).value() : 0;
        notes.insert(fmt::format("{}:{} at {:#x} with {:#x}: {}", note.provider, note.name, note.address, semaphore, note.arguments));
    }
    return notes;
}

TEST(UsdtNotes, AreThoseOfReadelf) {
    const std::set<std::string> expected = notes_of_readelf(usdt_program());
    ASSERT_GE(expected.size(), 12u);
    EXPECT_EQ(notes_of(usdt_object()), expected);
}

TEST(UsdtNotes, OfThisSystemsProgramsAreThoseOfReadelf) {
    for (const char *path : {"/usr/bin/python3.11", "/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"})
        if (std::filesystem::exists(path)) {
            EXPECT_EQ(notes_of(usdt_object(path)), notes_of_readelf(path)) << path;
        }
}

TEST(UsdtNotes, SitesAreInOrder) {
    std::vector<std::string> sites;
    for (const UsdtNote &note : read_usdt_notes(usdt_object()))
        if (note.name == "sites")
            sites.push_back(note.arguments);
    EXPECT_EQ(sites, (std::vector<std::string>{"-4@%edi", "-4@%r11d", "-2@(%rsp)"}));
}

std::vector<std::byte> image_of(const std::string &path) {
    const Object object = usdt_object(path);
    const Text text = object.read(0, object.size());
    std::vector<std::byte> image(text.size());
    std::memcpy(image.data(), text.data(), text.size());
    return image;
}

/// Where in the file the header of a section is.
std::size_t header_at(const std::vector<std::byte> &image, const Object &object, std::string_view name) {
    Elf64_Ehdr header;
    std::memcpy(&header, image.data(), sizeof(header));
    for (std::size_t i = 0; i < object.sections().size(); i++)
        if (object.sections()[i].name == name)
            return header.e_shoff + i * sizeof(Elf64_Shdr);
    throw std::runtime_error("no section " + std::string(name));
}

// Prelink moves the object, and with it the section of the base, and leaves the notes.
TEST(UsdtNotes, FollowAnObjectThatHasBeenMoved) {
    std::vector<std::byte> image = image_of(usdt_program());
    const Object object = usdt_object();
    const auto before = read_usdt_notes(object);
    const std::uint64_t distance = 0x100000;
    Elf64_Ehdr header;
    std::memcpy(&header, image.data(), sizeof(header));
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        std::byte *at = image.data() + header.e_phoff + i * sizeof(segment);
        std::memcpy(&segment, at, sizeof(segment));
        segment.p_vaddr += distance;
        std::memcpy(at, &segment, sizeof(segment));
    }
    Elf64_Shdr base;
    std::byte *at = image.data() + header_at(image, object, ".stapsdt.base");
    std::memcpy(&base, at, sizeof(base));
    base.sh_addr += distance;
    std::memcpy(at, &base, sizeof(base));
    const auto moved = read_usdt_notes(Object::from_memory(image).value());
    ASSERT_EQ(moved.size(), before.size());
    for (std::size_t i = 0; i < moved.size(); i++) {
        EXPECT_EQ(moved[i].address, before[i].address + distance);
        EXPECT_EQ(moved[i].offset, before[i].offset);
        EXPECT_EQ(moved[i].semaphore, before[i].semaphore);
    }
}

// Whatever is damaged, what is found is in the file.
TEST(UsdtNotes, ThatAreDamagedAreLeftOut) {
    const std::vector<std::byte> whole = image_of(usdt_program());
    const Object object = usdt_object();
    const Object::Section &notes = *object.section(".note.stapsdt");
    std::mt19937_64 random(44);
    std::size_t left = 0;
    for (unsigned round = 0; round < 3000; round++) {
        std::vector<std::byte> image = whole;
        for (unsigned i = 0; i < 1 + round % 8; i++) {
            const bool in_header = round % 16 == 0;
            const std::size_t begin = in_header ? header_at(whole, object, ".note.stapsdt") : notes.header.sh_offset;
            const std::size_t size = in_header ? sizeof(Elf64_Shdr) : notes.header.sh_size;
            const std::size_t at = begin + random() % size;
            image[at] = static_cast<std::byte>(random() % 3 ? random() : random() % 2 ? 0xff : 0);
        }
        if (round % 50 == 49)
            image.resize(notes.header.sh_offset + random() % notes.header.sh_size);
        const auto damaged = Object::from_memory(image);
        if (!damaged)
            continue;
        for (const UsdtNote &note : read_usdt_notes(*damaged)) {
            left++;
            EXPECT_LT(note.offset, image.size());
            EXPECT_LT(note.semaphore, image.size());
            EXPECT_EQ(note.semaphore % 2, 0u);
            EXPECT_FALSE(note.name.empty());
        }
    }
    EXPECT_GT(left, 10000u) << "what is not damaged is found";
}

TEST(UsdtNotes, SymbolsAreThoseOfDataToo) {
    const Object object = usdt_object();
    const SymbolAddresses symbols(object);
    EXPECT_TRUE(symbols.find("usdt_numbers"));
    EXPECT_TRUE(symbols.find("pass_memory"));
    EXPECT_EQ(symbols.find("usdt_probes_guarded_semaphore").value() - symbols.find("usdt_probes_first_semaphore").value(), 2u);
    EXPECT_FALSE(symbols.find("no_such_symbol"));
    EXPECT_FALSE(symbols.find("fopen")) << "it is the C library's";
    EXPECT_FALSE(symbols.find(""));
}

} // namespace
} // namespace argtrace::elf
