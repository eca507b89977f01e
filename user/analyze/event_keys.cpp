// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/event_keys.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "analyze/event_expression.h"
#include "lang/expression_error.h"
#include "model/type.h"

namespace argtrace {

namespace {

/// It fits a word of a key, or is text.
bool can_be_part(const Argument &argument) {
    const TypeInfo &type = type_info(argument.type);
    if (argument.loc == ARGTRACE_LOC_NONE)
        return false;
    return type.type_class == TypeClass::text ||
           (type.type_class != TypeClass::none && type.type_class != TypeClass::bytes &&
            !type.is_wide());
}

bool is_added_up(const Argument &argument) {
    const TypeClass type = type_info(argument.type).type_class;
    return type != TypeClass::text && type != TypeClass::floating;
}

Value number(std::uint64_t value, std::uint8_t type) {
    return {value, 0, type, true};
}

std::string_view view_of(const EventView &view, const Value &value) {
    const auto bytes = view.bytes_of(value);
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

} // namespace

EventKeys::EventKeys(std::vector<RecordedValue> keys, std::optional<RecordedValue> value)
    : keys_(std::move(keys)), value_(std::move(value)) {}

bool EventKeys::add(const EventView &view, Aggregation &to) {
    const std::optional<Key> key = key_of(view);
    if (!key)
        return false;
    if (!value_) {
        to.add_call(*key);
        return true;
    }
    const Value value = number_of(view, places_of(*view.event->probe).value);
    if (value.captured)
        to.add_value(*key, value.low);
    else
        to.add_fault(*key);
    return true;
}

std::optional<Key> EventKeys::key_of(const EventView &view) {
    const Places &places = places_of(*view.event->probe);
    if (!places.missing.empty())
        return std::nullopt;
    Key key;
    for (const Place &place : places.keys)
        key.push_back(part_of(view, place));
    return key;
}

std::optional<Value> EventKeys::value_of(const EventView &view) {
    const Places &places = places_of(*view.event->probe);
    if (!places.missing.empty() || !value_)
        return std::nullopt;
    return number_of(view, places.value);
}

bool EventKeys::has_signed_value(const Probe &probe) {
    const Places &places = places_of(probe);
    if (!value_)
        return false;
    if (places.value.source == Source::expression)
        return type_info(places.value.expression->number_type()).is_signed;
    return places.value.source == Source::argument && type_info(probe.args[places.value.argument].type).is_signed;
}

std::vector<EventKeys::PartType> EventKeys::types_of(const Probe &probe) {
    std::vector<PartType> types;
    for (const Place &place : places_of(probe).keys) {
        PartType &type = types.emplace_back();
        switch (place.source) {
        case Source::function:
            type.type = ARGTRACE_TYPE_STR;
            break;
        case Source::comm:
            type = {ARGTRACE_TYPE_STR, ARGTRACE_COMM_LEN};
            break;
        case Source::pid:
        case Source::tid:
            type.type = ARGTRACE_TYPE_S32;
            break;
        case Source::caller:
            type.type = ARGTRACE_TYPE_PTR;
            break;
        case Source::argument: {
            const Argument &argument = probe.args[place.argument];
            const bool text = type_info(argument.type).type_class == TypeClass::text;
            type = {argument.type, text ? argument.size : 0, place.argument};
            break;
        }
        case Source::expression:
            type.type = place.expression->number_type();
            break;
        case Source::absent_stack:
            type.type = ARGTRACE_TYPE_STACK;
            break;
        case Source::cpu:
        case Source::duration:
        case Source::missing:
            break;
        }
    }
    return types;
}

EventKeys::Place EventKeys::find(const Probe &probe, const RecordedValue &wanted) {
    constexpr std::pair<std::string_view, Source> builtins[]{
        {"func", Source::function}, {"comm", Source::comm},       {"pid", Source::pid},
        {"tid", Source::tid},       {"cpu", Source::cpu},         {"caller", Source::caller},
        {"duration", Source::duration},
    };
    std::string_view name = wanted.written;
    if (name == "func")
        return {Source::function};
    const bool builtin = name.starts_with('$');
    if (builtin)
        name.remove_prefix(1);
    for (std::size_t i = 0; i < probe.args.size(); ++i) {
        const Argument &argument = probe.args[i];
        const bool result = argument.loc == ARGTRACE_LOC_RETURN;
        const bool meant = argument.name == wanted.written || (result && name == "ret") || (is_user_stack(argument) && name == "ustack") ||
                           (!wanted.name.empty() && argument.name == wanted.name);
        if (meant && can_be_part(argument))
            return {Source::argument, i};
    }
    for (const auto &[known, source] : builtins) {
        if (known != name || (source == Source::duration && !records_returns(probe)))
            continue;
        return {source};
    }
    return work_out(probe, wanted);
}

EventKeys::Place EventKeys::work_out(const Probe &probe, const RecordedValue &wanted) {
    if (!wanted.expression)
        return {};
    try {
        const auto expression = std::make_shared<EventExpression>(*wanted.expression);
        if (expression->check(probe).empty())
            return {Source::expression, 0, expression};
    } catch (const lang::ExpressionError &) {
        // It takes more than was recorded.
    }
    return {};
}

const EventKeys::Places &EventKeys::places_of(const Probe &probe) {
    const auto known = known_.find(&probe);
    if (known != known_.end())
        return known->second;
    Places places;
    const bool any_stack = stack_places(probe).any();
    const auto find_or_miss = [&](const RecordedValue &wanted) {
        Place place = find(probe, wanted);
        if (place.source == Source::missing && wanted.absent_stack && any_stack)
            place = {Source::absent_stack, 0, nullptr, *wanted.absent_stack};
        if (place.source == Source::missing && places.missing.empty())
            places.missing = wanted.written;
        return place;
    };
    for (const RecordedValue &key : keys_)
        places.keys.push_back(find_or_miss(key));
    if (value_) {
        places.value = find_or_miss(*value_);
        const bool is_no_number = places.value.source == Source::function || places.value.source == Source::comm ||
                                  (places.value.source == Source::argument && !is_added_up(probe.args[places.value.argument]));
        if (is_no_number)
            places.missing = value_->written;
    }
    return known_.emplace(&probe, std::move(places)).first->second;
}

KeyPart EventKeys::part_of(const EventView &view, const Place &place) {
    const Event &event = *view.event;
    const Value text{0, 0, ARGTRACE_TYPE_STR, true};
    if (place.source == Source::function)
        return {text, event.probe->function};
    if (place.source == Source::comm)
        return {text, std::string(event.comm_view())};
    if (place.source == Source::expression) {
        const Value value = number_of(view, place);
        return {number(value.captured ? value.low : 0, value.type)};
    }
    if (place.source == Source::absent_stack)
        return {number(place.number, ARGTRACE_TYPE_STACK)};
    if (place.source == Source::duration)
        return {number(event.has_duration() ? event.duration : 0, ARGTRACE_TYPE_U64)};
    if (place.source != Source::argument)
        return {number_of(view, place)};
    const Value &value = view.values[place.argument];
    if (type_info(event.probe->args[place.argument].type).type_class != TypeClass::text) {
        // What cannot be read is zero in the keys of a map.
        return {value.captured ? value
                               : number(0, event.probe->args[place.argument].type)};
    }
    KeyPart part{text};
    part.value.cut = value.captured && value.cut;
    if (value.captured)
        part.text = view_of(view, value);
    return part;
}

Value EventKeys::number_of(const EventView &view, const Place &place) {
    const Event &event = *view.event;
    switch (place.source) {
    case Source::pid:
        return number(event.tgid, ARGTRACE_TYPE_S32);
    case Source::tid:
        return number(event.tid, ARGTRACE_TYPE_S32);
    case Source::cpu:
        return number(event.cpu, ARGTRACE_TYPE_U32);
    case Source::caller:
        return number(event.caller, ARGTRACE_TYPE_PTR);
    case Source::duration:
        return {event.duration, 0, ARGTRACE_TYPE_U64, event.has_duration()};
    case Source::expression: {
        const auto value = place.expression->number(view);
        return {value.value_or(0), 0, place.expression->number_type(), value.has_value()};
    }
    default:
        return view.values[place.argument];
    }
}

} // namespace argtrace
