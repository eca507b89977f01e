// SPDX-License-Identifier: GPL-2.0-only
#include "cli/tracing.h"

#include <cstdio>

#include <fmt/format.h>

#include "util/error.h"
#include "util/units.h"

namespace argtrace {

void attach_default(Session &session, const char *command) {
    if (!session.attach(default_session) ||
        (session.probes(false).empty() && session.on_load_orders().empty()))
        throw Error(fmt::format("no functions are traced: add some with `argtrace add FUNC`, or "
                                "name them here: `argtrace {} FUNC`",
                                command));
}

const Kallsyms *symbols_of(Kernel &kernel) {
    try {
        return &kernel.symbols();
    } catch (const Error &) {
        return nullptr;
    }
}

void print_remedy(const Session &session, bool own) {
    const std::string larger = format_size(ring_size(session.attributes()) * 4);
    if (own)
        fmt::print(stderr, "argtrace: calls were lost to full rings: use --buffer {}\n", larger);
    else
        fmt::print(stderr,
                   "argtrace: calls were lost to full rings: `argtrace clear`, then "
                   "`argtrace add --buffer {} ...`\n",
                   larger);
}

} // namespace argtrace
