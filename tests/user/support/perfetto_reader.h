// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstring>
#include <bit>
#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/varint.h"

namespace argtrace::test {

/// The fields of a message, as they come. What it is given must outlive it.
struct ProtobufMessage {
    struct Field {
        unsigned number = 0;
        std::uint64_t value = 0; // of a varint
        std::string_view bytes;
    };
    std::vector<Field> fields;

    explicit ProtobufMessage(std::string_view bytes) {
        while (!bytes.empty()) {
            const std::uint64_t key = take_varint(bytes);
            Field field{static_cast<unsigned>(key >> 3), 0, {}};
            if ((key & 7) == 1) {
                if (bytes.size() < sizeof(field.value))
                    throw std::runtime_error("a field is longer than its message");
                std::memcpy(&field.value, bytes.data(), sizeof(field.value));
                bytes.remove_prefix(sizeof(field.value));
                fields.push_back(field);
                continue;
            }
            field.value = take_varint(bytes);
            if ((key & 7) == 2) {
                if (field.value > bytes.size())
                    throw std::runtime_error("a field is longer than its message");
                field.bytes = bytes.substr(0, field.value);
                bytes.remove_prefix(field.value);
            } else if ((key & 7) != 0) {
                throw std::runtime_error("a wire type that we do not write");
            }
            fields.push_back(field);
        }
    }

    std::vector<ProtobufMessage> all(unsigned number) const {
        std::vector<ProtobufMessage> found;
        for (const Field &field : fields) {
            if (field.number == number)
                found.emplace_back(field.bytes);
        }
        return found;
    }
    bool has(unsigned number) const {
        return std::any_of(fields.begin(), fields.end(),
                           [number](const Field &field) { return field.number == number; });
    }
    std::uint64_t number(unsigned number) const {
        for (const Field &field : fields) {
            if (field.number == number)
                return field.value;
        }
        return 0;
    }
    std::string text(unsigned number) const {
        for (const Field &field : fields) {
            if (field.number == number)
                return std::string(field.bytes);
        }
        return "";
    }
    ProtobufMessage message(unsigned number) const {
        for (const Field &field : fields) {
            if (field.number == number)
                return ProtobufMessage(field.bytes);
        }
        return ProtobufMessage("");
    }
};

/// What a trace says, read as trace_processor does: sorted by time, strings as they were when they
/// were used.
struct PerfettoTrace {
    struct Item {
        std::uint64_t ts = 0;
        std::uint64_t type = 0;
        std::uint64_t track = 0;
        std::string name;
        std::string category;
        std::uint64_t counter = 0;
        std::vector<std::string> notes; // "args.count=u4096"
        std::string stack;              // "mapping:function" for each frame, the outermost first
    };
    struct Track {
        std::string name;
        std::uint64_t parent = 0, pid = 0, tid = 0, rank = 0, order = 0;
        bool is_process = false;
    };
    std::vector<Item> items;
    std::map<std::uint64_t, Track> tracks;
    std::map<std::uint64_t, std::uint64_t> clocks;
    std::uint64_t primary_clock = 0;
    std::map<unsigned, std::map<std::uint64_t, std::string>> strings; // by table
    std::map<unsigned, std::map<std::uint64_t, std::string>> stacks; // and what they consist of
    std::map<unsigned, std::vector<std::string>> interned; // the entries of each table, of the whole trace

    explicit PerfettoTrace(const std::string &bytes) {
        for (const ProtobufMessage &packet : ProtobufMessage(bytes).all(1))
            read(packet);
        std::stable_sort(items.begin(), items.end(),
                         [](const Item &a, const Item &b) { return a.ts < b.ts; });
    }

