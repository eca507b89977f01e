// SPDX-License-Identifier: GPL-2.0-only
#include "export/parquet_file.h"

#include <algorithm>
#include <utility>

#include "export/append_bytes.h"
#include "export/thrift.h"

namespace argtrace {

namespace {

// https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
enum : int { type_boolean = 0, type_int32 = 1, type_int64 = 2, type_float = 4, type_double = 5, type_byte_array = 6 };
enum : int { encoding_rle = 3, codec_zstd = 6, optional = 1 };

constexpr std::string_view magic = "PAR1";

int physical_type(ParquetType type) {
    switch (type) {
    case ParquetType::boolean:
        return type_boolean;
    case ParquetType::i64:
    case ParquetType::u64:
    case ParquetType::timestamp:
        return type_int64;
    case ParquetType::f32:
        return type_float;
    case ParquetType::f64:
        return type_double;
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

/// Others are what their physical type says.
bool has_logical_type(ParquetType type) {
    return type != ParquetType::boolean && type != ParquetType::f32 && type != ParquetType::f64;
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
    case ParquetType::f32:
    case ParquetType::f64:
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
    case type_float:
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
    ++rows_;
    for (ParquetColumn &column : columns_) {
        if (column.rows() < rows_)
            column.add_null();
    }
}

ParquetChunk ParquetColumn::encode() const {
    ParquetChunk chunk;
    std::string plain;
    if (nulls_ > 0)
        put_levels(plain, present_);
    else
        put_no_nulls(plain, rows_);
    if (type_ == ParquetType::text) {
        chunk.encoding = ParquetEncoding::dictionary;
        std::string words;
        for (const std::string *word : words_) {
            append_bytes(words, static_cast<std::uint32_t>(word->size()));
            words += *word;
        }
        chunk.dictionary = make_dictionary_page(words, words_.size());
        put_indices(plain, indices_, words_.size());
    } else if (type_ == ParquetType::boolean) {
        unsigned char byte = 0;
        for (std::size_t i = 0; i < booleans_.size(); ++i) {
            byte = static_cast<unsigned char>(byte | booleans_[i] << i % 8);
            if (i % 8 == 7 || i + 1 == booleans_.size()) {
                plain += static_cast<char>(byte);
                byte = 0;
            }
        }
    } else {
        plain += plain_;
    }
    chunk.data = make_data_page(plain, rows_, chunk.encoding);
    chunk.nulls = nulls_;
    chunk.min = min_;
    chunk.max = max_;
    return chunk;
}

/// The rows that were added one by one.
ParquetGroup ParquetFile::take_rows() {
    ParquetGroup group;
    group.rows = rows_;
    for (ParquetColumn &column : columns_) {
        ParquetColumn full(column.name_, column.type_);
        std::swap(full, column);
        group.chunks.push_back(full.encode());
    }
    rows_ = 0;
    return group;
}

void ParquetFile::write_group(const ParquetGroup &group) {
    if (group.rows == 0)
        return;
    Group written;
    written.rows = group.rows;
    for (const ParquetChunk &chunk : group.chunks) {
        Place place;
        if (file_->size() == 0)
            file_->write(magic);
        place.offset = file_->size();
        place.encoding = chunk.encoding;
        place.dictionary_size = chunk.dictionary.bytes.size();
        place.size = chunk.dictionary.bytes.size() + chunk.data.bytes.size();
        place.plain_size = chunk.dictionary.plain_size + chunk.data.plain_size;
        place.nulls = chunk.nulls;
        place.min = chunk.min;
        place.max = chunk.max;
        file_->write(chunk.dictionary.bytes);
        file_->write(chunk.data.bytes);
        written.places.push_back(place);
    }
    written_rows_ += group.rows;
    groups_.push_back(std::move(written));
}

void ParquetFile::finish(const std::vector<std::pair<std::string, std::string>> &notes) {
    if (rows_ > 0)
        write_group(take_rows());
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
        if (has_logical_type(column.type()))
            put_logical_type(thrift, column.type());
        thrift.end();
    }
    thrift.i64(3, static_cast<std::int64_t>(written_rows_));
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
            const auto plain = static_cast<int>(ParquetEncoding::plain);
            const auto encoding = static_cast<int>(place.encoding);
            if (dictionary)
                thrift.integers(2, {plain, encoding_rle, encoding});
            else
                thrift.integers(2, {encoding, encoding_rle});
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
