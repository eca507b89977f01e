// SPDX-License-Identifier: GPL-2.0-only
// Random calls of /dev/argtrace: ioctls whose structs are right, nearly right or rubbish, in memory that
// is there, half there or changing; mmaps, polls, closes; from several processes of several
// threads that share their files. Nothing is asked of the answers: the kernel must stay well, and
// nothing may be left behind.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>

#include "crowd.h"
#include "device.h"
#include "machine.h"
#include "options.h"

namespace vmtest {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kArena = 16 * kPage;
const std::vector<std::string> kSessions = {"fuzz-a", "fuzz-b", ""};

enum Kind {
    kOpen, kClose, kInfo, kSession, kSessionRemove, kAdd, kRemove, kList, kReader, kMap, kTouch,
    kPoll, kOther
};
const std::vector<std::string> kKinds = {"open", "close",  "info", "session", "session remove",
                                         "add",  "remove", "list", "reader",  "mmap",
                                         "touch", "poll",  "other"};

/// Files and memory that the threads of a process share.
struct Shared {
    std::array<std::atomic<int>, 6> files{};
    std::array<unsigned char *, 2> arenas{};
};

/// A thread.
class Fuzzer {
public:
    Fuzzer(std::uint64_t seed, Shared &shared, Tally &tally,
           const std::vector<std::uint64_t> &targets)
        : random_(seed), shared_(shared), tally_(tally), targets_(targets) {}

    ~Fuzzer() {
        for (const Mapping &mapping : mappings_)
            munmap(mapping.at, mapping.size);
    }

    void step() {
        static constexpr struct {
            unsigned weight;
            void (Fuzzer::*step)();
        } steps[] = {{2, &Fuzzer::open_one}, {1, &Fuzzer::close_one},      {1, &Fuzzer::info},
                     {3, &Fuzzer::session},  {1, &Fuzzer::session_remove}, {5, &Fuzzer::add},
                     {2, &Fuzzer::remove},   {2, &Fuzzer::list},           {1, &Fuzzer::reader},
                     {3, &Fuzzer::map},      {3, &Fuzzer::touch},          {2, &Fuzzer::poll_one},
                     {2, &Fuzzer::other}};
        (this->*weighted(random_, steps))();
    }

private:
    struct Mapping {
        unsigned char *at;
        std::size_t size;
        bool writable;
    };

    int file() { return random_.pick(shared_.files).load(); }

    void open_one() {
        const int fd = open(ARGTRACE_DEVICE, O_RDWR | O_CLOEXEC | (random_.one_in(2) ? O_NONBLOCK : 0));
        tally_.add(kOpen, fd >= 0);
        const int old = random_.pick(shared_.files).exchange(fd);
        if (old >= 0)
            close(old);
    }

    void close_one() {
        const int old = random_.pick(shared_.files).exchange(-1);
        tally_.add(kClose, old >= 0 && close(old) == 0);
    }

    /// Values at which things change.
    std::uint64_t edge() {
        static const std::uint64_t edges[] = {
            0, 1, 2, 7, 8, 64, 4095, 4096, 65536, 1u << 20, 0x7fffffff, 0x80000000, 0xffffffff,
            0x100000000, 0x7fffffffffffffff, 0x8000000000000000, ~std::uint64_t{0}};
        return random_.pick(edges) + (random_.one_in(3) ? random_.below(17) - 8 : 0);
    }

    std::uint64_t number(std::uint64_t sane) { return random_.one_in(8) ? edge() : random_.below(sane); }

    /// Where the arguments are put: in an arena that both threads write to, seldom so that they
    /// end where no memory is.
    unsigned char *place(std::size_t size) {
        unsigned char *arena = random_.pick(shared_.arenas);
        if (random_.one_in(6))
            return arena + kArena - (random_.one_in(2) ? size : random_.below(size + 1));
        return arena + random_.below(kArena - size) / 8 * 8;
    }

    /// Copies what fits before the end of the memory.
    unsigned char *put(const void *data, std::size_t size) {
        unsigned char *at = place(size);
        for (unsigned char *arena : shared_.arenas) {
            if (at >= arena && at < arena + kArena)
                memcpy(at, data, std::min<std::size_t>(size, arena + kArena - at));
        }
        return at;
    }

