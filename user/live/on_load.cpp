// SPDX-License-Identifier: GPL-2.0-only
#include "live/on_load.h"

#include <fmt/format.h>
#include <unistd.h>

#include "live/unfollowed.h"
#include "modules/module_file.h"
#include "spec/on_load.h"
#include "util/message.h"

namespace argtrace {

namespace {

void check_types(const ModuleFile &file, const FunctionOptions &options) {
    if (file.types.empty() && options.btf.empty() && !options.raw)
        throw Error(fmt::format("{}; or name a file that has them with --btf {}=FILE, or add --raw "
                                "to see the six argument registers",
                                explain_no_types(file.path, file.debug_info), file.name));
}

} // namespace

ModuleOnLoad open_on_load(const FunctionOptions &options) {
    ModuleFile file = ModuleFile::read(is_module_path(options.on_load)
                                           ? options.on_load
                                           : find_module_file(options.on_load, module_folder()));
    check_types(file, options);
    std::string srcversion = file.srcversion;
    ModuleOnLoad module{std::move(srcversion), kernel_of(std::move(file))};
    use_btf(module.kernel, options);
    return module;
}

OnLoad resolve_on_load(const FunctionOptions &options, const Request &request) {
    if (request.return_by == ReturnBy::fprobe || request.return_by == ReturnBy::kretprobe)
        throw Error("--return-by: functions of a module that is not loaded yet are followed by the trampoline alone: leave it out");
    ModuleOnLoad module = open_on_load(options);
    Request by_us = request;
    by_us.return_by = ReturnBy::trampoline;
    Resolved resolved = resolve_on_load(module.kernel, by_us);
    return {module.kernel.only_module(), module.srcversion, std::move(resolved.probes),
            std::move(resolved.left)};
}

void OnLoad::order(Session &session) {
    Unfollowed unfollowed;
    unfollowed.take_refused(probes);
    while (const auto refused = session.add_on_load(module, srcversion, probes))
        unfollowed.take(probes, refused->index);
    unfollowed.tell();
}

void note_loaded(const std::string &module) {
    // Built-in modules may have a folder there too, but no such file.
    if (access(fmt::format("/sys/module/{}/initstate", module).c_str(), F_OK) == 0)
        message("{0} is loaded already: its functions are traced from its next load "
                "on; to trace them now: argtrace add '{0}:*'",
                module);
}

} // namespace argtrace