    void read(const ProtobufMessage &packet) {
        EXPECT_EQ(packet.number(10), 1u);
        if (packet.number(13) & 1) {
            strings.clear();
            stacks.clear();
        }
        for (const ProtobufMessage &snapshot : packet.all(6)) {
            primary_clock = snapshot.number(2);
            for (const ProtobufMessage &clock : snapshot.all(1))
                clocks[clock.number(1)] = clock.number(2);
        }
        for (const ProtobufMessage &data : packet.all(12)) {
            EXPECT_EQ(packet.number(13), 2u);
            for (const auto &field : data.fields) {
                const ProtobufMessage entry(field.bytes);
                interned[field.number].emplace_back(field.bytes);
                if (field.number == 6 || field.number == 7 || field.number == 19) {
                    EXPECT_TRUE(
                        stacks[field.number].emplace(entry.number(1), std::string(field.bytes)).second);
                    continue;
                }
                EXPECT_TRUE(strings[field.number].emplace(entry.number(1), entry.text(2)).second);
            }
        }
        for (const ProtobufMessage &one : packet.all(60)) {
            Track &track = tracks[one.number(1)];
            track.name = one.text(2);
            track.parent = one.number(5);
            track.rank = one.number(12);
            track.order = one.number(11);
            EXPECT_TRUE(track.parent == 0 || tracks.contains(track.parent)) << track.name;
            if (one.has(3)) {
                track.is_process = true;
                track.pid = one.message(3).number(1);
                track.name = one.message(3).text(6);
            }
            if (one.has(4)) {
                track.pid = one.message(4).number(1);
                track.tid = one.message(4).number(2);
                track.name = one.message(4).text(5);
            }
        }
        for (const ProtobufMessage &event : packet.all(11)) {
            EXPECT_EQ(packet.number(13), 2u);
            Item item;
            item.ts = packet.number(8);
            item.type = event.number(9);
            item.track = event.number(11);
            EXPECT_TRUE(tracks.contains(item.track));
            if (event.has(10))
                item.name = strings.at(2).at(event.number(10));
            if (event.has(3))
                item.category = strings.at(1).at(event.number(3));
            item.counter = event.number(30);
            if (event.has(56))
                item.stack = stack(event.number(56));
            for (const ProtobufMessage &note : event.all(4))
                annotate(item, "", note);
            items.push_back(std::move(item));
        }
    }

    std::string stack(std::uint64_t id) const {
        std::string text;
        const ProtobufMessage frames(stacks.at(7).at(id));
        for (const auto &field : frames.fields) {
            if (field.number != 2)
                continue;
            const ProtobufMessage frame(stacks.at(6).at(field.value));
            const ProtobufMessage mapping(stacks.at(19).at(frame.number(3)));
            text += (text.empty() ? "" : " ") + strings.at(17).at(mapping.number(7)) + ":" +
                    strings.at(5).at(frame.number(2));
        }
        return text;
    }

    void annotate(Item &item, const std::string &prefix, const ProtobufMessage &note) {
        const std::string name =
            prefix + (note.has(1) ? strings.at(3).at(note.number(1)) : std::string());
        const std::size_t before = item.notes.size();
        for (const ProtobufMessage &entry : note.all(11))
            annotate(item, name + ".", entry);
        std::size_t index = 0;
        for (const ProtobufMessage &element : note.all(12))
            annotate(item, name + "[" + std::to_string(index++) + "]", element);
        const auto put = [&](std::string value) { item.notes.push_back(name + "=" + value); };
        if (note.has(2))
            put(note.number(2) ? "true" : "false");
        if (note.has(3))
            put("u" + std::to_string(note.number(3)));
        if (note.has(4))
            put("s" + std::to_string(static_cast<std::int64_t>(note.number(4))));
        if (note.has(5))
            put("f" + std::to_string(std::bit_cast<double>(note.number(5))));
        if (note.has(7))
            put(fmt::format("p{:#x}", note.number(7)));
        if (note.has(6))
            put("'" + note.text(6) + "'");
        if (note.has(17))
            put("\"" + strings.at(29).at(note.number(17)) + "\"");
        if (before == item.notes.size() && !note.has(11))
            put("");
    }

    /// Slices and instants: number, beginning, end (or ~0), track, depth.
    struct Slice {
        std::uint64_t number, begin, end, track;
        std::size_t depth;
        auto operator<=>(const Slice &) const = default;
    };
    /// So many of them may have no end.
    std::vector<Slice> slices(std::size_t unfinished = 0) const {
        std::vector<Slice> found;
        std::map<std::uint64_t, std::vector<Slice>> open;
        for (const Item &item : items) {
            auto &stack = open[item.track];
            if (item.type == 2) {
                if (stack.empty())
                    throw std::runtime_error("an end without a beginning");
                stack.back().end = item.ts;
                found.push_back(stack.back());
                stack.pop_back();
                continue;
            }
            if (item.type != 1 && item.type != 3)
                continue;
            std::uint64_t number = 0;
            for (const std::string &note : item.notes) {
                if (note.starts_with("args.n=u"))
                    number = std::stoull(note.substr(8));
            }
            const Slice slice{number, item.ts, ~std::uint64_t{0}, item.track, stack.size()};
            if (item.type == 1)
                stack.push_back(slice);
            else
                found.push_back(slice);
        }
        std::size_t still_open = 0;
        for (const auto &[track, stack] : open) {
            still_open += stack.size();
            found.insert(found.end(), stack.begin(), stack.end());
        }
        EXPECT_EQ(still_open, unfinished) << "what has begun has ended";
        return found;
    }
};

} // namespace argtrace::test
