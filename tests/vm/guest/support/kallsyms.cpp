// SPDX-License-Identifier: GPL-2.0-only
#include "support/kallsyms.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "support/machine.h"

namespace vmtest {
namespace {

/// Names, sizes and addresses of the modules, without their use counts.
std::string loaded_modules() {
    std::string loaded;
    std::istringstream lines(read_file("/proc/modules"));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name, size, users, used_by, state, addr;
        words >> name >> size >> users >> used_by >> state >> addr;
        loaded += name + ' ' + size + ' ' + state + ' ' + addr + '\n';
    }
    return loaded;
}

/// "ADDR TYPE NAME" or "ADDR TYPE NAME\t[MODULE]".
KernelSymbol parse_line(std::string_view line) {
    KernelSymbol symbol{};
    symbol.addr = std::strtoull(line.data(), nullptr, 16);
    const std::size_t type = line.find(' ') + 1;
    symbol.type = line[type];
    symbol.name = line.substr(type + 2);
    if (const std::size_t tab = symbol.name.find('\t'); tab != line.npos) {
        symbol.module = symbol.name.substr(tab + 2);
        symbol.module.remove_suffix(1);
        symbol.name = symbol.name.substr(0, tab);
    }
    return symbol;
}

} // namespace

const std::string &kallsyms_text() {
    static std::string text, modules;
    if (std::string loaded = loaded_modules(); text.empty() || loaded != modules) {
        text = read_file("/proc/kallsyms");
        modules = std::move(loaded);
    }
    return text;
}

std::vector<KernelSymbol> kernel_symbols() {
    std::vector<KernelSymbol> symbols;
    const std::string_view text = kallsyms_text();
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        symbols.push_back(parse_line(text.substr(at, end - at)));
        at = end + 1;
    }
    return symbols;
}

std::uint64_t address_of(const std::string &function) {
    const std::string_view text = kallsyms_text();
    const std::string wanted = ' ' + function;
    for (std::size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + 1)) {
        const std::size_t begin = text.rfind('\n', at) + 1; // in the first line npos + 1 is 0
        const KernelSymbol symbol = parse_line(text.substr(begin, text.find('\n', at) - begin));
        if (symbol.name == function && (symbol.type == 't' || symbol.type == 'T'))
            return symbol.addr;
    }
    ADD_FAILURE() << function << " is not in /proc/kallsyms";
    return 0;
}

} // namespace vmtest
