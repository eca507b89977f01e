// SPDX-License-Identifier: GPL-2.0-only
#include "session/session.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <poll.h>

#include "session/mapped_code.h"
#include "uapi/probe.h"
#include "util/error.h"
#include "util/units.h"

namespace argtrace {

namespace {

constexpr std::size_t first_room = 64 * 1024;

template<std::size_t N>
void copy_name(char (&to)[N], const std::string &name) {
    if (name.size() >= N)
        throw Error(fmt::format("{}: a session's name has at most {} characters", name, N - 1));
    std::memcpy(to, name.c_str(), name.size() + 1);
}

/// What becomes of the calls of a probe with a program.
std::uint16_t sink_of(const Probe &probe) {
    argtrace_program head{};
    if (probe.program.size() >= sizeof(head))
        std::memcpy(&head, probe.program.data(), sizeof(head));
    return head.sink;
}

} // namespace

int Session::bind(const std::string &name, std::uint32_t flags, argtrace_session_attr attr) {
    attr.size = sizeof(attr);
    attr.flags |= flags;
    copy_name(attr.name, name);
    int error = device_.request(ARGTRACE_IOC_SESSION, &attr);
    if (error == 0)
        attributes_ = attr;
    return error;
}

bool Session::attach(const std::string &name) {
    argtrace_session_attr attr{};
    attr.clock = ARGTRACE_CLOCK_BEST;
    int error = bind(name, 0, attr);
    if (error == ENOENT)
        return false;
    if (error != 0)
        throw explain_request("use the session", error, info_);
    return true;
}

void Session::create(const std::string &name, const SessionOptions &options) {
    int error = bind(name, ARGTRACE_SESSION_CREATE, session_attributes(options, info_));
    if (error != 0)
        throw explain_request("make a session", error, device_.info());
    stack_table_ = options.stack_table;
    naming_ = options.naming;
}

bool Session::remove(const std::string &name) {
    argtrace_session_remove request{};
    request.size = sizeof(request);
    copy_name(request.name, name);
    int error = device_.request(ARGTRACE_IOC_SESSION_REMOVE, &request);
    if (error != 0 && error != ENOENT)
        throw explain_request("remove the session", error, info_);
    return error == 0;
}

int Session::request_add(std::span<const std::pair<std::uint64_t, const Probe *>> sorted, std::uint32_t flags,
                         argtrace_probe_add &request) {
    std::vector<std::byte> bytes;
    for (const auto &[addr, probe] : sorted)
        append_probe(bytes, *probe, addr, flags);
    request = {};
    request.size = sizeof(request);
    request.probes = user_address(bytes.data());
    request.length = bytes.size();
    request.count = static_cast<std::uint32_t>(sorted.size());
    return device_.request(ARGTRACE_IOC_PROBE_ADD, &request);
}

std::optional<Session::Refused> Session::add(std::span<const Probe> probes) {
    if (probes.empty())
        return std::nullopt;
    provide_stacks(probes);
    if (probes.size() > info_.max_probes)
        throw too_many(probes.size());
    check_programs(probes);
    files_.clear(); // it may have been let go since
    // By address, which spares the kernel to sort them.
    std::vector<std::pair<std::uint64_t, const Probe *>> sorted;
    for (const Probe &probe : probes)
        sorted.emplace_back(address_of(probe), &probe);
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
    const std::vector<MappedCode> code = map_code(probes);

    argtrace_probe_add request{};
    int error = request_add(sorted, ~0u, request);
    // Where calls cannot be redirected, none can wait for memory either.
    if (error == EOPNOTSUPP && request.failed >= sorted.size())
        error = request_add(sorted, ~ARGTRACE_PROBE_WAITS, request);
    if (error == 0)
        return std::nullopt;

    const Probe *blamed = request.failed < sorted.size() ? sorted[request.failed].second : nullptr;
    if ((error == EINVAL || error == EOPNOTSUPP) && blamed)
        return Refused{static_cast<std::size_t>(blamed - probes.data()), error == EOPNOTSUPP && kind_of(*blamed) != user_kind};
    if (error == EOPNOTSUPP)
        throw Error("returns cannot be followed on this kernel: its ftrace does not "
                    "let a module redirect calls (see dmesg); leave out --return, or add --return-by kretprobe");
    if (error == EEXIST)
        throw Error(fmt::format("{}: the session has it already",
                                blamed ? blamed->function : "a function"));
    if (error == EPERM && blamed)
        throw memory_refused(*blamed);
    if (error == E2BIG && blamed && request.cost)
        throw too_dear(*blamed, request.cost);
    if (error == E2BIG && blamed && blamed->flags & ARGTRACE_PROBE_BY_KERNEL)
        throw Error(fmt::format("{}: what is to be recorded of each call is more than a packet of {} bytes holds, or than the kernel, "
                                "which follows its calls until they return, keeps of each: choose fewer values",
                                blamed->function, attributes_.packet_size));
    if (error == E2BIG && blamed)
        throw too_large(*blamed);
    if (error == E2BIG)
        throw too_many(probes.size());
    if (error == EBUSY)
        throw Error("cannot add the functions: ftrace is switched off; switch it on with "
                    "`sysctl kernel.ftrace_enabled=1`");
    throw explain_request("add the functions", error, device_.info());
}

std::uint64_t Session::address_of(const Probe &probe) {
    if (!probe.file)
        return probe.addr;
    const std::pair file(probe.file, probe.semaphore);
    const auto known = files_.find(file);
    if (known != files_.end())
        return ARGTRACE_USER_PLACE(known->second, probe.addr);
    if (!(info_.features & ARGTRACE_FEATURE_USER))
        throw Error(fmt::format("{}: the loaded module does not trace user functions: load the module of this version, on a kernel with "
                                "CONFIG_UPROBES",
                                probe.function));
    if (!(info_.authority & ARGTRACE_MAY_READ_MEMORY))
        throw Error(fmt::format("{}: a breakpoint in user code takes CAP_BPF beside CAP_PERFMON, or CAP_SYS_ADMIN", probe.function));
    argtrace_user_file request{};
    request.size = sizeof(request);
    request.fd = probe.file->file.get();
    request.semaphore = probe.semaphore;
    if (const int error = device_.request(ARGTRACE_IOC_USER_FILE, &request))
        throw explain_request(fmt::format("trace functions of {}", probe.file->path).c_str(), error, device_.info());
    files_.emplace(file, request.file);
    return ARGTRACE_USER_PLACE(request.file, probe.addr);
}

Error Session::too_many(std::size_t count) const {
    return Error(fmt::format("{} more functions are too many: a session holds at most {}, removed "
                             "ones included (`argtrace clear` forgets them)",
                             count, info_.max_probes));
}

void Session::check_return(const Probe &probe) const {
    if (!(info_.features & ARGTRACE_FEATURE_RETURN))
        throw Error(fmt::format("{}: the loaded module does not follow what functions return: leave "
                                "out --return",
                                probe.function));
    if (attributes_.format & ARGTRACE_FORMAT_NAMED)
        throw Error(fmt::format("{}: the named encoding has no place for what a function returns: "
                                "use --encoding compact",
                                probe.function));
}

void Session::check_programs(std::span<const Probe> probes) const {
    for (const Probe &probe : probes) {
        if (records_returns(probe))
            check_return(probe);
        if (probe.program.empty())
            continue;
        if (!(info_.features & ARGTRACE_FEATURE_PROGRAM))
            throw Error(fmt::format("{}: the loaded module knows no conditions, computed values, "
                                    "--sample or --max-rate: record the call as it is",
                                    probe.function));
        if (sink_of(probe) != ARGTRACE_SINK_RECORD) {
            if (!(info_.features & ARGTRACE_FEATURE_MAP))
                throw Error(fmt::format("{}: the loaded module does not add calls up: it can only "
                                        "record them",
                                        probe.function));
            continue;
        }
        const bool computes = std::any_of(
            probe.args.begin(), probe.args.end(),
            [](const Argument &argument) { return argument.loc == ARGTRACE_LOC_PROGRAM; });
        if (computes && attributes_.format & ARGTRACE_FORMAT_NAMED)
            throw Error(fmt::format("{}: the named encoding holds arguments, not values that are "
                                    "computed: use --encoding compact",
                                    probe.function));
    }
}

Error Session::memory_refused(const Probe &probe) const {
    if (records_returns(probe))
        return Error(fmt::format("{}: to follow what functions return takes CAP_SYS_ADMIN, and a "
                                 "kernel that is not locked down: leave out --return",
                                 probe.function));
    const bool on_stack =
        std::any_of(probe.args.begin(), probe.args.end(), [](const Argument &argument) {
            return argument.loc == ARGTRACE_LOC_STACK;
        });
    return Error(fmt::format("{}: {}, and reading memory takes CAP_BPF beside CAP_PERFMON, or "
                             "CAP_SYS_ADMIN",
                             probe.function,
                             on_stack ? "has arguments on the stack"
                                      : "its expressions follow pointers or look at the task"));
}

Error Session::too_large(const Probe &probe) const {
    return Error(fmt::format("{}: its record does not fit a packet of {} bytes: use a larger "
                             "--buffer",
                             probe.function, attributes_.packet_size));
}

// The tool has found less: it and the module are of different versions.
Error Session::too_dear(const Probe &probe, std::uint64_t cost) {
    return Error(fmt::format("{}: with its conditions and values a call may take {} steps, which is more than the "
                             "loaded module allows: use fewer of them, or compare and record shorter text",
                             probe.function, cost));
}

void Session::remove(std::span<const ProbePlace> places) {
    for (const ProbeKind &kind : probe_kinds) {
        if (!kind.has_specs || kind != kind_of(kind.number))
            continue;
        std::vector<std::uint64_t> addrs;
        for (const ProbePlace &place : places)
            if (place.kind == kind.number)
                addrs.push_back(place.addr);
        if (!addrs.empty())
            remove(addrs, kind.number);
    }
}

void Session::remove(std::span<const std::uint64_t> addrs, std::uint16_t kind) {
    argtrace_probe_remove request{};
    request.size = sizeof(request);
    request.kind = kind;
    request.addrs = user_address(addrs.data());
    request.count = static_cast<std::uint32_t>(addrs.size());
    int error = device_.request(ARGTRACE_IOC_PROBE_REMOVE, &request);
    if (error == ENOENT)
        throw Error("another process removed a function at the same time: try again");
    if (error != 0)
        throw explain_request("remove the functions", error, info_);
}

void Session::remove_all() {
    argtrace_probe_remove request{};
    request.size = sizeof(request);
    request.flags = ARGTRACE_REMOVE_ALL;
    int error = device_.request(ARGTRACE_IOC_PROBE_REMOVE, &request);
    if (error != 0)
        throw explain_request("remove the functions", error, info_);
}

/// Hands every page of a listing to `page`; the generation, or nothing when it changed in between.
std::optional<std::uint32_t> Session::list(unsigned long number, bool removed,
                                           const Page &page) const {
    std::vector<std::byte> room(first_room);
    std::optional<std::uint32_t> generation;
    std::uint32_t first = 0;
    do {
        argtrace_list request{};
        request.size = sizeof(request);
        request.flags = removed ? ARGTRACE_LIST_REMOVED : 0;
        request.buffer = user_address(room.data());
        request.length = room.size();
        request.first = first;
        int error = device_.request(number, &request);
        if (error != 0)
            throw explain_request("list the functions", error, info_);
        if (generation && *generation != request.generation)
            return std::nullopt;
        generation = request.generation;
        if (request.count == 0 && request.next != 0)
            room.resize(room.size() * 2);
        page(room, request.count);
        first = request.next;
    } while (first != 0);
    return generation;
}

std::uint32_t Session::list_probes(bool removed, std::vector<Probe> &probes) const {
    for (;;) {
        probes.clear();
        auto generation = list(ARGTRACE_IOC_PROBE_LIST, removed, [&](auto bytes, auto count) {
            for (Probe &probe : parse_probes(bytes, count))
                probes.push_back(std::move(probe));
        });
        if (generation)
            return *generation;
    }
}

std::uint32_t Session::list_counts(bool removed, std::vector<argtrace_counts> &counts) const {
    for (;;) {
        counts.clear();
        auto generation = list(ARGTRACE_IOC_COUNTS, removed, [&](auto bytes, auto count) {
            if (count > bytes.size() / sizeof(argtrace_counts))
                throw Error("the module's list of counts is malformed");
            std::size_t before = counts.size();
            counts.resize(before + count);
            if (count > 0)
                std::memcpy(&counts[before], bytes.data(), count * sizeof(argtrace_counts));
        });
        if (generation)
            return *generation;
    }
}

std::vector<Probe> Session::probes(bool removed) const {
    std::vector<Probe> probes;
    list_probes(removed, probes);
    return probes;
}

std::vector<argtrace_return_counts> Session::return_counts() const {
    std::vector<argtrace_return_counts> all;
    const auto add = [&](std::span<const std::byte> bytes, std::uint32_t count) {
        if (count > bytes.size() / sizeof(argtrace_return_counts))
            throw Error("the module's list of returns is malformed");
        const std::size_t before = all.size();
        all.resize(before + count);
        if (count > 0)
            std::memcpy(&all[before], bytes.data(), count * sizeof(argtrace_return_counts));
    };
    while (info_.features & ARGTRACE_FEATURE_RETURN && !list(ARGTRACE_IOC_RETURN_COUNTS, true, add))
        all.clear();
    return all;
}

ReturnTotals Session::returns() const {
    ReturnTotals sum;
    for (const argtrace_return_counts &counts : return_counts())
        add_returns(sum, counts);
    return sum;
}

ReturnsById Session::returns_by_id() const {
    ReturnsById returns;
    for (const argtrace_return_counts &counts : return_counts())
        add_returns(returns[counts.counts.id], counts);
    return returns;
}

std::vector<argtrace_counts> Session::counts(bool removed) const {
    std::vector<argtrace_counts> counts;
    list_counts(removed, counts);
    return counts;
}

Session::Snapshot Session::snapshot(bool removed) const {
    Snapshot snapshot;
    while (list_probes(removed, snapshot.probes) != list_counts(removed, snapshot.counts) ||
           snapshot.probes.size() != snapshot.counts.size())
        continue;
    return snapshot;
}

void Session::become_reader(bool include_self) {
    argtrace_reader request{};
    request.size = sizeof(request);
    request.flags = include_self ? 0 : ARGTRACE_READER_EXCLUDE_SELF;
    int error = device_.request(ARGTRACE_IOC_READER, &request);
    if (error == EBUSY)
        throw Error("another process is reading this session: end it first, or name the functions "
                    "to trace in a session of your own: `argtrace trace FUNC`");
    if (error != 0)
        throw explain_request("read the session", error, info_);
}

void Session::leave_out_own_calls() {
    argtrace_reader request{};
    request.size = sizeof(request);
    request.flags = ARGTRACE_READER_EXCLUDE_SELF | ARGTRACE_READER_LOOK;
    const int error = device_.request(ARGTRACE_IOC_READER, &request);
    if (error != 0 && error != EBUSY && error != EINVAL)
        throw explain_request("look at the session", error, info_);
}

std::uint64_t Session::overwritten() const {
    return overwritten_in(map_rings());
}

argtrace_map Session::make_map(argtrace_map wanted) const {
    if (!(info_.features & ARGTRACE_FEATURE_MAP))
        throw Error("the loaded module has no maps: calls can be recorded, not added up");
    wanted.size = sizeof(wanted);
    const int error = device_.request(ARGTRACE_IOC_MAP, &wanted);
    switch (error) {
    case 0:
        return wanted;
    case E2BIG:
        throw Error(fmt::format("the session has {} maps already, which is as many as there can be",
                                ARGTRACE_MAPS_MAX));
    case ENOSPC: {
        const argtrace_info now = device_.info();
        throw Error(fmt::format(
            "a map with {} slots on each CPU would pass the module's memory limit of {} ({} are in "
            "use); use a smaller --map-size, or raise the limit: "
            "/sys/module/argtrace/parameters/memory_limit_mb",
            wanted.slots, format_size(now.memory_limit), format_size(now.memory_used)));
    }
    case ENOMEM:
        throw Error(fmt::format("the kernel has no memory for a map with {} slots on each CPU: use a "
                                "smaller --map-size",
                                wanted.slots));
    default:
        throw explain_request("make a map", error, info_);
    }
}

bool Session::has_changed() const {
    pollfd file{fd(), POLLPRI, 0};
    return ::poll(&file, 1, 0) > 0 && (file.revents & POLLPRI);
}

std::optional<RingMapping> Session::map_ring(std::uint32_t cpu) const {
    return is_flight() ? RingMapping::map_packets(fd(), attributes_, cpu)
                       : RingMapping::map(fd(), attributes_, cpu);
}

std::vector<RingMapping> Session::map_rings() const {
    std::vector<RingMapping> rings;
    for (std::uint32_t cpu = 0; cpu < attributes_.nr_cpus; ++cpu) {
        if (auto ring = map_ring(cpu))
            rings.push_back(std::move(*ring));
    }
    return rings;
}

} // namespace argtrace
