// SPDX-License-Identifier: GPL-2.0-only
#include "report/local_objects.h"

#include <utility>

#include "elf/debug_file.h"
#include "util/file.h"

namespace argtrace {

LocalObjects::Found *LocalObjects::find(const CodeObject &object) {
    if (object.build_id.empty())
        return nullptr;
    const auto [known, is_new] = found_.try_emplace(object.build_id);
    if (!is_new)
        return known->second.get();
    if (found_.size() == 1)
        raise_file_limit(); // each object is a file that stays open
    if (auto file = elf::find_object(object, naming_.debug_files))
        known->second = std::make_unique<Found>(std::move(*file), naming_);
    return known->second.get();
}

bool LocalObjects::has(const CodeObject &object) {
    const std::lock_guard lock(mutex_);
    return find(object) != nullptr;
}

std::optional<elf::SymbolNames::Name> LocalObjects::name(const CodeObject &object, UserFrame frame) {
    const std::lock_guard lock(mutex_);
    Found *found = find(object);
    auto name = found ? found->names.at(frame.inside()) : std::nullopt;
    if (name)
        name->offset += frame.offset - frame.inside();
    return name;
}

std::vector<SourceFrame> LocalObjects::source(const CodeObject &object, UserFrame frame) {
    const std::lock_guard lock(mutex_);
    Found *found = find(object);
    if (!found)
        return {};
    return found->inlined.at(frame.inside(), elf::InlinedFrames::lines_of(naming_));
}

} // namespace argtrace
