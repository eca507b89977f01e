// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "export/exporter.h"
#include "export/perfetto_plan.h"
#include "export/perfetto_stacks.h"
#include "export/perfetto_values.h"
#include "render/caller.h"
#include "util/plain_vector.h"
#include "util/protobuf.h"

namespace argtrace {

/// What is on the tracks while a block of calls goes on, in the order in which it is written.
struct PerfettoBlock {
    /// As TrackEvent has them.
    enum class Kind : std::uint8_t { begin = 1, end = 2, instant = 3, counter = 4 };

    struct Item {
        Kind kind = Kind::instant;
        bool tells_task = false; ///< the track does not
        std::uint64_t ts = 0;
        std::uint64_t track = 0;
        std::uint64_t number = 0;           ///< which of `ends`; what is counted
        const PerfettoPlan *plan = nullptr; ///< of a call
        EventBlock::Entry call = {};        ///< of its beginning
    };

    /// What a call returned, kept until its end is written.
    struct End {
        const PerfettoPlan *plan = nullptr; ///< null: the call has not returned
        Value result;
        std::unique_ptr<std::string> bytes; ///< of a result that is more than a number
    };

    EventBlock calls; ///< keeps them
    ProtobufWriter tracks; ///< packets that describe those that are new
    PlainVector<Item> items;
    std::vector<End> ends;
};

/// The numbers by which packets refer to each other.
inline constexpr std::uint64_t perfetto_sequence = 1;

/// Blocks -> packets. Each block interns what it names anew, so that several of these write a trace,
/// whichever of them gets a block.
class PerfettoBlockWriter {
public:
    PerfettoBlockWriter(const Symbols &symbols, const PerfettoPlans::Common &common)
        : callers_(symbols), values_(callers_), stacks_(callers_), common_(common) {}

    ProtobufWriter write(const PerfettoBlock &block);

private:
    /// An annotation that most events share with others.
    struct Note {
        static constexpr std::size_t size_max = 24;

        std::uint64_t block = 0; // in which it was made
        std::uint64_t key = 0;
        CodeSpace space = CodeSpace::kernel; // of a caller
        std::uint8_t size = 0;
        std::array<char, size_max> bytes{};
    };

    /// All that a packet of this block says of a call but when and on which track it was made. It is the same for calls that share
    /// their values and differ in nothing else.
    struct Memo {
        std::uint64_t block = 0; // in which it was made
        const EventBatch *batch = nullptr;
        const PerfettoPlan *plan = nullptr;
        std::uint64_t caller = 0;
        std::uint64_t place = 0; // CPU and flags
        CodeSpace caller_space = CodeSpace::kernel;
        std::uint32_t first_value = 0;
        std::uint32_t size = 0;
        std::size_t begin = 0; // in what has been written
    };

    static constexpr unsigned caller_bits = 12, flags_bits = 8, memo_bits = 12;
    static constexpr unsigned memos_in_vain_max = 2048; // of a block; then no others are tried

    static constexpr std::size_t memo_size_max = 8192; // so that the packet's lengths take two bytes

    void begin_block();
    void intern(const PerfettoName &name);
    void intern(const PerfettoPlan &plan);
    char *begin_event(const PerfettoBlock::Item &item, std::size_t room);
    void begin_event(const char *packet, const char *event);
    void end_event();
    void put_call(const PerfettoBlock::Item &item);
    Memo *find_memo(const PerfettoBlock::Item &item, bool &known);
    void put_body(const PerfettoBlock::Item &item, char *to);
    void put_end(const PerfettoBlock::Item &item, const PerfettoBlock::End &end);
    void put_counter(const PerfettoBlock::Item &item);
    void put_value(unsigned field, const PerfettoPlan::Argument &argument, const Value &value,
                   std::span<const std::byte> bytes);
    char *put_arguments(char *to, const PerfettoPlan &plan, const EventView &view);
    void put_stack(const StackValues &stacks, const Probe &probe);
    void put_task(const Event &event);
    void put_note(const Note &note);
    void make_note(Note &note, std::uint64_t key, std::uint64_t name, std::string_view text);

    CallerNames callers_;
    PerfettoValues values_;
    PerfettoStacks stacks_;
    const PerfettoPlans::Common common_;
    std::uint64_t block_ = 0;
    std::vector<std::uint64_t> interned_names_; // by index: the last block that has interned it
    std::vector<std::uint64_t> interned_plans_;
    std::vector<Note> caller_notes_{std::size_t{1} << caller_bits};
    std::vector<Note> flags_notes_{std::size_t{1} << flags_bits};
    std::vector<Memo> memos_{std::size_t{1} << memo_bits};
    unsigned memos_left_ = 0; // that this block may still try in vain
    ProtobufWriter note_;
    ProtobufWriter out_;
    std::size_t packet_ = 0, event_ = 0; // where those begin that are being written
    std::size_t size_ = 1024;            // of the block before
};

} // namespace argtrace
