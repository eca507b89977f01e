// SPDX-License-Identifier: GPL-2.0-only
// The ioctls and the life of probes in user code: what is refused, and sessions that go while processes come and go.
#include <gtest/gtest.h>

#include <cerrno>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "elf/function_list.h"
#include "elf/function_returns.h"
#include "elf/usdt_notes.h"
#include "support/architecture.h"
#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"
#include "support/raw_map.h"

namespace vmtest {
namespace {

namespace fs = std::filesystem;
const std::string traced_program = "/root/user_functions", returning_program = "/root/user_returns";

struct Found {
    std::uint64_t offset;
    argtrace::elf::FunctionReturns returns;
};

Found find(const std::string &path, const std::string &function) {
    const auto object = argtrace::elf::Object::open(argtrace::Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
    EXPECT_TRUE(object);
    for (const argtrace::elf::NamedFunction &known : argtrace::elf::list_functions(*object))
        if (known.symbol == function)
            return {known.offset, argtrace::elf::find_returns(*object, {{{known.address, known.size}}})};
    ADD_FAILURE() << function;
    return {};
}

std::uint64_t offset_of(const std::string &function) {
    return find(traced_program, function).offset;
}

class UserPlaces : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_uprobes();
    }

    /// The errno; the number in *file.
    static int number(const RawDevice &device, int fd, std::uint32_t *file = nullptr, std::uint32_t flags = 0) {
        argtrace_user_file request{};
        request.size = sizeof(request);
        request.flags = flags;
        request.fd = fd;
        const int error = device.call(ARGTRACE_IOC_USER_FILE, &request);
        if (file)
            *file = request.file;
        return error;
    }

    /// The number of a file with a semaphore.
    static int number_semaphore(const RawDevice &device, const std::string &path, std::uint64_t semaphore, std::uint32_t *file = nullptr) {
        argtrace_user_file request{};
        request.size = sizeof(request);
        request.fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        request.semaphore = semaphore;
        EXPECT_GE(request.fd, 0) << path;
        const int error = device.call(ARGTRACE_IOC_USER_FILE, &request);
        if (file)
            *file = request.file;
        close(request.fd);
        return error;
    }

    static int number_path(const RawDevice &device, const std::string &path, std::uint32_t *file = nullptr, int access = O_RDONLY) {
        const int fd = open(path.c_str(), access | O_CLOEXEC);
        EXPECT_GE(fd, 0) << path;
        const int error = number(device, fd, file);
        close(fd);
        return error;
    }

    static RawProbe probe_at(std::uint32_t file, std::uint64_t offset, unsigned words = 1) {
        RawProbe probe = RawProbe::words(ARGTRACE_USER_PLACE(file, offset), words, "u:user_functions:f");
        probe.header.kind = ARGTRACE_KIND_USER;
        return probe.seal();
    }

    /// Its filter takes that process alone. The errno.
    static int select(const RawDevice &device, pid_t pid) {
        const auto number = static_cast<std::uint32_t>(pid);
        argtrace_process_filter filter{};
        filter.size = sizeof(filter);
        filter.pids = reinterpret_cast<std::uint64_t>(&number);
        filter.count = 1;
        return device.call(ARGTRACE_IOC_PROCESSES, &filter);
    }

    /// The same, as of a function of Go.
    static RawProbe of_goroutine(RawProbe probe) {
        probe.header.flags |= ARGTRACE_PROBE_GOROUTINES;
        return probe;
    }

    /// Followed until it returns; by a uretprobe, if there are no places and it may return.
    static RawProbe returning_probe_at(std::uint32_t file, std::uint64_t offset, const argtrace::elf::FunctionReturns &returns) {
        RawProbe probe = probe_at(file, offset);
        probe.returns = returns.places;
        probe.header.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0) | ARGTRACE_PROBE_RETURNS(static_cast<std::uint32_t>(probe.returns.size())) |
                             (returns.never ? ARGTRACE_PROBE_NEVER_RETURNS : 0) | (returns.loops ? ARGTRACE_PROBE_LOOPS : 0);
        if (probe.returns.size() % 2)
            probe.returns.push_back(0);
        return probe.seal();
    }
};

