// SPDX-License-Identifier: GPL-2.0-only
#include "session/objects.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "support/temporary_file.h"

/// A function that has a name in the tests' own symbol table.
extern "C" __attribute__((noinline)) int argtrace_test_named_function(int number) {
    asm volatile("" : "+r"(number));
    return number + 1;
}

namespace argtrace {
namespace {

/// Files of this machine as a module would have them.
class FakeObjects : public ObjectSource {
public:
    struct Seen {
        std::mutex mutex;
        std::vector<argtrace_object> objects;
        std::map<std::uint32_t, std::string> paths;
        std::map<std::uint32_t, std::size_t> tables; // their rows
        std::vector<std::uint32_t> opened;
        std::uint32_t asked = 0; // the last `first`
        int error = 0;           // of who opens one
        std::optional<FileState> mapped = {}; // what all were like; nothing: as they are
    };

    explicit FakeObjects(Seen &seen) : seen_(seen) {}

    int list(std::uint32_t first, std::vector<argtrace_object> &objects) override {
        seen_.asked = first;
        for (const argtrace_object &one : seen_.objects)
            if (one.object >= first || one.flags & ARGTRACE_OBJECT_WANTED)
                objects.push_back(one);
        return 0;
    }

    std::optional<File> open(std::uint32_t object) override {
        seen_.opened.push_back(object);
        const auto path = seen_.paths.find(object);
        errno = seen_.error;
        if (path == seen_.paths.end() || errno != 0)
            return std::nullopt;
        Fd file(::open(path->second.c_str(), O_RDONLY | O_CLOEXEC));
        const auto mapped = seen_.mapped ? seen_.mapped : FileState::of(file.get());
        return File{std::move(file), path->second, mapped};
    }

    int unwind(std::uint32_t object, const elf::UnwindTable &table) override {
        const std::lock_guard lock(seen_.mutex);
        seen_.tables[object] = table.rows.size();
        return 0;
    }

private:
    Seen &seen_;
};

class Objects : public testing::Test {
protected:
    void add(std::uint32_t number, const std::string &path, std::uint32_t flags = 0) {
        struct stat status {};
        ::stat(path.c_str(), &status);
        argtrace_object object{};
        object.object = number;
        object.flags = flags;
        object.inode = status.st_ino;
        object.dev_major = major(status.st_dev);
        object.dev_minor = minor(status.st_dev);
        seen_.objects.push_back(object);
        seen_.paths[number] = path;
    }

    UserObjects objects(unsigned workers = 0) { return {std::make_unique<FakeObjects>(seen_), {}, workers}; }

    std::string name(UserObjects &objects, UserFrame frame) {
        const auto found = objects.name(frame);
        return found ? std::string(found->name) + '+' + std::to_string(found->offset) : "";
    }

    FakeObjects::Seen seen_;
};

TEST_F(Objects, GetTablesOnceTheyAreThere) {
    add(16, "/proc/self/exe");
    add(17, "/proc/self/exe", ARGTRACE_OBJECT_HAS_TABLE);
    UserObjects objects = this->objects();
    objects.follow();
    EXPECT_TRUE(seen_.tables.contains(16));
    EXPECT_FALSE(seen_.tables.contains(17)) << "it has one";
    EXPECT_THAT(seen_.opened, testing::ElementsAre(16, 17));
    add(20, "/proc/self/exe");
    objects.follow();
    EXPECT_EQ(seen_.asked, 18u);
    EXPECT_TRUE(seen_.tables.contains(20));
    EXPECT_EQ(seen_.opened.size(), 3u);
}

/// Beyond them neither debug files nor the output could be opened.
TEST_F(Objects, LeaveDescriptorsForOtherFiles) {
    for (std::uint32_t number = 16; number < 24; ++number)
        add(number, "/proc/self/exe");
    testing::internal::CaptureStderr(); // which opens a file
    const int next = Fd(::open("/", O_RDONLY | O_CLOEXEC)).get();
    UserObjects objects(std::make_unique<FakeObjects>(seen_), {}, 0, next + 5);
    objects.follow();
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "argtrace: 5 files with code are open, and no more can be: stacks end where they reach code of other files, whose functions have "
              "no names; raise the limit of open files (ulimit -n, LimitNOFILE=), or trace some processes alone (-p)\n");
    EXPECT_TRUE(seen_.tables.contains(20));
    EXPECT_FALSE(seen_.tables.contains(21));
    EXPECT_TRUE(objects.describe(20));
    EXPECT_FALSE(objects.describe(21));
    EXPECT_LT(Fd(::open("/", O_RDONLY | O_CLOEXEC)).get(), next + 7) << "those that are too many are closed";
}

TEST_F(Objects, TellOnceThatTheKernelRefusesMore) {
    for (std::uint32_t number = 16; number < 20; ++number)
        add(number, "/proc/self/exe");
    seen_.error = ENFILE;
    testing::internal::CaptureStderr();
    UserObjects objects = this->objects();
    objects.follow();
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_THAT(told, testing::StartsWith("argtrace: 0 files with code are open, and no more can be: "));
    EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1);
    seen_.error = ESTALE; // an object that is gone is nothing to be told
    add(20, "/proc/self/exe");
    testing::internal::CaptureStderr();
    UserObjects others = this->objects();
    others.follow();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

/// Where in its file code of this process is.
std::uint64_t file_offset(std::uint64_t address) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        unsigned long begin, end, offset;
        if (std::sscanf(line.c_str(), "%lx-%lx %*s %lx", &begin, &end, &offset) == 3 && address >= begin && address < end)
            return address - begin + offset;
    }
    return 0;
}

