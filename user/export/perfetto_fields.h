// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

// The numbers of fields and enumerators of Perfetto's protocol, as far as they are written:
// https://perfetto.dev/docs/reference/trace-packet-proto
namespace argtrace::perfetto {

namespace trace {
enum : unsigned { packet = 1 };
}

namespace packet {
enum : unsigned {
    clock_snapshot = 6,
    timestamp = 8,
    sequence_id = 10,
    track_event = 11,
    interned_data = 12,
    sequence_flags = 13,
    system_info = 45,
    defaults = 59,
    track_descriptor = 60,
};
enum : std::uint64_t { state_cleared = 1, needs_state = 2 };
} // namespace packet

namespace packet_defaults {
enum : unsigned { timestamp_clock = 58 };
}

namespace snapshot {
enum : unsigned { clock = 1, primary_clock = 2, clock_id = 1, clock_time = 2 };
enum : std::uint64_t { realtime = 1, monotonic = 3, boottime = 6 };
} // namespace snapshot

namespace system_info {
enum : unsigned { utsname = 1, sysname = 1, release = 3, machine = 4 };
}

namespace interned {
enum : unsigned {
    categories = 1,
    event_names = 2,
    annotation_names = 3,
    function_names = 5,
    frames = 6,
    callstacks = 7,
    build_ids = 16,
    mapping_paths = 17,
    mappings = 19,
    strings = 29,
    id = 1,
    text = 2,
    frame_function = 2,
    frame_mapping = 3,
    frame_address = 4,
    stack_frame = 2,
    mapping_build_id = 2,
    mapping_start = 4,
    mapping_end = 5,
    mapping_bias = 6,
    mapping_path = 7,
    mapping_offset = 8,
};
}

namespace event {
enum : unsigned {
    category = 3,
    annotation = 4,
    type = 9,
    name = 10,
    track = 11,
    counter = 30,
    callstack_id = 56,
};
enum : std::uint64_t { slice_begin = 1, slice_end = 2, instant = 3, counter_value = 4 };
} // namespace event

namespace annotation {
enum : unsigned {
    name_id = 1,
    boolean = 2,
    unsigned_integer = 3,
    signed_integer = 4,
    floating = 5,
    string = 6,
    pointer = 7,
    entry = 11,
    element = 12,
    string_id = 17,
};
}

namespace track {
enum : unsigned {
    id = 1,
    name = 2,
    process = 3,
    thread = 4,
    parent = 5,
    counter = 8,
    child_order = 11,
    rank = 12,
    process_pid = 1,
    process_name = 6,
    thread_pid = 1,
    thread_tid = 2,
    thread_name = 5,
    counter_unit = 3,
};
enum : std::uint64_t { by_rank = 3, unit_count = 2 };
} // namespace track

} // namespace argtrace::perfetto