TEST_F(UserPlaces, files_that_are_refused) {
    RawDevice device;
    const int fd = open(traced_program.c_str(), O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(number(device, fd), EBADFD);
    ASSERT_EQ(device.session(), 0);
    EXPECT_EQ(number(device, -1), EBADF);
    EXPECT_EQ(number(device, 1 << 20), EBADF);
    EXPECT_EQ(number(device, fd, nullptr, 1), EINVAL);
    EXPECT_EQ(number_path(device, "/tmp/written", nullptr, O_WRONLY | O_CREAT), EBADF);
    EXPECT_EQ(number_path(device, "/root"), EINVAL);
    EXPECT_EQ(number_path(device, "/dev/null"), EINVAL);
    std::uint32_t one = 0, again = 0, other = 0;
    EXPECT_EQ(number(device, fd, &one), 0);
    EXPECT_EQ(number_path(device, traced_program, &again), 0);
    EXPECT_EQ(number_path(device, "/bin/sh", &other), 0);
    EXPECT_EQ(one, 1u);
    EXPECT_EQ(again, one);
    EXPECT_EQ(other, 2u);
    close(fd);
}

TEST_F(UserPlaces, probes_that_are_refused) {
    RawDevice device;
    ASSERT_EQ(device.session(), 0);
    std::uint32_t file = 0, failed = 0;
    const std::uint64_t offset = offset_of("uf_storm");
    EXPECT_EQ(device.add(probe_at(1, offset).bytes(), 1, &failed), EOPNOTSUPP);
    EXPECT_EQ(failed, 0u);
    ASSERT_EQ(number_path(device, traced_program, &file), 0);
    EXPECT_EQ(device.add(probe_at(0, offset).bytes(), 1), EINVAL);
    EXPECT_EQ(device.add(probe_at(file, ARGTRACE_USER_OFFSET_MAX - 1).bytes(), 1), EOPNOTSUPP);
    EXPECT_EQ(device.add(probe_at(file + 1, offset).bytes(), 1), EOPNOTSUPP);
    RawProbe probe = probe_at(file, offset);
    probe.header.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(1);
    EXPECT_EQ(device.add(probe.bytes(), 1), EINVAL);
    // Places before the beginning of the file, and beyond its end; what was registered of them before has gone.
    for (const std::int32_t beyond : {INT32_MIN, INT32_MAX}) {
        probe = returning_probe_at(file, offset, {{1, beyond}, false});
        EXPECT_EQ(device.add(probe.bytes(), 1), EOPNOTSUPP);
    }
    probe = returning_probe_at(file, offset, {{1, 2}, false});
    probe.returns.pop_back();
    EXPECT_EQ(device.add(probe.bytes(), 1), EINVAL);
    probe = returning_probe_at(file, offset, {{1, 2}, false});
    probe.header.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0) | ARGTRACE_PROBE_RETURNS(1);
    EXPECT_EQ(device.add(probe.bytes(), 1), EINVAL); // what pads them is not zero
    probe = returning_probe_at(file, offset, {{1, 2}, false});
    probe.header.flags |= ARGTRACE_PROBE_NEVER_RETURNS;
    EXPECT_EQ(device.add(probe.bytes(), 1), EINVAL);
    probe = probe_at(file, offset);
    probe.args[0].loc = ARGTRACE_LOC_STACK;
    probe.args[0].index = 0;
    probe.args[0].offset = 8;
    EXPECT_EQ(device.add(probe.bytes(), 1), EINVAL);
    // All or none.
    EXPECT_EQ(device.add(probe_at(file, offset).bytes() + probe_at(file + 1, offset).bytes(), 2, &failed), EOPNOTSUPP);
    EXPECT_EQ(failed, 1u);
    EXPECT_TRUE(device.counts().empty());
    // What was refused has changed nothing: the file has its number.
    EXPECT_EQ(device.add(probe_at(file, offset).bytes(), 1), 0);
    EXPECT_EQ(device.add(probe_at(file, offset).bytes(), 1), EEXIST);
    EXPECT_EQ(run({traced_program, "short"}).status, 0);
    ASSERT_EQ(device.counts().size(), 1u);
    EXPECT_EQ(hits(device.counts()[0]), 1u);
}