TEST_F(Objects, NameFunctionsByTheByteBeforeAReturnAddress) {
    add(16, "/proc/self/exe");
    UserObjects objects = this->objects();
    const std::uint64_t begin = file_offset(reinterpret_cast<std::uintptr_t>(&argtrace_test_named_function));
    ASSERT_NE(begin, 0u);
    EXPECT_EQ(name(objects, {16, begin, true}), "argtrace_test_named_function+0");
    EXPECT_EQ(name(objects, {16, begin + 1, false}), "argtrace_test_named_function+1");
    EXPECT_NE(name(objects, {16, begin, false}).substr(0, 28), "argtrace_test_named_function") << "the caller is the one before";
    EXPECT_GT(seen_.tables.at(16), 100u);
    EXPECT_GT(seen_.tables.at(ARGTRACE_OBJECT_VDSO), 0u);
}

TEST_F(Objects, ThatAreNoProgramsHaveNoTable) {
    const test::TemporaryFile file("no program");
    add(16, file.path());
    UserObjects objects = this->objects();
    objects.follow();
    EXPECT_EQ(seen_.tables.at(16), 0u) << "the module is to know";
    EXPECT_EQ(name(objects, {16, 0x1234, false}), file.path().substr(file.path().rfind('/') + 1) + "+4660");
}

