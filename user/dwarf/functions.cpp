// SPDX-License-Identifier: GPL-2.0-only
#include "dwarf/functions.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include <bpf/btf.h>

#include "dwarf/attributes.h"
#include "dwarf/entry_place.h"
#include "dwarf/function_index.h"
#include "dwarf/go_dictionaries.h"
#include "dwarf/go_values.h"
#include "dwarf/language.h"
#include "dwarf/parameters.h"
#include "dwarf/passing.h"
#include "dwarf/rust_values.h"
#include "dwarf/type_maker.h"
#include "elf/dwarf_file.h"
#include "elf/result_use.h"
#include "uapi/argtrace.h"

namespace argtrace::dwarf {

namespace {

// A part of the name of a body that takes something else than its source says, or may.
bool is_changed(std::string_view symbol) {
    constexpr std::string_view parts[] = {".constprop.", ".isra.", ".part.", ".lto_priv.", ".llvm.", ".cold"};
    return std::ranges::any_of(parts, [symbol](std::string_view part) { return symbol.find(part) != symbol.npos; });
}

bool is_usual_convention(Dwarf_Die &function) {
    const auto convention = number_of(function, DW_AT_calling_convention);
    return !convention || *convention == DW_CC_normal || *convention == DW_CC_program;
}

// clang leaves out parameters that are passed by reference and not used. The name of a function of C++ says how many it has.
bool has_all_of(const elf::NamedFunction &function, std::vector<SourceParameter> &parameters, bool variadic) {
    const auto written = function.symbol.starts_with("_Z") ? elf::parameter_count(function.name) : std::nullopt;
    const auto is_written = [](SourceParameter &parameter) { return !has_flag(parameter.declared, DW_AT_artificial); };
    return !written || static_cast<std::size_t>(std::ranges::count_if(parameters, is_written)) + variadic == *written;
}

// Whether registers that are said have as many bytes as the parameter: clang leaves out what is not used.
bool is_whole(const EntryPlace &place, Dwarf_Die &parameter, const DwarfRegisters &known) {
    auto type = referred_in_all(parameter, DW_AT_type);
    Dwarf_Word size = 0;
    if (place.kind != EntryPlace::Kind::registers || !type || dwarf_aggregate_size(&*type, &size) != 0)
        return true;
    constexpr Dwarf_Word word = 8;
    const bool is_in_vector = known.vector(place.registers.front()).has_value();
    return (place.bytes.empty() ? (is_in_vector ? 2 * word : word) : std::accumulate(place.bytes.begin(), place.bytes.end(), Dwarf_Word{0})) >= size;
}

// Whether it is one of a function that was not optimised, whose caller knows its declaration.
bool has_slot(Dwarf_Die &parameter) {
    return dwarf_hasattr(&parameter, DW_AT_location) && !has_location_list(parameter);
}

/// Whether its frame is found by the frame pointer, as in code that is not optimised.
bool has_frame_pointer(Dwarf_Die &function) {
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    std::size_t count;
    return dwarf_getlocation(dwarf_attr_integrate(&function, DW_AT_frame_base, &attribute), &operations, &count) == 0 && count == 1 &&
           operations->atom == DW_OP_reg6; // RBP, x86-64 psABI, figure 3.36
}

constexpr unsigned vector_arguments = 8; // x86-64 psABI 3.2.3, AAPCS64 6.8.2

} // namespace

struct Functions::Info {
    Info(elf::DwarfFile file, const DwarfRegisters &known, const elf::Object &object)
        : index(std::move(file)), registers(known), dictionaries(object), calls(object), results(object, calls) {}

    bool is_described(Dwarf_Die &unit) {
        const auto [known, is_new] = described_units.try_emplace(unit.addr, false);
        if (is_new)
            // A program of Go has all types in one unit.
            known->second = language_of(unit) == Language::go || (language_of(unit) != Language::other && has_types(unit));
        return known->second;
    }

