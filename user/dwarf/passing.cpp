// SPDX-License-Identifier: GPL-2.0-only
#include "dwarf/passing.h"

#include <algorithm>
#include <limits>

#include "btf/limits.h"

namespace argtrace::dwarf {

namespace {

using Kind = MadeType::Kind;
using Number = MadeType::Number;

constexpr std::uint64_t bits_of_word = 64, bytes_of_word = 8;
constexpr int visits_max = 10000; // a damaged file may unfold without end

WordClass merged(WordClass one, WordClass other) {
    if (one == other || one == WordClass::none || other == WordClass::none)
        return one == WordClass::none ? other : one;
    for (const WordClass wins : {WordClass::memory, WordClass::integer})
        if (one == wins || other == wins)
            return wins;
    if (one == WordClass::x87 || other == WordClass::x87)
        return WordClass::memory;
    return WordClass::vector; // one of them is the upper part of another
}

// System V x86-64 psABI, 3.2.3: the classes of the words of a value.
class Classification {
public:
    explicit Classification(const MadeTypes &types) : types_(types) {}

    void run(std::uint32_t id, Shape &shape) {
        const MadeType *whole = types_.bare(id);
        if (!whole || !(whole->is_composite() || whole->kind == Kind::floating || whole->number != Number::whole))
            return;
        size_ = whole->size;
        if (shape.bytes == 0 && size_ <= std::numeric_limits<std::uint32_t>::max()) // BTF has no numbers of this size
            shape.bytes = static_cast<std::uint32_t>(size_);
        if (whole->number == Number::complex_x87) { // by itself it is no struct
            shape.words = {WordClass::x87, WordClass::x87};
            return;
        }
        visit(id, 0, 0, 0);
        if (is_unknown_) {
            shape.kind = Shape::Kind::unknown;
            return;
        }
        shape.words = {WordClass::none, WordClass::none};
        if (is_in_memory()) {
            shape.words.front() = WordClass::memory;
            return;
        }
        const bool is_empty = words_[0] == WordClass::none && words_[1] == WordClass::none;
        // What a word of padding takes compilers do not agree on.
        const bool has_gap = !is_empty && (words_[0] == WordClass::none || (size_ > bytes_of_word && words_[1] == WordClass::none));
        if (has_gap || has_hole() || (is_empty && size_ > 1)) {
            shape.words = {};
            shape.ambiguous = true;
            return;
        }
        if (words_[1] == WordClass::vector_more && words_[0] != WordClass::vector)
            words_[1] = WordClass::vector; // "if SSEUP is not preceded by SSE"
        shape.words = {words_[0], words_[1]};
    }

private:
    // Unnamed bit-fields, which DWARF does not have, may be in what no member covers: gcc passes a floating-point number beside them in a
    // register for integers, and clang does not.
    bool has_hole() const {
        for (std::size_t word = 0; word < 2; word++)
            if (words_[word] == WordClass::vector && size_ > word * bytes_of_word &&
                covered_[word] < std::min(bytes_of_word, size_ - word * bytes_of_word) * 8)
                return true;
        return false;
    }

    bool is_in_memory() const {
        const bool is_half_of_x87 = words_[1] == WordClass::x87 && words_[0] != WordClass::x87;
        return is_unaligned_ || (size_ > 2 * bytes_of_word && !is_one_vector_) || words_[0] == WordClass::memory || words_[1] == WordClass::memory ||
               is_half_of_x87;
    }

    void visit(std::uint32_t id, std::uint64_t bit, std::uint32_t bits, int depth) {
        const MadeType *type = types_.bare(id);
        if (!type || depth > depth_max || ++visits_ > visits_max || type->is_partial) {
            is_unknown_ = true;
            return;
        }
        if (type->is_vector)
            return visit_vector(type->size, bit);
        switch (type->kind) {
        case Kind::integer:
        case Kind::enumeration:
            return visit_scalar(type->size, WordClass::integer, bit, bits);
        case Kind::pointer:
            return visit_scalar(bytes_of_word, WordClass::integer, bit, bits);
        case Kind::structure:
        case Kind::union_:
            is_unknown_ = is_unknown_ || type->by_reference;
            for (const MadeType::Field &field : type->fields) {
                visit(field.type, bit + field.bit, field.bits, depth + 1);
                // gcc takes it there for as wide as its type is.
                is_unknown_ = is_unknown_ || (field.bits > 0 && type->kind == Kind::union_ && bit % bits_of_word != 0);
            }
            return;
        case Kind::array:
            return visit_elements(*type, bit, depth);
        default:
            return visit_number(*type, bit);
        }
    }

    void visit_number(const MadeType &type, std::uint64_t bit) {
        switch (type.number) {
        case Number::whole:
        case Number::complex_x87: // a struct
            is_unknown_ = true;
            return;
        case Number::x87:
            return visit_scalar(type.size, WordClass::x87, bit, 0);
        case Number::floating:
            if (type.size == 2 * bytes_of_word)
                return visit_vector(type.size, bit);
            return visit_scalar(type.size, WordClass::vector, bit, 0);
        }
    }

    void visit_elements(const MadeType &array, std::uint64_t bit, int depth) {
        const std::uint64_t bytes = size_of(array.target, 0);
        for (std::uint64_t i = 0; i < array.size; i++) {
            visit(array.target, bit + i * 8 * bytes, 0, depth + 1);
            if (bytes == 0 || is_unknown_ || bit + (i + 1) * 8 * bytes >= 2 * bits_of_word)
                return; // what is behind the words that count is aligned as these are
        }
    }

