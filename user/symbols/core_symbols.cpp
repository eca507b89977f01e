// SPDX-License-Identifier: GPL-2.0-only
#include "symbols/core_symbols.h"

#include <algorithm>

namespace argtrace {

namespace {

constexpr std::uint32_t core_symbols_max = 1 << 22;
constexpr std::uint64_t names_size_max = 64 << 20;
constexpr std::uint64_t tokens_size_max = 1 << 16;

/// The addresses, from the numbers that the kernel has for them (kallsyms_sym_address() in kernel/kallsyms.c). `base` is the value of
/// kallsyms_relative_base; nothing in Linux 7, where each number is relative to its own place, the first of which is `place`.
std::vector<std::uint64_t> addresses_of(std::span<const std::int32_t> numbers, std::optional<std::uint64_t> base, std::uint64_t place) {
    // CONFIG_KALLSYMS_ABSOLUTE_PERCPU. A kernel without it would have to be larger than 2 GiB.
    const bool has_absolute = std::ranges::any_of(numbers, [](std::int32_t number) { return number < 0; });
    std::vector<std::uint64_t> addresses(numbers.size());
    std::ranges::transform(numbers, addresses.begin(), [&](const std::int32_t &number) {
        const auto offset = static_cast<std::uint64_t>(std::int64_t{number});
        if (!base)
            return place + sizeof(number) * static_cast<std::size_t>(&number - numbers.data()) + offset;
        if (!has_absolute)
            return *base + offset;
        return number < 0 ? *base - 1 - offset : offset;
    });
    return addresses;
}

/// What lies between two symbols of the note.
std::optional<RawBytes> between(const Kcore &core, std::string_view from, std::string_view to, std::uint64_t size_max) {
    const auto begin = core.noted_symbol(from), end = core.noted_symbol(to);
    if (!begin || !end || *begin >= *end || *end - *begin > size_max)
        return std::nullopt;
    return core.bytes(*begin, *end - *begin);
}

template<typename T>
std::optional<T> noted_value(const Kcore &core, std::string_view name) {
    const auto address = core.noted_symbol(name);
    return address ? core.load<T>(*address) : std::nullopt;
}

std::optional<std::vector<std::uint64_t>> read_addresses(const Kcore &core) {
    constexpr std::string_view base_name = "kallsyms_relative_base";
    const auto count = noted_value<std::uint32_t>(core, "kallsyms_num_syms");
    const auto place = core.noted_symbol("kallsyms_offsets");
    const auto base = noted_value<std::uint64_t>(core, base_name);
    if (!count || *count == 0 || *count > core_symbols_max || !place || (core.noted_symbol(base_name) && !base))
        return std::nullopt;
    std::vector<std::int32_t, UninitializedAllocator<std::int32_t>> numbers(*count);
    if (!core.read(*place, std::as_writable_bytes(std::span(numbers))))
        return std::nullopt;
    auto addresses = addresses_of(numbers, base, *place);
    return std::ranges::is_sorted(addresses) ? std::optional(std::move(addresses)) : std::nullopt;
}

} // namespace

bool CoreSymbols::Tokens::set(RawBytes bytes, std::span<const std::uint16_t, count> index) {
    bytes_ = std::move(bytes);
    const std::string_view all(reinterpret_cast<const char *>(bytes_.data()), bytes_.size());
    for (std::size_t i = 0; i < count; i++) {
        const std::size_t end = all.find('\0', index[i]);
        if (end == all.npos || end == index[i] || end - index[i] > UINT8_MAX)
            return false;
        texts[i] = all.data() + index[i];
        sizes[i] = static_cast<std::uint8_t>(end - index[i]);
        longest = std::max<std::size_t>(longest, sizes[i]);
        begins[i] = 0;
        std::memcpy(&begins[i], texts[i], std::min<std::size_t>(sizes[i], quick_size));
    }
    return true;
}

CoreSymbols::Begins::Begins(const CoreSymbols &symbols, std::span<const std::string_view> begins) {
    const auto may_begin = [begins](std::string_view name) {
        return std::ranges::any_of(begins, [name](std::string_view begin) { return name.starts_with(begin) || begin.starts_with(name); });
    };
    for (std::size_t i = 0; i < Tokens::count; i++) {
        first_[i] = may_begin(symbols.tokens_.text(i).substr(1)); // behind the type
        second_[i] = may_begin(symbols.tokens_.text(i));
    }
}

std::optional<CoreSymbols> CoreSymbols::read(const Kcore &core) {
    CoreSymbols symbols;
    auto addresses = read_addresses(core);
    // Behind the names there are other parts, and then the tokens.
    auto names = between(core, "kallsyms_names", "kallsyms_token_table", names_size_max);
    auto tokens = between(core, "kallsyms_token_table", "kallsyms_token_index", tokens_size_max);
    const auto index = noted_value<std::array<std::uint16_t, Tokens::count>>(core, "kallsyms_token_index");
    if (!addresses || !names || !tokens || !index || !symbols.tokens_.set(std::move(*tokens), *index))
        return std::nullopt;
    symbols.addresses_ = std::move(*addresses);
    symbols.names_ = std::move(*names);
    return symbols;
}

} // namespace argtrace
