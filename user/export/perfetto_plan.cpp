// SPDX-License-Identifier: GPL-2.0-only
#include "export/perfetto_plan.h"

#include <algorithm>

#include "export/perfetto_fields.h"
#include "export/result.h"
#include "model/result.h"
#include "model/type.h"
#include "util/protobuf.h"
#include "util/utf8_text.h"

namespace argtrace {

namespace {

using namespace perfetto;

/// The field that a value goes to as a number; 0: it is more than that.
unsigned number_field(const Argument &argument, const Format *format) {
    const TypeInfo &type = type_info(argument.type);
    if (type.is_wide() || type.size == 0 ||
        (format && format->kind != Format::Kind::scalar && format->kind != Format::Kind::device &&
         format->kind != Format::Kind::mode))
        return 0;
    switch (type.type_class) {
    case TypeClass::address:
        return annotation::pointer;
    case TypeClass::integer:
    case TypeClass::character:
        return type.is_signed ? annotation::signed_integer : annotation::unsigned_integer;
    default:
        return 0;
    }
}

} // namespace

PerfettoPlans::PerfettoPlans(CallerNames &callers)
    : callers_(callers), values_(callers, ValueWriter::Style::text) {
    common_.args = &annotation("args");
    common_.caller = &annotation("caller");
    common_.cpu = &annotation("cpu");
    common_.flags = &annotation("flags");
    common_.comm = &annotation("comm");
    common_.tid = &annotation("tid");
    common_.result = &annotation("return");
}

const PerfettoName &PerfettoPlans::name(Table &table, unsigned field, std::uint64_t step,
                                        std::string_view text) {
    const auto [known, added] = table.try_emplace(std::string(text));
    if (added) {
        PerfettoName &name = names_.emplace_back();
        name.id = 1 + step * (table.size() - 1);
        name.index = static_cast<std::uint32_t>(names_.size() - 1);
        ProtobufWriter entry;
        const std::size_t begin = entry.open(field);
        entry.number(interned::id, name.id);
        entry.text(interned::text, valid_utf8(text));
        entry.close(begin);
        name.entry = entry.view();
        known->second = &name;
    }
    return *known->second;
}

const PerfettoName &PerfettoPlans::annotation(std::string_view text) {
    constexpr std::uint64_t step = 2; // see perfetto_block_names
    return name(annotations_, interned::annotation_names, step, text);
}

PerfettoPlan::Argument PerfettoPlans::argument_of(const Probe &probe, std::size_t index,
                                                  const Format *format, unsigned field,
                                                  const PerfettoName &name) {
    const Argument &argument = probe.args[index];
    PerfettoPlan::Argument planned;
    planned.index = static_cast<std::uint16_t>(index);
    planned.name = name.id;
    planned.format = format;
    const unsigned number = number_field(argument, format);
    ProtobufWriter head;
    head.text(field, ""); // its length is written behind the value
    head.number(annotation::name_id, name.id);
    const char key = static_cast<char>(number << 3);
    head.raw({&key, 1});
    if (number == 0 || head.size() > planned.head.size())
        return planned;
    std::copy(head.view().begin(), head.view().end(), planned.head.begin());
    planned.head_size = static_cast<std::uint8_t>(head.size());
    Value value;
    value.type = argument.type;
    value.captured = true;
    planned.looks = PerfettoPlan::Argument::looks_of(value);
    planned.max = number == annotation::pointer ? least_error_pointer - 1 : ~std::uint64_t{0};
    return planned;
}

const PerfettoPlan &PerfettoPlans::make(const Probe &probe) {
    const auto [found, added] = plans_.try_emplace(&probe);
    PerfettoPlan &plan = found->second;
    if (!added)
        return plan;
    plan.index = static_cast<std::uint32_t>(plans_.size() - 1);
    const ProbeFormats &formats = values_.formats(probe);
    const std::optional<std::size_t> result = result_index(probe);
    plan.stacks = stack_places(probe);
    for (std::size_t i = 0; i < probe.args.size(); ++i) {
        if (i == plan.stacks.kernel || i == plan.stacks.user)
            continue;
        if (i == result) {
            plan.result =
                argument_of(probe, i, formats.argument(i), event::annotation, *common_.result);
            continue;
        }
        const PerfettoName &name = annotation(probe.args[i].name);
        plan.names.push_back(&name);
        plan.arguments.push_back(
            argument_of(probe, i, formats.argument(i), annotation::entry, name));
    }
    const std::string module = callers_.module(code_place(probe));
    const PerfettoName &category =
        name(categories_, interned::categories, 1, module.empty() ? "kernel" : module);
    const PerfettoName &title = name(event_names_, interned::event_names, 1, probe.function);
    plan.names.push_back(&category);
    plan.names.push_back(&title);
    ProtobufWriter head;
    head.number(event::category, category.id);
    head.number(event::name, title.id);
    plan.head = Snippet(std::string(head.view()));
    constexpr std::size_t number_size_max = 8 + varint_size_max;
    constexpr std::size_t rest_size_max = 192; // times, track, caller, CPU, flags, and what holds them
    plan.size_max = rest_size_max + head.size() + plan.arguments.size() * number_size_max;
    return plan;
}

} // namespace argtrace
