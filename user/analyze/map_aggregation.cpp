// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/map_aggregation.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "model/type.h"

namespace argtrace {

namespace {

constexpr Value text_value{0, 0, ARGTRACE_TYPE_STR, true};

KeyPart text_part(std::span<const std::uint64_t> words, const KeyDescription &key) {
    KeyPart part{text_value};
    part.text.resize(words.size_bytes());
    std::memcpy(part.text.data(), words.data(), words.size_bytes());
    part.text.resize(std::min(part.text.find('\0'), part.text.size()));
    if (part.text.size() > key.length) // the room is a multiple of 8 bytes
        part.text.resize(key.length);
    part.value.cut = part.text.size() == key.room && key.room < key.length;
    return part;
}

KeyPart function_part(std::uint64_t number, const AggregatedFunctions &functions) {
    return {text_value, number < functions.names.size() ? functions.names[number] : "?"};
}

Key key_of(std::span<const std::uint64_t> words, const AggregatedFunctions &functions) {
    Key key;
    for (const KeyDescription &part : functions.keys) {
        const std::size_t count = part.room ? part.room / sizeof(std::uint64_t) : 1;
        if (part.is_function)
            key.push_back(function_part(words[0], functions));
        else if (part.room > 0)
            key.push_back(text_part(words.first(count), part));
        else
            key.push_back({{words[0], 0, part.type, true}});
        words = words.subspan(count);
    }
    if (const auto at = functions.only_function_at)
        key.insert(key.begin() + static_cast<std::ptrdiff_t>(*at), function_part(0, functions));
    return key;
}

} // namespace

Aggregation aggregate_of(const MapContents &map, const AggregatedFunctions &functions,
                         const Buckets &buckets) {
    Aggregation all(buckets);
    const std::size_t words = functions.key_words();
    for (const auto &[key, totals] : map.entries()) {
        const std::int64_t bucket =
            key.size() > words ? static_cast<std::int64_t>(key[words]) : 0;
        all.add(key_of(std::span(key).first(words), functions), bucket,
                {totals.count, totals.faults, totals.sum, totals.min, totals.max});
    }
    return all;
}

Aggregation counts_of(const Session::Snapshot &session, std::size_t parts) {
    Aggregation all;
    for (std::size_t i = 0; i < session.probes.size(); ++i) {
        const std::uint64_t calls = session.counts[i].records;
        if (calls == 0)
            continue;
        const Key key(parts, KeyPart{text_value, session.probes[i].function});
        all.add(key, 0, {calls});
    }
    return all;
}

} // namespace argtrace
