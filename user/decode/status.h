// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string_view>

namespace argtrace {

/// What the decoder thinks of the bytes. Each way to be malformed has its name.
enum class DecodeStatus {
    ok,
    // The packet's header:
    packet_too_short,
    bad_magic,
    bad_version,
    bad_header_size,
    bad_packet_size,
    unknown_format,
    unknown_clock,
    // What the ring expects of it:
    bad_sequence, ///< another packet than the one that belongs here
    bad_cpu,
    bad_used,
    // A record whose size cannot be believed: the rest of the packet is lost.
    record_too_short, ///< fewer bytes left than a record's header
    bad_record_size,
    // A record that can be skipped:
    unknown_probe,
    bad_clock_record,
    bad_task_record,
    bad_unreadable_record, ///< of a probe without arguments on the stack
    caller_cut_off,
    duration_cut_off,
    data_cut_off,
    bad_length, ///< of BYTES, STR or PATH
    bad_path,
    excess_data,
    unsupported_type,
    unterminated_name,
    name_mismatch, ///< a named argument is not the one that the schema says
    type_mismatch,
    missing_argument, ///< the list of named arguments ends early
    unclosed_list,
    named_outputs,       ///< of a program, in the encoding that has none
    too_many_outputs,    ///< more than can be said to be unreadable
    bad_unreadable_bits, ///< of outputs that the probe does not have
};

/// A few words for the user.
std::string_view describe(DecodeStatus status);

} // namespace argtrace
