// SPDX-License-Identifier: GPL-2.0-only
#include "report/stack_store.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "model/user_frame.h"
#include "symbols/stack_number.h"
#include "util/error.h"
#include "util/protobuf.h"

namespace argtrace {

namespace {

// A place is the number of a block, and in units where in it.
constexpr std::size_t unit = 8;
constexpr unsigned block_bits = 17;
constexpr std::size_t block_size = unit << block_bits;
constexpr std::size_t blocks_max = std::size_t{1} << (32 - block_bits);

std::size_t slot_of(std::uint64_t key, std::size_t slots) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15; // 2^64 / golden ratio
    return (key * odd >> 32) & (slots - 1);
}

/// Where the key is, or would be.
template<typename KeyAt>
std::uint32_t &slot_for(std::vector<std::uint32_t> &slots, std::uint64_t key, const KeyAt &key_at) {
    std::size_t at = slot_of(key, slots.size());
    while (slots[at] != 0 && key_at(slots[at] - 1) != key)
        at = (at + 1) & (slots.size() - 1);
    return slots[at];
}

/// Makes room for one more of so many: at most three quarters are used.
template<typename KeyAt>
void make_room(std::vector<std::uint32_t> &slots, std::size_t used, const KeyAt &key_at) {
    if (4 * (used + 1) <= 3 * slots.size())
        return;
    std::vector<std::uint32_t> larger(std::max<std::size_t>(2 * slots.size(), 64));
    for (const std::uint32_t one : slots)
        if (one != 0)
            slot_for(larger, key_at(one - 1), key_at) = one;
    slots.swap(larger);
}

std::uint64_t word_at(const std::byte *bytes) {
    std::uint64_t word;
    std::memcpy(&word, bytes, sizeof(word));
    return word;
}

std::uint64_t take_number(const std::byte *&from) {
    auto byte = std::to_integer<std::uint64_t>(*from++);
    std::uint64_t number = byte & 0x7f;
    for (unsigned shift = 7; byte & 0x80; shift += 7) {
        byte = std::to_integer<std::uint64_t>(*from++);
        number |= (byte & 0x7f) << shift;
    }
    return number;
}

/// The same of a number that mostly takes no more than four bytes, without a branch for each of them. Four are read in any case.
std::uint64_t take_short_number(const std::byte *&from) {
    std::uint32_t bytes;
    std::memcpy(&bytes, from, sizeof(bytes));
    const std::uint32_t ends = ~bytes & 0x80808080;
    if (ends == 0)
        return take_number(from);
    from += (static_cast<unsigned>(std::countr_zero(ends)) + 1) / 8;
    bytes &= ends ^ (ends - 1);
    return (bytes & 0x7f) | (bytes >> 1 & 0x3f80) | (bytes >> 2 & 0x1fc000) | (bytes >> 3 & 0xfe00000);
}

/// ARGTRACE_FRAME_USER, which no address of the kernel has alone.
bool is_user(std::uint64_t address) {
    return address >> 62 == 1;
}

} // namespace

const std::byte *StackStore::at(std::uint32_t place) const {
    return blocks_[place >> block_bits].get() + (place & ((1u << block_bits) - 1)) * unit;
}

char *StackStore::write_numbers(char *to, std::span<const std::uint64_t> addresses) {
    const auto address_at = [this](std::uint32_t number) { return addresses_[number]; };
    for (const std::uint64_t address : addresses) {
        make_room(addresses_by_hash_, addresses_.size(), address_at);
        std::uint32_t &slot = slot_for(addresses_by_hash_, address, address_at);
        if (slot == 0) {
            addresses_.push_back(address);
            slot = static_cast<std::uint32_t>(addresses_.size());
        }
        to = write_varint(to, slot - 1);
    }
    return to;
}

/// A record that is larger than a block has one of its own. Behind the last of a block there is room for what is read too much.
std::uint32_t StackStore::store(std::span<const std::byte> record) {
    if (blocks_.empty() || used_ + record.size() > block_size) {
        if (blocks_.size() == blocks_max)
            throw Error("the recording has more stacks than can be read");
        blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(std::max(record.size(), block_size) + sizeof(std::uint32_t)));
        used_ = 0;
    }
    std::memcpy(blocks_.back().get() + used_, record.data(), record.size());
    const auto place = static_cast<std::uint32_t>((blocks_.size() - 1) << block_bits | used_ / unit);
    used_ += (record.size() + unit - 1) / unit * unit;
    return place;
}

void StackStore::add(std::uint64_t id, std::span<const std::byte> addresses, bool cut) {
    const auto id_at = [this](std::uint32_t place) { return word_at(at(place)); };
    make_room(stacks_by_id_, stacks_, id_at);
    std::uint32_t &slot = slot_for(stacks_by_id_, id, id_at);
    const bool is_known = slot != 0;
    if (is_known && !is_unreadable(slot - 1))
        return;
    words_.resize(addresses.size() / sizeof(std::uint64_t));
    std::memcpy(words_.data(), addresses.data(), words_.size() * sizeof(std::uint64_t));
    packed_.resize(std::max(packed_.size(), sizeof(id) + (words_.size() + 1) * varint_size_max));
    char *to = packed_.data();
    std::memcpy(to, &id, sizeof(id));
    to = write_varint(to + sizeof(id), std::uint64_t{words_.size()} << 1 | std::uint64_t{cut});
    to = write_numbers(to, words_);
    slot = store(std::as_bytes(std::span(packed_.data(), to))) + 1;
    stacks_ += !is_known;
    has_other_ids_ = has_other_ids_ || (is_user(words_.front()) && id != stack_number(words_, cut));
}

/// Whether its last word says so.
bool StackStore::is_unreadable(std::uint32_t place) const {
    const std::byte *record = at(place) + sizeof(std::uint64_t);
    std::uint64_t count = take_number(record) >> 1, number = 0;
    while (count-- > 0)
        number = take_number(record);
    const UserFrame last(addresses_[number]);
    return is_user(addresses_[number]) && last.is_end() && last.offset == ARGTRACE_END_UNREADABLE;
}

std::optional<Stack> StackStore::find(std::uint64_t id, StackRoom &room) const {
    if (stacks_ == 0)
        return std::nullopt;
    const std::byte *record = nullptr;
    for (std::size_t slot = slot_of(id, stacks_by_id_.size());; slot = (slot + 1) & (stacks_by_id_.size() - 1)) {
        if (stacks_by_id_[slot] == 0)
            return std::nullopt;
        record = at(stacks_by_id_[slot] - 1);
        if (word_at(record) == id)
            break;
    }
    record += sizeof(id);
    const std::uint64_t size = take_number(record), count = size >> 1;
    room.addresses.resize(count);
    room.numbers.resize(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto number = static_cast<std::uint32_t>(take_short_number(record));
        room.numbers[i] = number;
        room.addresses[i] = addresses_[number];
    }
    const bool user = is_user(room.addresses.front());
    const bool cut = (size & 1) != 0;
    const std::uint64_t shared = !user ? 0 : has_other_ids_ ? stack_number(room.addresses, cut) : id;
    return Stack{room.addresses, cut, user ? CodeSpace::user : CodeSpace::kernel, room.numbers, shared};
}

} // namespace argtrace