    void spoil(void *data, std::size_t size, unsigned seldom) {
        if (size == 0 || !random_.one_in(seldom))
            return;
        auto *bytes = static_cast<unsigned char *>(data);
        for (std::uint64_t i = 1 + random_.below(4); i; i--) {
            if (random_.one_in(2)) {
                bytes[random_.below(size)] ^= static_cast<unsigned char>(1u << random_.below(8));
            } else if (size >= 8) {
                const std::uint64_t value = edge();
                memcpy(bytes + random_.below(size - 7) / 4 * 4, &value, random_.one_in(2) ? 4 : 8);
            }
        }
    }

    template <typename T> bool call(unsigned long request, T &arg) {
        spoil(&arg, sizeof(arg), 4);
        void *at = put(&arg, sizeof(arg));
        if (random_.one_in(50))
            at = reinterpret_cast<void *>(edge());
        return ioctl(file(), request, at) == 0;
    }

    void info() {
        argtrace_info info{};
        info.size = sizeof(info);
        tally_.add(kInfo, call(ARGTRACE_IOC_INFO, info));
    }

    void session() {
        argtrace_session_attr attr{};
        attr.size = sizeof(attr);
        const std::string &name = random_.pick(kSessions);
        name.copy(attr.name, sizeof(attr.name) - 1);
        attr.flags = name.empty() || random_.one_in(4) ? 0 : ARGTRACE_SESSION_CREATE;
        attr.format = static_cast<std::uint32_t>(random_.below(4));
        attr.packet_size = 4096u << random_.below(2);
        attr.nr_packets = 2u << random_.below(3);
        tally_.add(kSession, call(ARGTRACE_IOC_SESSION, attr));
    }

    void session_remove() {
        argtrace_session_remove remove{};
        remove.size = sizeof(remove);
        random_.pick(kSessions).copy(remove.name, sizeof(remove.name) - 1);
        tally_.add(kSessionRemove, call(ARGTRACE_IOC_SESSION_REMOVE, remove));
    }

    std::uint64_t address() {
        const std::uint64_t target = random_.pick(targets_);
        switch (random_.below(12)) {
        case 0: return target + random_.below(32);
        case 1: return edge();
        case 2: return target ^ std::uint64_t{1} << random_.below(64);
        default: return target;
        }
    }

    argtrace_arg argument(RawProbe &probe) {
        static const struct {
            std::uint8_t type;
            std::uint32_t size;
        } types[] = {{ARGTRACE_TYPE_U8, 1},   {ARGTRACE_TYPE_S16, 2}, {ARGTRACE_TYPE_U32, 4},
                     {ARGTRACE_TYPE_S64, 8},  {ARGTRACE_TYPE_PTR, 8}, {ARGTRACE_TYPE_CHAR, 1},
                     {ARGTRACE_TYPE_U128, 16}};
        argtrace_arg arg{};
        const auto &type = random_.pick(types);
        arg.type = type.type;
        arg.size = type.size;
        arg.loc = random_.one_in(3) ? ARGTRACE_LOC_STACK
                  : type.size == 16 ? ARGTRACE_LOC_REG_PAIR
                                    : ARGTRACE_LOC_REG;
        if (arg.loc == ARGTRACE_LOC_STACK)
            arg.offset = static_cast<std::uint32_t>(8 + random_.below(200) * 8);
        else
            arg.index = static_cast<std::uint8_t>(random_.below(5));
        if (random_.one_in(4)) {
            arg.type = ARGTRACE_TYPE_BYTES;
            arg.size = static_cast<std::uint32_t>(arg.loc == ARGTRACE_LOC_REG        ? 1 + random_.below(8)
                                                  : arg.loc == ARGTRACE_LOC_REG_PAIR ? 9 + random_.below(8)
                                                                                     : 1 + random_.below(400));
        }
        arg.name = static_cast<std::uint16_t>(probe.strings.size());
        probe.strings += "argument" + std::to_string(random_.below(100)) + '\0';
        arg.type_name = static_cast<std::uint16_t>(probe.strings.size());
        probe.strings += std::string("type") + '\0';
        return arg;
    }