    std::uint64_t size_of(std::uint32_t id, int depth) const {
        const MadeType *type = types_.bare(id);
        if (!type || depth > depth_max)
            return 0;
        if (type->kind == Kind::pointer)
            return bytes_of_word;
        return type->kind == Kind::array ? type->size * size_of(type->target, depth + 1) : type->size;
    }

    // One register, however wide it is.
    void visit_vector(std::uint64_t bytes, std::uint64_t bit) {
        is_one_vector_ = bit == 0 && bytes == size_;
        if (bytes <= bytes_of_word)
            return visit_scalar(bytes, WordClass::vector, bit, 0);
        align(bytes, bit);
        put(bit, bits_of_word, WordClass::vector);
        put(bit + bits_of_word, bits_of_word, WordClass::vector_more);
    }

    void visit_scalar(std::uint64_t bytes, WordClass word_class, std::uint64_t bit, std::uint32_t bits) {
        if (bits == 0)
            align(bytes, bit);
        put(bit, bits ? bits : 8 * bytes, word_class);
    }

    void align(std::uint64_t bytes, std::uint64_t bit) {
        if (bytes == 0)
            return;
        is_unaligned_ = is_unaligned_ || bit % (8 * bytes) != 0;
    }

    void put(std::uint64_t bit, std::uint64_t bits, WordClass word_class) {
        for (std::uint64_t word = 0; word < 2; word++) {
            const std::uint64_t begin = std::max(bit, word * bits_of_word), end = std::min(bit + bits, (word + 1) * bits_of_word);
            if (begin >= end)
                continue;
            words_[word] = merged(words_[word], word_class);
            covered_[word] += end - begin; // of a union, as often as it has members there
        }
    }

    const MadeTypes &types_;
    std::uint64_t size_ = 0;
    std::uint64_t covered_[2] = {}; ///< bits
    WordClass words_[2] = {WordClass::none, WordClass::none};
    bool is_unknown_ = false, is_unaligned_ = false, is_one_vector_ = false;
    int visits_ = 0;
};

// What a value consists of, as far as AAPCS64 asks for it (5.9.5, and 6.8.2, C.10).
class Members {
public:
    explicit Members(const MadeTypes &types) : types_(types) {}

    void run(std::uint32_t id, Shape &shape) {
        const MadeType *whole = bare(id);
        if (!whole || !(whole->is_composite() || whole->is_vector || whole->kind == Kind::floating))
            return;
        const std::uint64_t count = visit(id, 0);
        if (is_unknown_)
            return;
        constexpr std::uint64_t count_max = 4;
        shape.homogeneous = Homogeneous{};
        if (!is_other_ && count > 0 && count <= count_max && count * bytes_ == whole->size)
            shape.homogeneous = Homogeneous{static_cast<std::uint8_t>(count), static_cast<std::uint8_t>(bytes_)};
        shape.is_word_aligned = !is_aligned_ && largest_ <= bytes_of_word;
    }

private:
    /// The type behind names and qualifiers, which may ask for an alignment.
    const MadeType *bare(std::uint32_t id) {
        for (int depth = 0; types_.has(id) && depth < depth_max; depth++) {
            const MadeType &type = types_.at(id);
            is_aligned_ = is_aligned_ || type.is_aligned;
            if (!type.is_transparent())
                return &type;
            id = type.target;
        }
        return nullptr;
    }

    /// How many numbers there are, one behind the other.
    std::uint64_t visit(std::uint32_t id, int depth) {
        const MadeType *type = bare(id);
        if (!type || depth > depth_max || ++visits_ > visits_max || type->is_partial || (type->is_composite() && type->by_reference)) {
            is_unknown_ = true;
            return 0;
        }
        if (type->is_vector || type->kind == Kind::floating)
            return visit_number(*type);
        std::uint64_t count = 0;
        switch (type->kind) {
        case Kind::structure:
            for (const MadeType::Field &field : type->fields)
                count += visit(field.type, depth + 1);
            break;
        case Kind::union_:
            for (const MadeType::Field &field : type->fields)
                count = std::max(count, visit(field.type, depth + 1));
            break;
        case Kind::array:
            count = type->size == 0 ? 0 : bounded(visit(type->target, depth + 1), type->size);
            break;
        default:
            is_other_ = true;
            largest_ = std::max(largest_, type->kind == Kind::pointer ? bytes_of_word : type->size);
            return 0;
        }
        // Compilers do not agree on a member without any.
        is_unknown_ = is_unknown_ || (count == 0 && !is_other_ && depth > 0);
        return bounded(count, 1);
    }

    std::uint64_t visit_number(const MadeType &type) {
        constexpr std::uint64_t bytes_max = 16;
        is_other_ = is_other_ || type.size == 0 || type.size > bytes_max || (bytes_ != 0 && (bytes_ != type.size || is_vector_ != type.is_vector));
        bytes_ = type.size;
        is_vector_ = type.is_vector;
        largest_ = std::max(largest_, type.size);
        return 1;
    }

    /// More than there can be is enough.
    static std::uint64_t bounded(std::uint64_t count, std::uint64_t times) {
        constexpr std::uint64_t enough = 64;
        return std::min(count, enough) * std::min(times, enough);
    }

    const MadeTypes &types_;
    std::uint64_t bytes_ = 0, largest_ = 0;
    bool is_vector_ = false, is_other_ = false, is_aligned_ = false, is_unknown_ = false;
    int visits_ = 0;
};

} // namespace

void set_classes(const MadeTypes &types, std::uint32_t type, Shape &shape) {
    Members(types).run(type, shape);
    Classification(types).run(type, shape);
}

} // namespace argtrace::dwarf
