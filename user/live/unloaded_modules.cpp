// SPDX-License-Identifier: GPL-2.0-only
#include "live/unloaded_modules.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "modules/loaded_modules.h"
#include "util/message.h"

namespace argtrace {

namespace {

constexpr std::size_t names_shown = 4;

const char *are(const std::vector<std::string> &names) {
    return names.size() == 1 ? "is" : "are";
}

} // namespace

std::string list_names(const std::vector<std::string> &names) {
    const std::size_t shown = std::min(names.size(), names_shown);
    std::string list = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
    if (names.size() > shown)
        list += fmt::format(" and {} more", names.size() - shown);
    return list;
}

void note_unloaded(std::span<const Probe> probes) {
    std::vector<std::string> names;
    for (const Probe &probe : probes) {
        if (is_unloaded(probe))
            names.push_back(probe.function);
    }
    if (!names.empty())
        message("{} {} no longer traced: the module was unloaded", list_names(names), are(names));
}

UnloadedModules::UnloadedModules(const Session &session) : session_(session) {
    note_orders();
    const LoadedModules modules = LoadedModules::now();
    for (const Probe &probe : session.probes(true)) {
        if (is_unloaded(probe)) {
            gone_.insert(probe.id);
            earlier_.push_back(probe);
        } else if (std::string module = modules.at(probe.addr); !module.empty()) {
            module_of_[probe.id] = std::move(module);
        }
    }
}

void UnloadedModules::note_orders() {
    for (const argtrace_on_load_order &order : session_.on_load_orders())
        ordered_.insert(order.module);
}

/// A module whose name is not known came and went before we could look: for an order, most likely.
bool UnloadedModules::comes_back(const std::string &module) const {
    return module.empty() ? !ordered_.empty() : ordered_.contains(module);
}

void UnloadedModules::follow() {
    note_orders();
    const LoadedModules modules = LoadedModules::now();
    std::map<std::string, std::vector<std::string>> names;
    for (const Probe &probe : session_.probes(true)) {
        if (!is_unloaded(probe)) {
            gone_.erase(probe.id); // it may have been added again
            if (std::string module = modules.at(probe.addr); !module.empty())
                module_of_[probe.id] = std::move(module);
        } else if (gone_.insert(probe.id).second) {
            names[module_of_[probe.id]].push_back(probe.function);
        }
    }
    for (const auto &[module, functions] : names) {
        if (comes_back(module))
            continue;
        message("{} was unloaded: {} {} no longer traced", module.empty() ? "a module" : module,
                list_names(functions), are(functions));
    }
}

void UnloadedModules::tell_earlier() const {
    note_unloaded(earlier_);
}

} // namespace argtrace
