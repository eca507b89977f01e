// SPDX-License-Identifier: GPL-2.0-only
#include "spec/usdt.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "abi/placement.h"
#include "btf/built_prototypes.h"
#include "model/probe_kind.h"
#include "spec/usdt_operands.h"
#include "spec/user_objects.h"
#include "util/suggestion.h"

namespace argtrace {

namespace {

constexpr std::size_t usdt_arguments_max = 32; // <sys/sdt.h> has up to 12
constexpr unsigned argument_registers_max = 6;

std::string full_name(const elf::UsdtNote &note) {
    return fmt::format("{}:{}", note.provider, note.name);
}

Error why_no_probe(const Spec &spec, const std::string &path, const std::vector<elf::UsdtNote> &notes) {
    if (notes.empty())
        return error_in(spec, fmt::format("{}: {} has no USDT probes: it was built without them", spec.title(), path));
    const std::string list = fmt::format("`argtrace list 'usdt:{}:*'`", spec.module->text);
    if (spec.pattern.kind() != Pattern::Kind::name)
        return error_in(spec, fmt::format("{}: matches no USDT probe of {}; {} shows all of them", spec.title(), path, list));
    const bool has_provider = spec.pattern.text().find(':') != std::string::npos;
    std::set<std::string> names;
    for (const elf::UsdtNote &note : notes)
        names.insert(has_provider ? full_name(note) : note.name);
    const std::vector<std::string_view> candidates(names.begin(), names.end());
    const Suggestion near = suggest(spec.pattern.text(), candidates);
    if (near.names.empty())
        return error_in(spec, fmt::format("{}: {} has no such USDT probe; {} shows those that it has", spec.title(), path, list));
    return error_in(spec, fmt::format("{}: {} has no such USDT probe{}", spec.title(), path, did_you_mean(near)));
}

// A whole register, which the module records as it does an argument of a function.
bool is_passed_in(const UsdtArgument &argument) {
    return argument.operand && argument.operand->kind == UserOperand::Kind::in_register && argument.operand->base->index < argument_registers_max &&
           argument.operand->base->shift == 0 && argument.bytes <= argument.operand->base->bytes;
}

UsdtSite site_of(const elf::UsdtNote &note, const Prototype &prototype, const std::vector<UsdtArgument> &arguments) {
    UsdtSite site;
    site.semaphore = note.semaphore;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        Argument place{.name = prototype.parameters[i].name, .type_name = prototype.parameters[i].type};
        std::optional<UserOperand> operand = arguments[i].operand;
        if (is_passed_in(arguments[i])) {
            place.loc = ARGTRACE_LOC_REG;
            place.index = operand->base->index;
            set_value(place, prototype.parameters[i].shape);
            operand.reset();
        }
        site.places.push_back(std::move(place));
        site.operands.push_back(operand);
        site.noted.push_back(arguments[i].text);
    }
    return site;
}

std::string text_of(const std::string &title, const Prototype &prototype) {
    std::vector<std::string> parameters;
    for (const Parameter &parameter : prototype.parameters)
        parameters.push_back(fmt::format("{} {}", parameter.type, parameter.name));
    return fmt::format("{}({})", title, fmt::join(parameters, ", "));
}

} // namespace

std::vector<Function> UsdtFinder::make(const Object &object, const std::vector<const elf::UsdtNote *> &notes) {
    const elf::SymbolAddresses symbols(object.content);
    const FindSymbol find_symbol = [&](std::string_view name) { return symbols.find(name); };
    struct Pending {
        const elf::UsdtNote *note;
        std::vector<UsdtArgument> arguments;
        std::uint32_t prototype;
    };
    std::vector<Pending> pending;
    std::map<std::string, std::size_t> sites; // by name
    BuiltPrototypes built(kernel_.types().copy_of_kernel());
    for (const elf::UsdtNote *note : notes) {
        std::vector<UsdtArgument> arguments = parse_usdt_arguments(note->arguments, {object.content.machine(), note->address, find_symbol});
        if (arguments.size() > usdt_arguments_max)
            continue;
        std::vector<WrittenParameter> parameters;
        for (const UsdtArgument &argument : arguments)
            parameters.push_back({std::string(argument.type()), fmt::format("arg{}", parameters.size() + 1)});
        ++sites[full_name(*note)];
        pending.push_back({note, std::move(arguments), built.add(parameters, "void")});
    }
    const btf *types = kernel_.types().keep(built.take());
    std::vector<Function> functions;
    for (const Pending &one : pending) {
        Function function{Symbol{one.note->offset, {}, {}}, {}};
        function.kind = &usdt_kind;
        function.convention = kernel_.architecture().functions;
        function.file = object.file;
        function.title = title_of(usdt_kind, object.name, full_name(*one.note));
        function.prototype = prototype_of(types, function.title.c_str(), one.prototype);
        function.prototype.function = function.title;
        function.prototype.text = text_of(function.title, function.prototype);
        function.namesakes = sites[full_name(*one.note)] > 1;
        function.site = std::make_shared<const UsdtSite>(site_of(*one.note, function.prototype, one.arguments));
        functions.push_back(std::move(function));
    }
    return functions;
}

FoundUserFunctions UsdtFinder::find(const Spec &spec) {
    FoundObjects found = files_.find(spec);
    const std::vector<Object *> objects =
        objects_.open(spec, found.files, [](Object &object) { object.notes = elf::read_usdt_notes(object.content); });
    std::vector<Function> functions;
    for (const Object *object : objects) {
        std::vector<const elf::UsdtNote *> notes;
        for (const elf::UsdtNote &note : object->notes)
            if (spec.matches_name(full_name(note)))
                notes.push_back(&note);
        if (!notes.empty())
            std::ranges::move(make(*object, notes), std::back_inserter(functions));
    }
    if (!functions.empty())
        return {std::move(functions), std::move(found.left)};
    if (found.files.size() > 1)
        throw files_.none_has(spec, found.files.size(), "USDT probe");
    throw why_no_probe(spec, objects.front()->file->path, objects.front()->notes);
}

std::string usdt_of_name(const elf::Object &object, const std::string &path, std::string_view name) {
    for (const elf::UsdtNote &note : elf::read_usdt_notes(object))
        if (note.name == name || full_name(note) == name)
            return title_of(usdt_kind, path, full_name(note));
    return {};
}

} // namespace argtrace