    FunctionIndex index;
    DwarfRegisters registers;
    GoDictionaries dictionaries;
    elf::DirectCalls calls;
    elf::ResultUse results;
    Scopes scopes;
    std::unordered_map<const void *, bool> described_units;
};

Functions::Functions(std::unique_ptr<Info> info) : info_(std::move(info)) {}
Functions::~Functions() = default;

std::unique_ptr<Functions> Functions::open(const elf::Object &object, const DwarfRegisters &registers, const DebugFiles &debug_files) {
    auto file = elf::DwarfFile::open(object, debug_files);
    if (!file)
        return nullptr;
    return std::unique_ptr<Functions>(new Functions(std::make_unique<Info>(std::move(*file), registers, object)));
}

GoTypes Functions::go_types() const {
    return dwarf::go_types(info_->index.file());
}

struct Functions::Prototypes::Made {
    struct Parameter {
        std::string name;
        std::uint32_t type = 0;
        std::optional<EntryRegister> place = {};
        bool has_address_there = false; ///< of the value, in place of the value
        std::optional<std::uint8_t> address_later = {}; ///< DWARF has that address in this register, as soon as the function has its frame
        GoValue go = {};
        bool has_place_list = false; ///< of Go's
        std::optional<VariablePlace> variable = {};
    };
    struct Function {
        std::vector<Parameter> parameters;
        std::uint32_t result = 0;
        std::uint32_t go_results = 0;
        bool variadic = false;
        bool is_line = false;
        bool is_mangled = false; ///< its name, as that of functions that C cannot name
        bool is_result_unsure = false; ///< the compiler may have it return a part of its result alone
        std::optional<std::uint64_t> kept_to_itself = {}; ///< by LLVM, which may have it return nothing: where it begins
        Language language = Language::c;
        std::uint32_t type = 0; ///< the prototype's
    };

    Made(Functions &described, btf *base_types)
        : info(*described.info_), base(base_types), types(btf__type_cnt(base_types)), maker(types, info.scopes) {}

    const MadeType *class_by_reference(std::uint32_t type) const {
        const MadeType *bare = types.bare(type);
        return bare && bare->is_composite() && bare->by_reference ? bare : nullptr;
    }

    /// A function that is described.
    struct Described {
        Dwarf_Die die;
        std::uint64_t address; ///< of its first instruction
        std::uint64_t entry;   ///< the same as DWARF has it
        bool is_as_declared;   ///< others call it by its declaration, so that the convention holds where nothing is said
        bool is_by_llvm;
    };
    void set_place(Parameter &made_parameter, Described &function, const SourceParameter &parameter);
    EntryRegister register_of(const EntryPlace &place) const;
    std::vector<RegisterPart> parts_of(const EntryPlace &place) const;
    std::optional<std::uint8_t> index_of(const EntryPlace &place) const;
    void leave_out_unsure(Function &function);
    void add_go_values(Function &function, std::vector<SourceParameter> &parameters, std::string_view name, std::uint64_t entry);
    std::uint32_t add_enumeration(std::string name, std::vector<MadeType::Enumerator> enumerators);
    void add_go_dictionary(Function &function, std::string_view name);