// The kernel takes a semaphore for a number that it may change: it is checked like any other.
TEST_F(UserPlaces, semaphores_that_are_refused) {
    RawDevice device;
    ASSERT_EQ(device.session(), 0);
    std::uint32_t plain = 0, odd = 0, high = 0, known = 0, other = 0;
    EXPECT_EQ(number_semaphore(device, traced_program, 1, &odd), EINVAL);
    EXPECT_EQ(number_semaphore(device, traced_program, 0x1001, &odd), EINVAL);
    EXPECT_EQ(number_semaphore(device, traced_program, ARGTRACE_USER_OFFSET_MAX, &high), EINVAL);
    EXPECT_EQ(number_semaphore(device, traced_program, ~1ull, &high), EINVAL);
    ASSERT_EQ(number_path(device, traced_program, &plain), 0);
    ASSERT_EQ(number_semaphore(device, traced_program, ARGTRACE_USER_OFFSET_MAX - 2, &known), 0);
    ASSERT_EQ(number_semaphore(device, traced_program, 2, &other), 0);
    EXPECT_EQ(plain, 1u);
    EXPECT_EQ(known, 2u);
    EXPECT_EQ(other, 3u);
    // One that is in no mapping, or in code, is never raised, and the probe is as any other.
    const std::uint64_t offset = offset_of("uf_storm");
    EXPECT_EQ(device.add(probe_at(known, offset).bytes(), 1), 0);
    EXPECT_EQ(run({traced_program, "short"}).status, 0);
    ASSERT_EQ(device.counts().size(), 1u);
    EXPECT_EQ(hits(device.counts()[0]), 1u);
    // The kernel has one semaphore for a place, whoever asks for it.
    EXPECT_EQ(device.add(probe_at(other, offset).bytes(), 1), EOPNOTSUPP);
    EXPECT_EQ(device.add(probe_at(plain, offset).bytes(), 1), EOPNOTSUPP);
    ASSERT_EQ(device.remove_all(), 0);
    ASSERT_EQ(number_semaphore(device, traced_program, 2, &other), 0);
    EXPECT_EQ(device.add(probe_at(other, offset).bytes(), 1), 0);
    EXPECT_EQ(run({traced_program, "short"}).status, 0);
}

// Probes with a semaphore come and go, and so do readers, while processes that have it are killed, fork and execute.
TEST_F(UserPlaces, semaphores_come_and_go_while_processes_do) {
    const std::string program = "/root/usdt_probes";
    const auto object = argtrace::elf::Object::open(argtrace::Fd(open(program.c_str(), O_RDONLY | O_CLOEXEC)), program);
    ASSERT_TRUE(object);
    std::uint64_t offset = 0, semaphore = 0, seen = 0;
    for (const argtrace::elf::UsdtNote &note : argtrace::elf::read_usdt_notes(*object))
        if (note.name == "guarded") {
            offset = note.offset;
            semaphore = note.semaphore;
        }
    ASSERT_NE(semaphore, 0u);
    for (std::uint64_t round = rounds_until_they_meet(2, 4, 10); round; round--) {
        std::vector<std::unique_ptr<Background>> processes;
        for (unsigned i = 0; i < 2; i++)
            processes.push_back(std::make_unique<Background>(std::vector<std::string>{program, "storm"}));
        RawDevice device, beside;
        ASSERT_EQ(device.session(), 0);
        ASSERT_EQ(beside.session(), 0);
        const auto select_beside = [&](pid_t pid) { EXPECT_EQ(select(beside, pid), 0); };
        select_beside(processes[0]->pid());
        for (unsigned turn = 0; turn < 4; turn++) {
            std::uint32_t file = 0;
            ASSERT_EQ(number_semaphore(device, program, semaphore, &file), 0);
            ASSERT_EQ(device.add(probe_at(file, offset).bytes(), 1), 0);
            ASSERT_EQ(number_semaphore(beside, program, semaphore, &file), 0);
            ASSERT_EQ(beside.add(probe_at(file, offset).bytes(), 1), 0);
            select_beside(processes[(turn + 1) % 2]->pid());
            usleep(20000);
            ASSERT_EQ(device.remove_all(), 0);
            ASSERT_EQ(beside.remove_all(), 0);
        }
        for (const argtrace_counts &counts : device.counts(ARGTRACE_LIST_REMOVED))
            seen += hits(counts);
    }
    EXPECT_GT(seen, 0u);
    expect_nothing_left();
}

