// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>

#include "btf/kernel_types.h"
#include "util/error.h"

namespace argtrace {

/// A file that has the types of a module.
struct ExternalBtf {
    std::string module;
    std::string path;

    bool operator==(const ExternalBtf &) const = default;
};

/// Reads "MODULE=FILE", or "FILE", whose name up to its first dot is then the module's.
/// Throws Error when that is none.
ExternalBtf parse_external(std::string_view text);

/// Says that a file has no BTF, and which command gives it some. `debug_info`: as far as is known
/// it has DWARF, which that command needs.
std::string explain_no_types(const std::string &path, bool debug_info);

/// Reads raw BTF, or an ELF file with a .BTF section such as a module. It may build on
/// `kernel`, or have all its types itself. Throws Error when the file cannot be read, has no
/// types, or builds on those of another kernel.
BtfPtr load_external(const ExternalBtf &external, btf *kernel);

/// The same for raw BTF that has been read from `path` already.
BtfPtr load_types(std::string_view bytes, const std::string &path, btf *kernel);

} // namespace argtrace
