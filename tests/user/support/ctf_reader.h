// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace argtrace::test {

/// What a stream has, where each event has so many numbers of 64 bits, of which the first is kept.
struct CtfStream {
    struct Call {
        std::uint32_t id, pid, tid;
        std::uint64_t ts, duration, number;
        std::string comm, flags, caller;
    };
    std::vector<Call> calls;
    std::vector<std::uint64_t> discarded; // by packet
    std::string_view rest;

    template<typename T>
    T take() {
        if (rest.size() < sizeof(T))
            throw std::runtime_error("it ends too early");
        T value;
        std::memcpy(&value, rest.data(), sizeof(value));
        rest.remove_prefix(sizeof(value));
        return value;
    }

    std::string text() {
        const std::string value(rest.substr(0, rest.find('\0')));
        rest.remove_prefix(value.size() + 1);
        return value;
    }

    explicit CtfStream(std::string_view bytes, unsigned numbers = 1) {
        std::uint64_t last = 0;
        while (!bytes.empty()) {
            rest = bytes;
            EXPECT_EQ(take<std::uint32_t>(), 0xc1fc1fc1u);
            EXPECT_EQ(take<std::uint32_t>(), 0u);
            const auto begin = take<std::uint64_t>(), end = take<std::uint64_t>();
            const auto content = take<std::uint64_t>() / 8, size = take<std::uint64_t>() / 8;
            discarded.push_back(take<std::uint64_t>());
            take<std::uint32_t>();
            EXPECT_EQ(content, size);
            EXPECT_LE(last, begin);
            EXPECT_LE(begin, end);
            if (size > bytes.size())
                throw std::runtime_error("a packet is cut off");
            rest = bytes.substr(0, size).substr(bytes.size() - rest.size());
            last = begin;
            while (!rest.empty()) {
                Call call;
                call.id = take<std::uint32_t>();
                call.ts = take<std::uint64_t>();
                call.pid = take<std::uint32_t>();
                call.tid = take<std::uint32_t>();
                call.comm = text();
                call.flags = text();
                call.duration = take<std::uint64_t>();
                call.caller = text();
                call.number = take<std::uint64_t>();
                for (unsigned i = 1; i < numbers; ++i)
                    take<std::uint64_t>();
                EXPECT_LE(last, call.ts) << "times never go back";
                last = call.ts;
                calls.push_back(call);
            }
            EXPECT_LE(last, end);
            last = end;
            bytes.remove_prefix(size);
        }
    }
};

} // namespace argtrace::test