// A program that reads the kernel's memory where the traced process says.
TEST_F(UserPlaces, programs_must_read_user_memory) {
    RawDevice device;
    ASSERT_EQ(device.session(), 0);
    std::uint32_t file = 0;
    ASSERT_EQ(number_path(device, traced_program, &file), 0);
    const RawMap map(device, RawMap::counts(64, 1));
    SinkProgram sink(ARGTRACE_SINK_MAP, map.description().id);
    sink.behind(0, 0, 8);
    RawProbe probe = sink.probe(ARGTRACE_USER_PLACE(file, offset_of("uf_storm")));
    probe.header.kind = ARGTRACE_KIND_USER;
    EXPECT_EQ(device.add(probe.seal().bytes(), 1), EINVAL);
}

TEST_F(UserPlaces, a_file_system_can_be_unmounted_when_its_probes_have_gone) {
    const std::string folder = "/tmp/user_place";
    fs::create_directories(folder);
    ASSERT_EQ(mount("none", folder.c_str(), "tmpfs", 0, nullptr), 0);
    fs::copy_file(traced_program, folder + "/program", fs::copy_options::overwrite_existing);
    RawDevice device;
    ASSERT_EQ(device.session(), 0);
    std::uint32_t file = 0;
    ASSERT_EQ(number_path(device, folder + "/program", &file), 0);
    EXPECT_NE(umount(folder.c_str()), 0);
    const std::uint64_t place = ARGTRACE_USER_PLACE(file, offset_of("uf_storm"));
    ASSERT_EQ(device.add(probe_at(file, offset_of("uf_storm")).bytes(), 1), 0);
    EXPECT_NE(umount(folder.c_str()), 0);
    EXPECT_EQ(run({folder + "/program", "short"}).status, 0);
    EXPECT_EQ(hits(device.counts()[0]), 1u);
    argtrace_probe_remove remove{};
    remove.size = sizeof(remove);
    remove.addrs = reinterpret_cast<std::uint64_t>(&place);
    remove.count = 1;
    remove.kind = ARGTRACE_KIND_USER;
    ASSERT_EQ(device.call(ARGTRACE_IOC_PROBE_REMOVE, &remove), 0);
    EXPECT_TRUE(eventually([&] { return umount(folder.c_str()) == 0; }));
}

std::vector<std::unique_ptr<Background>> storms(unsigned count) {
    std::vector<std::unique_ptr<Background>> all;
    for (unsigned i = 0; i < count; i++)
        all.push_back(std::make_unique<Background>(std::vector<std::string>{traced_program, "storm"}));
    return all;
}

