// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "btf/display_types.h"
#include "render/call.h"
#include "render/json.h"
#include "render/outcome.h"
#include "report/symbol_table.h"
#include "support/packet_builder.h"

namespace argtrace {

/// One call that was recorded with -d, whose arguments are added one by one, each with its value.
class DescribedCallFixture : public testing::Test {
protected:
    /// Begins another.
    void call(const char *function) {
        probe = Probe{};
        probe.function = function;
        probe.types = display_types(nullptr, {}, {.is_described = true});
        values.clear();
        registers = 0;
    }

    /// In the next argument register.
    void argument(const char *name, std::uint8_t type, std::uint64_t number) {
        add(name, type, ARGTRACE_LOC_REG, {number, 0, type, true});
        probe.args.back().index = registers++;
    }

    void returns(std::uint64_t number, std::uint8_t type = ARGTRACE_TYPE_S64) {
        add("ret", type, ARGTRACE_LOC_RETURN, {number, 0, type, true});
        probe.flags |= ARGTRACE_PROBE_RETURN;
    }

    void add(const char *name, std::uint8_t type, std::uint8_t loc, const Value &value) {
        probe.args.push_back(test::argument(name, type));
        probe.args.back().loc = loc;
        values.push_back(value);
    }

    virtual EventView view() {
        event.probe = &probe;
        event.duration = 1000;
        return {&event, values, bytes};
    }

    /// "(ARGUMENT=VALUE, ...) = RESULT"
    std::string text(Described which = Described::recorded) {
        ValueWriter writer(names, ValueWriter::Style::text, which);
        Line line;
        const EventView whole = view();
        append_call_arguments(line, writer, whole);
        if (has_result(probe)) {
            line += " = ";
            append_result_value(line, writer, whole, nullptr, writer.described(probe));
        }
        return std::string(line.view());
    }

    /// What "args" is, and all behind it up to the duration.
    std::string json() {
        JsonRenderer renderer(names, false);
        Line line;
        renderer.event(line, view());
        const std::string all(line.view());
        const std::size_t begin = all.find("\"args\":") + 7;
        return all.substr(begin, all.find(",\"duration\"") - begin);
    }

    SymbolTable symbols;
    CallerNames names{symbols};
    Probe probe;
    Values values;
    std::vector<std::byte> bytes;
    std::uint8_t registers = 0;
    Event event;
};

} // namespace argtrace
