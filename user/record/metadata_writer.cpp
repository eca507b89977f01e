// SPDX-License-Identifier: GPL-2.0-only
#include "record/metadata_writer.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "file/format.h"
#include "model/user_frame.h"

namespace argtrace {

namespace {

std::string in_one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', '?');
    return text;
}

/// The same of a text with others behind tabs.
std::string in_one_column(std::string text) {
    std::replace(text.begin(), text.end(), '\t', '?');
    return in_one_line(std::move(text));
}

/// The function is not known, and the object stands for it.
bool is_name_of(const CodeObject &object, const Symbol &symbol, std::uint64_t word) {
    return symbol.name == shown_name(object) && word - symbol.addr == UserFrame(word).offset;
}

} // namespace

MetadataWriter::MetadataWriter(std::uint32_t format, Probes probes, const Symbols &symbols,
                               TraceWriter &writer)
    : probes_(std::move(probes)), symbols_(symbols), writer_(writer), addresses_(format) {
    write_probes();
}

void MetadataWriter::precede(std::span<const std::byte> records) {
    if (!addresses_.scan(records)) {
        write_probes();
        addresses_.scan(records);
    }
    write_stacks();
    write_symbols();
}

void MetadataWriter::precede(std::span<const argtrace_in_flight_call> calls) {
    write_probes();
    for (const argtrace_in_flight_call &call : calls)
        addresses_.note(call.caller);
    write_symbols();
}

void MetadataWriter::finish() {
    write_stacks();
    write_symbols();
}

/// Those that are new, and once more those that have been completed. Their addresses are then to be given symbols.
void MetadataWriter::write_stacks() {
    std::vector<std::uint64_t> words;
    StackRoom room;
    std::erase_if(pending_, [&](std::uint64_t id) {
        const auto stack = symbols_.stack(id, room);
        if (!stack || stack->pending)
            return false;
        add_stack(id, *stack, words);
        return true;
    });
    for (const std::uint64_t id : addresses_.take_new_stacks()) {
        const auto stack = symbols_.stack(id, room);
        if (!stack)
            continue;
        add_stack(id, *stack, words);
        if (stack->pending)
            pending_.push_back(id);
    }
    writer_.objects(std::exchange(objects_, {}));
    writer_.places(std::exchange(places_, {}));
    writer_.stacks(words);
}

void MetadataWriter::add_stack(std::uint64_t id, const Stack &stack, std::vector<std::uint64_t> &words) {
    words.push_back(id);
    words.push_back(stack.addresses.size() | (stack.cut ? stack_chunk_cut : 0));
    for (const std::uint64_t address : stack.addresses) {
        words.push_back(address);
        if (stack.space == CodeSpace::kernel)
            addresses_.note(address);
        else
            add_place(address);
    }
}

/// What is known of a frame of user code, which no other machine need know.
void MetadataWriter::add_place(std::uint64_t word) {
    const UserFrame frame(word);
    if (frame.is_end() || !places_written_.insert(word).second)
        return;
    const auto object = symbols_.object(frame.object);
    if (object && objects_written_.insert(frame.object).second) {
        objects_ += fmt::format("{:x} {} {}\n", frame.object, object->build_id.empty() ? no_build_id : object->build_id,
                                in_one_line(object->path));
        for (const CodeSegment &segment : object->segments)
            objects_ += fmt::format("\t{:x}\t{:x}\t{:x}\n", segment.offset, segment.address, segment.size);
    }
    const auto symbol = symbols_.find(user_place(word));
    if (!symbol || (object && is_name_of(*object, *symbol, word)))
        return;
    places_ += fmt::format("{:016x} {:x} {}\n", word, word - symbol->addr, in_one_line(std::string(symbol->name)));
    for (SourceFrame &at : symbols_.source(user_place(word)))
        places_ += fmt::format("\t{}\t{}\t{}\n", at.line, in_one_column(std::move(at.function)), in_one_column(std::move(at.file)));
}

/// Those that are new.
void MetadataWriter::write_probes() {
    std::vector<Probe> added;
    for (Probe &probe : probes_()) {
        if (!probes_written_.insert(probe.id).second)
            continue;
        addresses_.add(probe);
        added.push_back(std::move(probe));
    }
    writer_.probes(added);
    std::string lines;
    for (const Probe &probe : added) {
        // For the module's name: of the kernel's own functions nothing more is to be known.
        if (const auto symbol = symbols_.find(code_place(probe)); symbol && !symbol->module.empty())
            append_symbol(lines, *symbol);
    }
    writer_.symbols(lines);
}

void MetadataWriter::append_symbol(std::string &lines, const Symbol &symbol) {
    if (!symbols_written_.insert(symbol.addr).second)
        return;
    lines += fmt::format("{:016x} {:016x} t {}", symbol.addr, symbol.size, symbol.name);
    if (!symbol.module.empty())
        lines += fmt::format("\t[{}]", symbol.module);
    lines += '\n';
}

void MetadataWriter::write_symbols() {
    std::string lines;
    for (const std::uint64_t address : addresses_.take_new()) {
        if (const auto symbol = symbols_.at(address))
            append_symbol(lines, *symbol);
    }
    writer_.symbols(lines);
}

} // namespace argtrace
