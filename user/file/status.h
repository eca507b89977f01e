// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string_view>

namespace argtrace {

/// What a reader thinks of a trace file. Each way to be malformed has its name.
enum class FileStatus {
    ok,
    // Nothing can be read:
    empty,
    not_a_trace,
    unsupported_version,
    bad_file_header,
    // The file ends here:
    cut_short,
    bad_chunk_header,
    cannot_read, ///< the system says why
    // A chunk that is passed over:
    bad_checksum,
    unknown_flags,
    bad_compression,
    payload_too_large,
    bad_info,
    bad_probes,
    bad_symbols,
    bad_stacks,
    bad_objects,
    bad_places,
    bad_running,
    bad_packet_prefix,
    packet_out_of_place, ///< a part that follows nothing it could belong to
    bad_mark,
    bad_counts,
    bad_loss,
    bad_span,
    bad_end,
    misplaced_info, ///< a second one, or none at the beginning
    // At the end:
    packets_missing, ///< fewer or more than the end says
    data_behind_end,
};

/// A few words for the user.
std::string_view describe(FileStatus status);

} // namespace argtrace