// Places come and go, and processes are killed, fork and execute, while they are hit.
TEST_F(UserPlaces, come_and_go_while_processes_do) {
    const std::uint64_t offset = offset_of("uf_storm");
    std::uint64_t seen = 0;
    for (std::uint64_t round = rounds_until_they_meet(2, 4, 10); round; round--) {
        const auto processes = storms(2);
        RawDevice device;
        ASSERT_EQ(device.session(), 0);
        std::uint32_t file = 0;
        ASSERT_EQ(number_path(device, traced_program, &file), 0);
        for (unsigned turn = 0; turn < 4; turn++) {
            ASSERT_EQ(device.add(probe_at(file, offset).bytes(), 1), 0);
            usleep(20000);
            ASSERT_EQ(device.remove_all(), 0);
            ASSERT_EQ(number_path(device, traced_program, &file), 0);
        }
        for (const argtrace_counts &counts : device.counts(ARGTRACE_LIST_REMOVED))
            seen += hits(counts);
        ASSERT_EQ(device.add(probe_at(file, offset).bytes(), 1), 0);
        // Whichever goes first.
        if (round % 2)
            device.close();
    }
    EXPECT_GT(seen, 0u);
    expect_nothing_left();
}

// The same with calls that are followed until they return, by breakpoints and by uretprobes, or until they are left: each that was entered has one
// outcome.
TEST_F(UserPlaces, follow_calls_while_processes_come_and_go) {
    const Found value = find(returning_program, "ur_value"), jump = find(returning_program, "ur_jump"), left = find(returning_program, "ur_left"),
                replaced = find(returning_program, "ur_replaced"), goroutine = find(returning_program, "ur_goroutine");
    EXPECT_FALSE(value.returns.places.empty());
    EXPECT_TRUE(jump.returns.places.empty() && !jump.returns.never);
    EXPECT_TRUE(left.returns.never);
    std::uint64_t seen = 0, abandoned = 0;
    for (std::uint64_t round = rounds_until_they_meet(2, 4, 10); round; round--) {
        std::vector<std::unique_ptr<Background>> processes;
        for (unsigned i = 0; i < 2; i++)
            processes.push_back(std::make_unique<Background>(std::vector<std::string>{returning_program, "storm", "/dev/null"}));
        RawDevice device, other;
        ASSERT_EQ(device.session(), 0);
        ASSERT_EQ(other.session(), 0);
        for (unsigned turn = 0; turn < 4; turn++) {
            std::uint32_t file = 0, others_file = 0;
            ASSERT_EQ(number_path(device, returning_program, &file), 0);
            ASSERT_EQ(number_path(other, returning_program, &others_file), 0);
            std::vector<std::byte> probes;
            for (const Found *one : {&value, &jump, &left, &replaced})
                probes = std::move(probes) + returning_probe_at(file, one->offset, one == &left && turn == 2 ? argtrace::elf::FunctionReturns() : one->returns).bytes();
            probes = std::move(probes) + of_goroutine(returning_probe_at(file, goroutine.offset, goroutine.returns)).bytes();
            ASSERT_EQ(device.add(probes, 5), 0);
            ASSERT_EQ(other.add(returning_probe_at(others_file, value.offset, {}).bytes(), 1), 0);
            usleep(30000);
            if (turn == 1)
                processes[0]->end(SIGKILL);
            ASSERT_EQ(device.remove_all(), 0);
            ASSERT_EQ(other.remove_all(), 0);
        }
        for (const argtrace_return_counts &counts : device.return_counts(ARGTRACE_LIST_REMOVED)) {
            seen += counts.counts.lost[ARGTRACE_LOST_NO_BUFFER] + counts.counts.records;
            // No call returns of `left`, the third of those that are added together.
            abandoned += counts.counts.id % 5 == 3 ? counts.counts.records : 0;
            EXPECT_EQ(counts.in_flight, 0u);
        }
        if (round % 2)
            device.close();
    }
    EXPECT_GT(seen, 0u);
    EXPECT_GT(abandoned, 0u);
    expect_nothing_left();
}

