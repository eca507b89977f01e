// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace argtrace::test {

/// A file as trace-cmd.dat.v6(5) describes it.
struct TraceDat {
    struct Record {
        std::uint32_t cpu;
        std::uint64_t ts;
        std::string data;

        template<typename T>
        T at(std::size_t offset) const {
            T value;
            std::memcpy(&value, data.substr(offset, sizeof(value)).data(), sizeof(value));
            return value;
        }
    };
    std::vector<std::string> formats;
    std::string symbols, tasks;
    std::map<std::uint16_t, std::string> options;
    std::vector<Record> records;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> lost; // CPU and calls, by page
    std::string_view rest;
    std::size_t cpus = 0;

    std::string take(std::size_t size) {
        if (size > rest.size())
            throw std::runtime_error("it ends too early");
        const std::string part(rest.substr(0, size));
        rest.remove_prefix(size);
        return part;
    }
    template<typename T>
    T number() {
        T value;
        std::memcpy(&value, take(sizeof(value)).data(), sizeof(value));
        return value;
    }
    std::string text() { return take(rest.find('\0') + 1).c_str(); }

    explicit TraceDat(std::string_view bytes) : rest(bytes) {
        EXPECT_EQ(take(10), "\x17\x08\x44tracing");
        EXPECT_EQ(text(), "6");
        EXPECT_EQ(take(2), std::string("\0\x08", 2));
        EXPECT_EQ(number<std::uint32_t>(), 4096u);
        EXPECT_EQ(text(), "header_page");
        take(number<std::uint64_t>());
        EXPECT_EQ(text(), "header_event");
        take(number<std::uint64_t>());
        EXPECT_EQ(number<std::uint32_t>(), 0u);
        for (auto systems = number<std::uint32_t>(); systems > 0; --systems) {
            EXPECT_EQ(text(), "argtrace");
            for (auto count = number<std::uint32_t>(); count > 0; --count)
                formats.push_back(take(number<std::uint64_t>()));
        }
        symbols = take(number<std::uint32_t>());
        take(number<std::uint32_t>());
        tasks = take(number<std::uint64_t>());
        cpus = number<std::uint32_t>();
        EXPECT_EQ(text(), "options  ");
        while (const auto option = number<std::uint16_t>())
            options[option] = take(number<std::uint32_t>());
        EXPECT_EQ(text(), "flyrecord");
        for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
            const auto offset = number<std::uint64_t>(), size = number<std::uint64_t>();
            EXPECT_EQ(offset % 4096, 0u);
            EXPECT_EQ(size % 4096, 0u);
            if (offset + size > bytes.size())
                throw std::runtime_error("a CPU's pages are cut off");
            for (std::uint64_t at = 0; at < size; at += 4096)
                read_page(cpu, bytes.substr(offset + at, 4096));
        }
    }

    void read_page(std::uint32_t cpu, std::string_view page) {
        const std::string_view before = rest;
        rest = page;
        auto ts = number<std::uint64_t>();
        const auto commit = number<std::uint64_t>();
        const std::size_t size = commit & 0xfffff;
        if (commit & 1u << 31) {
            std::uint64_t calls = 0;
            if (commit & 1u << 30)
                std::memcpy(&calls, page.substr(16 + size, 8).data(), 8);
            lost.emplace_back(cpu, calls);
        }
        rest = page.substr(16, size);
        while (!rest.empty()) {
            const auto head = number<std::uint32_t>();
            const std::uint32_t type = head & 31;
            ts += head >> 5;
            if (type == 30)
                ts += std::uint64_t{number<std::uint32_t>()} << 27;
            else if (type == 31) // all of the time
                ts = (head >> 5) | std::uint64_t{number<std::uint32_t>()} << 27;
            else
                records.push_back({cpu, ts, take(type ? 4 * type : number<std::uint32_t>() - 4)});
        }
        rest = before;
    }
};

} // namespace argtrace::test
