// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "elf/inlined.h"
#include "elf/object.h"
#include "elf/symbol_names.h"
#include "model/code_naming.h"
#include "model/code_object.h"
#include "model/user_frame.h"

namespace argtrace {

/// The objects of a recording that are on this machine: files whose build id is that of the object, wherever they are, and no others. They
/// are looked for when they are asked for. Several threads may ask at once.
class LocalObjects {
public:
    void set_naming(CodeNaming naming) { naming_ = std::move(naming); }

    /// It is on this machine, though it may not say what its functions are called.
    bool has(const CodeObject &object);

    /// The function that has the frame; nothing if the object is not here, or does not say it. Its name lives as long as this.
    std::optional<elf::SymbolNames::Name> name(const CodeObject &object, UserFrame frame);

    /// As Symbols::source().
    std::vector<SourceFrame> source(const CodeObject &object, UserFrame frame);

private:
    struct Found {
        explicit Found(elf::Object found, const CodeNaming &naming)
            : object(std::move(found)), names(object, naming.debug_files), inlined(object, naming.debug_files) {}

        elf::Object object;
        elf::SymbolNames names;
        elf::InlinedFrames inlined;
    };
    Found *find(const CodeObject &object);

    CodeNaming naming_;
    std::mutex mutex_;
    std::map<std::string, std::unique_ptr<Found>> found_; // by build id; null: it is not here
};

} // namespace argtrace
