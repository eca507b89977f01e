// SPDX-License-Identifier: GPL-2.0-only
#include "lang/emitter.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace argtrace::lang {

namespace {

constexpr std::uint64_t every_bit = ~std::uint64_t{0};
constexpr std::size_t data_max = std::numeric_limits<std::uint16_t>::max() - 8;

constexpr std::uint64_t ones(unsigned count) {
    return count >= 64 ? every_bit : (std::uint64_t{1} << count) - 1;
}

/// Values that a chain may have, in the order of a type.
struct Reach {
    std::uint64_t lowest, highest;
};

// Shifting by the sign bit makes one order of the other.
constexpr std::uint64_t rank(std::uint64_t value, bool is_signed) {
    return is_signed ? value ^ std::uint64_t{1} << 63 : value;
}

Reach reach_of(const Chain &chain, bool is_signed) {
    const Reach any =
        is_signed ? Reach{std::uint64_t{1} << 63, every_bit >> 1} : Reach{0, every_bit};
    if (chain.mask != every_bit)
        return chain.mask >> 63 ? any : Reach{0, chain.mask};
    if (chain.bits == 64)
        return any;
    if (!chain.is_signed)
        return {0, ones(chain.bits)};
    return is_signed ? Reach{every_bit << (chain.bits - 1), ones(chain.bits - 1)} : any;
}

} // namespace

Label Emitter::make_label() {
    bound_.push_back(0);
    return static_cast<Label>(bound_.size() - 1);
}

void Emitter::bind(Label label) {
    bound_[label] = static_cast<unsigned>(insns_.size());
}

void Emitter::add(const argtrace_insn &insn, const Targets &targets) {
    if (insns_.size() == ARGTRACE_INSNS_MAX)
        throw Full();
    insns_.push_back(insn);
    targets_.push_back(targets);
}

void Emitter::add(const argtrace_insn &insn) {
    add(insn, Targets{});
}

void Emitter::test(argtrace_insn insn, Label then, Label other) {
    add(insn, Targets{then, other, true, true});
}

void Emitter::jump(Label to) {
    argtrace_insn insn = Chain().encode();
    insn.action = ARGTRACE_DO_JUMP;
    add(insn, Targets{to, 0, true, false});
}

void Emitter::equal(const Chain &chain, std::uint64_t value, Label then, Label other) {
    range(chain, chain.is_signed && chain.mask == every_bit, value, value, then, other);
}

void Emitter::range(const Chain &chain, bool is_signed, std::uint64_t lowest, std::uint64_t highest,
                    Label then, Label other) {
    const auto less = [is_signed](std::uint64_t a, std::uint64_t b) {
        return rank(a, is_signed) < rank(b, is_signed);
    };
    const Reach reach = reach_of(chain, is_signed);
    lowest = less(lowest, reach.lowest) ? reach.lowest : lowest;
    highest = less(reach.highest, highest) ? reach.highest : highest;
    const bool never = less(highest, lowest);
    const bool always = lowest == reach.lowest && highest == reach.highest;

    // Loads are done all the same, as they may fault.
    Chain made = chain;
    if (never || always) {
        argtrace_insn insn = made.encode();
        if (made.loads < 3)
            insn.offset[made.loads] = 0;
        insn.span = every_bit;
        test(insn, never ? other : then, never ? other : then);
        return;
    }
    // Values that all have the same sign need no extension.
    if (is_signed && made.is_signed && made.mask == every_bit && lowest >> 63 == highest >> 63) {
        made.is_signed = false;
        lowest &= ones(made.bits);
        highest &= ones(made.bits);
    }
    // Zero is tested for, not all the others.
    const bool to_the_end =
        highest == (ones(made.bits) & made.mask) || (!is_signed && highest == every_bit);
    if (!made.is_signed && lowest == 1 && to_the_end) {
        std::swap(then, other);
        lowest = highest = 0;
    }
    argtrace_insn insn;
    const bool in_place = !made.is_signed && lowest == highest && made.address_offset == 0;
    if (in_place) { // one value can be compared where it lies
        std::uint64_t mask = (ones(made.bits) & made.mask) << made.low;
        std::uint64_t value = lowest << made.low;
        if (made.swap) {
            mask = __builtin_bswap64(mask);
            value = __builtin_bswap64(value);
        }
        const std::uint64_t significant = ones(made.significant());
        made.swap = false;
        made.low = 0;
        made.bits = 64;
        made.mask = (mask & significant) == significant ? every_bit : mask;
        insn = made.encode();
        insn.base = value;
        insn.span = 0;
    } else {
        insn = made.encode();
        insn.base = lowest - static_cast<std::uint64_t>(made.address_offset);
        insn.span = highest - lowest;
    }
    if (made.loads < 3)
        insn.offset[made.loads] = 0;
    test(insn, then, other);
}