    std::vector<std::byte> probe() {
        RawProbe probe;
        probe.header.addr = address();
        probe.strings = std::string("fuzzed") + '\0';
        for (std::uint64_t i = random_.below(7); i; i--)
            probe.args.push_back(argument(probe));
        probe.seal();
        spoil(&probe.header, sizeof(probe.header), 12);
        if (!probe.args.empty())
            spoil(probe.args.data(), probe.args.size() * sizeof(argtrace_arg), 12);
        spoil(probe.strings.data(), probe.strings.size(), 20);
        return probe.bytes();
    }

    void add() {
        std::vector<std::byte> probes;
        argtrace_probe_add add{};
        add.size = sizeof(add);
        add.count = 1 + static_cast<std::uint32_t>(random_.below(3));
        for (std::uint32_t i = 0; i < add.count; i++)
            probes = probes + probe();
        add.length = probes.size();
        add.probes = reinterpret_cast<std::uintptr_t>(put(probes.data(), probes.size()));
        tally_.add(kAdd, call(ARGTRACE_IOC_PROBE_ADD, add));
    }

    void remove() {
        std::array<std::uint64_t, 3> addrs{};
        for (std::uint64_t &addr : addrs)
            addr = address();
        argtrace_probe_remove remove{};
        remove.size = sizeof(remove);
        if (random_.one_in(3)) {
            remove.flags = ARGTRACE_REMOVE_ALL;
        } else {
            remove.count = 1 + static_cast<std::uint32_t>(random_.below(2));
            remove.addrs = reinterpret_cast<std::uintptr_t>(put(addrs.data(), sizeof(addrs)));
        }
        tally_.add(kRemove, call(ARGTRACE_IOC_PROBE_REMOVE, remove));
    }

    void list() {
        argtrace_list list{};
        list.size = sizeof(list);
        list.flags = random_.one_in(2) ? ARGTRACE_LIST_REMOVED : 0;
        list.first = static_cast<std::uint32_t>(number(20));
        list.length = number(kArena);
        list.buffer = reinterpret_cast<std::uintptr_t>(random_.pick(shared_.arenas));
        tally_.add(kList, call(random_.one_in(2) ? ARGTRACE_IOC_PROBE_LIST : ARGTRACE_IOC_COUNTS, list));
    }

    void reader() {
        argtrace_reader reader{sizeof(reader), static_cast<std::uint32_t>(random_.below(2))};
        tally_.add(kReader, call(ARGTRACE_IOC_READER, reader));
    }

    void map() {
        if (mappings_.size() >= 6) {
            const std::size_t index = random_.below(mappings_.size());
            munmap(mappings_[index].at, mappings_[index].size);
            mappings_.erase(mappings_.begin() + static_cast<std::ptrdiff_t>(index));
        }
        const bool reader = random_.one_in(2);
        const std::uint64_t cpu = number(4);
        std::uint64_t offset = ARGTRACE_MMAP_OFFSET(
            cpu, reader ? ARGTRACE_MMAP_READER : ARGTRACE_MMAP_PACKETS);
        if (random_.one_in(10))
            offset += kPage * random_.below(4);
        std::size_t size = kPage;
        if (!reader)
            size += random_.below(5) * kPage;
        if (random_.one_in(10))
            size = kPage * (1 + random_.below(100));
        int protection = reader ? PROT_READ | PROT_WRITE : PROT_READ;
        if (random_.one_in(8))
            protection = static_cast<int>(random_.below(8));
        const int flags = random_.one_in(12) ? MAP_PRIVATE : MAP_SHARED;
        void *at = mmap(nullptr, size, protection, flags, file(), static_cast<off_t>(offset));
        tally_.add(kMap, at != MAP_FAILED);
        if (at == MAP_FAILED)
            return;
        if (random_.one_in(6))
            mprotect(at, size, static_cast<int>(random_.below(8)) | PROT_READ);
        if (random_.one_in(10))
            madvise(at, size, random_.one_in(2) ? MADV_DONTNEED : MADV_DOFORK);
        const bool writable = (protection & PROT_WRITE) && mprotect(at, size, PROT_READ | PROT_WRITE) == 0;
        mprotect(at, size, writable ? PROT_READ | PROT_WRITE : PROT_READ);
        mappings_.push_back({static_cast<unsigned char *>(at), size, writable});
    }

