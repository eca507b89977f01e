// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <zstd.h>

#include "support/varint.h"

namespace argtrace::test {

/// What is read of Thrift's compact protocol: numbers, texts, lists and structs by their ids.
struct Thrift {
    std::map<int, Thrift> fields;
    std::vector<Thrift> items;
    std::int64_t number = 0;
    std::string text;

    const Thrift &at(int id) const { return fields.at(id); }
    bool has(int id) const { return fields.contains(id); }

    static std::int64_t zigzag(std::string_view &bytes) {
        const std::uint64_t value = take_varint(bytes);
        return static_cast<std::int64_t>(value >> 1 ^ (0 - (value & 1)));
    }
    static std::uint8_t byte(std::string_view &bytes) {
        if (bytes.empty())
            throw std::runtime_error("it ends too early");
        const auto value = static_cast<std::uint8_t>(bytes[0]);
        bytes.remove_prefix(1);
        return value;
    }
    static Thrift read(std::string_view &bytes, unsigned type) {
        Thrift value;
        if (type == 1 || type == 2) {
            value.number = type == 1;
        } else if (type == 3) {
            value.number = static_cast<std::int8_t>(byte(bytes));
        } else if (type == 5 || type == 6) {
            value.number = zigzag(bytes);
        } else if (type == 8) {
            const std::uint64_t size = take_varint(bytes);
            if (size > bytes.size())
                throw std::runtime_error("a text is too long");
            value.text = bytes.substr(0, size);
            bytes.remove_prefix(size);
        } else if (type == 9) {
            const unsigned head = byte(bytes);
            const std::uint64_t count = head >> 4 == 15 ? take_varint(bytes) : head >> 4;
            for (std::uint64_t i = 0; i < count; ++i)
                value.items.push_back(read(bytes, head & 15));
        } else if (type == 12) {
            for (int id = 0;;) {
                const unsigned head = byte(bytes);
                if (head == 0)
                    return value;
                id = head >> 4 ? id + static_cast<int>(head >> 4) : static_cast<int>(zigzag(bytes));
                value.fields[id] = read(bytes, head & 15);
            }
        } else {
            throw std::runtime_error("a type that we do not write");
        }
        return value;
    }
};

/// The columns of a file as text; null is "null".
struct ParquetTable {
    std::map<std::string, std::vector<std::string>> columns;
    std::map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>> ranges;
    std::map<std::string, std::string> notes;
    std::map<std::string, std::size_t> dictionaries;
    std::vector<std::uint64_t> groups;
    std::string bytes;

    static std::uint32_t u32(std::string_view bytes) {
        std::uint32_t value;
        std::memcpy(&value, bytes.substr(0, 4).data(), 4);
        return value;
    }

    static std::vector<std::uint32_t> hybrid(std::string_view bytes, unsigned bits,
                                             std::size_t count) {
        std::vector<std::uint32_t> values;
        while (values.size() < count) {
            const std::uint64_t head = take_varint(bytes);
            if (head & 1) {
                for (std::uint64_t i = 0; i < (head >> 1) * 8; ++i) {
                    std::uint32_t value = 0;
                    for (unsigned bit = 0; bit < bits; ++bit) {
                        const std::uint64_t at = i * bits + bit;
                        value |= (static_cast<unsigned char>(bytes.at(at / 8)) >> at % 8 & 1u)
                                 << bit;
                    }
                    values.push_back(value);
                }
                bytes.remove_prefix((head >> 1) * bits);
            } else {
                std::uint32_t value = 0;
                for (unsigned i = 0; i < (bits + 7) / 8; ++i)
                    value |= std::uint32_t{Thrift::byte(bytes)} << 8 * i;
                values.insert(values.end(), head >> 1, value);
            }
        }
        values.resize(count);
        return values;
    }

