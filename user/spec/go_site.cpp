// SPDX-License-Identifier: GPL-2.0-only
#include "spec/go_site.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "abi/go_stack.h"
#include "abi/placement.h"
#include "btf/go_type_name.h"

namespace argtrace {

namespace {

bool is_one_word(const Shape &shape) {
    return shape.kind == Shape::Kind::pointer || shape.kind == Shape::Kind::enumeration || (shape.kind == Shape::Kind::integer && shape.bytes <= 8);
}

GoValue value_of(const Parameter &parameter) {
    if (parameter.go)
        return *parameter.go;
    GoValue value;
    const bool is_floating = parameter.shape.kind == Shape::Kind::floating && is_read_by_program(parameter.shape);
    value.is_known = is_floating || is_one_word(parameter.shape);
    if (value.is_known)
        value.parts = std::vector<RegisterPart>{{.bytes = parameter.shape.bytes, .is_floating = is_floating}};
    return value;
}

// By the rules; behind a value of which nothing is known, nothing is.
std::vector<GoParts> place_by_rules(const GoConvention &convention, std::span<const GoValue> values) {
    std::vector<GoParts> parts;
    const auto unknown = std::ranges::find(values, false, &GoValue::is_known);
    for (auto value = values.begin(); value != unknown; ++value)
        parts.push_back(value->parts);
    parts = convention.place(parts);
    parts.resize(values.size());
    return parts;
}

// The compiler says each register of some interfaces twice, one behind the other.
std::vector<unsigned> each_once(const std::vector<unsigned> &registers, std::size_t count) {
    std::vector<unsigned> once;
    for (std::size_t i = 0; i + 1 < registers.size() && registers[i] == registers[i + 1]; i += 2)
        once.push_back(registers[i]);
    return registers.size() == 2 * count && once.size() == count ? once : registers;
}

// As DWARF has it: parameters without a name take registers as well, but are not described.
GoParts place_at_entry(const GoConvention &convention, const GoValue &value) {
    if (!value.is_known || !value.parts || !value.at_entry)
        return std::nullopt;
    const std::vector<unsigned> registers = each_once(*value.at_entry, value.parts->size());
    if (registers.size() != value.parts->size())
        return std::nullopt;
    std::vector<RegisterPart> parts = *value.parts;
    for (std::size_t i = 0; i < parts.size(); i++) {
        const unsigned number = registers[i];
        const auto index = parts[i].is_floating ? convention.vector_by_dwarf(number) : convention.register_by_dwarf(number);
        if (!index)
            return std::nullopt;
        parts[i].index = *index;
    }
    return parts;
}

// What is placed by the rules alone is known if these place all else where DWARF has it.
void place_as_described(const GoConvention &convention, std::span<const GoValue> values, std::span<GoParts> placed, std::span<const Parameter> parameters) {
    bool rules_hold = true;
    for (std::size_t i = 0; i < placed.size(); i++) {
        if (!parameters[i].go || values[i].is_by_rules)
            continue;
        GoParts described = place_at_entry(convention, values[i]);
        rules_hold = rules_hold && (!described || described == placed[i]);
        placed[i] = std::move(described);
    }
    for (std::size_t i = 0; i < placed.size(); i++)
        if (values[i].is_by_rules && !rules_hold)
            placed[i].reset();
}

std::optional<UserOperand> operand_of(const Parameter &parameter, const GoParts &parts, bool at_return) {
    if (parts && parts->size() == 1 && parts->front().is_floating && parameter.shape.kind == Shape::Kind::floating && is_read_by_program(parameter.shape))
        return UserOperand{.kind = UserOperand::Kind::in_vector, .number = parts->front().index, .at_return = at_return};
    if (!parts || parts->empty())
        return std::nullopt;
    UserOperand operand{.kind = UserOperand::Kind::in_register, .at_return = at_return};
    if (parts->size() == 1 && !parts->front().is_floating && is_one_word(parameter.shape)) {
        operand.base = NamedRegister{.index = parts->front().index};
        return operand;
    }
    if (!parameter.go)
        return std::nullopt;
    operand.kind = UserOperand::Kind::parts;
    operand.parts = *parts;
    return operand;
}

// What has no room in registers lies behind the return address, where DWARF says. Parameters that are not described only leave it less room.
std::optional<UserOperand> stack_operand(std::optional<std::uint32_t> place, bool at_return) {
    if (!place || *place > ARGTRACE_STACK_MAX)
        return std::nullopt;
    return UserOperand{.kind = UserOperand::Kind::on_stack, .number = static_cast<std::int64_t>(*place), .at_return = at_return};
}

// Where the return address is in a register, there is room for it all the same.
constexpr std::uint32_t return_address_bytes = 8;

// The same by the rules, which are believed where they account for all that the function has there, and DWARF does not contradict them.
GoStack stack_by_rules(std::span<const GoValue> values, std::span<const GoParts> placed, std::size_t taken, std::optional<std::uint32_t> passed_bytes) {
    if (!passed_bytes || !std::ranges::all_of(values, &GoValue::is_known))
        return {.places = std::vector<std::optional<std::uint32_t>>(values.size())};
    GoStack stack = go_stack(values, placed, taken);
    bool is_right = stack.bytes == *passed_bytes;
    for (std::size_t i = 0; i < taken; i++)
        is_right = is_right && (!stack.places[i] || !values[i].on_stack || *values[i].on_stack == return_address_bytes + *stack.places[i]);
    if (!is_right)
        stack.places.assign(values.size(), std::nullopt);
    return stack;
}

// Words of C that are no words of Go, or those of expressions.
bool is_plain_name(std::string_view name) {
    constexpr std::string_view words[] = {"as",       "auto",  "bool",   "char", "do",     "double",   "enum",    "extern", "float", "if", "inline",
                                          "int",      "it",    "long",   "ret",  "short",  "signed",   "sizeof",  "static", "task",  "union",
                                          "unsigned", "void",  "while",  "this", "typeof", "volatile", "register", "container_of", "restrict", "_Bool"};
    const auto is_letter = [](char c) { return c == '_' || (static_cast<unsigned char>(c) < 0x80 && std::isalnum(static_cast<unsigned char>(c))); };
    return !name.empty() && !std::isdigit(static_cast<unsigned char>(name.front())) && std::ranges::all_of(name, is_letter) &&
           std::ranges::find(words, name) == std::end(words) && !name.starts_with("ret");
}

} // namespace

UsdtSite go_site(const GoConvention &convention, const Prototype &prototype, std::optional<std::uint32_t> passed_bytes) {
    UsdtSite site;
    const std::vector<Parameter> &all = prototype.parameters;
    const std::size_t count = all.size() - prototype.results;
    std::vector<GoValue> values;
    for (const Parameter &parameter : all)
        values.push_back(value_of(parameter));
    std::vector<GoParts> placed = place_by_rules(convention, std::span(values).first(count));
    std::vector<bool> has_no_room;
    for (std::size_t i = 0; i < count; i++)
        has_no_room.push_back(!placed[i] && std::ranges::all_of(std::span(values).first(i + 1), &GoValue::is_known));
    std::ranges::move(place_by_rules(convention, std::span(values).subspan(count)), std::back_inserter(placed));
    const GoStack stack = stack_by_rules(values, placed, count, passed_bytes);
    place_as_described(convention, values, std::span(placed).first(count), all);
    for (std::size_t i = 0; i < all.size(); i++) {
        site.places.push_back({.name = all[i].name, .type_name = all[i].type});
        site.operands.push_back(operand_of(all[i], placed[i], i >= count));
        if (!site.operands.back() && i < count && has_no_room[i])
            site.operands.back() = stack_operand(values[i].is_known ? values[i].on_stack : std::nullopt, false);
        // Parameters without a name may lie between those that it takes.
        if (!site.operands.back() && stack.places[i] && (i >= count || !stack.has_gaps))
            site.operands.back() = stack_operand(return_address_bytes + *stack.places[i], i >= count);
    }
    return site;
}

void name_as_go(Prototype &prototype) {
    const std::size_t count = prototype.parameters.size() - prototype.results;
    std::vector<std::string> parameters, results;
    const auto is_taken = [&](std::string_view name) { return std::ranges::find(prototype.parameters, name, &Parameter::name) != prototype.parameters.end(); };
    bool is_named = false;
    for (std::size_t i = 0; i < prototype.parameters.size(); i++) {
        Parameter &one = prototype.parameters[i];
        if (i < count && !is_plain_name(one.name))
            one.name = fmt::format("arg{}", i);
        if (i < count) {
            parameters.push_back(fmt::format("{} {}", one.name, go_type_name(one.type)));
            continue;
        }
        std::string name = one.go ? std::exchange(one.go->result_name, {}) : std::string();
        if (is_plain_name(name) && name != "_" && !is_taken(name))
            one.go->result_name = std::move(name);
        const bool has_name = one.go && !one.go->result_name.empty();
        results.push_back(has_name ? fmt::format("{} {}", one.go->result_name, go_type_name(one.type)) : go_type_name(one.type));
        is_named = is_named || has_name;
    }
    prototype.text = fmt::format("{}({})", prototype.function, fmt::join(parameters, ", "));
    if (results.size() == 1 && !is_named)
        prototype.text += ' ' + results.front();
    else if (!results.empty())
        prototype.text += fmt::format(" ({})", fmt::join(results, ", "));
}

} // namespace argtrace