std::uint32_t Emitter::add_data(std::string_view bytes, std::size_t alignment) {
    const auto *begin = reinterpret_cast<const std::byte *>(bytes.data());
    if (alignment == 1 && !bytes.empty()) { // the same text need not be there twice
        const auto known = std::search(data_.begin(), data_.end(), begin, begin + bytes.size());
        if (known != data_.end())
            return static_cast<std::uint32_t>(known - data_.begin());
    }
    data_.resize((data_.size() + alignment - 1) / alignment * alignment);
    const std::size_t at = data_.size();
    if (at + bytes.size() > data_max)
        throw Full();
    data_.insert(data_.end(), begin, begin + bytes.size());
    return static_cast<std::uint32_t>(at);
}

std::vector<argtrace_insn> Emitter::take_insns(std::uint16_t &nr_filter,
                                               std::uint16_t &nr_return) {
    for (std::size_t i = 0; i < insns_.size(); i++) {
        if (targets_[i].has_then)
            insns_[i].then = static_cast<std::uint8_t>(bound_[targets_[i].then]);
        if (targets_[i].has_other)
            insns_[i].other = static_cast<std::uint8_t>(bound_[targets_[i].other]);
    }
    targets_.clear();
    remove_needless(nr_filter, nr_return);
    return std::move(insns_);
}

// Jumps are forward only, so one look at each instruction will do.
void Emitter::remove_needless(std::uint16_t &nr_filter, std::uint16_t &nr_return) {
    const std::size_t size = insns_.size(), values = std::size_t{nr_filter} + nr_return;
    std::vector<bool> reached(size + 1);
    reached[0] = reached[nr_filter] = reached[values] = true;
    for (std::size_t i = 0; i < size; i++) {
        if (!reached[i])
            continue;
        const argtrace_insn &insn = insns_[i];
        const bool tests = insn.action == ARGTRACE_DO_TEST || insn.action == ARGTRACE_DO_TEXT;
        if (!tests && insn.action != ARGTRACE_DO_JUMP)
            reached[i + 1] = true;
        else if (insn.then < size)
            reached[insn.then] = true;
        if (tests && insn.other < size)
            reached[insn.other] = true;
    }
    // Jumps over what goes are not needed either.
    for (std::size_t i = size, next = size; i-- > 0;) {
        if (reached[i] && insns_[i].action == ARGTRACE_DO_JUMP && insns_[i].then <= next)
            reached[i] = false;
        else if (reached[i])
            next = i;
    }
    // The number that each instruction will have; of one that goes, that of the next.
    std::vector<std::uint8_t> number(size + 1);
    std::uint8_t left = 0;
    for (std::size_t i = 0; i <= size; i++) {
        number[i] = left;
        if (i < size && reached[i])
            left++;
    }
    std::vector<argtrace_insn> kept;
    for (std::size_t i = 0; i < size; i++) {
        if (!reached[i])
            continue;
        argtrace_insn insn = insns_[i];
        if (insn.action <= ARGTRACE_DO_JUMP && insn.then < size)
            insn.then = number[insn.then];
        if (insn.action < ARGTRACE_DO_JUMP && insn.other < size)
            insn.other = number[insn.other];
        kept.push_back(insn);
    }
    nr_filter = number[nr_filter];
    nr_return = static_cast<std::uint16_t>(number[values] - nr_filter);
    insns_ = std::move(kept);
}

} // namespace argtrace::lang
