// SPDX-License-Identifier: GPL-2.0-only
#include "answer/aggregate_keys.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "uapi/argtrace_map.h"
#include "util/error.h"

namespace argtrace {

Keys parse_keys(const AggregateOptions &options) {
    Keys keys;
    try {
        if (!options.by.empty())
            keys.values = lang::parse_values(options.by);
    } catch (const Error &error) {
        throw Error(fmt::format("--by: {}", error.what()));
    }
    for (lang::ArgumentExpression &key : keys.values)
        if (key.expression.plain_name() == user_function_key && !key.named)
            key = lang::parse_values(fmt::format("ustack as {}", user_function_key)).front();
    // Ticks have no function but the one that they have interrupted.
    keys.func_added = options.stacks ? !options.timer && std::none_of(keys.values.begin(), keys.values.end(), is_function_key)
                                     : options.by.empty();
    if (keys.func_added)
        std::ranges::move(lang::parse_values("func"), std::back_inserter(keys.values));
    if (options.stacks && keys.func_added)
        keys.func_of_stacks = keys.values.size() - 1;
    const StackChoice stacks = key_stacks(options);
    if (stacks.kernel)
        std::ranges::move(lang::parse_values("stack"), std::back_inserter(keys.values));
    if (stacks.user)
        std::ranges::move(lang::parse_values("ustack"), std::back_inserter(keys.values));
    for (std::size_t i = 0; i < keys.values.size(); ++i) {
        for (std::size_t other = 0; other < i; ++other)
            if (keys.values[i].name == keys.values[other].name)
                throw Error(fmt::format("--by: two keys have the name {}: leave one out, or give it "
                                        "another name with 'as NAME'",
                                        keys.values[i].name));
    }
    if (keys.values.size() > ARGTRACE_MAP_KEY_WORDS_MAX)
        throw Error(fmt::format("--by: at most {} keys are possible, not {}",
                                ARGTRACE_MAP_KEY_WORDS_MAX, keys.values.size()));
    return keys;
}

StackChoice key_stacks(const AggregateOptions &options) {
    if (!options.stacks)
        return {};
    return options.timer ? options.style.stack | kernel_stack : options.style.stack;
}

void hide_stacks(std::vector<KeyColumn> &columns, const AggregateOptions &options) {
    if (const StackChoice stacks = key_stacks(options); stacks.both() && !options.style.stack.kernel)
        columns.erase(columns.end() - 2);
}

void mark_top(std::vector<KeyColumn> &columns, const AggregateOptions &options, const Keys &keys) {
    if (!options.stacks || options.timer)
        return;
    for (KeyColumn &column : columns)
        if (column.is_function)
            column.top = keys.func_added ? KeyColumn::Top::only : KeyColumn::Top::also;
}

std::vector<RecordedValue> recorded_values(const std::vector<lang::ArgumentExpression> &values) {
    std::vector<RecordedValue> recorded;
    for (const lang::ArgumentExpression &value : values)
        recorded.push_back({value.name, std::string(value.expression.written()), value.expression});
    return recorded;
}

std::vector<RecordedValue> recorded_keys(const AggregateOptions &options, const Keys &keys) {
    std::vector<RecordedValue> recorded = recorded_values(keys.values);
    if (!options.stacks || options.stack_choice)
        return recorded;
    for (RecordedValue &key : recorded)
        if (key.written == "stack")
            key.absent_stack = ARGTRACE_STACK_ID_USER; // which is not shown beside that of user code
        else if (key.written == "ustack")
            key.absent_stack = ARGTRACE_STACK_ID_NO_USER;
    return recorded;
}

void check_values(const AggregateOptions &options, const std::vector<Spec> &specs) {
    for (const Spec &spec : specs) {
        if (spec.exclude)
            continue;
        if (options.value != Aggregate::Value::of_spec && spec.values && !spec.values->empty())
            throw error_in(spec, spec.values->front().expression.at(),
                           options.value == Aggregate::Value::none
                               ? "calls are counted, and no value is added up: count by it with "
                                 "--by, or see how it is distributed with `argtrace hist`"
                               : "this is about how long calls take: use --by to group by a value");
        if (options.value == Aggregate::Value::of_spec && (!spec.values || spec.values->size() != 1))
            throw error_in(spec, fmt::format("{}: one value is needed, in parentheses, as in "
                                             "'vfs_read(count)'",
                                             spec.title()));
    }
}

bool value_is_duration(const std::vector<Spec> &specs, bool is_argument) {
    const auto is_duration = [is_argument](const Spec &spec) {
        if (spec.exclude)
            return true;
        const std::string_view written = spec.values && spec.values->size() == 1 ? spec.values->front().expression.written() : "";
        return written == "$duration" || (written == "duration" && !is_argument);
    };
    const bool any = std::any_of(specs.begin(), specs.end(), [](const Spec &spec) { return !spec.exclude; });
    return any && std::all_of(specs.begin(), specs.end(), is_duration);
}

} // namespace argtrace
