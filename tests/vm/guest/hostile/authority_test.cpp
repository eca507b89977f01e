// SPDX-License-Identifier: GPL-2.0-only
// Authority is checked at the moment of use, not only when the file is opened.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <sstream>
#include <vector>

#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"
#include "support/raw_map.h"

namespace vmtest {
namespace {

constexpr char other_name[] = "authority_other";

/// What a child that has become somebody else says, one line each; "" where it could not.
std::string in_child(const std::function<bool()> &become,
                     const std::function<void(std::ostream &)> &body) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        std::ostringstream said;
        if (become())
            body(said);
        const std::string text = said.str();
        _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    close(ends[1]);
    std::string text;
    char part[4096];
    for (ssize_t n; (n = read(ends[0], part, sizeof(part))) > 0;)
        text.append(part, static_cast<std::size_t>(n));
    close(ends[0]);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    return text;
}

bool become_root_of_a_namespace() {
    return unshare(CLONE_NEWUSER) == 0;
}

/// Nobody, with these capabilities and no others.
bool become_nobody_with(std::initializer_list<int> capabilities) {
    if (prctl(PR_SET_KEEPCAPS, 1) != 0 || !become_nobody())
        return false;
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2]{};
    for (const int capability : capabilities) {
        data[capability / 32].permitted |= 1u << capability % 32;
        data[capability / 32].effective |= 1u << capability % 32;
    }
    return syscall(SYS_capset, &header, data) == 0;
}

int remove_by(const RawDevice &device, const char *name) {
    argtrace_session_remove remove{};
    remove.size = sizeof(remove);
    strcpy(remove.name, name);
    return device.call(ARGTRACE_IOC_SESSION_REMOVE, &remove);
}

int attach_by(const RawDevice &device, const char *name, std::uint32_t flags = 0) {
    argtrace_session_attr attr{};
    attr.size = sizeof(attr);
    attr.flags = flags;
    attr.clock = ARGTRACE_CLOCK_BEST;
    strcpy(attr.name, name);
    return device.call(ARGTRACE_IOC_SESSION, &attr);
}

int list_by(const RawDevice &device, unsigned long request) {
    argtrace_list list{};
    list.size = sizeof(list);
    return device.call(request, &list);
}

int stacks_by(const RawDevice &device, std::uint32_t flags = 0) {
    argtrace_stacks stacks{};
    stacks.size = sizeof(stacks);
    stacks.flags = flags;
    return device.call(ARGTRACE_IOC_STACKS, &stacks);
}

int in_flight_by(const RawDevice &device) {
    argtrace_in_flight in_flight{};
    in_flight.size = sizeof(in_flight);
    return device.call(ARGTRACE_IOC_IN_FLIGHT, &in_flight);
}

/// The errno of each ioctl that changes something or reveals addresses, well-formed.
void try_everything(const RawDevice &device, std::ostream &said) {
    const std::uint64_t addr = 0x1000;
    said << "add " << device.add(RawProbe::words(addr, 1).bytes(), 1) << '\n';
    said << "remove " << device.remove({addr}) << '\n';
    said << "remove_all " << device.remove_all() << '\n';
    said << "reader " << device.reader() << '\n';
    argtrace_on_load on_load{};
    on_load.size = sizeof(on_load);
    on_load.count = 1;
    strcpy(on_load.module, "none");
    said << "on_load " << device.call(ARGTRACE_IOC_ON_LOAD, &on_load) << '\n';
    argtrace_on_load_remove take_back{};
    take_back.size = sizeof(take_back);
    take_back.flags = ARGTRACE_REMOVE_ALL;
    said << "on_load_remove " << device.call(ARGTRACE_IOC_ON_LOAD_REMOVE, &take_back) << '\n';
    argtrace_process_filter filter{};
    filter.size = sizeof(filter);
    said << "processes " << device.call(ARGTRACE_IOC_PROCESSES, &filter) << '\n';
    argtrace_map map{};
    map.size = sizeof(map);
    map.slots = ARGTRACE_MAP_SLOTS_MIN;
    said << "map " << device.call(ARGTRACE_IOC_MAP, &map) << '\n';
    said << "make_stacks " << stacks_by(device) << '\n';
    said << "session_remove " << remove_by(device, other_name) << '\n';
}

void try_to_see_addresses(const RawDevice &device, std::ostream &said) {
    argtrace_symbol symbol{};
    symbol.size = sizeof(symbol);
    symbol.addr = 0x1000;
    said << "symbol " << device.call(ARGTRACE_IOC_SYMBOL, &symbol) << '\n';
    said << "probe_list " << list_by(device, ARGTRACE_IOC_PROBE_LIST) << '\n';
    said << "in_flight " << in_flight_by(device) << '\n';
}

