// SPDX-License-Identifier: GPL-2.0-only
// What a session is told to do whenever the kernel loads a module.
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "session/session.h"
#include "uapi/probe.h"
#include "util/error.h"

namespace argtrace {

namespace {

void copy_module(char (&to)[ARGTRACE_MODULE_LEN], const std::string &module) {
    if (module.size() >= sizeof(to))
        throw Error(
            fmt::format("{}: a module's name has at most {} characters", module, sizeof(to) - 1));
    std::memcpy(to, module.c_str(), module.size() + 1);
}

} // namespace

std::optional<Session::Refused> Session::add_on_load(const std::string &module,
                                                     const std::string &srcversion,
                                                     std::span<const Probe> probes) {
    if (probes.size() > info_.max_probes)
        throw too_many(probes.size());
    provide_stacks(probes);
    check_programs(probes);
    std::vector<std::byte> bytes;
    for (const Probe &probe : probes)
        append_probe(bytes, probe);

    argtrace_on_load request{};
    request.size = sizeof(request);
    request.probes = user_address(bytes.data());
    request.length = bytes.size();
    request.count = static_cast<std::uint32_t>(probes.size());
    copy_module(request.module, module);
    if (srcversion.size() < sizeof(request.srcversion))
        std::memcpy(request.srcversion, srcversion.data(), srcversion.size());
    const int error = device_.request(ARGTRACE_IOC_ON_LOAD, &request);
    if (error == 0)
        return std::nullopt;
    if (error == EOPNOTSUPP && request.failed < probes.size())
        return Refused{request.failed, true};
    const Probe *blamed = request.failed < probes.size() ? &probes[request.failed] : nullptr;
    if (error == EEXIST)
        throw Error(fmt::format("{0}: waits for {1} to be loaded already: to change what does, "
                                "`argtrace rm --on-load {1}` first",
                                blamed ? blamed->function : "a function", module));
    if (error == EPERM && blamed)
        throw memory_refused(*blamed);
    if (error == E2BIG && blamed && request.cost)
        throw too_dear(*blamed, request.cost);
    if (error == E2BIG && blamed)
        throw too_large(*blamed);
    if (error == E2BIG)
        throw Error(fmt::format("{} more functions are too many: a session holds at most {} that "
                                "wait for modules (`argtrace rm --on-load MODULE` takes some back)",
                                probes.size(), info_.max_probes));
    throw explain_request("add the functions", error, device_.info());
}

bool Session::remove_on_load(const std::string &module) {
    argtrace_on_load_remove request{};
    request.size = sizeof(request);
    copy_module(request.module, module);
    const int error = device_.request(ARGTRACE_IOC_ON_LOAD_REMOVE, &request);
    if (error != 0 && error != ENOENT)
        throw explain_request("take back what waits for the module", error, info_);
    return error == 0;
}

void Session::remove_all_on_load() {
    argtrace_on_load_remove request{};
    request.size = sizeof(request);
    request.flags = ARGTRACE_REMOVE_ALL;
    const int error = device_.request(ARGTRACE_IOC_ON_LOAD_REMOVE, &request);
    if (error != 0 && error != ENOENT)
        throw explain_request("take back what waits for modules", error, info_);
}

std::vector<argtrace_on_load_order> Session::on_load_orders() const {
    constexpr std::size_t at_once = 64;
    std::vector<argtrace_on_load_order> orders;
    std::uint32_t first = 0;
    do {
        std::vector<argtrace_on_load_order> room(at_once);
        argtrace_list request{};
        request.size = sizeof(request);
        request.buffer = user_address(room.data());
        request.length = room.size() * sizeof(room[0]);
        request.first = first;
        const int error = device_.request(ARGTRACE_IOC_ON_LOAD_LIST, &request);
        if (error != 0)
            throw explain_request("list what waits for modules", error, info_);
        if (request.count > room.size())
            throw Error("the module's list of deferred probes is malformed");
        for (std::size_t i = 0; i < request.count; ++i) {
            room[i].module[ARGTRACE_MODULE_LEN - 1] = '\0';
            orders.push_back(room[i]);
        }
        first = request.next;
    } while (first != 0);
    return orders;
}

} // namespace argtrace
