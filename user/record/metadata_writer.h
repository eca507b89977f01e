// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "file/writer.h"
#include "record/code_addresses.h"
#include "symbols/symbols.h"

namespace argtrace {

/// Puts into a file, before packets that need it, what it takes to read them: the probes, and the
/// symbols of the code addresses in their records.
class MetadataWriter {
public:
    /// Fetches all probes anew, removed ones too.
    using Probes = std::function<std::vector<Probe>()>;

    /// The symbols and the writer must outlive this object.
    MetadataWriter(std::uint32_t format, Probes probes, const Symbols &symbols,
                   TraceWriter &writer);

    /// Whole records, those of one packet.
    void precede(std::span<const std::byte> records);

    /// The same for calls that have not returned.
    void precede(std::span<const argtrace_in_flight_call> calls);

    /// After the last packet: the stacks that have been completed since they were written.
    void finish();

private:
    void write_probes();
    void write_symbols();
    void write_stacks();
    void add_stack(std::uint64_t id, const Stack &stack, std::vector<std::uint64_t> &words);
    void add_place(std::uint64_t word);
    void append_symbol(std::string &lines, const Symbol &symbol);

    Probes probes_;
    const Symbols &symbols_;
    TraceWriter &writer_;
    CodeAddresses addresses_;
    std::unordered_set<std::uint32_t> probes_written_;
    std::unordered_set<std::uint64_t> symbols_written_;
    std::unordered_set<std::uint32_t> objects_written_;
    std::unordered_set<std::uint64_t> places_written_; // words of user stacks
    std::vector<std::uint64_t> pending_;               // the numbers of stacks that were incomplete when they were written
    std::string objects_, places_; // lines that are to be written
};

} // namespace argtrace