    /// Numbers of DELTA_BINARY_PACKED, of which those of 32 bits wrap around there.
    static std::vector<std::int64_t> deltas(std::string_view bytes, int type, std::size_t count) {
        const auto cut = [type](std::uint64_t value) {
            return type == 1 ? static_cast<std::int64_t>(static_cast<std::int32_t>(value))
                             : static_cast<std::int64_t>(value);
        };
        const std::uint64_t block = take_varint(bytes), parts = take_varint(bytes);
        EXPECT_EQ(block % 128, 0u);
        EXPECT_EQ(block / parts % 32, 0u);
        EXPECT_EQ(take_varint(bytes), count);
        std::vector<std::int64_t> values{Thrift::zigzag(bytes)};
        while (values.size() < count) {
            const std::int64_t least = Thrift::zigzag(bytes);
            std::vector<unsigned> widths;
            for (std::uint64_t i = 0; i < parts; ++i)
                widths.push_back(Thrift::byte(bytes));
            for (const unsigned width : widths) {
                if (values.size() >= count)
                    break;
                EXPECT_LE(width, type == 1 ? 32u : 64u);
                for (std::uint64_t i = 0; i < block / parts; ++i) {
                    std::uint64_t delta = 0;
                    for (unsigned bit = 0; bit < width; ++bit) {
                        const std::uint64_t at = i * width + bit;
                        delta |= std::uint64_t{
                                     static_cast<unsigned char>(bytes.at(at / 8)) >> at % 8 & 1u}
                                 << bit;
                    }
                    values.push_back(cut(static_cast<std::uint64_t>(values.back()) +
                                         static_cast<std::uint64_t>(least) + delta));
                }
                bytes.remove_prefix(block / parts / 8 * width);
            }
        }
        EXPECT_TRUE(bytes.empty());
        values.resize(count);
        return values;
    }

    /// The page there, and where the next begins.
    static std::string page(std::string_view &at, Thrift &header) {
        header = Thrift::read(at, 12);
        std::string plain(static_cast<std::size_t>(header.at(2).number), '\0');
        EXPECT_EQ(ZSTD_decompress(plain.data(), plain.size(), at.data(),
                                  static_cast<std::size_t>(header.at(3).number)),
                  plain.size());
        at.remove_prefix(static_cast<std::size_t>(header.at(3).number));
        return plain;
    }

    explicit ParquetTable(std::string whole) : bytes(std::move(whole)) {
        const std::size_t size = bytes.size();
        if (size < 12 || bytes.substr(0, 4) != "PAR1" || bytes.substr(size - 4) != "PAR1")
            throw std::runtime_error("no Parquet file");
        std::string_view foot = bytes;
        const std::uint32_t foot_size = u32(foot.substr(size - 8));
        foot = foot.substr(size - 8 - foot_size, foot_size);
        const Thrift file = Thrift::read(foot, 12);
        EXPECT_TRUE(foot.empty());
        for (const Thrift &note : file.at(5).items)
            notes[note.at(1).text] = note.at(2).text;
        const auto &schema = file.at(2).items;
        for (std::size_t i = 1; i < schema.size(); ++i)
            columns[schema[i].at(4).text];
        std::int64_t rows = 0;
        for (const Thrift &group : file.at(4).items) {
            rows += group.at(3).number;
            groups.push_back(static_cast<std::uint64_t>(group.at(3).number));
            for (std::size_t i = 0; i + 1 < schema.size(); ++i)
                read_chunk(schema[i + 1], group.at(1).items.at(i).at(3), groups.back());
        }
        EXPECT_EQ(file.at(3).number, rows);
    }

