// SPDX-License-Identifier: GPL-2.0-only
#include "export/parquet_file.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <new>

#include <zstd.h>

#include "export/append_bytes.h"
#include "export/thrift.h"

namespace argtrace {

namespace {

// https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
enum : int { type_boolean = 0, type_int32 = 1, type_int64 = 2, type_byte_array = 6 };
enum : int { encoding_plain = 0, encoding_rle = 3, encoding_dictionary = 8 };
enum : int { codec_zstd = 6, page_data = 0, page_dictionary = 2, optional = 1 };

constexpr std::uint64_t group_rows_max = 1 << 15;
constexpr std::size_t group_size_max = 12 << 20;
constexpr int zstd_level = 1;
constexpr std::string_view magic = "PAR1";

/// Making one takes longer than compressing a page of a few rows.
ZSTD_CCtx *compressor() {
    struct Free {
        void operator()(ZSTD_CCtx *context) const { ZSTD_freeCCtx(context); }
    };
    static thread_local const std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
    if (!context)
        throw std::bad_alloc();
    return context.get();
}

int physical_type(ParquetType type) {
    switch (type) {
    case ParquetType::boolean:
        return type_boolean;
    case ParquetType::i64:
    case ParquetType::u64:
    case ParquetType::timestamp:
        return type_int64;
    case ParquetType::text:
    case ParquetType::json:
        return type_byte_array;
    default:
        return type_int32;
    }
}

bool has_statistics(ParquetType type) {
    return type == ParquetType::i64 || type == ParquetType::timestamp;
}

void put_varint(std::string &out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
}

/// The hybrid encoding of runs and packed bits: one run where all are equal, else all packed.
template<typename Values>
void put_hybrid(std::string &out, const Values &values, unsigned bits) {
    const std::size_t count = values.size();
    if (count == 0)
        return;
    if (std::all_of(values.begin(), values.end(),
                    [&](auto value) { return value == *values.begin(); })) {
        put_varint(out, count << 1);
        for (unsigned byte = 0; byte < (bits + 7) / 8; ++byte)
            out += static_cast<char>(std::uint64_t{values[0]} >> 8 * byte);
        return;
    }
    put_varint(out, (count + 7) / 8 << 1 | 1);
    std::uint64_t word = 0;
    unsigned filled = 0;
    for (std::size_t i = 0; i < (count + 7) / 8 * 8; ++i) {
        word |= (i < count ? std::uint64_t{values[i]} : 0) << filled;
        for (filled += bits; filled >= 8; filled -= 8, word >>= 8)
            out += static_cast<char>(word);
    }
}

void put_logical_type(ThriftWriter &thrift, ParquetType type) {
    const auto empty = [&thrift](int id) {
        thrift.begin(id);
        thrift.end();
    };
    const auto integer = [&thrift](std::int8_t bits, bool is_signed) {
        thrift.begin(10);
        thrift.i8(1, bits);
        thrift.boolean(2, is_signed);
        thrift.end();
    };
    thrift.begin(10);
    switch (type) {
    case ParquetType::text:
        empty(1);
        break;
    case ParquetType::json:
        empty(12);
        break;
    case ParquetType::timestamp:
        thrift.begin(8);
        thrift.boolean(1, true);
        thrift.begin(2);
        empty(3); // ns
        thrift.end();
        thrift.end();
        break;
    case ParquetType::i8:
        integer(8, true);
        break;
    case ParquetType::i16:
        integer(16, true);
        break;
    case ParquetType::i32:
        integer(32, true);
        break;
    case ParquetType::i64:
        integer(64, true);
        break;
    case ParquetType::u8:
        integer(8, false);
        break;
    case ParquetType::u16:
        integer(16, false);
        break;
    case ParquetType::u32:
        integer(32, false);
        break;
    case ParquetType::u64:
        integer(64, false);
        break;
    case ParquetType::boolean:
        break;
    }
    thrift.end();
}

/// What readers that know no logical types go by; -1: nothing.
int converted_type(ParquetType type) {
    switch (type) {
    case ParquetType::text:
        return 0;
    case ParquetType::u8:
        return 11;
    case ParquetType::u16:
        return 12;
    case ParquetType::u32:
        return 13;
    case ParquetType::u64:
        return 14;
    case ParquetType::i8:
        return 15;
    case ParquetType::i16:
        return 16;
    case ParquetType::i32:
        return 17;
    case ParquetType::i64:
        return 18;
    case ParquetType::json:
        return 19;
    default:
        return -1;
    }
}

} // namespace

void ParquetColumn::add(std::uint64_t value) {
    switch (physical_type(type_)) {
    case type_boolean:
        booleans_.push_back(value != 0);
        break;
    case type_int32:
        append_bytes(plain_, static_cast<std::uint32_t>(value));
        break;
    default:
        append_bytes(plain_, value);
        const auto number = static_cast<std::int64_t>(value);
        const bool first = rows_ == nulls_;
        min_ = first ? number : std::min(min_, number);
        max_ = first ? number : std::max(max_, number);
    }
    ++rows_;
    if (nulls_ > 0)
        present_.push_back(true);
}

void ParquetColumn::add(std::string_view text) {
    ++rows_;
    if (nulls_ > 0)
        present_.push_back(true);
    if (type_ != ParquetType::text) {
        append_bytes(plain_, static_cast<std::uint32_t>(text.size()));
        plain_ += text;
        return;
    }
    if (!indices_.empty() && *words_[indices_.back()] == text) // most are
        return indices_.push_back(indices_.back());
    auto known = dictionary_.find(text);
    if (known == dictionary_.end()) {
        known = dictionary_.emplace(text, static_cast<std::uint32_t>(words_.size())).first;
        words_.push_back(&known->first);
        dictionary_bytes_ += text.size() + 64;
    }
    indices_.push_back(known->second);
}

void ParquetColumn::add_null() {
    if (nulls_++ == 0)
        present_.assign(rows_, true);
    present_.push_back(false);
    ++rows_;
}

ParquetFile::~ParquetFile() {
    for (auto &chunk : pending_)
        chunk.wait();
}

ParquetColumn &ParquetFile::add_column(std::string name, ParquetType type) {
    return columns_.emplace_back(std::move(name), type);
}

std::size_t ParquetFile::size() const {
    std::size_t size = 0;
    for (const ParquetColumn &column : columns_)
        size += column.size();
    return size;
}

void ParquetFile::end_row() {
    ++group_rows_;
    for (ParquetColumn &column : columns_) {
        if (column.rows() < group_rows_)
            column.add_null();
    }
    constexpr std::uint64_t look = 256; // rows; a look at the size takes a moment
    if (group_rows_ >= group_rows_max || (group_rows_ % look == 0 && size() >= group_size_max))
        submit_group();
}

ParquetFile::Page ParquetFile::make_page(std::string plain, std::size_t values, int encoding,
                                         bool dictionary) {
    std::string packed(ZSTD_compressBound(plain.size()), '\0');
    const std::size_t size = ZSTD_compressCCtx(compressor(), packed.data(), packed.size(),
                                               plain.data(), plain.size(), zstd_level);
    if (ZSTD_isError(size))
        throw std::bad_alloc();
    packed.resize(size);
    ThriftWriter header;
    header.i32(1, dictionary ? page_dictionary : page_data);
    header.i32(2, static_cast<std::int64_t>(plain.size()));
    header.i32(3, static_cast<std::int64_t>(size));
    header.begin(dictionary ? 7 : 5);
    header.i32(1, static_cast<std::int64_t>(values));
    header.i32(2, encoding);
    if (!dictionary) {
        header.i32(3, encoding_rle);
        header.i32(4, encoding_rle);
    }
    header.end();
    header.finish();
    const std::size_t header_size = header.bytes().size();
    return {header.bytes() + packed, header_size + plain.size()};
}

ParquetFile::Chunk ParquetFile::encode(const ParquetColumn &column) {
    Chunk chunk;
    std::string levels;
    if (column.nulls_ > 0)
        put_hybrid(levels, column.present_, 1);
    else
        put_hybrid(levels, std::vector<bool>(column.rows_, true), 1);
    std::string plain;
    append_bytes(plain, static_cast<std::uint32_t>(levels.size()));
    plain += levels;
    int encoding = encoding_plain;
    if (column.type_ == ParquetType::text) {
        encoding = encoding_dictionary;
        std::string words;
        for (const std::string *word : column.words_) {
            append_bytes(words, static_cast<std::uint32_t>(word->size()));
            words += *word;
        }
        chunk.dictionary = make_page(std::move(words), column.words_.size(), encoding_plain, true);
        const unsigned bits = std::max(1, static_cast<int>(std::bit_width(
                                              std::max<std::size_t>(column.words_.size(), 1) - 1)));
        plain += static_cast<char>(bits);
        put_hybrid(plain, column.indices_, bits);
    } else if (column.type_ == ParquetType::boolean) {
        unsigned char byte = 0;
        for (std::size_t i = 0; i < column.booleans_.size(); ++i) {
            byte = static_cast<unsigned char>(byte | column.booleans_[i] << i % 8);
            if (i % 8 == 7 || i + 1 == column.booleans_.size()) {
                plain += static_cast<char>(byte);
                byte = 0;
            }
        }
    } else {
        plain += column.plain_;
    }
    chunk.data = make_page(std::move(plain), column.rows_, encoding, false);
    chunk.nulls = column.nulls_;
    chunk.min = column.min_;
    chunk.max = column.max_;
    return chunk;
}

/// Has the rows encoded, and writes the group before them meanwhile.
void ParquetFile::submit_group() {
    if (group_rows_ == 0)
        return;
    write_group();
    for (ParquetColumn &column : columns_) {
        auto full = std::make_shared<ParquetColumn>(column.name_, column.type_);
        std::swap(*full, column);
        pending_.push_back(workers_.submit([full](unsigned) { return encode(*full); }));
    }
    pending_rows_ = group_rows_;
    rows_ += group_rows_;
    group_rows_ = 0;
}

void ParquetFile::write_group() {
    if (pending_.empty())
        return;
    Group group;
    group.rows = pending_rows_;
    for (auto &pending : pending_) {
        const Chunk chunk = pending.get();
        Place place;
        if (file_->size() == 0)
            file_->write(magic);
        place.offset = file_->size();
        place.dictionary_size = chunk.dictionary.bytes.size();
        place.size = chunk.dictionary.bytes.size() + chunk.data.bytes.size();
        place.plain_size = chunk.dictionary.plain_size + chunk.data.plain_size;
        place.nulls = chunk.nulls;
        place.min = chunk.min;
        place.max = chunk.max;
        file_->write(chunk.dictionary.bytes);
        file_->write(chunk.data.bytes);
        group.places.push_back(place);
    }
    pending_.clear();
    groups_.push_back(std::move(group));
}

void ParquetFile::finish(const std::vector<std::pair<std::string, std::string>> &notes) {
    submit_group();
    write_group();
    ThriftWriter thrift;
    thrift.i32(1, 2); // the version of the format
    thrift.structs(2, columns_.size() + 1);
    thrift.begin(0);
    thrift.binary(4, "calls");
    thrift.i32(5, static_cast<std::int64_t>(columns_.size()));
    thrift.end();
    for (const ParquetColumn &column : columns_) {
        thrift.begin(0);
        thrift.i32(1, physical_type(column.type()));
        thrift.i32(3, optional);
        thrift.binary(4, column.name());
        if (const int converted = converted_type(column.type()); converted >= 0)
            thrift.i32(6, converted);
        if (column.type() != ParquetType::boolean)
            put_logical_type(thrift, column.type());
        thrift.end();
    }
    thrift.i64(3, static_cast<std::int64_t>(rows_));
    thrift.structs(4, groups_.size());
    for (const Group &group : groups_) {
        std::uint64_t plain_size = 0;
        for (const Place &place : group.places)
            plain_size += place.plain_size;
        thrift.begin(0);
        thrift.structs(1, columns_.size());
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const Place &place = group.places[i];
            const bool dictionary = place.dictionary_size > 0;
            thrift.begin(0);
            thrift.i64(2, static_cast<std::int64_t>(place.offset));
            thrift.begin(3);
            thrift.i32(1, physical_type(columns_[i].type()));
            if (dictionary)
                thrift.integers(2, {encoding_plain, encoding_rle, encoding_dictionary});
            else
                thrift.integers(2, {encoding_plain, encoding_rle});
            thrift.texts(3, {columns_[i].name()});
            thrift.i32(4, codec_zstd);
            thrift.i64(5, static_cast<std::int64_t>(group.rows));
            thrift.i64(6, static_cast<std::int64_t>(place.plain_size));
            thrift.i64(7, static_cast<std::int64_t>(place.size));
            thrift.i64(9, static_cast<std::int64_t>(place.offset + place.dictionary_size));
            if (dictionary)
                thrift.i64(11, static_cast<std::int64_t>(place.offset));
            thrift.begin(12);
            thrift.i64(3, static_cast<std::int64_t>(place.nulls));
            if (has_statistics(columns_[i].type()) && place.nulls < group.rows) {
                thrift.binary(5, {reinterpret_cast<const char *>(&place.max), sizeof(place.max)});
                thrift.binary(6, {reinterpret_cast<const char *>(&place.min), sizeof(place.min)});
            }
            thrift.end();
            thrift.end();
            thrift.end();
        }
        thrift.i64(2, static_cast<std::int64_t>(plain_size));
        thrift.i64(3, static_cast<std::int64_t>(group.rows));
        thrift.end();
    }
    thrift.structs(5, notes.size());
    for (const auto &[name, value] : notes) {
        thrift.begin(0);
        thrift.binary(1, name);
        thrift.binary(2, value);
        thrift.end();
    }
    thrift.binary(6, "argtrace " ARGTRACE_VERSION);
    thrift.structs(7, columns_.size()); // statistics are in the order of the types
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        thrift.begin(0);
        thrift.begin(1);
        thrift.end();
        thrift.end();
    }
    thrift.finish();
    std::string tail = thrift.bytes();
    append_bytes(tail, static_cast<std::uint32_t>(tail.size()));
    tail += magic;
    if (file_->size() == 0)
        file_->write(magic);
    file_->write(tail);
    file_->finish();
}

} // namespace argtrace
