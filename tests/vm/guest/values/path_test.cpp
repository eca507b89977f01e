// SPDX-License-Identifier: GPL-2.0-only
// path() against what user space sees in /proc/self/fd: of every kind of file, in every context, and while folders are renamed
// and file systems mounted. Sockets: socket_test.cpp.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/machine.h"
#include "support/numbered_reads.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

const std::string paths_folder = "/tmp/paths";
const std::string long_name(255, 'n');

std::string link_of(pid_t pid, int fd) {
    std::array<char, 8192> text{};
    const std::string link = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
    const ssize_t length = readlink(link.c_str(), text.data(), text.size());
    EXPECT_GT(length, 0) << link;
    return std::string(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
}

std::string link_of(int fd) {
    return link_of(getpid(), fd);
}

int new_file(const std::string &path) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    EXPECT_GE(fd, 0) << path << ": " << strerror(errno);
    return fd;
}

std::string new_folder(const std::string &path) {
    EXPECT_TRUE(mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) << path << ": " << strerror(errno);
    return path;
}

std::string mount_tmpfs(const std::string &path) {
    new_folder(path);
    EXPECT_EQ(mount("tmpfs", path.c_str(), "tmpfs", 0, nullptr), 0) << path << ": " << strerror(errno);
    return path;
}

void rename_to(const std::string &from, const std::string &to) {
    EXPECT_EQ(rename(from.c_str(), to.c_str()), 0) << from << " to " << to << ": " << strerror(errno);
}

class Paths : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        run({"argtrace", "clear"});
        mount_tmpfs(paths_folder);
    }

    void TearDown() override {
        run({"argtrace", "clear"});
        for (const int fd : opened_)
            close(fd);
        EXPECT_EQ(umount2(paths_folder.c_str(), MNT_DETACH), 0);
        rmdir(paths_folder.c_str());
    }

    static void add(const std::vector<std::string> &specs) {
        std::vector<std::string> command{"argtrace", "add", "--buffer", "4M"};
        command.insert(command.end(), specs.begin(), specs.end());
        const Outcome outcome = run(command);
        ASSERT_EQ(outcome.status, 0) << outcome.err;
    }
    static void add_reads() {
        add({"vfs_read(path(file) as path, count, file)" + if_numbered});
    }

    static std::vector<json> recorded() {
        const Outcome outcome = run({"argtrace", "trace", "--json", "--duration", "300ms"});
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return json_lines(outcome.out);
    }

    int keep(int fd) {
        EXPECT_GE(fd, 0) << strerror(errno);
        opened_.push_back(fd);
        return fd;
    }

    /// Something that is open, and what path() is to say of it.
    struct Open {
        std::string what;
        int fd;
        std::string expected;
    };

    void has(const std::string &what, int fd) { open_.push_back({what, keep(fd), link_of(fd)}); }
    void has(const std::string &what, int fd, const std::string &expected) { open_.push_back({what, keep(fd), expected}); }

    void open_plain_files();
    void open_changed_files();
    void open_mounted_files();
    void open_bound_files();
    void open_overlaid_files();
    void open_files_in_no_folder();

    int deep_ = -1; ///< deeper than a path is recorded
    std::vector<Open> open_;
    std::vector<int> opened_;
};

