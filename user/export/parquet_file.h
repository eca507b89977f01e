// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "export/export_file.h"
#include "export/parquet_page.h"

namespace argtrace {

/// What a column of a Parquet file has in it.
enum class ParquetType : std::uint8_t {
    boolean,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
    f32,
    f64,
    timestamp, ///< ns since 1970, UTC
    text,      ///< few different ones: by dictionary
    json,
};

/// One column, of which the rows that are not written yet are kept. A row that is given no value is
/// null.
class ParquetColumn {
public:
    ParquetColumn(std::string name, ParquetType type) : name_(std::move(name)), type_(type) {}

    const std::string &name() const { return name_; }
    ParquetType type() const { return type_; }

    void add(std::uint64_t value);
    void add(std::string_view text);
    void add_null();

    std::size_t rows() const { return rows_; }

    ParquetChunk encode() const;

    /// Bytes that it keeps.
    std::size_t size() const {
        return plain_.size() + present_.size() / 8 + 4 * indices_.size() + dictionary_bytes_;
    }

private:
    friend class ParquetFile;

    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };

    std::string name_;
    ParquetType type_;
    std::size_t rows_ = 0;
    std::size_t nulls_ = 0;
    std::vector<bool> present_; // by row, as soon as there is a null
    std::string plain_;         // values, as they are written
    std::vector<bool> booleans_;
    std::vector<std::uint32_t> indices_; // of texts, in the dictionary
    std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> dictionary_;
    std::vector<const std::string *> words_; // of the dictionary, in its order
    std::size_t dictionary_bytes_ = 0;
    std::int64_t min_ = 0, max_ = 0; // of i64 and timestamps
};

/// A Parquet file (https://parquet.apache.org/docs/file-format), zstd-compressed: groups of rows, with
/// statistics of the columns that times are in.
class ParquetFile {
public:
    /// Where it is written, which stays the caller's; before a group of rows is.
    void set_file(ExportFile &file) { file_ = &file; }

    /// Says what the file has; before rows come.
    ParquetColumn &add_column(std::string name, ParquetType type);

    std::deque<ParquetColumn> &columns() { return columns_; }

    /// Ends a row whose values the columns were given: those that have got none are null in it.
    void end_row();

    /// Rows that were given so and are not written, and bytes of them.
    std::uint64_t rows() const { return rows_; }
    std::size_t size() const;

    /// Writes rows that have been encoded elsewhere, with as many chunks as there are columns.
    void write_group(const ParquetGroup &group);

    /// Writes the rest, and what a file ends in; `notes` are names and values.
    void finish(const std::vector<std::pair<std::string, std::string>> &notes);

private:
    struct Place { // of a chunk that has been written
        ParquetEncoding encoding = ParquetEncoding::plain;
        std::uint64_t offset = 0, dictionary_size = 0, size = 0, plain_size = 0;
        std::size_t nulls = 0;
        std::int64_t min = 0, max = 0;
    };
    struct Group {
        std::uint64_t rows = 0;
        std::vector<Place> places;
    };

    ParquetGroup take_rows();

    ExportFile *file_ = nullptr;
    std::deque<ParquetColumn> columns_;
    std::uint64_t rows_ = 0;
    std::uint64_t written_rows_ = 0;
    std::vector<Group> groups_;
};

} // namespace argtrace
