// SPDX-License-Identifier: GPL-2.0-only
#include "answer/pairs.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "answer/aggregate_keys.h"
#include "util/error.h"
#include "util/message.h"

namespace argtrace {

std::vector<Spec> pair_specs(const AggregateOptions &options) {
    std::vector<Spec> specs;
    for (const auto &[option, text] :
         {std::pair("--from", &options.from), std::pair("--to", &options.to)}) {
        try {
            specs.push_back(parse_spec(*text, options.functions.syntax()));
        } catch (const Error &error) {
            throw Error(fmt::format("{}: {}", option, error.what()));
        }
        const Spec &spec = specs.back();
        if (spec.exclude || spec.values || spec.returns)
            throw Error(fmt::format("{}: {}: a function or a pattern is meant, maybe with a condition; "
                                    "the value that pairs calls is that of --on",
                                    option, spec.text));
    }
    return specs;
}

lang::ArgumentExpression parse_pair_value(const AggregateOptions &options) {
    try {
        std::vector<lang::ArgumentExpression> values = lang::parse_values(options.on);
        if (values.size() != 1)
            throw Error("one value pairs the calls, not several");
        return std::move(values.front());
    } catch (const Error &error) {
        throw Error(fmt::format("--on: {}", error.what()));
    }
}

Pairing make_pairing(const AggregateOptions &options, const std::vector<lang::ArgumentExpression> &keys) {
    const RecordedValue on = recorded_values({parse_pair_value(options)}).front();
    return {EventKeys(recorded_values(keys), on), EventKeys({}, on), options.buckets};
}

const Probe *first_probe(const Schema &schema, const Spec &from) {
    const Probe *first = nullptr;
    schema.for_each([&](const Probe &probe) {
        if (from.matches_title(probe.function) && (!first || probe.id < first->id))
            first = &probe;
    });
    return first;
}

std::vector<KeyColumn> pair_columns(const std::vector<lang::ArgumentExpression> &keys, const Probe *begins,
                                    std::unique_ptr<ProbeFormats> &formats) {
    EventKeys recorded(recorded_values(keys), std::nullopt);
    std::vector<EventKeys::PartType> types(keys.size());
    if (begins && recorded.missing(*begins).empty()) {
        types = recorded.types_of(*begins);
        formats = std::make_unique<ProbeFormats>(*begins);
    }
    std::vector<KeyColumn> columns;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::string_view written = keys[i].expression.written();
        KeyColumn &column = columns.emplace_back();
        column.name = keys[i].name;
        column.is_function = is_function_key(keys[i]);
        if (types[i].argument)
            column.format = formats->argument(*types[i].argument);
        else if (written == "caller" || written == "$caller")
            column.format = caller_format();
    }
    return columns;
}

void tell_unpaired(const Pairing &pairing, const AggregateOptions &options) {
    const Pairing::Unpaired unpaired = pairing.unpaired();
    const auto tell = [](std::uint64_t calls, const std::string &why) {
        if (calls > 0)
            message("{} call{} of {}", calls, calls == 1 ? "" : "s", why);
    };
    tell(unpaired.open, fmt::format("{} were not followed by {}", options.from, options.to));
    tell(unpaired.replaced, fmt::format("{} were followed by another one with the same value of {}, "
                                        "which counts instead",
                                        options.from, options.on));
    tell(unpaired.ends,
         fmt::format("{} did not follow a call of {}", options.to, options.from));
    tell(unpaired.lost, fmt::format("{} were not followed by {} when records were lost, which may have included it: "
                                    "they are in no pair",
                                    options.from, options.to));
    tell(unpaired.given_up, fmt::format("{} were given up: more than {} others had begun since, and no {} had followed",
                                        options.from, Pairing::default_open_max, options.to));
    tell(unpaired.unreadable, fmt::format("both had a value of {} that could not be read", options.on));
}

RecordedTotals paired_totals(const Pairing &pairing) {
    RecordedTotals totals;
    totals.added = pairing.calls() - pairing.left_out();
    totals.left_out = pairing.left_out();
    totals.pairing = &pairing;
    return totals;
}

} // namespace argtrace
