// SPDX-License-Identifier: GPL-2.0-only
#include "hostile/ioctl_fuzzer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <sstream>

#include "hostile/random_program.h"
#include "support/kallsyms.h"
#include "support/machine.h"
#include "support/raw_map.h"

namespace vmtest {

namespace {

constexpr std::size_t most_maps = 12;
constexpr std::size_t page_size = 4096;

} // namespace

void FuzzFiles::close_all() {
    for (auto &slot : fds) {
        const int fd = slot.exchange(-1);
        if (fd >= 0)
            close(fd);
    }
}

FuzzTargets::FuzzTargets() {
    std::map<std::string_view, std::pair<std::uint64_t, unsigned>> symbols;
    for (const KernelSymbol &symbol : kernel_symbols()) {
        auto &[addr, count] = symbols[symbol.name];
        addr = symbol.addr;
        count++;
        if (symbol.name.starts_with("__traceiter_"))
            tracepoints.push_back(symbol.addr);
        if (symbol.name.starts_with(SYSCALL_PREFIX) || symbol.name.starts_with("__ia32_"))
            syscalls.push_back(symbol.addr);
    }
    std::istringstream traceable(read_file("/sys/kernel/tracing/available_filter_functions"));
    for (std::string name, line; std::getline(traceable, line);) {
        std::istringstream(line) >> name;
        const auto symbol = symbols.find(name);
        if (symbol == symbols.end() || symbol->second.second != 1)
            continue;
        const bool is_known = name.starts_with("at_") || name.starts_with("al_") ||
                              name == "vfs_read" || name == "vfs_write";
        (is_known ? known : any).push_back(symbol->second.first);
    }
    EXPECT_GT(known.size(), 10u);
    EXPECT_GT(any.size(), 1000u);
    EXPECT_GT(tracepoints.size(), 100u);
    EXPECT_GT(syscalls.size(), 100u);
}

FuzzMemory::FuzzMemory() {
    void *at = mmap(nullptr, size + 2 * page_size, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(at, MAP_FAILED);
    begin_ = static_cast<unsigned char *>(at);
    EXPECT_EQ(mprotect(end(), page_size, PROT_NONE), 0);
    EXPECT_EQ(mprotect(end() + page_size, page_size, PROT_READ), 0);
}

FuzzMemory::~FuzzMemory() {
    munmap(begin_, size + 2 * page_size);
}

IoctlFuzzer::IoctlFuzzer(std::uint64_t seed, FuzzFiles &files, const FuzzTargets &targets,
                         FuzzMemory &memory, bool alone)
    : random_(seed), files_(files), targets_(targets), memory_(memory), alone_(alone),
      scratch_(memfd_create("scratch", MFD_CLOEXEC)) {
    EXPECT_EQ(ftruncate(scratch_, 1 << 20), 0);
}

IoctlFuzzer::~IoctlFuzzer() {
    for (const Map &map : maps_)
        munmap(map.at, map.size);
    close(scratch_);
}

const IoctlFuzzer::Weighted IoctlFuzzer::steps_[] = {
    {60, &IoctlFuzzer::open_file},     {25, &IoctlFuzzer::close_file},
    {15, &IoctlFuzzer::dup_file},      {10, &IoctlFuzzer::info},
    {90, &IoctlFuzzer::session},       {15, &IoctlFuzzer::session_remove},
    {130, &IoctlFuzzer::add},          {50, &IoctlFuzzer::remove},
    {60, &IoctlFuzzer::list},          {40, &IoctlFuzzer::reader},
    {20, &IoctlFuzzer::in_flight},
    {40, &IoctlFuzzer::on_load},       {15, &IoctlFuzzer::on_load_remove},
    {20, &IoctlFuzzer::on_load_list},  {20, &IoctlFuzzer::symbol},
    {25, &IoctlFuzzer::user_file},
    {40, &IoctlFuzzer::make_map},      {40, &IoctlFuzzer::stacks},
    {10, &IoctlFuzzer::unknown_ioctl}, {100, &IoctlFuzzer::map},
    {100, &IoctlFuzzer::use_map},      {30, &IoctlFuzzer::drop_map},
    {40, &IoctlFuzzer::poll_file},     {20, &IoctlFuzzer::poll_by_epoll},
    {10, &IoctlFuzzer::fork_child},    {15, &IoctlFuzzer::hand_over},
    {20, &IoctlFuzzer::other_calls},   {80, &IoctlFuzzer::call_functions},
    {8, &IoctlFuzzer::change_modules},
};

void IoctlFuzzer::step() {
    unsigned sum = 0;
    for (const Weighted &one : steps_)
        sum += one.weight;
    std::uint64_t at = random(sum);
    for (const Weighted &one : steps_) {
        if (at < one.weight)
            return (this->*one.step)();
        at -= one.weight;
    }
}

/// The descriptor of some open file, mostly.
int IoctlFuzzer::fd() {
    int fd = fresh_;
    for (int tries = 0; fd < 0 && tries < 5; tries++)
        fd = files_.fds[slot()];
    return fd;
}

void IoctlFuzzer::keep(int fd) {
    if (fd < 0)
        return;
    const int old = files_.fds[slot()].exchange(fd);
    if (old >= 0)
        close(old);
}

/// Most files get a session at once, since without one nearly everything is refused.
void IoctlFuzzer::open_file() {
    const int file =
        open(ARGTRACE_DEVICE, one_of({O_RDWR, O_RDWR, O_RDWR | O_NONBLOCK, O_RDONLY}) | O_CLOEXEC);
    keep(file);
    if (one_in(4))
        return;
    fresh_ = file;
    session();
    fresh_ = -1;
}

void IoctlFuzzer::close_file() {
    const int fd = files_.fds[slot()].exchange(-1);
    if (fd >= 0)
        close(fd);
}

void IoctlFuzzer::dup_file() {
    keep(fcntl(fd(), F_DUPFD_CLOEXEC, 0));
}

void IoctlFuzzer::check(const char *name, int error, std::initializer_list<int> expected) {
    calls_++;
    successes_ += error == 0;
    if (error == 0 || !fault_.empty() ||
        std::find(expected.begin(), expected.end(), error) != expected.end())
        return;
    // The slot is empty, or another thread has closed its file and the descriptor is another file's
    // by now.
    if (error == EBADF || (!alone_ && (error == ENOTTY || error == ENODEV || error == EACCES)))
        return;
    fault_ = std::string(name) + " said " + strerror(error);
}

/// Where a struct is passed from: mostly memory that is followed by rubbish.
void *IoctlFuzzer::place(const void *value, std::size_t size) {
    switch (random(60)) {
    case 0:
        return nullptr;
    case 1:
        return reinterpret_cast<void *>(0xffff888000000000 + random(1 << 20));
    case 2:
        return reinterpret_cast<void *>(random_());
    case 3:
        return const_cast<void *>(memory_.readonly());
    case 4: // crosses into what cannot be read
        memcpy(memory_.end() - size + 8, value, size - 8);
        return memory_.end() - size + 8;
    case 5:
    case 6: // ends right before it
        memcpy(memory_.end() - size, value, size);
        return memory_.end() - size;
    }
    unsigned char *at = memory_.begin() + random(16) * 8192 / 4;
    if (one_in(2))
        memset(at + size, 0, 8192 - size);
    memcpy(at, value, size);
    return at;
}

template<typename T>
int IoctlFuzzer::call(const char *name, unsigned long request, T value,
                      std::initializer_list<int> errors) {
    if (!value.size)
        value.size = sizeof(value);
    if (one_in(12))
        value.size = one_of<std::uint32_t>({0, sizeof(value) - 1, sizeof(value) - 4,
                                            sizeof(value) + 8, sizeof(value) + 1000, 4096, 4097,
                                            static_cast<std::uint32_t>(random_())});
    // A name remains one that the test knows.
    if (one_in(15))
        reinterpret_cast<unsigned char *>(
            &value)[random(std::min<std::size_t>(sizeof(value), 32))] ^= 1 << random(8);
    void *at = place(&value, sizeof(value));
    const int error = ioctl(fd(), request, at) == 0 ? 0 : errno;
    if (error != EFAULT && error != EINVAL && error != E2BIG && error != EBADFD)
        check(name, error, errors);
    else
        calls_++;
    return error;
}

/// Room for a list: some, none, or where it cannot be written.
__u64 IoctlFuzzer::buffer(__u64 *length) {
    *length = one_of<std::uint64_t>({0, 1, 31, 88, 1000, 4096, 20000, random(60000)});
    switch (random(12)) {
    case 0:
        *length = random_();
        return random_();
    case 1:
        return reinterpret_cast<std::uintptr_t>(memory_.readonly());
    case 2:
        return reinterpret_cast<std::uintptr_t>(memory_.end()) - *length / 2;
    }
    *length = std::min<__u64>(*length, FuzzMemory::size / 2);
    return reinterpret_cast<std::uintptr_t>(memory_.begin() + FuzzMemory::size / 2);
}

void IoctlFuzzer::set_name(char *name) {
    snprintf(name, ARGTRACE_NAME_LEN, "fuzz%d", static_cast<int>(random(4)));
    if (one_in(20))
        memset(name, 'x', ARGTRACE_NAME_LEN); // not terminated
}

void IoctlFuzzer::set_module(char *name) {
    snprintf(name, ARGTRACE_MODULE_LEN, "%s",
             one_of({"argtrace_onload", "argtrace_onload", "argtrace_onload", "none", "a-b", ""}));
}

void IoctlFuzzer::info() {
    call("INFO", ARGTRACE_IOC_INFO, argtrace_info{}, {});
}

void IoctlFuzzer::session() {
    argtrace_session_attr attr{};
    attr.flags = one_of<std::uint32_t>({ARGTRACE_SESSION_CREATE, ARGTRACE_SESSION_CREATE,
                                        ARGTRACE_SESSION_CREATE | ARGTRACE_SESSION_FLIGHT, 0});
    attr.format = static_cast<std::uint32_t>(random(4));
    attr.clock = one_of<std::uint32_t>({ARGTRACE_CLOCK_BEST, ARGTRACE_CLOCK_MONOTONIC});
    attr.packet_size = one_of<std::uint32_t>({4096, 4096, 4096, 8192, 65536});
    attr.nr_packets = one_of<std::uint32_t>({2, 2, 4, 4, 16});
    if (one_in(10))
        attr.packet_size = one_of<std::uint32_t>({0, 5000, 1u << 31});
    if (one_in(10))
        attr.nr_packets = one_of<std::uint32_t>({0, 1, 3, 1u << 20});
    if (one_in(20))
        attr.clock = one_of<std::uint32_t>({ARGTRACE_CLOCK_TSC, 7});
    if (!one_in(3))
        set_name(attr.name);
    // It is bound already: use another file, more often than not.
    if (call("SESSION", ARGTRACE_IOC_SESSION, attr, {EBUSY, ENOENT, ENOSPC, EOPNOTSUPP}) == EBUSY &&
        !one_in(3))
        open_file();
}

void IoctlFuzzer::make_map() {
    argtrace_map map = random_map(random_);
    // Few sizes of keys, so that programs fit them.
    map.key_words %= 3;
    if (one_in(8))
        map.slots = one_of<std::uint32_t>({0, 63, 1u << 20, 1u << 21, 1u << 16});
    if (one_in(10))
        map.step = random_();
    if (one_in(15))
        map.id = static_cast<std::uint32_t>(random(9));
    call("MAP", ARGTRACE_IOC_MAP, map, {ENOSPC, ENOENT, ENOMEM});
}

void IoctlFuzzer::stacks() {
    argtrace_stacks stacks{};
    stacks.flags = one_of<std::uint32_t>({0, 0, 0, ARGTRACE_STACKS_EXISTING});
    if (!stacks.flags || one_in(10)) {
        stacks.entries = one_of<std::uint32_t>({0, 64, 64, 64, 256, 4096});
        // So few that most stacks have no room; none at all.
        stacks.words = one_of<std::uint32_t>({0, 0, 1, 40, 1000});
        stacks.depth = one_of<std::uint32_t>({0, 0, 1, 5, ARGTRACE_STACK_DEPTH_MAX});
    }
    if (one_in(10))
        stacks.entries = one_of<std::uint32_t>({1, 63, 96, ARGTRACE_STACK_ENTRIES_MAX, 2 * ARGTRACE_STACK_ENTRIES_MAX, 1u << 31});
    if (one_in(10))
        stacks.words = one_of<std::uint32_t>({ARGTRACE_STACK_WORDS_MAX, ARGTRACE_STACK_WORDS_MAX + 1, ~0u});
    if (one_in(10))
        stacks.depth = one_of<std::uint32_t>({ARGTRACE_STACK_DEPTH_MAX + 1, 256, ~0u});
    if (one_in(20))
        stacks.reserved = static_cast<std::uint32_t>(random_());
    call("STACKS", ARGTRACE_IOC_STACKS, stacks, {ENOENT, ENOSPC, ENOMEM});
}

void IoctlFuzzer::session_remove() {
    argtrace_session_remove remove{};
    set_name(remove.name);
    call("SESSION_REMOVE", ARGTRACE_IOC_SESSION_REMOVE, remove, {ENOENT});
}

std::uint64_t IoctlFuzzer::address() {
    const auto &known = targets_.known, &any = targets_.any;
    switch (random(24)) {
    case 0:
        return random_();
    case 1: // inside a function, or ftrace's own address for it
        return any[random(any.size())] + random(32);
    case 2:
        return reinterpret_cast<std::uintptr_t>(memory_.begin());
    case 3:
    case 4:
    case 5:
    case 6:
        return any[random(any.size())];
    }
    return known[random(known.size())];
}

argtrace_arg IoctlFuzzer::argument() {
    argtrace_arg arg{};
    const auto type = static_cast<std::uint8_t>(1 + random(ARGTRACE_TYPE_PTR));
    static constexpr std::uint8_t sizes[] = {0, 1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 1, 1, 1, 8};
    arg.type = type;
    arg.size = sizes[type];
    arg.loc = ARGTRACE_LOC_REG;
    arg.index = static_cast<std::uint8_t>(random(one_in(20) ? ARGTRACE_REG_MAX + 2 : argument_registers));
    if (one_in(4)) {
        arg.type = ARGTRACE_TYPE_BYTES;
        arg.size = static_cast<std::uint32_t>(1 + random(one_in(5) ? ARGTRACE_BYTES_MAX : 24));
    }
    if (arg.size > 8)
        arg.loc = arg.size > 16 || one_in(2) ? ARGTRACE_LOC_STACK : ARGTRACE_LOC_REG_PAIR;
    else if (one_in(3))
        arg.loc = ARGTRACE_LOC_STACK;
    if (arg.loc == ARGTRACE_LOC_REG_PAIR)
        arg.index = static_cast<std::uint8_t>(random(argument_registers - 1));
    if (arg.loc == ARGTRACE_LOC_STACK) {
        // Any place, whether or not an argument is there.
        arg.index = 0;
        arg.offset = static_cast<std::uint32_t>(8 + random(one_in(3) ? 255 : 12) * 8);
    }
    if (one_in(30)) {
        arg = {};
        arg.type_name = 0;
    }
    return arg;
}

/// One whose program names the stack, be the session's tables there or not: in a record, or in a map's key. A function that is
/// called by the tests, so that stacks are walked.
RawProbe IoctlFuzzer::stack_probe() {
    const std::uint16_t sink = one_of<std::uint16_t>({ARGTRACE_SINK_RECORD, ARGTRACE_SINK_RECORD, ARGTRACE_SINK_MAP});
    SinkProgram program(sink, static_cast<std::uint32_t>(sink == ARGTRACE_SINK_MAP ? random(3) : 0));
    for (std::uint64_t left = 1 + random(one_in(4) ? 3 : 1); left; left--)
        program.source(ARGTRACE_SOURCE_STACK_ID, static_cast<std::uint8_t>(one_in(20) ? random(4) : 0));
    RawProbe probe = program.probe(address());
    if (one_in(15))
        probe.args[0].type = one_of<std::uint8_t>({ARGTRACE_TYPE_U64, ARGTRACE_TYPE_STR, 0});
    if (one_in(15))
        probe.args[0].size = static_cast<std::uint32_t>(random(16));
    if (one_in(4))
        probe.header.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(random(4));
    return probe;
}

RawProbe IoctlFuzzer::probe() {
    if (one_in(8))
        return stack_probe();
    RawProbe probe;
    probe.header.addr = address();
    probe.strings = one_of({"ol_first", "ol_later", "f", "ol_twin~"}) + std::string(1, '\0');
    const std::uint64_t count = one_in(40) ? 60 + random(8) : random(8);
    for (std::uint64_t i = 0; i < count; i++) {
        argtrace_arg arg = argument();
        arg.name = static_cast<std::uint16_t>(probe.strings.size());
        probe.strings += "a" + std::string(random(6), 'b') + '\0';
        probe.args.push_back(arg);
    }
    if (one_in(20))
        probe.strings += std::string(random(3000), 's') + '\0';
    if (one_in(4) && !targets_.any.empty()) {
        // Whether the file has such a map is another matter.
        argtrace_map map = random_map(random_);
        map.id = static_cast<std::uint32_t>(random(one_in(10) ? 70000 : 3));
        const RandomProgram program =
            one_in(3) ? RandomProgram(random_, targets_.any, one_in(4) ? nullptr : &map)
                      : RandomProgram(random_, targets_.any);
        probe.program = program.bytes();
        for (const argtrace_arg &output : program.outputs())
            probe.args.insert(probe.args.begin() + static_cast<long>(random(probe.args.size() + 1)),
                              output);
    }
    const std::size_t types = one_in(5) ? random(200) : 0;
    probe.strings += std::string(types, 't');
    probe.seal();
    probe.header.strings = static_cast<std::uint16_t>(probe.header.strings - types);
    probe.header.types = static_cast<std::uint32_t>(types);
    // Followed by the kernel, which takes a wrong number of words for what it is.
    if (one_in(12))
        probe.header.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(random(one_in(4) ? 40 : 4)) |
                             (one_in(2) ? ARGTRACE_PROBE_BY_FPROBE : ARGTRACE_PROBE_BY_KRETPROBE) |
                             ARGTRACE_PROBE_BY_REASON(random(one_in(10) ? 16 : ARGTRACE_BY_REASONS));
    if (one_in(50))
        probe.header.kind = static_cast<std::uint16_t>(random_());
    if (one_in(20)) {
        // Neither of the two kinds takes the other's, or a function's.
        const bool is_tracepoint = one_in(2);
        const auto &own = is_tracepoint ? targets_.tracepoints : targets_.syscalls;
        const auto &others = is_tracepoint ? targets_.syscalls : targets_.tracepoints;
        probe.header.kind = is_tracepoint ? ARGTRACE_KIND_TRACEPOINT : ARGTRACE_KIND_SYSCALL;
        if (!one_in(12))
            probe.header.addr = own[random(own.size())] + (one_in(12) ? random(32) : 0);
        else if (one_in(2))
            probe.header.addr = others[random(others.size())];
    }
    if (one_in(20)) {
        // Most of these are right.
        probe.header.kind = ARGTRACE_KIND_TIMER;
        const std::uint64_t event = one_in(8) ? random(4) : std::uint64_t{ARGTRACE_TIMER_CPU_CLOCK};
        probe.header.addr = ARGTRACE_TIMER(event, one_in(20) ? random_() : random(2000), random(one_in(20) ? 5 : 2));
    }
    if (one_in(16)) {
        // Nobody executes the files that user_file() numbers: a breakpoint within an instruction would break a program.
        probe.header.kind = ARGTRACE_KIND_USER;
        probe.header.addr = ARGTRACE_USER_PLACE(random(one_in(20) ? 100 : 4), one_in(20) ? random_() : random(std::size_t{64} << 10));
        // Nothing returns there either.
        if (one_in(4))
            probe.header.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0) | (one_in(2) ? ARGTRACE_PROBE_NEVER_RETURNS : 0) |
                                 (one_in(4) ? ARGTRACE_PROBE_LOOPS : 0) | (one_in(4) ? ARGTRACE_PROBE_GOROUTINES : 0);
    }
    if (one_in(50))
        probe.header.program = static_cast<std::uint16_t>(random_());
    return probe;
}

std::vector<std::byte> IoctlFuzzer::probes(std::uint32_t *count, bool on_load) {
    std::vector<std::byte> bytes;
    *count = static_cast<std::uint32_t>(one_in(20) ? 1 + random(150) : 1 + random(3));
    for (std::uint32_t i = 0; i < *count; i++) {
        RawProbe one = probe();
        if (on_load && !one_in(20))
            one.header.addr = 0;
        const std::vector<std::byte> more = one.bytes();
        bytes.insert(bytes.end(), more.begin(), more.end());
    }
    if (one_in(8)) {
        for (std::uint64_t i = random(4); i; i--)
            bytes[random(bytes.size())] ^= static_cast<std::byte>(1 << random(8));
    }
    return bytes;
}

void IoctlFuzzer::add() {
    argtrace_probe_add add{};
    const std::vector<std::byte> bytes = probes(&add.count, false);
    add.length = bytes.size();
    // The shared memory may be changing while it is read.
    const std::size_t room = FuzzMemory::size / 2;
    auto *at = memory_.begin() + room;
    if (one_in(2) && bytes.size() <= room) {
        if (one_in(8))
            at = memory_.end() - bytes.size();
        memcpy(at, bytes.data(), bytes.size());
        add.probes = reinterpret_cast<std::uintptr_t>(at);
    } else {
        add.probes = reinterpret_cast<std::uintptr_t>(bytes.data());
    }
    if (one_in(15))
        add.count = one_of<std::uint32_t>({0, add.count + 1, add.count - 1, 1u << 18, 1u << 19});
    if (one_in(15))
        add.length = one_of<std::uint64_t>({0, add.length - 8, add.length + 8, ~0ull});
    call("PROBE_ADD", ARGTRACE_IOC_PROBE_ADD, add, {EEXIST, ENOSPC, ENOENT, EOPNOTSUPP});
}

void IoctlFuzzer::remove() {
    std::vector<std::uint64_t> addrs(1 + random(4));
    for (std::uint64_t &addr : addrs)
        addr = address();
    argtrace_probe_remove remove{};
    remove.addrs = reinterpret_cast<std::uintptr_t>(addrs.data());
    remove.count = static_cast<std::uint32_t>(addrs.size());
    if (one_in(3))
        remove = {0, ARGTRACE_REMOVE_ALL, 0, 0, 0, 0, {}};
    if (one_in(3))
        remove.kind = static_cast<std::uint16_t>(random(6));
    if (one_in(15))
        remove.count = one_of<std::uint32_t>({0, 1u << 18, 1u << 19, 1000});
    call("PROBE_REMOVE", ARGTRACE_IOC_PROBE_REMOVE, remove, {ENOENT});
}

void IoctlFuzzer::list() {
    argtrace_list list{};
    list.flags = static_cast<std::uint32_t>(random(2));
    list.buffer = buffer(&list.length);
    list.first = static_cast<std::uint32_t>(one_in(3) ? random(20) : 0);
    if (one_in(20))
        list.first = static_cast<std::uint32_t>(random_());
    if (one_in(2))
        call("PROBE_LIST", ARGTRACE_IOC_PROBE_LIST, list, {});
    else if (one_in(3))
        call("RETURN_COUNTS", ARGTRACE_IOC_RETURN_COUNTS, list, {});
    else
        call("COUNTS", ARGTRACE_IOC_COUNTS, list, {});
}

void IoctlFuzzer::in_flight() {
    argtrace_in_flight list{};
    list.buffer = buffer(&list.length);
    call("IN_FLIGHT", ARGTRACE_IOC_IN_FLIGHT, list, {});
}

void IoctlFuzzer::reader() {
    argtrace_reader reader{};
    reader.flags = static_cast<std::uint32_t>(random(4));
    call("READER", ARGTRACE_IOC_READER, reader, {EBUSY});
}

void IoctlFuzzer::on_load() {
    argtrace_on_load on_load{};
    const std::vector<std::byte> bytes = probes(&on_load.count, true);
    on_load.probes = reinterpret_cast<std::uintptr_t>(bytes.data());
    on_load.length = bytes.size();
    set_module(on_load.module);
    if (one_in(4))
        strcpy(on_load.srcversion, "0123456789ABCDEF");
    call("ON_LOAD", ARGTRACE_IOC_ON_LOAD, on_load, {EEXIST, ENOSPC, ENOENT});
}

void IoctlFuzzer::on_load_remove() {
    argtrace_on_load_remove remove{};
    if (one_in(2))
        remove.flags = ARGTRACE_REMOVE_ALL;
    else
        set_module(remove.module);
    call("ON_LOAD_REMOVE", ARGTRACE_IOC_ON_LOAD_REMOVE, remove, {ENOENT});
}

void IoctlFuzzer::on_load_list() {
    argtrace_list list{};
    list.buffer = buffer(&list.length);
    list.first = static_cast<std::uint32_t>(random(4));
    call("ON_LOAD_LIST", ARGTRACE_IOC_ON_LOAD_LIST, list, {});
}

void IoctlFuzzer::symbol() {
    argtrace_symbol symbol{};
    symbol.addr = address();
    memset(symbol.text, 'x', sizeof(symbol.text)); // not terminated
    call("SYMBOL", ARGTRACE_IOC_SYMBOL, symbol, {});
}

void IoctlFuzzer::user_file() {
    argtrace_user_file file{};
    const int program = open("/root/user_functions", one_in(10) ? O_PATH : O_RDONLY);
    file.fd = one_in(12) ? static_cast<int>(random_()) : one_in(2) ? program : scratch_;
    if (one_in(3))
        file.semaphore = one_in(8) ? random_() : random_() % 0x10000;
    call("USER_FILE", ARGTRACE_IOC_USER_FILE, file, {ENOSPC, ENOENT, EOPNOTSUPP});
    if (program >= 0)
        close(program);
}

void IoctlFuzzer::unknown_ioctl() {
    const unsigned long request =
        one_of<unsigned long>({_IOWR(ARGTRACE_IOC_MAGIC, 200, __u32),
                               _IOWR(ARGTRACE_IOC_MAGIC, random(256), __u64), random_()});
    if (ioctl(fd(), request, memory_.begin()) != 0)
        check("an unknown ioctl", errno, {ENOTTY, EINVAL, EFAULT, EPERM, EOPNOTSUPP, EBADFD});
}

void IoctlFuzzer::map() {
    if (maps_.size() >= most_maps)
        drop_map();
    const std::uint64_t region = one_in(12)  ? random(16)
                                 : one_in(3) ? ARGTRACE_MMAP_MAP + random(3)
                                 : one_in(4) ? ARGTRACE_MMAP_STACKS
                                             : random(2);
    std::uint64_t offset = ARGTRACE_MMAP_OFFSET(random(cpu_count() + 1), region);
    std::size_t size =
        region == ARGTRACE_MMAP_READER ? page_size : one_of<std::size_t>({3, 5, 9, 17}) * page_size;
    int protection = region == ARGTRACE_MMAP_READER ? PROT_READ | PROT_WRITE : PROT_READ;
    int flags = MAP_SHARED;
    if (one_in(12))
        offset =
            one_of<std::uint64_t>({offset + page_size, random_() & ~(page_size - 1), 1ull << 62});
    if (one_in(10))
        size = one_of<std::size_t>({page_size, 2 * page_size, 1 << 20, 1 << 24});
    if (one_in(10))
        protection = static_cast<int>(random(8));
    if (one_in(12))
        flags = MAP_PRIVATE;
    void *at = mmap(nullptr, size, protection, flags, fd(), static_cast<off_t>(offset));
    if (at == MAP_FAILED) {
        check("mmap", errno, {EBADFD, EINVAL, ENXIO, EPERM, EACCES, ENOMEM, EOVERFLOW});
        return;
    }
    check("mmap", 0, {});
    maps_.push_back({static_cast<unsigned char *>(at), size, (protection & PROT_WRITE) != 0});
}

/// Writes through the kernel, which returns EFAULT where we would get a signal.
void IoctlFuzzer::use_map() {
    if (maps_.empty())
        return map();
    Map &map = maps_[random(maps_.size())];
    const std::size_t size = std::min<std::size_t>(map.size, 1 << 20);
    [[maybe_unused]] ssize_t n;
    std::uint64_t tail = 0;
    switch (random(9)) {
    case 0:
    case 1:
        n = pwrite(scratch_, map.at, size, 0);
        break;
    case 2: // a tail: one that is in the ring, near it, or anything
        n = pread(scratch_, &tail, 8, 0);
        tail = one_in(3) ? random_() : tail + one_of<std::uint64_t>({0, 4096, -4096ull, 64});
        n = pwrite(scratch_, &tail, 8, 8192);
        n = pread(scratch_, map.at, 8, 8192);
        break;
    case 3:
        n = pread(scratch_, map.at, size, static_cast<off_t>(random(4096)));
        break;
    case 4:
        mprotect(map.at, map.size, static_cast<int>(random(8)));
        break;
    case 5: {
        void *moved = mremap(map.at, map.size, map.size * (1 + random(2)), MREMAP_MAYMOVE);
        if (moved != MAP_FAILED) // the same size, since it cannot grow
            map.at = static_cast<unsigned char *>(moved);
        break;
    }
    case 6:
        madvise(map.at, map.size,
                one_of({MADV_DONTNEED, MADV_DOFORK, MADV_DONTFORK, MADV_WILLNEED, MADV_FREE,
                        MADV_COLD, MADV_PAGEOUT, MADV_POPULATE_READ, MADV_POPULATE_WRITE}));
        break;
    case 7:
        mlock(map.at, size);
        break;
    case 8: { // unmap the beginning, or the end
        if (map.size <= page_size)
            break;
        munmap(one_in(2) ? map.at : map.at + map.size - page_size, page_size);
        break;
    }
    }
}

void IoctlFuzzer::drop_map() {
    if (maps_.empty())
        return;
    const std::size_t which = random(maps_.size());
    munmap(maps_[which].at, maps_[which].size);
    maps_.erase(maps_.begin() + static_cast<std::ptrdiff_t>(which));
}

void IoctlFuzzer::poll_file() {
    pollfd wanted[2] = {{fd(), static_cast<short>(random_()), 0}, {fd(), POLLIN, 0}};
    poll(wanted, 2, static_cast<int>(random(4)));
}

void IoctlFuzzer::poll_by_epoll() {
    const int poller = epoll_create1(EPOLL_CLOEXEC);
    const std::size_t chosen = slot();
    epoll_event event{};
    event.events = one_of<std::uint32_t>({EPOLLIN, EPOLLIN | EPOLLET, EPOLLIN | EPOLLONESHOT});
    epoll_ctl(poller, EPOLL_CTL_ADD, files_.fds[chosen], &event);
    epoll_ctl(poller, EPOLL_CTL_ADD, fd(), &event);
    epoll_wait(poller, &event, 1, static_cast<int>(random(4)));
    if (one_in(3)) {
        const int fd = files_.fds[chosen].exchange(-1);
        if (fd >= 0)
            close(fd);
    }
    close(poller);
}

/// A child inherits the files and perhaps the mappings, goes on for a while, and may be killed
/// meanwhile.
void IoctlFuzzer::fork_child() {
    if (is_child_)
        return;
    const std::uint64_t steps = 1 + random(6), patience = random(20000);
    const bool is_killed = one_in(3);
    const pid_t pid = fork();
    if (pid < 0)
        return;
    if (pid == 0) {
        is_child_ = true;
        random_.seed(random_() + 1);
        alone_ = false;
        for (std::uint64_t i = 0; i < steps; i++)
            step();
        _exit(fault_.empty() ? 0 : 1);
    }
    if (is_killed) {
        usleep(static_cast<useconds_t>(patience));
        kill(pid, SIGKILL);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    if (fault_.empty() && status != 0 && !(is_killed && status == SIGKILL))
        fault_ = "a child ended with the status " + std::to_string(status);
}

/// Passes a file through a socket and back, or leaves it there for the kernel to clean up.
void IoctlFuzzer::hand_over() {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair))
        return;
    const int file = fd();
    char byte = 0;
    iovec part = {&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &file, sizeof(int));
    if (sendmsg(pair[0], &message, 0) == 1) {
        if (one_in(2))
            close_file();
        memset(control, 0, sizeof(control));
        header = nullptr;
        if (!one_in(3) && recvmsg(pair[1], &message, MSG_CMSG_CLOEXEC) == 1)
            header = CMSG_FIRSTHDR(&message);
        if (header && header->cmsg_type == SCM_RIGHTS) {
            int received = -1;
            memcpy(&received, CMSG_DATA(header), sizeof(int));
            keep(received);
        }
    }
    close(pair[0]);
    close(pair[1]);
}

