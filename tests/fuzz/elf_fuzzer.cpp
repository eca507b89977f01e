// SPDX-License-Identifier: GPL-2.0-only
//
// An ELF file of a process that is traced: how to unwind it, the names of its functions, those that are inlined, and what they take. Then the same bytes as
// .eh_frame alone, as a mangled name and as a map of a JIT compiler.

#include <cstdlib>
#include <string_view>
#include <vector>

#include <bpf/btf.h>

#include "abi/calling_convention.h"
#include "dwarf/functions.h"
#include "elf/call_frames.h"
#include "elf/called_entries.h"
#include "elf/demangle.h"
#include "elf/function_list.h"
#include "elf/inlined.h"
#include "elf/object.h"
#include "elf/perf_map.h"
#include "elf/symbol_names.h"
#include "elf/unwind_rule.h"
#include "elf/unwind_table.h"
#include "fuzzer.h"

using namespace argtrace::elf;

namespace {

void require(bool holds) {
    if (!holds)
        std::abort();
}

void check(const UnwindTable &table) {
    for (std::size_t i = 0; i < table.rows.size(); i++) {
        require(table.rows[i].rule < table.rules.size() || table.rows[i].rule == ARGTRACE_UNWIND_NONE);
        require(i == 0 || table.rows[i].offset > table.rows[i - 1].offset);
    }
    require(table.rows.empty() || table.rows.back().rule == ARGTRACE_UNWIND_NONE);
}

void read_prototypes(const Object &object) {
    const auto functions = argtrace::dwarf::Functions::open(object, argtrace::dwarf_registers_x86_64);
    if (!functions)
        return;
    const argtrace::BtfPtr base(btf__new_empty());
    argtrace::dwarf::Functions::Prototypes made(*functions, base.get());
    std::vector<std::size_t> numbers;
    const CalledEntries entries(object);
    for (const NamedFunction &function : list_functions(object)) {
        (void)entries.is_called(function.offset);
        if (const auto number = made.add(function.address, function))
            numbers.push_back(*number);
        for (const std::uint64_t behind : {0, 4, 17})
            if (const auto number = made.add_line({function.address + behind, "c", 10, 7, 8}))
                numbers.push_back(*number);
    }
    const argtrace::BtfPtr types = made.take();
    for (const std::size_t number : numbers) {
        const argtrace::Prototype prototype = made.prototype(number, types.get(), "f");
        const auto places = argtrace::user_functions_x86_64.places(prototype);
        require(places.size() == prototype.parameters.size());
    }
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char *>(data), size);
    if (const auto object = Object::from_memory({reinterpret_cast<const std::byte *>(data), size})) {
        check(unwind_table(*object));
        SymbolNames names(*object);
        for (std::size_t offset = 0; offset < size; offset += 16)
            (void)names.at(offset);
        read_prototypes(*object);
        InlinedFrames inlined(*object);
        for (std::size_t offset = 0; offset < size; offset += 16)
            for (const auto lines : {InlinedFrames::Lines::unwanted, InlinedFrames::Lines::wanted})
                for (const argtrace::SourceFrame &frame : inlined.at(offset, lines))
                    require(lines == InlinedFrames::Lines::wanted || (frame.file.empty() && frame.line == 0));
    }
    for (const int machine : {EM_X86_64, EM_AARCH64}) {
        const FrameRegisters &registers = *frame_registers(machine);
        for (const bool is_eh_frame : {true, false}) {
            const FrameVisitor visitor = {[](std::uint64_t start, std::uint64_t end) { return start < end; },
                                          [&](std::uint64_t start, std::uint64_t end, const FrameState *state, bool is_signal_frame) {
                                              require(start < end);
                                              if (state)
                                                  (void)unwind_rule(registers, *state, is_signal_frame);
                                          }};
            visit_frames({bytes, 0x1000, is_eh_frame, &registers}, visitor);
        }
    }
    (void)demangle(bytes);
    const PerfMap map(bytes);
    for (std::uint64_t address = 0; address < 256; address++)
        (void)map.at(address);
    return 0;
}