void try_to_read(const RawDevice &device, std::ostream &said) {
    said << "counts " << list_by(device, ARGTRACE_IOC_COUNTS) << '\n';
    said << "return_counts " << list_by(device, ARGTRACE_IOC_RETURN_COUNTS) << '\n';
    said << "on_load_list " << list_by(device, ARGTRACE_IOC_ON_LOAD_LIST) << '\n';
    argtrace_process_filter filter{};
    filter.size = sizeof(filter);
    said << "processes_list " << device.call(ARGTRACE_IOC_PROCESSES_LIST, &filter) << '\n';
    said << "existing_stacks " << stacks_by(device, ARGTRACE_STACKS_EXISTING) << '\n';
    void *at = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, device.fd(),
                    static_cast<off_t>(ARGTRACE_MMAP_OFFSET(0, ARGTRACE_MMAP_PACKETS)));
    said << "packets " << (at == MAP_FAILED ? errno : 0) << '\n';
    // A mapping would hold the file, and with it the session and the module.
    if (at != MAP_FAILED)
        munmap(at, 4096);
}

/// What try_everything() says if each call ends in this errno.
std::string everything_is(int error) {
    std::ostringstream all;
    for (const char *name : {"add", "remove", "remove_all", "reader", "on_load", "on_load_remove",
                             "processes", "map", "make_stacks", "session_remove"})
        all << name << ' ' << error << '\n';
    return all.str();
}

std::string addresses_are(int error) {
    std::ostringstream all;
    all << "symbol " << error << "\nprobe_list " << error << "\nin_flight " << error << '\n';
    return all.str();
}

const std::string reading_works = "counts 0\nreturn_counts 0\non_load_list 0\nprocesses_list 0\n"
                                  "existing_stacks 0\npackets 0\n";

class Authority : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        remove_session(other_name);
        ASSERT_EQ(other_.session(other_name), 0);
        ASSERT_EQ(device_.session(), 0);
        ASSERT_EQ(stacks_by(other_), 0);
        ASSERT_EQ(stacks_by(device_), 0);
        ASSERT_EQ(device_.add(RawProbe::words(address_of("vfs_statfs"), 2).bytes(), 1), 0);
        before_ = device_.fingerprint();
    }

    void TearDown() override {
        EXPECT_EQ(device_.fingerprint(), before_);
        EXPECT_EQ(remove_session(other_name), 0) << "it is still there";
    }

    /// Expects that a process which has inherited the file, and has no capabilities in the initial namespace, can only read.
    void expect_reading_alone(const std::function<bool()> &become) {
        const std::string said = in_child(become, [&](std::ostream &out) {
            try_everything(device_, out);
            try_to_see_addresses(device_, out);
            out << "authority " << device_.info().authority << '\n';
            try_to_read(device_, out);
        });
        EXPECT_EQ(said, everything_is(EPERM) + addresses_are(EPERM) + "authority 0\n" +
                            reading_works);
    }

    RawDevice device_, other_;
    std::string before_;
};

TEST_F(Authority, of_a_process_that_gave_its_privileges_up) {
    expect_reading_alone(become_nobody);
}

TEST_F(Authority, of_root_in_a_namespace_of_its_own) {
    if (access("/proc/self/ns/user", F_OK) != 0)
        GTEST_SKIP() << "this kernel has no user namespaces";
    expect_reading_alone(become_root_of_a_namespace);
}

TEST_F(Authority, to_bind_an_inherited_file) {
    RawDevice unbound;
    const std::string said = in_child(become_nobody, [&](std::ostream &out) {
        out << attach_by(unbound, other_name) << ' ' << attach_by(unbound, "") << ' '
            << attach_by(unbound, other_name, ARGTRACE_SESSION_CREATE) << '\n';
    });
    EXPECT_EQ(said, "1 1 1\n");
    EXPECT_EQ(attach_by(unbound, other_name), 0);
}

TEST_F(Authority, of_a_file_that_is_open_for_reading) {
    RawDevice reading(O_RDONLY);
    EXPECT_EQ(attach_by(reading, ""), EBADF) << "that makes one";
    EXPECT_EQ(attach_by(reading, other_name, ARGTRACE_SESSION_CREATE), EBADF);
    ASSERT_EQ(attach_by(reading, other_name), 0);
    std::ostringstream said;
    try_everything(reading, said);
    EXPECT_EQ(said.str(), everything_is(EBADF));
    said.str("");
    try_to_see_addresses(reading, said);
    try_to_read(reading, said);
    EXPECT_EQ(said.str(), addresses_are(0) + reading_works);

    void *at = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, reading.fd(),
                    static_cast<off_t>(ARGTRACE_MMAP_OFFSET(0, ARGTRACE_MMAP_PACKETS)));
    ASSERT_NE(at, MAP_FAILED);
    EXPECT_EQ(mprotect(at, 4096, PROT_READ | PROT_WRITE), -1);
    munmap(at, 4096);
}