void IoctlFuzzer::other_calls() {
    const int file = fd();
    [[maybe_unused]] ssize_t n;
    switch (random(8)) {
    case 0:
        n = read(file, memory_.begin(), 100);
        break;
    case 1:
        n = write(file, memory_.begin(), 100);
        break;
    case 2:
        lseek(file, static_cast<off_t>(random_()), SEEK_SET);
        break;
    case 3:
        fcntl(file, F_SETFL, O_ASYNC | O_NONBLOCK);
        break;
    case 4:
        n = ftruncate(file, 0);
        break;
    case 5:
        fsync(file);
        break;
    case 6:
        n = pread(file, memory_.begin(), 100, 5);
        break;
    case 7:
        n = splice(file, nullptr, scratch_, nullptr, 100, SPLICE_F_NONBLOCK);
        break;
    }
}

void IoctlFuzzer::call_functions() {
    static const char directory[] = "/sys/kernel/debug/argtrace_";
    const struct {
        const char *file, *text;
    } choices[] = {{"test/burst", "200"},
                   {"test/run", "2"},
                   {"test/awkward", "3"},
                   {"test/storm", "100"},
                   {"load/run", "30 200000 2 10 2"}};
    const auto &[file, text] = choices[random(std::size(choices))];
    const int fd = open((std::string(directory) + file).c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    [[maybe_unused]] const ssize_t n = write(fd, text, strlen(text));
    close(fd);
}

void IoctlFuzzer::change_modules() {
    if (module_is_loaded("argtrace_onload"))
        unload_module("argtrace_onload");
    else
        load_module("/root/argtrace_onload.ko");
    // Files are open more often than not; if the module is unloaded, it is loaded again.
    if (one_in(3) && unload_module("argtrace") == 0)
        load_module(argtrace_module());
}

} // namespace vmtest
