// SPDX-License-Identifier: GPL-2.0-only
#include <memory>
#include <optional>
#include <string>

#include <sys/utsname.h>
#include <unistd.h>

#include "cli/commands.h"
#include "render/info.h"
#include "session/device.h"
#include "util/output.h"

namespace argtrace {

namespace {

struct InfoOptions {
    bool json = false;
};

void print_info(const InfoOptions &options, const argtrace_info *info) {
    utsname system{};
    ::uname(&system);
    Output output(STDOUT_FILENO);
    auto append = options.json ? append_info_json : append_info_text;
    append(output.buffer(), system.release, info);
    (void)output.flush(); // a reader that has gone is no failure
}

void run_info(const InfoOptions &options) {
    std::optional<argtrace_info> info;
    try {
        info = Device::open_any().info();
    } catch (const Error &) {
        print_info(options, nullptr); // what can be told without a module
        throw;
    }
    print_info(options, &*info);
    check_versions(*info);
}

} // namespace

void setup_info(CLI::App &app) {
    auto options = std::make_shared<InfoOptions>();
    CLI::App *command =
        app.add_subcommand("info", "Show the versions, features and limits of tool and module");
    command->add_flag("--json", options->json, "As a JSON object");
    command->callback([options] { run_info(*options); });
}

} // namespace argtrace