// A program decides what it has in the register of a goroutine: what that leads to is read as its own memory, or the call is not followed.
TEST_F(UserPlaces, take_what_leads_nowhere_for_no_goroutine) {
    const Found function = find(returning_program, "ur_goroutine");
    RawDevice device;
    ASSERT_EQ(device.session(), 0);
    std::uint32_t file = 0;
    ASSERT_EQ(number_path(device, returning_program, &file), 0);
    ASSERT_EQ(device.add(of_goroutine(returning_probe_at(file, function.offset, function.returns)).bytes(), 1), 0);
    ASSERT_EQ(run({returning_program, "goroutines", "/dev/null"}).status, 0);
    const argtrace_return_counts counts = device.return_counts()[0];
    EXPECT_EQ(counts.unfollowed[ARGTRACE_UNFOLLOWED_NO_GOROUTINE], 1200u);
    EXPECT_EQ(counts.counts.records, 200u);
    EXPECT_EQ(hits(counts), 1400u);
    EXPECT_EQ(counts.in_flight, 0u);
}

TEST_F(UserPlaces, of_goroutines_that_are_refused) {
    const Found function = find(returning_program, "ur_goroutine");
    RawDevice device;
    ASSERT_EQ(device.session(), 0);
    std::uint32_t file = 0;
    ASSERT_EQ(number_path(device, returning_program, &file), 0);
    // The kernel's uretprobe would end a program of Go.
    EXPECT_EQ(device.add(of_goroutine(returning_probe_at(file, function.offset, {})).bytes(), 1), EINVAL);
    RawProbe at_entry = of_goroutine(probe_at(file, function.offset));
    EXPECT_EQ(device.add(at_entry.bytes(), 1), EINVAL);
    RawProbe of_kernel = RawProbe::words(ARGTRACE_USER_PLACE(file, function.offset), 1, "vfs_read");
    EXPECT_EQ(device.add(of_goroutine(of_kernel).bytes(), 1), EINVAL);
}

// Two sessions follow the same calls, and neither takes those of the other for left.
TEST_F(UserPlaces, are_followed_by_sessions_that_do_not_know_each_other) {
    const Found value = find(returning_program, "ur_value"), goroutine = find(returning_program, "ur_goroutine");
    RawDevice devices[3];
    for (RawDevice &device : devices) {
        ASSERT_EQ(device.session(), 0);
        std::uint32_t file = 0;
        ASSERT_EQ(number_path(device, returning_program, &file), 0);
        ASSERT_EQ(device.add(returning_probe_at(file, value.offset, value.returns).bytes() +
                                 of_goroutine(returning_probe_at(file, goroutine.offset, goroutine.returns)).bytes(), 2), 0);
    }
    ASSERT_EQ(run({returning_program, "ways", "/dev/null"}).status, 0);
    ASSERT_EQ(run({returning_program, "goroutines", "/dev/null"}).status, 0);
    for (const RawDevice &device : devices) {
        const auto counts = device.return_counts();
        EXPECT_EQ(counts[0].counts.records, 103u);
        EXPECT_EQ(hits(counts[0]), 103u);
        EXPECT_EQ(counts[1].counts.records, 200u);
    }
}

// The filter changes while its processes call, fork and are killed.
TEST_F(UserPlaces, follow_a_filter_that_changes) {
    const auto processes = storms(3);
    RawDevice device;
    ASSERT_EQ(device.session(), 0);
    ASSERT_EQ(select(device, processes[0]->pid()), 0);
    std::uint32_t file = 0;
    ASSERT_EQ(number_path(device, traced_program, &file), 0);
    ASSERT_EQ(device.add(probe_at(file, offset_of("uf_storm")).bytes(), 1), 0);
    const auto accepted = [&] {
        const argtrace_counts counts = device.counts()[0];
        return hits(counts) - counts.filtered;
    };
    for (unsigned turn = 0; turn < 9; turn++) {
        ASSERT_EQ(select(device, processes[turn % 3]->pid()), 0);
        const std::uint64_t before = accepted();
        EXPECT_TRUE(eventually([&] { return accepted() > before; })) << "the selected process has no breakpoint";
    }
    processes[2]->end(SIGKILL);
    EXPECT_EQ(select(device, processes[1]->pid()), 0);
}

} // namespace
} // namespace vmtest
