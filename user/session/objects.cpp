// SPDX-License-Identifier: GPL-2.0-only
#include "session/objects.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "elf/needed.h"
#include "session/device.h"
#include "uapi/argtrace.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/message.h"
#include "util/nanoseconds.h"
#include "util/process_maps.h"
#include "util/program_path.h"

namespace argtrace {

namespace {

constexpr std::size_t list_room = 256;
constexpr int descriptors_for_others = 256; // debug files, maps and rings, output

class ModuleObjects : public ObjectSource {
public:
    explicit ModuleObjects(int device) : device_(device) {}

    int list(std::uint32_t first, std::vector<argtrace_object> &objects) override {
        std::uint32_t wanted = 0;
        const int error = list_from(first, objects, wanted);
        if (error != 0 || wanted == 0 || first <= ARGTRACE_OBJECT_FIRST)
            return error;
        std::vector<argtrace_object> all;
        (void)list_from(ARGTRACE_OBJECT_FIRST, all, wanted);
        std::copy_if(all.begin(), all.end(), std::back_inserter(objects), [first](const argtrace_object &object) {
            return object.object < first && object.flags & ARGTRACE_OBJECT_WANTED;
        });
        return 0;
    }

    std::optional<File> open(std::uint32_t object) override {
        argtrace_object_open request{};
        request.size = sizeof(request);
        request.object = object;
        Fd fd(ioctl_result(device_, ARGTRACE_IOC_OBJECT_OPEN, &request));
        if (!fd)
            return std::nullopt;
        char path[4096];
        const ssize_t length = ::readlink(fmt::format("/proc/self/fd/{}", fd.get()).c_str(), path, sizeof(path));
        // Older modules do not say it. What is mapped is not empty.
        const auto mapped = request.bytes == 0 ? FileState::of(fd.get()) : FileState{request.modified, request.bytes};
        return File{std::move(fd), std::string(path, static_cast<std::size_t>(std::max<ssize_t>(length, 0))), mapped};
    }

    int unwind(std::uint32_t object, const elf::UnwindTable &table) override {
        argtrace_unwind request{};
        request.size = sizeof(request);
        request.object = object;
        request.nr_rows = static_cast<std::uint32_t>(table.rows.size());
        request.nr_rules = static_cast<std::uint32_t>(table.rules.size());
        request.rows = user_address(table.rows.data());
        request.rules = user_address(table.rules.data());
        return ioctl_result(device_, ARGTRACE_IOC_UNWIND, &request) < 0 ? errno : 0;
    }

private:
    int list_from(std::uint32_t first, std::vector<argtrace_object> &objects, std::uint32_t &wanted) {
        std::vector<argtrace_object> page(list_room);
        std::uint32_t next = first;
        do {
            first = next;
            argtrace_objects request{};
            request.size = sizeof(request);
            request.buffer = user_address(page.data());
            request.length = page.size() * sizeof(page.front());
            request.first = first;
            // Whoever asks what is new also makes the tables of it, for which processes may wait.
            request.flags = may_answer_ ? ARGTRACE_OBJECTS_AWAIT : 0;
            int result = ioctl_result(device_, ARGTRACE_IOC_OBJECTS, &request);
            if (result < 0 && may_answer_ && (errno == EBADF || errno == EPERM)) {
                may_answer_ = false;
                request.flags = 0;
                result = ioctl_result(device_, ARGTRACE_IOC_OBJECTS, &request);
            }
            if (result < 0)
                return errno;
            wanted = request.wanted;
            objects.insert(objects.end(), page.begin(), page.begin() + std::min<std::ptrdiff_t>(request.count, list_room));
            next = request.next;
        } while (next > first);
        return 0;
    }

    int device_;
    bool may_answer_ = true;
};

/// A mapping of a program's code, as it will have itself: so it becomes an object before it runs.
class ProgramMapping {
public:
    explicit ProgramMapping(const std::string &path) {
        const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
        struct stat status;
        if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
            return;
        void *start = ::mmap(nullptr, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0);
        if (start != MAP_FAILED)
            start_ = start;
    }
    ProgramMapping(const ProgramMapping &) = delete;
    ProgramMapping &operator=(const ProgramMapping &) = delete;
    ~ProgramMapping() {
        if (start_)
            ::munmap(start_, 1);
    }

private:
    void *start_ = nullptr;
};

/// The loader that a program names; empty: it is static, or no program.
std::string interpreter_of(const std::string &path) {
    const auto program = elf::Object::open(path);
    return program ? elf::interpreter(*program) : "";
}

} // namespace

std::optional<FileState> FileState::of(int fd) {
    struct stat status;
    if (::fstat(fd, &status) != 0 || status.st_nlink == 0)
        return std::nullopt;
    return FileState{std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec, static_cast<std::uint64_t>(status.st_size)};
}

bool FileState::is_still_of(int fd) const {
    const auto now = of(fd);
    return !now || *now == *this;
}

std::unique_ptr<ObjectSource> module_objects(int device) {
    return std::make_unique<ModuleObjects>(device);
}

struct UserObjects::Known {
    FileId file;
    CodeObject code;
    std::optional<elf::Object> object;
    std::optional<elf::SymbolNames> names; // once they are asked for
    std::optional<elf::InlinedFrames> inlined; // likewise
    std::future<void> table;
    std::optional<FileState> mapped; // what the file was like
    bool is_modified = false;        // it was written to since, and is not what was mapped

