// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/event.h"
#include "render/line.h"

namespace argtrace {

// What events have in common with others shortly before is made into text once. Both tables
// have one place for each value of a hash, so that they do not grow with what is read.

/// What is shown of callers.
class CallerSnippets {
public:
    /// `make` makes it of a place.
    template<typename Make>
    const Snippet &find(CodePlace place, const Make &make) {
        // Fibonacci hashing: the product's upper bits depend on all of the address.
        Recent &recent = recent_[place.address * 0x9e3779b97f4a7c15 >> (64 - places_bits)];
        if (recent.place != place) [[unlikely]] {
            recent.snippet = make(place);
            recent.place = place;
        }
        return recent.snippet;
    }

private:
    struct Recent {
        CodePlace place; // nobody is called from the address 0
        Snippet snippet;
    };

    static constexpr int places_bits = 12;

    std::vector<Recent> recent_{std::size_t{1} << places_bits};
};

/// What is shown of tasks.
class TaskSnippets {
public:
    /// `make` makes it of an event, and may forget() the others.
    template<typename Make>
    const Snippet &find(const Event &event, const Make &make) {
        Recent &recent = recent_[event.tid % places];
        if (recent.tid != event.tid || recent.tgid != event.tgid || recent.made != now_ ||
            !event.has_comm(recent.comm)) [[unlikely]] {
            recent.snippet = make(event);
            recent.tid = event.tid;
            recent.tgid = event.tgid;
            recent.comm = event.comm;
            recent.made = now_;
        }
        return recent.snippet;
    }

    /// They would look different now.
    void forget() { ++now_; }

private:
    struct Recent {
        std::uint32_t tid = 0;
        std::uint32_t tgid = 0;
        std::array<char, ARGTRACE_COMM_LEN> comm{};
        std::uint64_t made = 0; // never
        Snippet snippet;
    };

    static constexpr std::size_t places = 1024;

    std::vector<Recent> recent_{places};
    std::uint64_t now_ = 1;
};

} // namespace argtrace
