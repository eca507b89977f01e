// SPDX-License-Identifier: GPL-2.0-only
// Everything the module is for, at random, from several processes at once: no more is asked than
// that nobody is refused what must be granted, and that the kernel stays well.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <memory>

#include "crowd.h"
#include "device.h"
#include "machine.h"
#include "options.h"

namespace vmtest {
namespace {

constexpr std::uint32_t kPacketSize = 4096;
constexpr std::uint32_t kPackets = 4;
const std::vector<std::string> kSessions = {"stress-a", "stress-b", ""};

enum Kind { kAdd, kRemove, kRemoveAll, kTrace, kCounts, kSessionRemove, kCall, kUnload, kLoad, kHelper };
const std::vector<std::string> kKinds = {"add",   "remove",         "remove all", "trace",
                                         "counts", "session remove", "call",       "rmmod",
                                         "insmod", "traced rmmod"};

class Actor {
public:
    Actor(std::uint64_t seed, Tally &tally, const std::vector<std::uint64_t> &targets)
        : random_(seed), tally_(tally), targets_(targets) {}

    void step() {
        static constexpr struct {
            unsigned weight;
            void (Actor::*step)();
        } steps[] = {{6, &Actor::add},    {2, &Actor::remove},         {1, &Actor::remove_all},
                     {3, &Actor::trace},  {2, &Actor::counts},         {1, &Actor::session_remove},
                     {3, &Actor::call},   {1, &Actor::unload_and_load}, {1, &Actor::helper_goes}};
        (this->*weighted(random_, steps))();
    }

private:
    /// Bound to a session, or none while the module is away.
    std::unique_ptr<RawDevice> attached() {
        const int fd = open(ARGTRACE_DEVICE, O_RDWR | O_CLOEXEC);
        if (fd < 0) {
            EXPECT_TRUE(errno == ENOENT || errno == ENODEV || errno == ENXIO) << errno;
            return nullptr;
        }
        auto device = std::make_unique<RawDevice>(fd);
        EXPECT_EQ(device->session(random_.pick(kSessions), kPacketSize, kPackets), 0);
        return device;
    }

    void add() {
        const auto device = attached();
        if (!device)
            return tally_.add(kAdd, false);
        std::vector<std::byte> probes;
        std::uint32_t count = 1 + static_cast<std::uint32_t>(random_.below(4));
        for (std::uint32_t i = 0; i < count; i++)
            probes = probes + RawProbe::words(random_.pick(targets_),
                                              static_cast<unsigned>(random_.below(5)))
                                  .bytes();
        const int error = device->add(probes, count);
        // Twice in the list or in the session; of a module that is away; of a session that is removed.
        EXPECT_TRUE(error == 0 || error == EEXIST || error == EINVAL || error == ENOENT) << error;
        tally_.add(kAdd, error == 0);
        if (error == 0 && random_.one_in(2))
            call();
    }

    void remove() {
        const auto device = attached();
        if (!device)
            return tally_.add(kRemove, false);
        const int error = device->remove({random_.pick(targets_)});
        EXPECT_TRUE(error == 0 || error == ENOENT) << error;
        tally_.add(kRemove, error == 0);
    }

    void remove_all() {
        const auto device = attached();
        if (device) {
            EXPECT_EQ(device->remove_all(), 0);
        }
        tally_.add(kRemoveAll, device != nullptr);
    }

    void trace() {
        const auto device = attached();
        if (!device)
            return tally_.add(kTrace, false);
        const int error = device->reader(random_.one_in(2) ? ARGTRACE_READER_EXCLUDE_SELF : 0);
        EXPECT_TRUE(error == 0 || error == EBUSY) << error;
        if (error == 0) {
            device->add(RawProbe::words(random_.pick(targets_), 4).bytes(), 1);
            RawRing ring(*device, static_cast<unsigned>(random_.below(2)), kPacketSize, kPackets);
            for (int i = 0; i < 5; i++) {
                call();
                ring.drain();
            }
            // The next one's business.
            if (random_.one_in(4))
                ring.reader()->tail = random_();
        }
        tally_.add(kTrace, error == 0);
    }

    void counts() {
        const auto device = attached();
        if (device) {
            for (const argtrace_counts &counts : device->counts(ARGTRACE_LIST_REMOVED))
                EXPECT_GT(counts.id, 0u);
            device->fingerprint();
        }
        tally_.add(kCounts, device != nullptr);
    }

    void session_remove() {
        const int fd = open(ARGTRACE_DEVICE, O_RDWR | O_CLOEXEC);
        if (fd < 0)
            return tally_.add(kSessionRemove, false);
        argtrace_session_remove remove{};
        remove.size = sizeof(remove);
        random_.pick(kSessions).copy(remove.name, sizeof(remove.name) - 1);
        const int error = RawDevice(fd).call(ARGTRACE_IOC_SESSION_REMOVE, &remove);
        EXPECT_TRUE(error == 0 || error == ENOENT || (error == EINVAL && !remove.name[0])) << error;
        tally_.add(kSessionRemove, error == 0);
    }

    void call() {
        static const char *const files[] = {"run", "awkward", "burst"};
        std::ofstream out(std::string("/sys/kernel/debug/argtrace_test/") + random_.pick(files));
        out << 1 + random_.below(20) << std::flush;
        tally_.add(kCall, out.good());
    }

    void unload_and_load() {
        const int error = unload_module("argtrace");
        // In use, gone already, or going.
        EXPECT_TRUE(error == 0 || error == EAGAIN || error == ENOENT || error == EBUSY) << error;
        tally_.add(kUnload, error == 0);
        load("argtrace");
    }

    void helper_goes() {
        const int error = unload_module("argtrace_test");
        tally_.add(kHelper, error == 0);
        load("argtrace_test");
    }

    void load(const std::string &module) {
        const int error = load_module(module_path(module));
        EXPECT_TRUE(error == 0 || error == EEXIST || error == EBUSY) << module << ": " << error;
        tally_.add(kLoad, error == 0);
    }

    Random random_;
    Tally &tally_;
    const std::vector<std::uint64_t> &targets_;
};

TEST(Stress, many_processes_at_random) {
    need_argtrace();
    need_test_module();
    const std::vector<std::uint64_t> targets = target_addresses();
    Tally tally(kKinds);
    {
        Child load(hammer_vfs_read);
        run_processes(4, [&](unsigned number) {
            Actor actor(stress_options.seed * 1000 + number, tally, targets);
            for (unsigned step = 0; step < stress_options.steps; step++)
                actor.step();
        });
    }
    need_test_module();
    expect_nothing_left(kSessions);
    tally.print();
    tally.expect_all_granted();
}

} // namespace
} // namespace vmtest