    /// Before something is read, and after: what comes of a file that is written to meanwhile does not count.
    bool notice_modification() {
        if (is_modified || !object || !mapped)
            return is_modified;
        is_modified = !mapped->is_still_of(object->fd());
        if (is_modified)
            code.path += " (modified)";
        return is_modified;
    }

    void describe(std::string path) {
        code = object ? CodeObject{std::move(path), object->build_id(), object->code_segments()} : CodeObject{std::move(path), ""};
    }
};

UserObjects::UserObjects(std::unique_ptr<ObjectSource> source, CodeNaming naming, unsigned workers, int descriptors_end)
    : source_(std::move(source)), naming_(std::move(naming)), descriptors_end_(descriptors_end), workers_(workers) {
    add_vdso();
}

int UserObjects::descriptors_for_objects() {
    raise_file_limit();
    rlimit limit;
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > std::numeric_limits<int>::max())
        return std::numeric_limits<int>::max();
    const auto all = static_cast<int>(limit.rlim_cur);
    return all - std::min(all / 4, descriptors_for_others);
}

UserObjects::~UserObjects() = default;

/// That of this process is the same as anybody's.
void UserObjects::add_vdso() {
    const std::uint64_t begin = ::getauxval(AT_SYSINFO_EHDR);
    for_each_code_mapping("self", [&](const CodeMapping &mapping) {
        if (begin == 0 || mapping.begin != begin)
            return;
        auto known = std::make_unique<Known>();
        known->object = elf::Object::from_memory(
            std::span(reinterpret_cast<const std::byte *>(mapping.begin), mapping.end - mapping.begin), "[vdso]");
        known->describe("[vdso]");
        begin_table(ARGTRACE_OBJECT_VDSO, *known_.insert_or_assign(ARGTRACE_OBJECT_VDSO, std::move(known)).first->second);
    });
}

void UserObjects::follow() {
    std::vector<argtrace_object> listed;
    source_->list(next_, listed);
    for (const argtrace_object &object : listed) {
        next_ = std::max(next_, object.object + 1);
        if (object.object < ARGTRACE_OBJECT_FIRST)
            continue;
        if (const auto known = known_.find(object.object); known == known_.end())
            add(object);
        else if (object.flags & ARGTRACE_OBJECT_WANTED)
            add_again(object, *known->second);
    }
}

void UserObjects::add(const argtrace_object &listed) {
    auto made = std::make_unique<Known>();
    made->file = {::makedev(listed.dev_major, listed.dev_minor), listed.inode};
    Known &known = *known_.insert_or_assign(listed.object, std::move(made)).first->second;
    auto file = open(listed.object);
    if (!file) {
        // It has been let go, until it is mapped again. Otherwise it cannot be had, and whoever has mapped it may wait for the answer.
        if (listed.mapped > 0 && !(listed.flags & ARGTRACE_OBJECT_HAS_TABLE))
            begin_table(listed.object, known);
        return;
    }
    known.mapped = file->mapped;
    known.object = elf::Object::open(std::move(file->fd), file->path);
    known.describe(std::move(file->path));
    if (known.notice_modification())
        known.code = {known.code.path, ""}; // it is not known what was mapped
    if (!(listed.flags & ARGTRACE_OBJECT_HAS_TABLE))
        begin_table(listed.object, known);
}

/// Nothing if it is gone, or there are too many.
std::optional<ObjectSource::File> UserObjects::open(std::uint32_t object) {
    auto file = source_->open(object);
    if (file && file->fd.get() < descriptors_end_)
        return file;
    if (file || errno == EMFILE || errno == ENFILE)
        tell_lack_of_descriptors();
    return std::nullopt;
}

void UserObjects::tell_lack_of_descriptors() {
    if (std::exchange(lacks_descriptors_, true))
        return;
    message("{} files with code are open, and no more can be: stacks end where they reach code of other files, whose functions have no names; "
            "raise the limit of open files (ulimit -n, LimitNOFILE=), or trace some processes alone (-p)",
            std::count_if(known_.begin(), known_.end(), [](const auto &one) { return one.second->object && one.second->object->fd() >= 0; }));
}

