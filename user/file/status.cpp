// SPDX-License-Identifier: GPL-2.0-only
#include "file/status.h"

namespace argtrace {

std::string_view describe(FileStatus status) {
    switch (status) {
    case FileStatus::ok:
        return "no fault";
    case FileStatus::empty:
        return "it is empty";
    case FileStatus::not_a_trace:
        return "it is no trace of argtrace";
    case FileStatus::unsupported_version:
        return "it is of another version of the format";
    case FileStatus::bad_file_header:
        return "its header is damaged";
    case FileStatus::cut_short:
        return "it is cut short";
    case FileStatus::bad_chunk_header:
        return "the header of a chunk is damaged";
    case FileStatus::cannot_read:
        return "it cannot be read";
    case FileStatus::bad_checksum:
        return "a checksum is wrong";
    case FileStatus::unknown_flags:
        return "a chunk has flags of a later version";
    case FileStatus::bad_compression:
        return "a chunk cannot be decompressed";
    case FileStatus::payload_too_large:
        return "a chunk is too large";
    case FileStatus::bad_info:
        return "the description of the trace is malformed";
    case FileStatus::bad_probes:
        return "the descriptions of functions are malformed";
    case FileStatus::bad_symbols:
        return "the symbols are malformed";
    case FileStatus::bad_stacks:
        return "the stacks are malformed";
    case FileStatus::bad_objects:
        return "the files with user code are malformed";
    case FileStatus::bad_places:
        return "the names of user code are malformed";
    case FileStatus::bad_running:
        return "the calls that had not returned are malformed";
    case FileStatus::bad_packet_prefix:
        return "what a chunk says of its packet is malformed";
    case FileStatus::packet_out_of_place:
        return "a part of a packet does not follow the one before";
    case FileStatus::bad_mark:
        return "a mark is malformed";
    case FileStatus::bad_counts:
        return "the counts are malformed";
    case FileStatus::bad_loss:
        return "the counts of loss are malformed";
    case FileStatus::bad_span:
        return "the time that was recorded is malformed";
    case FileStatus::bad_end:
        return "the end is malformed";
    case FileStatus::misplaced_info:
        return "the description of the trace is not at the beginning, or not only there";
    case FileStatus::packets_missing:
        return "packets are missing";
    case FileStatus::data_behind_end:
        return "something follows the end";
    }
    return "unknown fault";
}

} // namespace argtrace
