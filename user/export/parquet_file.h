// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "export/export_file.h"
#include "util/worker_pool.h"

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

/// A Parquet file (https://parquet.apache.org/docs/file-format), zstd-compressed: row groups of
/// pages, with statistics of the columns that times are in.
class ParquetFile {
public:
    /// The workers, who compress, stay the caller's.
    explicit ParquetFile(WorkerPool &workers) : workers_(workers) {}
    ~ParquetFile();

    /// Where it is written, which stays the caller's too. Two groups of rows may come before, none
    /// of them is written then.
    void set_file(ExportFile &file) { file_ = &file; }

    /// Says what the file has; before rows come.
    ParquetColumn &add_column(std::string name, ParquetType type);

    std::deque<ParquetColumn> &columns() { return columns_; }

    /// Bytes of rows that have not been written.
    std::size_t size() const;

    /// Ends a row: columns that have got no value are null in it. Writes the rows as a group if
    /// they are many.
    void end_row();

    std::uint64_t rows() const { return rows_ + group_rows_; }

    /// Writes the rest, and what a file ends in; `notes` are names and values.
    void finish(const std::vector<std::pair<std::string, std::string>> &notes);

private:
    struct Page {
        std::string bytes; // with its header
        std::size_t plain_size = 0;
    };
    struct Chunk { // of a column in a row group
        Page dictionary;
        Page data;
        std::size_t nulls = 0;
        std::int64_t min = 0, max = 0;
    };
    struct Place { // of what has been written
        std::uint64_t offset = 0, dictionary_size = 0, size = 0, plain_size = 0;
        std::size_t nulls = 0;
        std::int64_t min = 0, max = 0;
    };
    struct Group {
        std::uint64_t rows = 0;
        std::vector<Place> places;
    };

    static Chunk encode(const ParquetColumn &column);
    static Page make_page(std::string plain, std::size_t values, int encoding, bool dictionary);
    void submit_group();
    void write_group();

    ExportFile *file_ = nullptr;
    WorkerPool &workers_;
    std::deque<ParquetColumn> columns_;
    std::uint64_t group_rows_ = 0;
    std::uint64_t rows_ = 0; // in earlier groups
    std::uint64_t pending_rows_ = 0;
    std::vector<std::future<Chunk>> pending_;
    std::vector<Group> groups_;
};

} // namespace argtrace