// What was written before they could be opened is not what was mapped, and neither its names nor its table are.
TEST_F(Objects, WhoseFilesAreNotAsTheyWereMappedHaveNoNames) {
    const Fd program(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    const std::uint64_t begin = file_offset(reinterpret_cast<std::uintptr_t>(&argtrace_test_named_function));
    const FileState now = FileState::of(program.get()).value();
    for (const FileState before : {FileState{now.modified - 1, now.bytes}, FileState{now.modified, now.bytes + 1}}) {
        seen_.objects.clear();
        seen_.tables.clear();
        add(16, "/proc/self/exe");
        seen_.mapped = before;
        UserObjects objects = this->objects();
        objects.follow();
        EXPECT_EQ(name(objects, {16, begin, true}), "exe (modified)+" + std::to_string(begin));
        EXPECT_EQ(seen_.tables.at(16), 0u);
        EXPECT_TRUE(objects.source({16, begin, true}).empty());
        EXPECT_EQ(objects.describe(16)->build_id, "");
    }
}

TEST_F(Objects, WhoseFilesHaveBeenLetGoHaveNoName) {
    add(16, "/proc/self/exe");
    seen_.paths.clear();
    UserObjects objects = this->objects();
    objects.follow();
    EXPECT_EQ(name(objects, {16, 0x1234, false}), "");
    EXPECT_FALSE(objects.describe(16));
    EXPECT_TRUE(seen_.tables.empty() || !seen_.tables.contains(16));
}

TEST_F(Objects, AreLookedForWhenAFrameIsInOneThatIsNew) {
    UserObjects objects = this->objects();
    objects.follow();
    add(16, "/proc/self/exe");
    EXPECT_NE(name(objects, {16, 1, false}), "");
    EXPECT_EQ(objects.describe(16)->path, "/proc/self/exe");
}

TEST_F(Objects, GetTheirTableOnceMoreWhenItIsWanted) {
    add(16, "/proc/self/exe");
    UserObjects objects = this->objects();
    objects.follow();
    const std::size_t rows = seen_.tables.at(16);
    EXPECT_GT(rows, 0u);
    seen_.tables.clear();
    objects.follow();
    EXPECT_FALSE(seen_.tables.contains(16));
    seen_.objects[0].flags = ARGTRACE_OBJECT_WANTED;
    objects.follow();
    EXPECT_EQ(seen_.tables.at(16), rows);
    EXPECT_EQ(seen_.opened.size(), 1u) << "the file is open";
}

TEST_F(Objects, ThatWereLetGoAreOpenedWhenTheyAreMappedAgain) {
    add(16, "/proc/self/exe");
    seen_.paths.clear();
    UserObjects objects = this->objects();
    objects.follow();
    EXPECT_FALSE(seen_.tables.contains(16));
    seen_.paths[16] = "/proc/self/exe";
    seen_.objects[0].flags = ARGTRACE_OBJECT_WANTED;
    seen_.objects[0].mapped = 1;
    objects.follow();
    EXPECT_GT(seen_.tables.at(16), 0u);
    EXPECT_NE(name(objects, {16, 0x1234, false}), "");
}

TEST_F(Objects, ThatAreMappedAndCannotBeOpenedHaveNoTable) {
    add(16, "/proc/self/exe");
    seen_.paths.clear();
    seen_.objects[0].mapped = 1;
    UserObjects objects = this->objects();
    objects.follow();
    EXPECT_EQ(seen_.tables.at(16), 0u) << "a process may wait for it";
}

TEST_F(Objects, OfFilesThatProcNamesOtherwiseAreProvided) {
    add(16, "/bin/sh");
    seen_.objects[0].inode++; // as below an overlay
    UserObjects objects = this->objects(2);
    objects.provide({{static_cast<std::uint32_t>(::getpid())}, ""});
    const std::lock_guard lock(seen_.mutex);
    EXPECT_TRUE(seen_.tables.contains(16));
}

TEST_F(Objects, AreProvidedBeforeProbesAre) {
    add(16, "/proc/self/exe");
    UserObjects objects = this->objects(2);
    objects.provide({{static_cast<std::uint32_t>(::getpid())}, ""});
    const std::lock_guard lock(seen_.mutex);
    EXPECT_TRUE(seen_.tables.contains(16));
}

TEST_F(Objects, TellWhatIsInlined) {
    const test::TemporaryFile source("volatile int sink;\n"
                                     "static inline __attribute__((always_inline)) void inner(void) { sink = 1; }\n"
                                     "__attribute__((section(\".text.outer\"))) void outer(void)\n"
                                     "{\n"
                                     "\tinner();\n"
                                     "}\n");
    const std::string library = source.path() + ".so", command = "cc -x c -g -O2 -shared -fPIC -o " + library + ' ' + source.path();
    ASSERT_EQ(std::system(command.c_str()), 0);
    add(16, library);
    UserObjects objects = this->objects();
    const auto described = objects.describe(16);
    ASSERT_TRUE(described);
    ASSERT_EQ(described->segments.size(), 1u);
    std::uint64_t place = described->segments[0].offset;
    while (name(objects, {16, place, true}) != "outer+0" && place < described->segments[0].offset + described->segments[0].size)
        ++place;
    EXPECT_THAT(objects.source({16, place, true}), testing::ElementsAre(SourceFrame{"inner", "", 0}, SourceFrame{"outer", "", 0}));
    UserObjects with_lines(std::make_unique<FakeObjects>(seen_), {.debug_files = {}, .lines = true}, 0);
    const std::vector<SourceFrame> source_lines = with_lines.source({16, place, true});
    ASSERT_EQ(source_lines.size(), 2u);
    EXPECT_EQ(source_lines[0].line, 2);
    EXPECT_EQ(source_lines[1].line, 5);
    EXPECT_EQ(source_lines[1].file, source.path());
    EXPECT_THAT(objects.source({ARGTRACE_OBJECT_MEMORY, 0x7f0000000000, false}), testing::IsEmpty());
    EXPECT_THAT(objects.source({ARGTRACE_OBJECT_END, 0, false}), testing::IsEmpty());
    ::unlink(library.c_str());
}

TEST_F(Objects, EndsAndMemoryAreNone) {
    UserObjects objects = this->objects();
    EXPECT_EQ(name(objects, {ARGTRACE_OBJECT_END, 0, false}), "");
    EXPECT_EQ(name(objects, {ARGTRACE_OBJECT_MEMORY, 0x7f0000000000, false}), "");
}

TEST_F(Objects, PlacesInTheVdsoAreNamed) {
    UserObjects objects = this->objects();
    EXPECT_NE(name(objects, {ARGTRACE_OBJECT_VDSO, 0x10, false}), "") << "at least as [vdso]";
    EXPECT_TRUE(seen_.tables.contains(ARGTRACE_OBJECT_VDSO));
}

} // namespace
} // namespace argtrace
