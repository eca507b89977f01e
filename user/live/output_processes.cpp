// SPDX-License-Identifier: GPL-2.0-only
#include "live/output_processes.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "util/error.h"
#include "util/message.h"
#include "util/output_readers.h"
#include "util/visible.h"

namespace argtrace {

namespace {

/// False where one of them has ended meanwhile.
bool exclude(Session &session, const std::vector<ProcessName> &readers) {
    ProcessFilter filter;
    filter.excludes = true;
    for (const ProcessName &reader : readers)
        filter.pids.push_back(reader.pid);
    try {
        session.set_processes(filter);
    } catch (const Error &) {
        return false;
    }
    return true;
}

/// "cat (123), jq (124)"
std::string list_processes(const std::vector<ProcessName> &readers) {
    std::vector<std::string> names;
    for (const ProcessName &reader : readers)
        names.push_back(fmt::format("{} ({})", visible_text(reader.comm), reader.pid));
    return fmt::format("{}", fmt::join(names, ", "));
}

} // namespace

void leave_out_output_processes(Session &session) {
    // A process of the pipeline may end while we look.
    for (int tries = 0; tries < 3; ++tries) {
        std::vector<ProcessName> readers = output_readers();
        if (readers.size() > ARGTRACE_PROCESSES_MAX)
            readers.resize(ARGTRACE_PROCESSES_MAX);
        if (readers.empty())
            return;
        if (exclude(session, readers)) {
            message(
                "calls of {}, where the output goes, are not recorded; --include-self records them",
                list_processes(readers));
            return;
        }
    }
}

std::set<std::uint32_t> choose_hidden(const Session &session, const TracingOptions &options) {
    if (options.include_self || options.own_session() || !in_initial_pid_namespace())
        return {}; // elsewhere /proc has other numbers than the events
    const ProcessFilter filter = session.processes();
    if (!filter.pids.empty() && !filter.excludes)
        return {}; // asked for
    const std::vector<ProcessName> readers = output_readers();
    std::set<std::uint32_t> pids;
    for (const ProcessName &reader : readers)
        pids.insert(reader.pid);
    if (!pids.empty())
        message("calls of {}, where the output goes, are not shown; --include-self shows them",
                list_processes(readers));
    return pids;
}

} // namespace argtrace