    /// Reads all of a mapping, and writes rubbish where it may: in the tail first of all.
    void touch() {
        if (mappings_.empty())
            return tally_.add(kTouch, false);
        const Mapping &mapping = random_.pick(mappings_);
        unsigned sum = 0;
        for (std::size_t i = 0; i < mapping.size; i += 256)
            sum += const_cast<volatile unsigned char *>(mapping.at)[i];
        if (mapping.writable) {
            auto *words = reinterpret_cast<volatile std::uint64_t *>(mapping.at);
            words[0] = random_.one_in(2) ? edge() : words[0] + random_.below(32768) - 16384;
            words[random_.below(512)] = random_();
        }
        sink_ = sum;
        tally_.add(kTouch, true);
    }

    void poll_one() {
        pollfd wanted{file(), POLLIN, 0};
        tally_.add(kPoll, poll(&wanted, 1, random_.one_in(10) ? 1 : 0) >= 0);
        if (random_.one_in(3)) {
            const int poller = epoll_create1(EPOLL_CLOEXEC);
            epoll_event event{};
            event.events = EPOLLIN | (random_.one_in(2) ? EPOLLET : 0u);
            epoll_ctl(poller, EPOLL_CTL_ADD, file(), &event);
            epoll_wait(poller, &event, 1, 0);
            close(poller);
        }
    }

    /// What the device does not offer, and any ioctl at all with any argument.
    void other() {
        std::array<unsigned char, 256> bytes;
        for (unsigned char &byte : bytes)
            byte = static_cast<unsigned char>(random_());
        switch (random_.below(6)) {
        case 0: return tally_.add(kOther, read(file(), bytes.data(), bytes.size()) >= 0);
        case 1: return tally_.add(kOther, write(file(), bytes.data(), bytes.size()) >= 0);
        case 2: return tally_.add(kOther, lseek(file(), static_cast<off_t>(edge()), SEEK_SET) >= 0);
        case 3: {
            const int fd = dup(file());
            if (fd >= 0)
                close(fd);
            return tally_.add(kOther, fd >= 0);
        }
        default: {
            const std::uint32_t size = static_cast<std::uint32_t>(number(300));
            memcpy(bytes.data(), &size, sizeof(size));
            const unsigned long request = random_.one_in(4)
                ? random_() & 0xffffffff
                : static_cast<unsigned long>(_IOWR(ARGTRACE_IOC_MAGIC, random_.below(16), __u32));
            return tally_.add(kOther, ioctl(file(), request, put(bytes.data(), bytes.size())) == 0);
        }
        }
    }

    Random random_;
    Shared &shared_;
    Tally &tally_;
    const std::vector<std::uint64_t> &targets_;
    std::vector<Mapping> mappings_;
    volatile unsigned sink_ = 0;
};

/// Memory with a page behind it that is not there.
unsigned char *make_arena() {
    void *at = mmap(nullptr, kArena + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(at, MAP_FAILED);
    EXPECT_EQ(munmap(static_cast<unsigned char *>(at) + kArena, kPage), 0);
    return static_cast<unsigned char *>(at);
}

void fuzz(unsigned process, Tally &tally, const std::vector<std::uint64_t> &targets) {
    Shared shared;
    for (auto &file : shared.files)
        file = -1;
    for (auto &arena : shared.arenas)
        arena = make_arena();
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < 2; thread++) {
        threads.emplace_back([&, thread] {
            Fuzzer fuzzer(stress_options.seed * 10000 + process * 100 + thread, shared, tally, targets);
            for (unsigned step = 0; step < stress_options.steps; step++)
                fuzzer.step();
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    // The files are left to the end of the process.
}

TEST(Fuzz, random_calls_of_the_device) {
    need_argtrace();
    need_test_module();
    const std::vector<std::uint64_t> targets = target_addresses();
    Tally tally(kKinds);
    {
        Child load(hammer_vfs_read);
        run_processes(4, [&](unsigned process) { fuzz(process, tally, targets); });
    }
    // Random names are seldom taken, but they are: of those the module alone knows.
    EXPECT_EQ(unload_module("argtrace"), 0);
    expect_nothing_left(kSessions);
    tally.print();
    tally.expect_all_granted();
}

} // namespace
} // namespace vmtest
