// SPDX-License-Identifier: GPL-2.0-only
#include "spec/module_types.h"

#include "btf/distilled.h"

namespace argtrace {

BtfPtr types_of(const ModuleFile &module, btf *kernel) {
    if (module.types.empty())
        return nullptr;
    if (module.base.empty())
        return load_types(view(module.types), module.path, kernel);
    return load_distilled(view(module.types), view(module.base), module.path, kernel);
}

BtfPtr types_of(const ExternalBtf &external, btf *kernel) {
    if (!is_module_file_name(external.path))
        return load_external(external, kernel);
    const ModuleFile module = ModuleFile::read(external.path);
    BtfPtr types = types_of(module, kernel);
    if (!types)
        throw Error(explain_no_types(external.path, module.debug_info));
    return types;
}

} // namespace argtrace