/// What an argument in a register and one on the stack come to, and what INFO said of it.
void add_both(std::ostream &said) {
    RawDevice own;
    said << "authority " << own.info().authority << " session " << own.session();
    const std::uint64_t addr = address_of("vfs_fsync_range");
    RawProbe registers = RawProbe::words(addr, 2), memory = RawProbe::words(addr, 2);
    memory.args[1].loc = ARGTRACE_LOC_STACK;
    memory.args[1].index = 0;
    memory.args[1].offset = ARGTRACE_STACK_MAX - 8;
    std::uint32_t failed = 99;
    const int error = own.add(memory.bytes(), 1, &failed);
    said << " memory " << error;
    if (error)
        said << " failed " << failed;
    else
        own.remove_all();
    said << " registers " << own.add(registers.bytes(), 1);
    argtrace_on_load on_load{};
    on_load.size = sizeof(on_load);
    memory.header.addr = 0;
    const std::vector<std::byte> bytes = memory.bytes();
    on_load.probes = reinterpret_cast<std::uintptr_t>(bytes.data());
    on_load.length = bytes.size();
    on_load.count = 1;
    strcpy(on_load.module, "none");
    said << " on_load " << own.call(ARGTRACE_IOC_ON_LOAD, &on_load) << '\n';
}

TEST_F(Authority, to_read_memory_takes_more_than_registers) {
    const std::uint32_t trace = ARGTRACE_MAY_TRACE, both = trace | ARGTRACE_MAY_READ_MEMORY;
    const auto said_with = [](std::initializer_list<int> capabilities) {
        return in_child([&] { return become_nobody_with(capabilities); }, add_both);
    };
    const auto granted = " session 0 memory 0 registers 0 on_load 0\n";
    // /proc/kallsyms shows addresses to CAP_SYSLOG.
    ASSERT_EQ(chmod(ARGTRACE_DEVICE, 0666), 0);
    EXPECT_EQ(said_with({CAP_SYSLOG, CAP_PERFMON}),
              "authority " + std::to_string(trace) +
                  " session 0 memory 1 failed 0 registers 0 on_load 1\n");
    EXPECT_EQ(said_with({CAP_SYSLOG, CAP_PERFMON, CAP_BPF}),
              "authority " + std::to_string(both) + granted);
    EXPECT_EQ(said_with({CAP_SYSLOG, CAP_SYS_ADMIN}),
              "authority " + std::to_string(both) + granted);
    ASSERT_EQ(chmod(ARGTRACE_DEVICE, 0600), 0);
}

/// What registers of each kind come to, of which a tick has none, and memory behind one: for a child with these capabilities, which has
/// inherited the sessions.
std::string add_each_kind(std::initializer_list<int> capabilities) {
    struct {
        const char *name;
        std::uint16_t kind;
        std::uint64_t addr;
        std::uint32_t words;
        RawDevice device;
    } kinds[] = {
        {"tracepoint", ARGTRACE_KIND_TRACEPOINT, address_of("__traceiter_sched_process_exit"), 2, RawDevice()},
        {"syscall", ARGTRACE_KIND_SYSCALL, address_of(SYSCALL_PREFIX "lseek"), 3, RawDevice()},
        {"timer", ARGTRACE_KIND_TIMER, ARGTRACE_TIMER(ARGTRACE_TIMER_CPU_CLOCK, 100, 0), 0, RawDevice()},
    };
    for (auto &kind : kinds)
        EXPECT_EQ(kind.device.session(), 0);
    return in_child([&] { return become_nobody_with(capabilities); }, [&](std::ostream &said) {
        for (auto &kind : kinds) {
            said << kind.name;
            if (kind.kind != ARGTRACE_KIND_TIMER) {
                RawProbe memory = SinkProgram(ARGTRACE_SINK_RECORD).behind(1, 0, 8).probe(kind.addr);
                memory.header.kind = kind.kind;
                said << " memory " << kind.device.add(memory.bytes(), 1);
                kind.device.remove_all();
                if (kind.kind == ARGTRACE_KIND_SYSCALL) {
                    // Without the authority to have calls redirected they are recorded without waiting.
                    memory.header.flags = ARGTRACE_PROBE_WAITS;
                    said << " waiting " << kind.device.add(memory.bytes(), 1);
                    kind.device.remove_all();
                }
            }
            RawProbe registers = RawProbe::words(kind.addr, kind.words);
            registers.header.kind = kind.kind;
            said << " registers " << kind.device.add(registers.bytes(), 1) << '\n';
        }
    });
}

TEST_F(Authority, over_tracepoints_system_calls_and_timers) {
    EXPECT_EQ(add_each_kind({CAP_SYSLOG, CAP_PERFMON, CAP_BPF}), "tracepoint memory 0 registers 0\n"
                                                                 "syscall memory 0 waiting 0 registers 0\n"
                                                                 "timer registers 0\n");
    EXPECT_EQ(add_each_kind({CAP_SYSLOG, CAP_PERFMON}), "tracepoint memory 1 registers 0\n"
                                                        "syscall memory 1 waiting 1 registers 0\n"
                                                        "timer registers 0\n");
    EXPECT_EQ(add_each_kind({CAP_SYSLOG, CAP_BPF}), "tracepoint memory 1 registers 1\n"
                                                    "syscall memory 1 waiting 1 registers 1\n"
                                                    "timer registers 1\n");
}

} // namespace
} // namespace vmtest
