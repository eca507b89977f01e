// SPDX-License-Identifier: GPL-2.0-only
#include "elf/go_functions.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "elf/byte_reader.h"
#include "elf/section_entries.h"
#include "elf/symbol_addresses.h"

namespace argtrace::elf {

namespace {

// Go's runtime/symtab.go: pcHeader, functab, _func. Version 1.18 has no line of the function's beginning.
constexpr std::uint32_t magic_1_18 = 0xfffffff0, magic_1_20 = 0xfffffff1;
constexpr std::size_t flags_at_1_18 = 37, flags_at_1_20 = 41;
constexpr std::size_t unit_end = 36; // of what says which files are those of the function's unit
constexpr std::uint64_t units_at_header = 40, file_names_at_header = 48;
constexpr std::size_t inlined_table = 2; // _PCDATA_InlTreeIndex
constexpr std::uint8_t top_frame = 1, writes_stack_pointer = 2, assembly = 4;
constexpr std::uint64_t function_entry_size = 8, text_at_header = 24;
constexpr std::uint64_t text_in_module = 176; // in the same file's moduledata, which begins with the address of the header

struct Table {
    Text content;
    std::uint64_t address;
};

/// What the header begins with: one of these numbers, two zeros, the least size of an instruction (1 of x86-64, 4 of arm64) and that of a pointer.
bool is_header(std::string_view bytes) {
    ByteReader header(bytes);
    const auto magic = header.number<std::uint32_t>();
    const std::string_view rest = header.take(4);
    return (magic == magic_1_18 || magic == magic_1_20) && (rest == std::string_view("\0\0\1\x08", 4) || rest == std::string_view("\0\0\4\x08", 4));
}

std::optional<Table> table_of(const Object &object) {
    for (const char *name : {".gopclntab", ".data.rel.ro.gopclntab"})
        if (const Object::Section *section = object.section(name))
            return Table{object.content(*section), section->header.sh_addr};
    // Where another linker than Go's own has made a program that is loaded anywhere, as for C, the table is a part of this section.
    const Object::Section *section = object.section(".data.rel.ro");
    if (!section || !object.section(".go.buildinfo"))
        return std::nullopt;
    Text content = object.content(*section);
    constexpr std::size_t alignment = 8;
    for (std::size_t at = (alignment - section->header.sh_addr % alignment) % alignment; at < content.size(); at += alignment) {
        if (!is_header(view(content).substr(at)))
            continue;
        content.erase(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(at));
        return Table{std::move(content), section->header.sh_addr + at};
    }
    return std::nullopt;
}

/// What a relocation writes to an address, before the address that the program is loaded at is added.
std::optional<std::uint64_t> relocated(const Object &object, std::uint64_t address) {
    const std::uint64_t relative = object.machine() == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE;
    for (const Object::Section &section : object.sections()) {
        if (section.header.sh_type != SHT_RELA)
            continue;
        for (const Elf64_Rela &relocation : entries_of<Elf64_Rela>(object, section))
            if (relocation.r_offset == address && ELF64_R_TYPE(relocation.r_info) == relative)
                return relocation.r_addend;
    }
    return std::nullopt;
}

/// An address that the program has in its data, as relocated() has it.
std::optional<std::uint64_t> stored(const Object &object, std::uint64_t address) {
    if (const auto written = relocated(object, address))
        return written;
    const auto offset = object.offset_of(address);
    if (!offset)
        return std::nullopt;
    const Text bytes = object.read(*offset, sizeof(std::uint64_t));
    ByteReader word(view(bytes));
    const auto value = word.number<std::uint64_t>();
    return word.failed() ? std::nullopt : std::optional(value);
}

/// Where the code of Go begins, if the header does not say so: since Go 1.26 the runtime has it in a section of its own. Before, it is where all code
/// begins, unless another linker has put code of C there, of which symbols tell.
std::uint64_t text_address(const Object &object, std::uint64_t header) {
    const Object::Section *module = object.section(".go.module");
    if (module && stored(object, module->header.sh_addr) == header)
        if (const auto text = stored(object, module->header.sh_addr + text_in_module))
            return *text;
    if (const auto text = SymbolAddresses(object).find("runtime.text"))
        return *text;
    const Object::Section *text = object.section(".text");
    return text ? text->header.sh_addr : 0;
}

std::string_view behind(const Text &content, std::uint64_t offset) {
    return view(content).substr(std::min<std::uint64_t>(offset, content.size()));
}

std::string_view text_at(const Text &content, std::uint64_t offset) {
    const std::string_view rest = behind(content, offset);
    return rest.substr(0, rest.find('\0'));
}

std::uint64_t number_at(const Text &content, std::uint64_t offset) {
    return ByteReader(behind(content, offset)).number<std::uint64_t>();
}

/// The source file that a unit has under a number.
std::string_view source_file(const Text &content, std::uint64_t unit, std::int64_t number) {
    const std::uint64_t entry = number_at(content, units_at_header) + sizeof(std::uint32_t) * (unit + static_cast<std::uint64_t>(number));
    return text_at(content, number_at(content, file_names_at_header) + ByteReader(behind(content, entry)).number<std::uint32_t>());
}

/// That a function is on top is right but for signals, whose handlers' caller we know, and for the scheduler's stack, to which mcall() changes for good.
GoFunctions::Caller caller_of(std::string_view name, std::uint8_t flags) {
    using Caller = GoFunctions::Caller;
    if (name == "runtime.mcall" || name.starts_with("_rt0_")) // the kernel, or the dynamic linker, begins there
        return Caller::none;
    if (name == "runtime.morestack")
        return Caller::saved;
    if (name == "runtime.asyncPreempt" || name == "runtime.sigpanic" || name == "runtime.sigpanic0" || name == "runtime.debugCallV2")
        return Caller::interrupted;
    if (name == "crosscall2")
        return Caller::in_c;
    if (name == "runtime.systemstack" || name == "runtime.asmcgocall" || name == "runtime.clone")
        return Caller::elsewhere;
    if (flags & top_frame && name != "runtime.sigtramp" && name != "runtime.cgoSigtramp")
        return Caller::none;
    return flags & writes_stack_pointer ? Caller::elsewhere : Caller::on_stack;
}

/// What compares values of a type, or hashes them: made by the compiler, but to wrap nothing.
bool is_of_type(std::string_view name) {
    return name.starts_with("type.") || name.starts_with("type:");
}

/// "main.f.gowrap1", "main.f.deferwrap1": what `go` and `defer` are given with its arguments, since Go 1.22.
bool is_of_statement(std::string_view name) {
    const std::string_view last = name.substr(std::min(name.rfind('.'), name.size()));
    return last.starts_with(".gowrap") || last.starts_with(".deferwrap");
}

} // namespace

std::optional<GoFunctions> GoFunctions::read(const Object &object) {
    auto table = object.machine() == EM_X86_64 || object.machine() == EM_AARCH64 ? table_of(object) : std::nullopt;
    if (!table || !is_header(view(table->content)))
        return std::nullopt;
    GoFunctions found;
    found.content_ = std::move(table->content);
    ByteReader header(view(found.content_));
    const auto magic = header.number<std::uint32_t>();
    header.take(2);
    found.least_ = header.number<std::uint8_t>();
    header.take(1);
    const auto count = header.number<std::uint64_t>();
    header.number<std::uint64_t>(); // of files
    found.text_ = header.number<std::uint64_t>();
    const auto names_at = header.number<std::uint64_t>();
    const auto units_at = header.number<std::uint64_t>();
    header.number<std::uint64_t>(); // where files are
    found.sizes_at_ = header.number<std::uint64_t>();
    found.functions_at_ = header.number<std::uint64_t>();
    if (header.failed())
        return std::nullopt;
    const std::size_t room = behind(found.content_, found.functions_at_).size() / function_entry_size;
    found.count_ = std::min<std::uint64_t>(count, room);
    found.flags_at_ = magic == magic_1_18 ? flags_at_1_18 : flags_at_1_20;
    const std::string_view names = behind(found.content_, names_at).substr(0, units_at > names_at ? units_at - names_at : 0);
    found.names_.assign(names.begin(), names.end());
    // A program that is loaded anywhere has a relocation there, and the newest ones have nothing.
    if (found.text_ == 0) {
        const auto written = relocated(object, table->address + text_at_header);
        found.text_ = written ? *written : text_address(object, table->address);
    }
    return found;
}

struct GoFunctions::Description {
    std::uint32_t start, end; ///< behind the beginning of the code
    std::uint32_t name, passed, sizes, files, lines, tables, unit;
    std::uint8_t number, flags;
    std::string_view tables_at; ///< where the tables of the function are, each as an offset
};

std::optional<GoFunctions::Description> GoFunctions::describe(std::size_t number) const {
    if (number >= count_)
        return std::nullopt;
    ByteReader entry(behind(content_, functions_at_ + number * function_entry_size));
    Description described = {};
    described.start = entry.number<std::uint32_t>();
    const auto at = entry.number<std::uint32_t>();
    described.end = entry.number<std::uint32_t>();
    ByteReader fields(behind(content_, functions_at_ + at));
    fields.number<std::uint32_t>(); // where it begins
    described.name = fields.number<std::uint32_t>();
    described.passed = fields.number<std::uint32_t>();
    fields.take(4); // where deferred calls return to
    described.sizes = fields.number<std::uint32_t>();
    described.files = fields.number<std::uint32_t>();
    described.lines = fields.number<std::uint32_t>();
    described.tables = fields.number<std::uint32_t>();
    described.unit = fields.number<std::uint32_t>();
    fields.take(flags_at_ - unit_end - 1);
    described.number = fields.number<std::uint8_t>();
    described.flags = fields.number<std::uint8_t>();
    fields.take(2);
    described.tables_at = fields.rest();
    if (entry.failed() || fields.failed() || described.end <= described.start)
        return std::nullopt;
    return described;
}

// The runtime numbers some functions that are special to it, each another, and last all that wrap others: numbers change with its version.
// 0: none of them do.
std::uint8_t GoFunctions::wrapper_number() const {
    std::array<std::size_t, 256> counts = {};
    for (std::size_t i = 0; i < count_; i++)
        if (const auto described = describe(i))
            counts[described->number]++;
    std::size_t last = counts.size() - 1;
    while (last > 0 && counts[last] == 0)
        last--;
    return counts[last] > 1 ? static_cast<std::uint8_t>(last) : 0;
}

// What it wraps is a part of it then, and is called nowhere.
bool GoFunctions::has_inlined(const Description &described) const {
    ByteReader tables(described.tables_at);
    tables.take(sizeof(std::uint32_t) * inlined_table);
    const auto table = tables.number<std::uint32_t>();
    bool found = false;
    if (described.tables > inlined_table && table != 0)
        visit_values(table, described.start, described.end, [&found](std::uint64_t, std::uint64_t, std::int64_t value) { found = found || value >= 0; });
    return found;
}

std::optional<GoFunctions::Function> GoFunctions::at(std::size_t number) const {
    const auto described = describe(number);
    if (!described)
        return std::nullopt;
    return Function{text_ + described->start, text_ + described->end, described->name,
                    caller_of(text_at(names_, described->name), described->flags), (described->flags & assembly) != 0, described->sizes, described->passed};
}

std::optional<std::int64_t> GoFunctions::value_at(std::uint32_t table, const Description &described, std::uint64_t address) const {
    std::optional<std::int64_t> found;
    visit_values(table, text_ + described.start, text_ + described.end, [&](std::uint64_t start, std::uint64_t end, std::int64_t value) {
        if (address >= start && address < end)
            found = value;
    });
    return found;
}

std::optional<GoFunctions::Line> GoFunctions::line(std::size_t number, std::uint64_t address) const {
    const auto described = describe(number);
    const auto file = described ? value_at(described->files, *described, address) : std::nullopt;
    const auto line = file && *file >= 0 ? value_at(described->lines, *described, address) : std::nullopt;
    if (!line || *line <= 0)
        return std::nullopt;
    return Line{source_file(content_, described->unit, *file), *line};
}

bool GoFunctions::is_made(const Description &described, std::string_view name, std::uint8_t wrapper) const {
    if (wrapper != 0 && described.number == wrapper && !is_of_type(name))
        return true;
    // What ends in a jump to the method of an embedded type is not numbered so.
    if (name.find(").") == name.npos)
        return false;
    std::optional<std::int64_t> file;
    visit_values(described.files, described.start, described.end, [&file](std::uint64_t, std::uint64_t, std::int64_t value) { file = file.value_or(value); });
    return file && *file >= 0 && source_file(content_, described.unit, *file) == "<autogenerated>";
}

std::vector<bool> GoFunctions::find_wrappers() const {
    const std::uint8_t wrapper = wrapper_number();
    std::vector<bool> are_wrappers(count_);
    for (std::size_t i = 0; i < count_; i++) {
        const auto described = describe(i);
        const std::string_view name = described ? text_at(names_, described->name) : std::string_view();
        are_wrappers[i] = described && is_made(*described, name, wrapper) && (is_of_statement(name) || !has_inlined(*described));
    }
    return are_wrappers;
}

void GoFunctions::visit_sizes(const Function &function, const Visit &visit) const {
    visit_values(function.sizes, function.start, function.end, visit);
}

void GoFunctions::visit_values(std::uint32_t table_at, std::uint64_t start, std::uint64_t end, const Visit &visit) const {
    if (table_at == 0)
        return;
    ByteReader table(behind(content_, sizes_at_ + table_at));
    std::uint64_t at = start;
    std::int64_t value = -1;
    while (at < end) {
        const std::uint64_t change = table.uleb();
        if (table.failed() || (change == 0 && at != start))
            return;
        value += static_cast<std::int64_t>(change >> 1) ^ -static_cast<std::int64_t>(change & 1);
        const std::uint64_t next = at + std::min(table.uleb() * least_, end - at);
        if (table.failed() || next == at)
            return;
        visit(at, next, value);
        at = next;
    }
}

} // namespace argtrace::elf
