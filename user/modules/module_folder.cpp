// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <system_error>
#include <vector>

#include <fmt/core.h>
#include <sys/utsname.h>

#include "modules/module_file.h"
#include "util/error.h"
#include "util/lines.h"
#include "util/near_match.h"

namespace argtrace {

namespace {

/// "snd_hda" of "kernel/sound/snd-hda.ko.xz".
std::string name_of(std::string_view path) {
    std::string name(path.substr(path.rfind('/') + 1));
    name.resize(std::min(name.find(".ko"), name.size()));
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

/// The paths in a list that depmod or kbuild makes, a line each; behind `:` stands what it needs.
std::vector<std::string> listed(const std::string &path) {
    std::vector<std::string> files;
    try {
        const Text text = read_file(path);
        for_each_line(view(text), [&files](std::string_view line) {
            line = line.substr(0, line.find(':'));
            if (!line.empty())
                files.emplace_back(line);
        });
    } catch (const std::system_error &) {
        // As good as an empty one.
    }
    return files;
}

} // namespace

bool is_module_file_name(std::string_view text) {
    return text.ends_with(".ko") || text.ends_with(".ko.xz") || text.ends_with(".ko.zst") ||
           text.ends_with(".ko.gz");
}

bool is_module_path(std::string_view text) {
    return text.find('/') != text.npos || is_module_file_name(text);
}

std::string module_folder() {
    utsname name{};
    uname(&name);
    return fmt::format("/lib/modules/{}", name.release);
}

std::string find_module_file(std::string_view module, const std::string &folder) {
    const std::string wanted = name_of(module);
    const std::vector<std::string> files = listed(folder + "/modules.dep");
    std::vector<std::string> names;
    for (const std::string &file : files) {
        names.push_back(name_of(file));
        if (names.back() == wanted)
            return file.starts_with('/') ? file : folder + '/' + file;
    }
    for (const std::string &file : listed(folder + "/modules.builtin"))
        if (name_of(file) == wanted)
            throw Error(fmt::format("{}: is built into the kernel and is never loaded: trace its "
                                    "functions without --on-load",
                                    module));
    if (files.empty())
        throw Error(fmt::format("{0}: no such module is known, as {1}/modules.dep lists none: run "
                                "depmod, or name its file: --on-load ./{0}.ko",
                                module, folder));
    const std::vector<std::string_view> candidates(names.begin(), names.end());
    const std::string_view near = near_match(wanted, candidates);
    throw Error(fmt::format("{}: no such module in {}{}; a module elsewhere is named by its file, "
                            "and depmod makes new ones known",
                            module, folder,
                            near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

} // namespace argtrace