/// One that was let go before it could be opened, or whose table was refused or has made room for others, is mapped again.
void UserObjects::add_again(const argtrace_object &listed, Known &known) {
    if (known.table.valid() && known.table.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
        return; // it is on its way
    if (known.object)
        begin_table(listed.object, known);
    else
        add(listed);
}

/// The module is also told that there is none.
void UserObjects::begin_table(std::uint32_t number, Known &known) {
    tables_on_their_way_++;
    known.table = workers_.submit([this, number, object = known.object ? &*known.object : nullptr, mapped = known.mapped](unsigned) {
        elf::UnwindTable table = object ? elf::unwind_table(*object, naming_.debug_files) : elf::UnwindTable();
        if (object && mapped && !mapped->is_still_of(object->fd()))
            table = {};
        (void)source_->unwind(number, table);
        tables_on_their_way_--;
    });
}

std::set<UserObjects::FileId> UserObjects::mapped_by(const std::string &process) {
    std::set<FileId> files;
    for_each_code_mapping(process, [&files](const CodeMapping &mapping) {
        if (mapping.inode != 0) // of no file
            files.insert({mapping.device, mapping.inode});
    });
    return files;
}

void UserObjects::provide(const TracedCode &code) {
    const std::string program = code.command.empty() ? "" : find_program(code.command);
    const ProgramMapping mapped_program(program), mapped_interpreter(program.empty() ? "" : interpreter_of(program));
    follow();
    std::set<FileId> wanted, there;
    if (!code.command.empty())
        wanted = mapped_by("self");
    for (const std::uint32_t pid : code.pids)
        wanted.merge(mapped_by(fmt::format("{}", pid)));
    for (const auto &[number, known] : known_)
        there.insert(known->file);
    // What is mapped from an overlay is a file of another file system, which is not what /proc says.
    const bool all = (code.command.empty() && code.pids.empty()) || !std::includes(there.begin(), there.end(), wanted.begin(), wanted.end());
    for (const auto &[number, known] : known_)
        if (known->table.valid() && (all || number < ARGTRACE_OBJECT_FIRST || wanted.contains(known->file)))
            known->table.wait();
}

UserObjects::Known *UserObjects::find(std::uint32_t object) {
    if (object >= next_)
        follow();
    const auto known = known_.find(object);
    return known == known_.end() ? nullptr : known->second.get();
}

std::optional<UserObjects::Name> UserObjects::name(UserFrame frame) {
    if (frame.is_end())
        return std::nullopt;
    if (frame.object == ARGTRACE_OBJECT_MEMORY)
        return name_in_memory(frame.offset);
    Known *known = find(frame.object);
    if (!known || known->code.path.empty())
        return std::nullopt;
    if (known->object && !known->names && !known->notice_modification()) {
        known->names.emplace(*known->object, naming_.debug_files);
        known->names->read();
        if (known->notice_modification())
            known->names.reset();
    }
    if (known->names)
        if (const auto found = known->names->at(frame.inside()))
            return Name{found->name, found->offset + frame.offset - frame.inside()};
    return Name{shown_name(known->code), frame.offset};
}

std::vector<SourceFrame> UserObjects::source(UserFrame frame) {
    Known *known = frame.is_end() || frame.object == ARGTRACE_OBJECT_MEMORY ? nullptr : find(frame.object);
    if (!known || !known->object || known->is_modified)
        return {};
    if (!known->inlined)
        known->inlined.emplace(*known->object, naming_.debug_files);
    std::vector<SourceFrame> frames = known->inlined->at(frame.inside(), elf::InlinedFrames::lines_of(naming_));
    return known->notice_modification() ? std::vector<SourceFrame>() : std::move(frames);
}

/// The process goes on writing the map: where an address is not in it, it is read again, but not too often.
std::optional<UserObjects::Name> UserObjects::name_in_memory(std::uint64_t address) {
    if (process_ == 0)
        return std::nullopt;
    auto found = perf_map_ ? perf_map_->at(address) : std::nullopt;
    if (const std::uint64_t now = monotonic_now(); !found && (!perf_map_ || now > perf_map_read_ + nanoseconds_per_second)) {
        perf_map_read_ = now;
        perf_map_ = elf::PerfMap::read(fmt::format("/proc/{0}/root/tmp/perf-{0}.map", process_));
        if (perf_map_->empty())
            perf_map_ = elf::PerfMap::read(fmt::format("/tmp/perf-{}.map", process_)); // it has ended
        found = perf_map_->at(address);
    }
    if (!found)
        return std::nullopt;
    return Name{*kept_.emplace(found->name).first, found->offset};
}

std::optional<CodeObject> UserObjects::describe(std::uint32_t object) {
    const Known *known = find(object);
    return known && !known->code.path.empty() ? std::optional(known->code) : std::nullopt;
}

} // namespace argtrace
