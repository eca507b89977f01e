// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "elf/inlined.h"
#include "elf/object.h"
#include "elf/perf_map.h"
#include "elf/symbol_names.h"
#include "elf/unwind_table.h"
#include "model/code_naming.h"
#include "model/code_object.h"
#include "model/source_frame.h"
#include "model/user_frame.h"
#include "util/fd.h"
#include "util/worker_pool.h"

namespace argtrace {

/// By what it is known whether a file has been written to. Two changes within a tick of the kernel's clock may have one time.
struct FileState {
    std::int64_t modified = 0; ///< st_mtim, in ns
    std::uint64_t bytes = 0;   ///< st_size

    bool operator==(const FileState &) const = default;

    /// Nothing if that cannot be told, or the file has no name, as those that compilers write code into while it is mapped.
    static std::optional<FileState> of(int fd);

    bool is_still_of(int fd) const;
};

/// What has the objects of a session: the module, or a test.
class ObjectSource {
public:
    virtual ~ObjectSource() = default;

    /// Appends the objects whose number is at least `first`, and those below it that want a table once more
    /// (ARGTRACE_OBJECT_WANTED). 0 or the errno.
    virtual int list(std::uint32_t first, std::vector<argtrace_object> &objects) = 0;

    struct File {
        Fd fd;
        std::string path;                ///< that it had; " (deleted)" behind it if it has it no more
        std::optional<FileState> mapped; ///< as it was when it was mapped first; nothing: whatever is done to it does not matter
    };
    /// Nothing if it cannot be opened any more, and errno says why.
    virtual std::optional<File> open(std::uint32_t object) = 0;

    /// Hands over a table. 0 or the errno. May be called by several threads at once.
    virtual int unwind(std::uint32_t object, const elf::UnwindTable &table) = 0;
};

/// Those of the session that the file of the device is bound to, which stays the caller's.
std::unique_ptr<ObjectSource> module_objects(int device);

/// Which code it is that is traced.
struct TracedCode {
    std::vector<std::uint32_t> pids; ///< of these processes alone; empty: of all, or of `command`
    std::string command;             ///< a program that will run
    std::uint32_t process = 0;       ///< the one that there is, which may say what code it has compiled; 0: there are several
};

/// The objects in which a session's user code is: their files, how they are unwound, and what their functions are called. Tables for
/// unwinding are made by threads of its own, and names when they are asked for.
class UserObjects {
public:
    /// With no workers, tables are made when follow() finds an object. An object is a file that stays open, as it may be gone when its
    /// names are asked for; those that would take a descriptor from `descriptors_end` on have neither table nor names, which is told once.
    UserObjects(std::unique_ptr<ObjectSource> source, CodeNaming naming, unsigned workers, int descriptors_end = descriptors_for_objects());

    /// All that this process may have, which becomes as many as it can, but for some that are for other files.
    static int descriptors_for_objects();
    ~UserObjects();

    /// Opens the objects that are new, and begins to make their tables.
    void follow();

    /// Whether tables are on their way: processes may wait for them, if follow() is called now and then (ARGTRACE_OBJECTS_AWAIT).
    bool is_making_tables() const { return tables_on_their_way_ > 0; }

    /// The same as follow(), and waits until the traced code can be unwound, as far as it is mapped.
    void provide(const TracedCode &code);

    struct Name {
        std::string_view name; ///< valid as long as this object
        std::uint64_t offset;  ///< of the frame, from the beginning of what has the name
    };
    /// The function, or else the object, that a frame is in. Nothing is known of memory that is in no file, but for what a process that
    /// is traced alone tells of it (/tmp/perf-PID.map).
    std::optional<Name> name(UserFrame frame);

    /// The functions at a frame, as Symbols::source() has them.
    std::vector<SourceFrame> source(UserFrame frame);

    /// Nothing of an object that could not be opened any more.
    std::optional<CodeObject> describe(std::uint32_t object);

    /// The process whose perf map says what is in memory.
    void set_process(std::uint32_t pid) { process_ = pid; }

private:
    struct FileId {
        std::uint64_t device, inode;
        auto operator<=>(const FileId &) const = default;
    };
    struct Known;

    void add(const argtrace_object &listed);
    std::optional<ObjectSource::File> open(std::uint32_t object);
    void tell_lack_of_descriptors();
    void add_again(const argtrace_object &listed, Known &known);
    void add_vdso();
    void begin_table(std::uint32_t number, Known &known);
    Known *find(std::uint32_t object);
    static std::set<FileId> mapped_by(const std::string &process);
    std::optional<Name> name_in_memory(std::uint64_t address);

    std::unique_ptr<ObjectSource> source_;
    CodeNaming naming_;
    const int descriptors_end_;
    bool lacks_descriptors_ = false;
    std::map<std::uint32_t, std::unique_ptr<Known>> known_;
    std::uint32_t next_ = ARGTRACE_OBJECT_FIRST;
    std::uint32_t process_ = 0;
    std::optional<elf::PerfMap> perf_map_;
    std::uint64_t perf_map_read_ = 0; // when, ns
    std::set<std::string, std::less<>> kept_; // names of the perf map, which is read again
    std::atomic<unsigned> tables_on_their_way_ = 0;
    WorkerPool workers_; // the last, so that it ends first
};

} // namespace argtrace
