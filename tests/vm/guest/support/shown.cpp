// SPDX-License-Identifier: GPL-2.0-only
#include "support/shown.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "support/command.h"
#include "support/kallsyms.h"

namespace vmtest {

Symbols::Symbols() {
    for (const KernelSymbol &symbol : kernel_symbols()) {
        std::string words(symbol.name);
        if (!symbol.module.empty())
            words += " [" + std::string(symbol.module) + "]";
        addresses_.emplace(std::move(words), symbol.addr);
    }
}

bool Symbols::stands_for(const std::string &text, std::uint64_t address) const {
    std::string name = text;
    std::uint64_t offset = 0;
    if (const std::size_t plus = text.find('+'); plus != text.npos) {
        std::size_t digits = 0;
        offset = std::stoull(text.substr(plus + 1), &digits, 16);
        name = text.substr(0, plus) + text.substr(plus + 1 + digits);
    }
    const auto [first, last] = addresses_.equal_range(name);
    return std::any_of(first, last,
                       [&](const auto &symbol) { return symbol.second + offset == address; });
}

namespace {

/// As the kernel calls it, also where programs never see it.
std::string name_of_error(int number) {
    switch (number) {
    case 512:
        return "ERESTARTSYS";
    case 513:
        return "ERESTARTNOINTR";
    case 514:
        return "ERESTARTNOHAND";
    case 516:
        return "ERESTART_RESTARTBLOCK";
    }
    const char *name = strerrorname_np(number);
    return name ? name : "";
}

} // namespace

bool shows(const nlohmann::ordered_json &shown, const KernelParameter &parameter, std::uint64_t value,
           const Symbols &symbols) {
    value = parameter.cut(value); // the rest of its register may hold anything
    if (shown.is_boolean())
        return value == shown.get<bool>();
    // Not cut: a number that is shown is the whole number, with its sign.
    const std::uint64_t number = parameter.extend(value);
    const bool is_negative = parameter.is_signed && static_cast<std::int64_t>(number) < 0;
    if (shown.is_number_unsigned())
        return !is_negative && shown.get<std::uint64_t>() == number;
    if (shown.is_number_integer())
        return is_negative && static_cast<std::uint64_t>(shown.get<std::int64_t>()) == number;
    if (!shown.is_string())
        return false;
    const std::string text = shown;
    if (parameter.is_enum) {
        const auto known = parameter.enum_values.find(text);
        return known != parameter.enum_values.end() && known->second == value;
    }
    if (text.rfind("0x", 0) == 0)
        return std::stoull(text, nullptr, 16) == value;
    if (text.rfind("-E", 0) == 0)
        return text.substr(1) == name_of_error(static_cast<int>(-value));
    return symbols.stands_for(text, value);
}

std::uint64_t hits_of(const std::string &function) {
    // Parsing all lines as JSON would take seconds.
    std::istringstream lines(run({"argtrace", "status", "--json"}).out);
    for (std::string line; std::getline(lines, line);) {
        if (line.find('"' + function + '"') != line.npos)
            return nlohmann::ordered_json::parse(line)["hits"];
    }
    ADD_FAILURE() << function << " is not in status";
    return 0;
}

} // namespace vmtest
