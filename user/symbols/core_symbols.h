// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "symbols/kallsyms.h"
#include "symbols/kcore.h"
#include "util/uninitialized.h"

namespace argtrace {

/// The kernel's own table of its symbols, without those of modules, in the order in which /proc/kallsyms lists them. Names are compressed there, and
/// expanding those that are needed takes a small part of what the kernel takes to print them.
class CoreSymbols {
public:
    /// Nothing if it cannot be read, or has another form than those of Linux 6.1 to 7.3.
    static std::optional<CoreSymbols> read(const Kcore &core);

    class Name;

    /// The addresses of all symbols, ascending.
    const std::vector<std::uint64_t> &addresses() const & { return addresses_; }
    std::vector<std::uint64_t> addresses() && { return std::move(addresses_); }

    /// Calls `visit` with the number and the Name of each symbol. False if the names are not as many as the addresses, or damaged.
    template<typename Visit> bool for_each(Visit visit) const;

    /// Which symbols may have names that begin in one of these ways: tells most that do not by one byte of their names in the table.
    class Begins {
    public:
        Begins(const CoreSymbols &symbols, std::span<const std::string_view> begins);

        bool may_have(const Name &name) const;

    private:
        std::array<bool, 256> first_{}, second_{}; // by token
    };

private:
    /// What a byte of a compressed name stands for.
    class Tokens {
    public:
        static constexpr std::size_t count = 256;

        /// `texts` have a NUL behind each, `index` says where they begin. False if they do not fit together.
        bool set(RawBytes texts, std::span<const std::uint16_t, count> index);

        static constexpr std::size_t quick_size = sizeof(std::uint64_t);

        std::string_view text(std::size_t token) const { return {texts[token], sizes[token]}; }

        std::array<std::uint64_t, count> begins; // as much of the text as fits
        std::array<std::uint8_t, count> sizes;
        std::array<const char *, count> texts;
        std::size_t longest = 0;

    private:
        RawBytes bytes_;
    };

    CoreSymbols() = default;

    static std::optional<std::span<const std::byte>> take_compressed(std::span<const std::byte> &names);

    std::vector<std::uint64_t> addresses_;
    RawBytes names_;
    Tokens tokens_;
};

/// The name of a symbol as the table has it.
class CoreSymbols::Name {
public:
    /// As nm has it.
    char type() const { return *tokens_.texts[first()]; }

    /// Lasts until the next one is expanded; empty if it is too long.
    std::string_view expand() const {
        if (compressed_.size() * tokens_.longest > buffer_.size() - Tokens::quick_size)
            return {};
        char *end = buffer_.data();
        for (const std::byte one : compressed_) {
            const auto token = static_cast<std::uint8_t>(one);
            // Nearly all are short, and copied whole by one store.
            std::memcpy(end, &tokens_.begins[token], Tokens::quick_size);
            if (tokens_.sizes[token] > Tokens::quick_size) [[unlikely]]
                std::memcpy(end, tokens_.texts[token], tokens_.sizes[token]);
            end += tokens_.sizes[token];
        }
        const auto size = static_cast<std::size_t>(end - buffer_.data()) - 1;
        return size < symbol_name_max ? std::string_view(buffer_.data() + 1, size) : std::string_view();
    }

private:
    friend class CoreSymbols;
    friend class CoreSymbols::Begins;

    using Buffer = std::array<char, 32 * symbol_name_max>;

    Name(const Tokens &tokens, std::span<const std::byte> compressed, Buffer &buffer)
        : tokens_(tokens), compressed_(compressed), buffer_(buffer) {}

    std::uint8_t first() const { return static_cast<std::uint8_t>(compressed_.front()); }

    const Tokens &tokens_;
    std::span<const std::byte> compressed_; // not empty
    Buffer &buffer_;
};

inline bool CoreSymbols::Begins::may_have(const Name &name) const {
    if (name.tokens_.sizes[name.first()] > 1)
        return first_[name.first()];
    return name.compressed_.size() > 1 && second_[static_cast<std::uint8_t>(name.compressed_[1])]; // the first is the type alone
}

inline std::optional<std::span<const std::byte>> CoreSymbols::take_compressed(std::span<const std::byte> &names) {
    if (names.size() < 2)
        return std::nullopt;
    auto size = static_cast<std::size_t>(names[0]);
    std::size_t begin = 1;
    if (size & 0x80) // a long one
        size = (size & 0x7f) | static_cast<std::size_t>(names[begin++]) << 7;
    if (size == 0 || size > names.size() - begin)
        return std::nullopt;
    const auto compressed = names.subspan(begin, size);
    names = names.subspan(begin + size);
    return compressed;
}

template<typename Visit> bool CoreSymbols::for_each(Visit visit) const {
    std::span<const std::byte> rest(names_);
    Name::Buffer buffer;
    for (std::size_t i = 0; i < addresses_.size(); i++) {
        const auto compressed = take_compressed(rest);
        if (!compressed)
            return false;
        visit(i, Name(tokens_, *compressed, buffer));
    }
    return true;
}

} // namespace argtrace
