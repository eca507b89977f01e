// SPDX-License-Identifier: GPL-2.0-only
#include "decode/status.h"

namespace argtrace {

std::string_view describe(DecodeStatus status) {
    switch (status) {
    case DecodeStatus::ok:
        return "nothing is wrong";
    case DecodeStatus::packet_too_short:
        return "a packet is shorter than its header";
    case DecodeStatus::bad_magic:
        return "a packet does not begin as one";
    case DecodeStatus::bad_version:
        return "a packet is of another record version";
    case DecodeStatus::bad_header_size:
        return "the size of a packet's header is wrong";
    case DecodeStatus::bad_packet_size:
        return "the size of a packet is wrong";
    case DecodeStatus::bad_used:
        return "a packet claims to use more than it has";
    case DecodeStatus::bad_sequence:
        return "a packet is not the one that belongs there";
    case DecodeStatus::bad_cpu:
        return "a packet is of another CPU";
    case DecodeStatus::unknown_format:
        return "a packet has an unknown format";
    case DecodeStatus::unknown_clock:
        return "a packet has an unknown clock";
    case DecodeStatus::record_too_short:
        return "a record is shorter than its header";
    case DecodeStatus::bad_record_size:
        return "the size of a record is wrong";
    case DecodeStatus::unknown_probe:
        return "a record's probe is unknown";
    case DecodeStatus::bad_clock_record:
        return "a clock record is cut off";
    case DecodeStatus::bad_task_record:
        return "a task record is cut off";
    case DecodeStatus::bad_unreadable_record:
        return "a record says that the stack could not be read, where its probe has nothing";
    case DecodeStatus::caller_cut_off:
        return "a record ends before its caller";
    case DecodeStatus::duration_cut_off:
        return "a record that is too short for its duration";
    case DecodeStatus::data_cut_off:
        return "a record ends within an argument";
    case DecodeStatus::bad_length:
        return "an argument has another length than in its probe";
    case DecodeStatus::bad_path:
        return "a path is malformed";
    case DecodeStatus::excess_data:
        return "a record has more data than arguments";
    case DecodeStatus::unsupported_type:
        return "an argument has an unknown type";
    case DecodeStatus::unterminated_name:
        return "an argument's name does not end";
    case DecodeStatus::name_mismatch:
        return "an argument has another name than in its probe";
    case DecodeStatus::type_mismatch:
        return "an argument has another type than in its probe";
    case DecodeStatus::missing_argument:
        return "an argument is missing";
    case DecodeStatus::unclosed_list:
        return "a list of arguments is not closed";
    case DecodeStatus::named_outputs:
        return "a record has computed values where there can be none";
    case DecodeStatus::too_many_outputs:
        return "a record's probe has more computed values than a record can have";
    case DecodeStatus::bad_unreadable_bits:
        return "a record says that a value could not be read which its probe does not have";
    }
    return "something is wrong";
}

} // namespace argtrace