    void read_chunk(const Thrift &schema, const Thrift &chunk, std::uint64_t rows) {
        const std::string &name = schema.at(4).text;
        EXPECT_EQ(chunk.at(3).items.at(0).text, name);
        EXPECT_EQ(chunk.at(4).number, 6) << "zstd";
        std::vector<std::string> words;
        Thrift header;
        if (chunk.has(11)) {
            std::string_view place =
                std::string_view(bytes).substr(static_cast<std::size_t>(chunk.at(11).number));
            const std::string plain = page(place, header);
            const bool numbers = schema.at(1).number == 1; // of 32 bits
            for (std::string_view at = plain; !at.empty();) {
                words.push_back(numbers ? std::to_string(static_cast<std::int32_t>(u32(at))) : std::string(at.substr(4, u32(at))));
                at.remove_prefix(4 + (numbers ? 0 : u32(at)));
            }
            EXPECT_EQ(header.at(7).at(1).number, static_cast<std::int64_t>(words.size()));
            dictionaries[name] = words.size();
        }
        std::string_view place = std::string_view(bytes).substr(
            static_cast<std::size_t>(chunk.at(9).number),
            static_cast<std::size_t>(chunk.at(7).number + chunk.at(chunk.has(11) ? 11 : 9).number -
                                     chunk.at(9).number));
        std::size_t read = 0, nulls = 0;
        while (!place.empty()) {
            const std::string plain = page(place, header);
            const auto page_rows = static_cast<std::size_t>(header.at(5).at(1).number);
            nulls += read_page(schema, chunk, header, plain, page_rows, words);
            read += page_rows;
        }
        EXPECT_EQ(read, rows);
        EXPECT_EQ(chunk.at(12).at(3).number, static_cast<std::int64_t>(nulls));
        if (chunk.at(12).has(5)) {
            std::int64_t low, high;
            std::memcpy(&high, chunk.at(12).at(5).text.data(), 8);
            std::memcpy(&low, chunk.at(12).at(6).text.data(), 8);
            ranges[name].emplace_back(low, high);
        }
    }

    /// Returns how many of the rows are null.
    std::size_t read_page(const Thrift &schema, const Thrift &chunk, const Thrift &header,
                          const std::string &plain, std::size_t rows,
                          const std::vector<std::string> &words) {
        const std::string &name = schema.at(4).text;
        std::string_view at = plain;
        const auto present = hybrid(at.substr(4, u32(at)), 1, rows);
        at.remove_prefix(4 + u32(at));
        const auto count = static_cast<std::size_t>(std::count(present.begin(), present.end(), 1u));
        std::vector<std::string> values;
        if (chunk.has(11)) {
            EXPECT_EQ(header.at(5).at(2).number, 8);
            const auto bits = static_cast<unsigned char>(plain.at(plain.size() - at.size()));
            for (const std::uint32_t index : hybrid(at.substr(1), bits, count))
                values.push_back(words.at(index));
        } else if (header.at(5).at(2).number == 5) {
            EXPECT_EQ(chunk.at(2).items.at(0).number, 5);
            for (const std::int64_t value :
                 deltas(at, static_cast<int>(schema.at(1).number), count))
                values.push_back(std::to_string(value));
        } else {
            EXPECT_EQ(header.at(5).at(2).number, 0);
            for (std::size_t i = 0; i < count; ++i)
                values.push_back(plain_value(static_cast<int>(schema.at(1).number), at, i));
        }
        auto value = values.begin();
        for (const std::uint32_t one : present)
            columns[name].push_back(one ? *value++ : "null");
        return rows - count;
    }

    static std::string plain_value(int type, std::string_view &at, std::size_t index) {
        if (type == 0)
            return static_cast<unsigned char>(at.at(index / 8)) >> index % 8 & 1 ? "true" : "false";
        if (type == 6) {
            const std::string text(at.substr(4, u32(at)));
            at.remove_prefix(4 + u32(at));
            return text;
        }
        if (type == 4 || type == 5) {
            float narrow = 0;
            double wide = 0;
            std::memcpy(type == 4 ? static_cast<void *>(&narrow) : &wide, at.data(), type == 4 ? sizeof(narrow) : sizeof(wide));
            at.remove_prefix(type == 4 ? sizeof(narrow) : sizeof(wide));
            return type == 4 ? "float " + std::to_string(narrow) : "double " + std::to_string(wide);
        }
        std::int64_t value = 0;
        if (type == 1)
            value = static_cast<std::int32_t>(u32(at));
        else
            std::memcpy(&value, at.substr(0, 8).data(), 8);
        at.remove_prefix(type == 1 ? 4 : 8);
        return std::to_string(value);
    }
};

} // namespace argtrace::test