    Info &info;
    btf *base;
    MadeTypes types;
    TypeMaker maker;
    std::vector<Function> functions;
    std::unordered_map<const void *, std::size_t> known; ///< functions by their DIEs
};

Functions::Prototypes::Prototypes(Functions &functions, btf *base) : made_(std::make_unique<Made>(functions, base)) {}
Functions::Prototypes::~Prototypes() = default;

// The first of the argument registers that it is in, all of which follow each other, with a word each; nothing if it is in no such.
std::optional<std::uint8_t> Functions::Prototypes::Made::index_of(const EntryPlace &place) const {
    const auto &registers = info.registers.arguments;
    if (!place.bytes.empty() && std::any_of(place.bytes.begin(), place.bytes.end() - 1, [](std::uint32_t bytes) { return bytes != 8; }))
        return std::nullopt;
    std::optional<std::uint8_t> first;
    for (std::size_t i = 0; i < place.registers.size(); i++) {
        const auto found = std::ranges::find(registers, place.registers[i]);
        const auto index = static_cast<std::size_t>(found - registers.begin());
        if (found == registers.end() || (first && index != *first + i))
            return std::nullopt;
        if (!first)
            first = static_cast<std::uint8_t>(index);
    }
    return first;
}

EntryRegister Functions::Prototypes::Made::register_of(const EntryPlace &place) const {
    const DwarfRegisters &registers = info.registers;
    if (place.kind == EntryPlace::Kind::frame) {
        const std::int64_t offset = place.offset + registers.frame_above_stack;
        const bool is_argument = place.offset >= 0 && offset <= ARGTRACE_STACK_MAX;
        return is_argument ? EntryRegister{.stack = static_cast<std::uint32_t>(offset)} : EntryRegister{};
    }
    if (place.kind != EntryPlace::Kind::registers)
        return {.index = index_of(place)};
    if (place.registers.size() == 1)
        if (const auto vector = info.registers.vector(place.registers.front()))
            return {.vector = vector};
    const auto index = index_of(place);
    return index ? EntryRegister{.index = index} : EntryRegister{.parts = parts_of(place)};
}

// Registers of both kinds, each with the bytes that it has; none if one of them passes no arguments.
std::vector<RegisterPart> Functions::Prototypes::Made::parts_of(const EntryPlace &place) const {
    std::vector<RegisterPart> parts;
    std::uint32_t offset = 0;
    for (std::size_t i = 0; i < place.bytes.size(); i++) {
        const unsigned number = place.registers[i];
        const auto vector = info.registers.vector(number);
        const auto argument = std::ranges::find(info.registers.arguments, number);
        if (place.bytes[i] > (vector ? 16 : 8) || (!vector && argument == info.registers.arguments.end()))
            return {};
        if (vector)
            add_vector(parts, offset, place.bytes[i], *vector);
        else
            parts.push_back({offset, place.bytes[i], false, static_cast<std::uint8_t>(argument - info.registers.arguments.begin())});
        offset += place.bytes[i];
    }
    return parts;
}

void Functions::Prototypes::Made::set_place(Parameter &made_parameter, Described &function, const SourceParameter &parameter) {
    Dwarf_Die own = parameter.own ? *parameter.own : parameter.declared;
    EntryPlace place = parameter.own ? entry_place(function.die, own, function.entry) : EntryPlace{};
    if (!is_whole(place, own, info.registers))
        place = {.kind = EntryPlace::Kind::in_part};
    // Registers that are said of the whole function need not be those of its entry: gcc has __int128 in others then. Where clang says nothing of
    // a part, as it is not used, callers that it knows leave that register as it is.
    const bool is_of_all = place.kind == EntryPlace::Kind::registers && !has_location_list(own);
    const bool is_by_convention = place.kind == EntryPlace::Kind::unsaid || (function.is_as_declared && is_of_all);
    if (is_of_all)
        place.bytes.clear(); // whose order counts for nothing
    if (!is_by_convention) {
        made_parameter.place = register_of(place);
        made_parameter.has_address_there = place.kind == EntryPlace::Kind::address;
        return;
    }
    const bool may_be_changed = !function.is_as_declared && !(parameter.own && has_slot(own));
    // LLVM takes the place of all that is not used away, and has callers that it compiles together with the function leave the register as it is.
    const bool may_be_unset = function.is_by_llvm && parameter.own && !dwarf_hasattr(&own, DW_AT_location) && info.calls.is_called(function.address);
    if (may_be_changed || may_be_unset)
        made_parameter.place = EntryRegister{};
}

std::optional<std::size_t> Functions::Prototypes::add(std::uint64_t address, const elf::NamedFunction &named,
                                                      std::span<const WrittenParameter> names) {
    Made &made = *made_;
    const std::string &symbol = named.symbol;
    const std::uint64_t entry = address - made.info.index.file().bias();
    auto die = made.info.index.at(entry, symbol);
    if (!die || !is_usual_convention(*die))
        return std::nullopt;
    if (const auto known = made.known.find(die->addr); known != made.known.end())
        return known->second;
    Dwarf_Die origin = origin_of(*die); // in the unit of the source file
    auto unit = unit_of(origin);
    if (!unit || !made.info.is_described(*unit))
        return std::nullopt;
    Made::Function function;
    function.language = language_of(*unit);
    const bool is_clone = is_changed(symbol);
    Made::Described described{*die, address, entry, false, is_made_by_llvm(*unit)};
    // Others may call it, so that the compiler cannot have changed what it takes.
    described.is_as_declared = !named.is_local && !is_clone && has_flag_in_all(*die, DW_AT_external);
    std::vector<SourceParameter> parameters = source_parameters(*die);
    if (function.language == Language::go) {
        made.add_go_values(function, parameters, symbol, entry);
        made.functions.push_back(std::move(function));
        made.known.emplace(die->addr, made.functions.size() - 1);
        return made.functions.size() - 1;
    }
    function.variadic = is_variadic(*die);
    function.is_mangled = symbol.starts_with("_ZN") || symbol.starts_with("_R");
    const bool is_complete = has_all_of(named, parameters, function.variadic);
    for (SourceParameter &parameter : parameters) {
        Made::Parameter one{std::string(name_of(parameter.declared)), made.maker.type_of(parameter.declared)};
        made.set_place(one, described, parameter);
        if ((is_clone || !is_complete) && !one.place)
            one.place = EntryRegister{};
        if (function.language == Language::rust && parameter.own)
            if (const EntryPlace later = place_after_entry(*parameter.own, entry); later.kind == EntryPlace::Kind::address)
                one.address_later = made.index_of(later);
        function.parameters.push_back(std::move(one));
    }
    for (std::size_t i = 0; i < names.size() && names.size() == function.parameters.size(); i++)
        function.parameters[i].name = names[i].name;
    function.result = made.maker.type_of(*die);
    // LLVM leaves out what no caller uses, without another name for the function. What is not optimised has slots.
    const bool may_be_changed =
        !described.is_as_declared && std::ranges::none_of(parameters, [](SourceParameter &parameter) { return parameter.own && has_slot(*parameter.own); });
    function.is_result_unsure = function.language == Language::rust && may_be_changed;
    if (may_be_changed && described.is_by_llvm && !has_frame_pointer(*die))
        function.kept_to_itself = address;
    made.functions.push_back(std::move(function));
    made.known.emplace(die->addr, made.functions.size() - 1);
    return made.functions.size() - 1;
}

std::optional<std::size_t> Functions::Prototypes::add_line(LineAddress at) {
    Made &made = *made_;
    const elf::DwarfFile &file = made.info.index.file();
    at.address -= file.bias();
    Dwarf_Die unit;
    if (!file.unit_at(at.address, unit) || !made.info.is_described(unit) || language_of(unit) == Language::go)
        return std::nullopt;
    Made::Function function;
    function.is_line = true;
    function.language = language_of(unit);
    for (Variable &variable : variables_at(unit, at)) {
        Made::Parameter one{std::string(name_of(variable.declared)), made.maker.type_of(variable.declared)};
        one.variable = std::move(variable.place);
        function.parameters.push_back(std::move(one));
    }
    if (function.parameters.empty())
        return std::nullopt;
    made.functions.push_back(std::move(function));
    return made.functions.size() - 1;
}

std::uint32_t Functions::Prototypes::Made::add_enumeration(std::string name, std::vector<MadeType::Enumerator> enumerators) {
    return types.add({.kind = MadeType::Kind::enumeration, .name = std::move(name), .size = sizeof(std::uint64_t), .enumerators = std::move(enumerators)});
}

void Functions::Prototypes::add_enumeration(std::string name, std::vector<MadeType::Enumerator> enumerators) {
    made_->add_enumeration(std::move(name), std::move(enumerators));
}

// What a generic function is passed beside what its source says: which types it is called for. Where the function does not use it, DWARF does not describe
// it, or has it on the stack.
void Functions::Prototypes::Made::add_go_dictionary(Function &function, std::string_view name) {
    std::vector<MadeType::Enumerator> instances = info.dictionaries.of(name);
    if (instances.empty())
        return;
    Parameter one{.name = "types"};
    one.type = add_enumeration("dictionary", std::move(instances));
    one.go.is_by_rules = true;
    const std::size_t place = std::min(info.dictionaries.place_in(name), function.parameters.size());
    function.parameters.insert(function.parameters.begin() + static_cast<std::ptrdiff_t>(place), std::move(one));
}

// What a function of Go takes, and behind that what it returns, which are both parameters to DWARF.
void Functions::Prototypes::Made::add_go_values(Function &function, std::vector<SourceParameter> &parameters, std::string_view name,
                                                std::uint64_t entry) {
    for (const bool results : {false, true}) {
        std::vector<SourceParameter *> wanted;
        std::set<std::string_view> names;
        for (SourceParameter &parameter : parameters) {
            const std::string_view declared = name_of(parameter.declared);
            // Go 1.24 says a result twice that is on the heap.
            if (declared != ".dict" && is_go_result(parameter.declared) == results && (declared.empty() || declared == "_" || names.insert(declared).second))
                wanted.push_back(&parameter);
        }
        for (std::size_t i = 0; i < wanted.size(); i++) {
            SourceParameter &parameter = *wanted[i];
            Parameter one{std::string(name_of(parameter.declared)), maker.type_of(parameter.declared)};
            if (results) {
                one.go.result_name = std::move(one.name);
                one.name = wanted.size() == 1 ? "ret" : "ret" + std::to_string(i);
            } else if (parameter.own) {
                one.go.at_entry = go_entry_registers(*parameter.own, entry);
                one.go.on_stack = go_stack_place(*parameter.own, entry, info.registers.frame_above_stack);
                one.has_place_list = has_location_list(*parameter.own);
            }
            function.parameters.push_back(std::move(one));
        }
        if (results)
            function.go_results = static_cast<std::uint32_t>(wanted.size());
        else
            add_go_dictionary(function, name);
    }
}

// What Rust passes in its own way, and what follows, counts only where DWARF says its place.
void Functions::Prototypes::Made::leave_out_unsure(Function &function) {
    // AAPCS64 passes a struct of both kinds in registers for integers.
    const bool mixed = info.registers.frame_above_stack != 0;
    bool is_sure = is_rust_result_known(types, function.result, mixed);
    const MadeType *result = types.bare(function.result);
    RustRegisters taken = {.integers = result && result->is_composite() && result->size > 16 ? 1u : 0u};
    for (Parameter &parameter : function.parameters) {
        // Code that is not optimised has no slot for what it is passed by its address, and DWARF says nothing of it at the entry.
        const MadeType *bare = types.bare(parameter.type);
        const bool is_later = parameter.place == EntryRegister{} && parameter.address_later == taken.integers;
        const bool is_in_part = bare && bare->is_partial && parameter.has_address_there && parameter.place->index == taken.integers;
        const bool is_described = bare && bare->is_composite() && (is_later || is_in_part);
        if (function.is_mangled && (is_described || (!parameter.place && is_rust_reference(types, parameter.type)))) {
            parameter.type = maker.reference_to(parameter.type);
            parameter.place.reset();
            parameter.has_address_there = false;
        }
        const auto registers = rust_registers(types, parameter.type, mixed);
        taken.integers += registers ? registers->integers : 0;
        taken.vectors += registers ? registers->vectors : 0;
        is_sure = is_sure && registers && taken.integers <= info.registers.arguments.size() && taken.vectors <= vector_arguments;
        if (!is_sure && !parameter.place)
            parameter.place = EntryRegister{};
    }
}

BtfPtr Functions::Prototypes::take() {
    Made &made = *made_;
    made.maker.finish();
    for (Made::Function &function : made.functions) {
        if (function.language == Language::rust && !function.is_line)
            made.leave_out_unsure(function);
        MadeType prototype{.kind = MadeType::Kind::prototype, .variadic = function.variadic, .target = function.result};
        for (Made::Parameter &parameter : function.parameters) {
            if (function.language == Language::go) {
                GoValue value = go_value(made.types, parameter.type);
                value.result_name = std::move(parameter.go.result_name);
                value.at_entry = std::move(parameter.go.at_entry);
                value.is_by_rules = parameter.go.is_by_rules;
                // A list may have the place of that part alone which the function uses, without saying so.
                if (!parameter.has_place_list || (value.parts && value.parts->size() == 1))
                    value.on_stack = parameter.go.on_stack;
                parameter.go = std::move(value);
            }
            if (function.language == Language::go || function.is_line) {
                prototype.fields.push_back({.name = parameter.name, .type = parameter.type});
                continue;
            }
            if (made.class_by_reference(parameter.type))
                parameter.type = made.maker.reference_to(parameter.type);
            else if (parameter.has_address_there)
                parameter.place = EntryRegister{.address = parameter.place->index};
            prototype.fields.push_back({.name = parameter.name, .type = parameter.type});
        }
        function.type = made.types.add(std::move(prototype));
    }
    return made.types.to_btf(made.base);
}

Prototype Functions::Prototypes::prototype(std::size_t number, const btf *types, const char *title) const {
    const Made::Function &function = made_->functions.at(number);
    Prototype prototype = prototype_of(types, title, function.type);
    if (function.language == Language::go) {
        for (std::size_t i = 0; i < std::min(prototype.parameters.size(), function.parameters.size()); i++)
            prototype.parameters[i].go = function.parameters[i].go;
        prototype.results = function.go_results;
        return prototype;
    }
    for (std::size_t i = 0; i < std::min(prototype.parameters.size(), function.parameters.size()); i++) {
        argtrace::Parameter &parameter = prototype.parameters[i];
        set_classes(made_->types, function.parameters[i].type, parameter.shape);
        parameter.place = function.parameters[i].place;
        parameter.variable = function.parameters[i].variable;
        if (const MadeType *bare = made_->types.bare(function.parameters[i].type); parameter.variable && bare)
            parameter.variable->is_array = bare->kind == MadeType::Kind::array;
    }
    set_classes(made_->types, function.result, prototype.result_shape);
    if (made_->class_by_reference(function.result)) {
        prototype.result_shape.words = {WordClass::memory};
        prototype.result_shape.by_address = true;
    }
    const MadeType *result = made_->types.bare(function.result);
    const bool is_complex_alone = result && result->number == MadeType::Number::complex_x87 && result->is_partial; // of numbers that are passed alike, but not returned
    const bool is_in_registers = result && result->is_composite() && result->size <= 16;
    const bool is_in_vector = result && result->kind == MadeType::Kind::floating;
    prototype.is_result_left_out = function.kept_to_itself && result && made_->info.results.is_never_read(*function.kept_to_itself, is_in_vector);
    if (is_complex_alone || (function.is_result_unsure && is_in_registers))
        prototype.result_shape = {};
    return prototype;
}

} // namespace argtrace::dwarf