void Paths::open_plain_files() {
    has("a file", new_file(paths_folder + "/plain"));
    has("the root", open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    has("a folder", open(paths_folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    has("a device", open("/dev/null", O_RDONLY | O_CLOEXEC));
    has("in procfs", open("/proc/self/status", O_RDONLY | O_CLOEXEC));
    has("in sysfs", open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC));
    has("in debugfs", open("/sys/kernel/debug", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    has("through a symbolic link", open("/dev/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    has("with a long name", new_file(paths_folder + "/" + long_name));
    has("with an odd name", new_file(paths_folder + "/ a \"name\"\twith\n\\é (deleted)"));
    std::string deep = paths_folder;
    // 64 names and mounts are recorded; of those above the folder there may be two more than user space sees.
    for (int depth = 0; depth < 58; depth++)
        new_folder(deep += "/d");
    has("deep", new_file(deep + "/file"));
    for (int depth = 0; depth < 6; depth++)
        new_folder(deep += "/d");
    deep_ = keep(new_file(deep + "/file"));
}

void Paths::open_changed_files() {
    const std::string folder = new_folder(paths_folder + "/changed"), other = new_folder(paths_folder + "/other");
    int fd = new_file(folder + "/old");
    rename_to(folder + "/old", other + "/" + long_name);
    has("renamed", fd);
    new_folder(folder + "/sub");
    fd = new_file(folder + "/sub/file");
    rename_to(folder + "/sub", other + "/moved");
    has("in a folder that was renamed", fd);
    fd = new_file(folder + "/deleted");
    unlink((folder + "/deleted").c_str());
    has("deleted", fd);
    has("of the name of one that was deleted", new_file(folder + "/deleted"));
    new_folder(folder + "/gone");
    fd = open((folder + "/gone").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    rmdir((folder + "/gone").c_str());
    has("a folder that was deleted", fd);
    fd = new_file(folder + "/linked");
    EXPECT_EQ(link((folder + "/linked").c_str(), (folder + "/link").c_str()), 0);
    unlink((folder + "/linked").c_str());
    has("deleted by one of its names", fd);
    has("by its other name", open((folder + "/link").c_str(), O_RDONLY | O_CLOEXEC));
    has("never named", open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
}

void Paths::open_mounted_files() {
    const std::string one = mount_tmpfs(paths_folder + "/mounted");
    has("where something is mounted", open(one.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    has("below it", new_file(one + "/file"));
    const std::string two = mount_tmpfs(new_folder(one + "/a") + "/b");
    has("below a mount in a mount", new_file(new_folder(two + "/c") + "/file"));
    const int covered = new_file(one + "/covered");
    mount_tmpfs(one);
    has("below what is covered by a mount", covered);
    has("below the mount that covers it", new_file(one + "/file"));

    const std::string gone = mount_tmpfs(paths_folder + "/gone");
    int fd = new_file(new_folder(gone + "/folder") + "/file");
    EXPECT_EQ(umount2(gone.c_str(), MNT_DETACH), 0);
    has("on what is mounted no more", fd, link_of(fd) + " (detached)");

    const std::string old = mount_tmpfs(paths_folder + "/old_place"), place = new_folder(one + "/new_place");
    fd = new_file(old + "/file");
    EXPECT_EQ(mount(old.c_str(), place.c_str(), nullptr, MS_MOVE, nullptr), 0) << strerror(errno);
    has("on a mount that was moved", fd);
}

void Paths::open_bound_files() {
    const std::string source = new_folder(paths_folder + "/source"), bound = new_folder(paths_folder + "/bound");
    close(new_file(new_folder(source + "/sub") + "/file"));
    const auto bind = [](const std::string &from, const std::string &to) {
        EXPECT_EQ(mount(from.c_str(), to.c_str(), nullptr, MS_BIND, nullptr), 0) << from << " at " << to << ": " << strerror(errno);
    };
    bind(source + "/sub", bound);
    has("through a bind mount", open((bound + "/file").c_str(), O_RDONLY | O_CLOEXEC));
    has("not through the bind mount", open((source + "/sub/file").c_str(), O_RDONLY | O_CLOEXEC));
    close(new_file(paths_folder + "/target"));
    bind(source + "/sub/file", paths_folder + "/target");
    has("a file that is mounted", open((paths_folder + "/target").c_str(), O_RDONLY | O_CLOEXEC));
    const int fd = new_file(new_folder(bound + "/inner") + "/file");
    rename_to(source + "/sub/inner", source + "/outer");
    // What is in /proc is no more than a '/'.
    has("moved out of what is mounted", fd, "/source/outer/file (detached)");
}

void Paths::open_overlaid_files() {
    const std::string lower = new_folder(paths_folder + "/lower"), upper = new_folder(paths_folder + "/upper");
    const std::string work = new_folder(paths_folder + "/work"), merged = new_folder(paths_folder + "/merged");
    close(new_file(new_folder(lower + "/sub") + "/below"));
    close(new_file(upper + "/above"));
    const std::string options = "lowerdir=" + lower + ",upperdir=" + upper + ",workdir=" + work;
    if (mount("overlay", merged.c_str(), "overlay", 0, options.c_str()) != 0) {
        EXPECT_EQ(errno, ENODEV) << strerror(errno);
        std::printf("this kernel has no overlayfs\n");
        return;
    }
    has("of the lower layer", open((merged + "/sub/below").c_str(), O_RDONLY | O_CLOEXEC));
    has("of the upper layer", open((merged + "/above").c_str(), O_RDONLY | O_CLOEXEC));
    has("of the lower layer, to be written", open((merged + "/sub/below").c_str(), O_RDWR | O_CLOEXEC));
    has("the root of the layers", open(merged.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

void Paths::open_files_in_no_folder() {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    has("a pipe", ends[0]);
    keep(ends[1]);
    const std::string fifo = paths_folder + "/fifo";
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    has("a pipe with a name", open(fifo.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    has("a memfd", memfd_create("some memory", MFD_CLOEXEC));
    has("a memfd without a name", memfd_create("", MFD_CLOEXEC));
    has("shared memory", new_file("/dev/shm/argtrace_paths"));
    unlink("/dev/shm/argtrace_paths");
    open_.back().expected += " (deleted)";
    has("an eventfd", eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    has("a timerfd", timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    has("an epoll", epoll_create1(EPOLL_CLOEXEC));
    has("an inotify", inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    has("a pidfd", static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
    // The kind of a namespace is not recorded.
    const int fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    const std::string link = link_of(fd);
    EXPECT_EQ(link.substr(0, 5), "mnt:[");
    has("a namespace", fd, "namespace" + link.substr(link.find(':')));
}

TEST_F(Paths, of_every_kind_of_file) {
    open_plain_files();
    open_changed_files();
    open_bound_files();
    open_overlaid_files();
    open_files_in_no_folder();
    open_mounted_files();
    ASSERT_FALSE(HasFailure());
    add_reads();
    for (std::size_t i = 0; i < open_.size(); i++)
        call_vfs_read(open_[i].fd, i);
    call_vfs_read(deep_, open_.size());
    std::map<std::size_t, json> paths;
    for (const json &event : recorded())
        paths[number_of(event)] = event["args"]["path"];
    for (std::size_t i = 0; i < open_.size(); i++)
        EXPECT_EQ(paths[i], open_[i].expected) << open_[i].what;
    const std::string cut = paths[open_.size()], whole = link_of(deep_);
    EXPECT_EQ(cut.substr(0, 7), ".../d/d");
    EXPECT_EQ(cut.substr(3), whole.substr(whole.size() - std::min(whole.size(), cut.size() - 3)));
    std::printf("compared %zu paths\n", open_.size());
}

/// Runs `body` in a child and waits for it; it says by its exit status whether all went well.
void in_child(const std::function<bool()> &body) {
    const pid_t pid = fork();
    if (pid == 0)
        _exit(body() ? 0 : 1);
    int status = -1;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT_EQ(status, 0);
}

// What the manual says: as from the root of the mount namespace, whatever the root of the process.
TEST_F(Paths, begin_at_the_root_of_the_mount_namespace) {
    close(new_file(new_folder(paths_folder + "/jail") + "/file"));
    close(new_file(paths_folder + "/outside"));
    add_reads();
    in_child([] {
        const int outside = open((paths_folder + "/outside").c_str(), O_RDONLY);
        if (chroot((paths_folder + "/jail").c_str()) != 0 || chdir("/") != 0)
            return false;
        call_vfs_read(open("/file", O_RDONLY), 0);
        call_vfs_read(open("/", O_RDONLY | O_DIRECTORY), 1);
        call_vfs_read(outside, 2);
        return true;
    });
    const std::string own = new_folder(paths_folder + "/own");
    in_child([own] {
        if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            mount("tmpfs", own.c_str(), "tmpfs", 0, nullptr) != 0)
            return false;
        const int fd = open((own + "/file").c_str(), O_RDWR | O_CREAT, 0600);
        call_vfs_read(fd, 3);
        // The namespace of its own has another root from here on, below which both are.
        if (mkdir((own + "/put").c_str(), 0700) != 0 || syscall(SYS_pivot_root, own.c_str(), (own + "/put").c_str()) != 0)
            return errno == EINVAL; // not where the root is in memory
        call_vfs_read(fd, 4);
        return true;
    });
    std::map<std::size_t, json> paths;
    for (const json &event : recorded())
        paths[number_of(event)] = event["args"]["path"];
    EXPECT_EQ(paths[0], paths_folder + "/jail/file");
    EXPECT_EQ(paths[1], paths_folder + "/jail");
    EXPECT_EQ(paths[2], paths_folder + "/outside");
    EXPECT_EQ(paths[3], own + "/file");
    if (paths.count(4)) {
        EXPECT_EQ(paths[4], "/file");
    }
}

// A pointer that is written in the SPEC, so that functions which know nothing of files have one.
TEST_F(Paths, in_every_context) {
    need_load_module();
    const std::string name = new_folder(paths_folder + "/some folder") + "/file";
    const int fd = keep(new_file(name));
    add_reads();
    call_vfs_read(fd, 0);
    const auto reads = recorded();
    ASSERT_EQ(reads.size(), 1u);
    const std::string path = "(path((struct file *)" + reads[0]["args"]["file"].get<std::string>() + ") as path)";
    run({"argtrace", "clear"});
    add({"al_process" + path, "al_interrupt" + path, "al_nmi" + path});
    const LoadCalls before = load_calls();
    run_load({.calls = 300, .period_ns = 200000, .burst = 1, .nmis = 20, .nmi_burst = 2});
    const LoadCalls after = load_calls();
    std::map<std::string, std::uint64_t> calls;
    for (const json &event : recorded()) {
        const std::string found = event["args"]["path"];
        calls[event["func"]]++;
        EXPECT_TRUE(found == name || found == name + " (changing)") << event.dump();
    }
    EXPECT_EQ(calls["al_process"], after.process - before.process);
    EXPECT_EQ(calls["al_interrupt"], after.interrupt - before.interrupt);
    EXPECT_EQ(calls["al_nmi"], after.nmi - before.nmi);
    EXPECT_EQ(calls["al_nmi"] > 0, has_nmis);
}

/// Counts in memory that processes share.
class SharedCount {
public:
    SharedCount()
        : count_(static_cast<std::atomic<std::uint64_t> *>(
              mmap(nullptr, sizeof(*count_), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
        EXPECT_NE(static_cast<void *>(count_), MAP_FAILED);
    }
    ~SharedCount() { munmap(count_, sizeof(*count_)); }
    SharedCount(const SharedCount &) = delete;
    SharedCount &operator=(const SharedCount &) = delete;

    void add() { ++*count_; }
    std::uint64_t get() const { return *count_; }

private:
    std::atomic<std::uint64_t> *count_;
};

/// What changes while paths are read, and what may be read meanwhile.
struct Changing {
    int fd;
    std::set<std::string> legal;
};

void write_text(const std::string &path, const std::string &text) {
    std::ofstream out(path);
    out << text << std::flush;
    ASSERT_TRUE(out.good()) << path;
}

/// What /proc/self/cgroup says of the unified hierarchy.
std::string cgroup_of_this_process() {
    std::ifstream lines("/proc/self/cgroup");
    for (std::string line; std::getline(lines, line);)
        if (line.rfind("0::", 0) == 0)
            return line.substr(3);
    return "";
}

TEST_F(Paths, of_cgroups_are_those_of_the_process) {
    const std::string root = new_folder(paths_folder + "/cgroups");
    if (mount("cgroup2", root.c_str(), "cgroup2", 0, nullptr) != 0)
        GTEST_SKIP() << "this kernel has no cgroups";
    const std::string before = cgroup_of_this_process();
    std::vector<std::string> groups{"", "/argtrace_paths", "/argtrace_paths/some group.slice", "/argtrace_paths/" + std::string(250, 'g')};
    std::string deep = groups[1];
    for (int depth = 0; depth < 40; depth++)
        groups.push_back(deep += "/d");
    for (std::size_t i = 1; i < groups.size(); i++)
        new_folder(root + groups[i]);
    add({"vfs_read(cgroup_path() as group, count)" + if_numbered});
    const int fd = keep(open("/dev/null", O_RDONLY | O_CLOEXEC));
    std::vector<std::string> expected;
    for (std::size_t i = 0; i < groups.size(); i++) {
        write_text(root + groups[i] + "/cgroup.procs", "0");
        expected.push_back(cgroup_of_this_process());
        call_vfs_read(fd, i);
    }
    write_text(root + before + "/cgroup.procs", "0");
    const auto events = recorded();
    EXPECT_EQ(events.size(), groups.size());
    for (const json &event : events)
        EXPECT_EQ(event["args"]["group"], expected.at(number_of(event))) << event.dump();
    EXPECT_EQ(expected[0], "/");
    EXPECT_EQ(expected[2], groups[2]);
    for (std::size_t i = groups.size(); i-- > 1;)
        EXPECT_EQ(rmdir((root + groups[i]).c_str()), 0) << groups[i] << ": " << strerror(errno);
    EXPECT_EQ(umount2(root.c_str(), 0), 0) << strerror(errno);
}

// What is renamed, what another file system is mounted over, and what is in a file system that is moved.
TEST_F(Paths, that_change_are_right_or_marked) {
    const std::string one = new_folder(paths_folder + "/one"), two = new_folder(paths_folder + "/two");
    const std::string short_path = new_folder(one + "/short") + "/file", long_path = two + "/" + long_name + "/file";
    const std::string over = new_folder(paths_folder + "/over");
    const std::string here = mount_tmpfs(paths_folder + "/here"), there = new_folder(one + "/there");
    std::vector<Changing> changing;
    changing.push_back({keep(new_file(short_path)), {short_path, long_path}});
    changing.push_back({keep(new_file(over + "/file")), {over + "/file"}});
    changing.push_back({keep(new_file(here + "/file")), {here + "/file", there + "/file"}});
    SharedCount rounds;
    add_reads();
    std::size_t reads = 0;
    {
        Child racer([&] {
            for (;; rounds.add()) {
                rename((one + "/short").c_str(), (two + "/" + long_name).c_str());
                mount("tmpfs", over.c_str(), "tmpfs", 0, nullptr);
                mount(here.c_str(), there.c_str(), nullptr, MS_MOVE, nullptr);
                rename((two + "/" + long_name).c_str(), (one + "/short").c_str());
                umount2(over.c_str(), MNT_DETACH);
                mount(one.c_str(), over.c_str(), nullptr, MS_BIND, nullptr);
                umount2(over.c_str(), 0);
                mount(there.c_str(), here.c_str(), nullptr, MS_MOVE, nullptr);
            }
        });
        for (int i = 0; i < 100; i++) {
            const std::uint64_t last = rounds.get();
            for (int k = 0; k < 10; k++, reads += changing.size())
                for (std::size_t file = 0; file < changing.size(); file++)
                    call_vfs_read(changing[file].fd, file);
            for (int tries = 0; tries < 100000 && rounds.get() == last; tries++)
                usleep(100);
            ASSERT_GT(rounds.get(), last);
        }
    }
    const auto events = recorded();
    EXPECT_EQ(events.size(), reads);
    std::size_t marked = 0;
    std::map<std::string, std::size_t> seen;
    for (const json &event : events) {
        const std::string path = event["args"]["path"];
        if (path.size() > 11 && path.substr(path.size() - 11) == " (changing)") {
            marked++;
            continue;
        }
        EXPECT_EQ(changing[number_of(event)].legal.count(path), 1u) << event.dump();
        seen[path]++;
    }
    EXPECT_LT(marked, reads);
    EXPECT_GT(seen[here + "/file"] + seen[there + "/file"], 0u);
    std::printf("%llu rounds, %zu paths, %zu of them marked, %zu different ones\n",
                static_cast<unsigned long long>(rounds.get()), reads, marked, seen.size());
}

} // namespace
} // namespace vmtest
