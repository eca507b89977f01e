// SPDX-License-Identifier: GPL-2.0-only
#include "render/pprof.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/user_frame.h"
#include "support/pprof_reader.h"

namespace argtrace {
namespace {

constexpr std::uint32_t tool = ARGTRACE_OBJECT_FIRST;
constexpr std::uint64_t in_main = UserFrame(tool, 0x1020, false).word(), in_memory = UserFrame(ARGTRACE_OBJECT_MEMORY, 0x7f0000001234, true).word();

/// ksys_read() was entered from main(), in which get() is inlined, and that from code in no file.
class ProfiledSymbols : public Symbols {
public:
    std::optional<Symbol> find(CodePlace place) const override {
        if (place.space == CodeSpace::kernel)
            return Symbol{0xffffffff81000000, "ksys_read", "", 0};
        return place.address == in_main ? std::optional(Symbol{in_main - 0x20, "main", "", 0}) : std::nullopt;
    }
    std::optional<Stack> stack(std::uint64_t id, StackRoom & /*room*/) const override {
        return id == 100 ? Stack{kernel_, false} : Stack{user_, false, CodeSpace::user};
    }
    std::optional<CodeObject> object(std::uint32_t number) const override {
        if (number != tool)
            return std::nullopt;
        return CodeObject{"/usr/bin/tool", "abcdef01", {{0x1000, 0x401000, 0x2000}, {0x8000, 0x409000, 0x100}}};
    }
    std::vector<SourceFrame> source(CodePlace place) const override {
        if (place.address != in_main)
            return {};
        return {{"get", "/src/get.h", 12}, {"main", "/src/main.c", 34}};
    }

private:
    std::vector<std::uint64_t> kernel_{0xffffffff81000010}, user_{in_main, in_memory};
};

/// In both samples main() has the place in which get() is inlined: its line is 12, and get() was called in line 34 of main().
constexpr const char *decoded = R"(sample_type {
  type: 1
  unit: 2
}
sample_type {
  type: 3
  unit: 4
}
sample {
  location_id: 1
  location_id: 2
  location_id: 3
  location_id: 4
  value: 3
  value: 1500
  label {
    key: 15
    str: 16
  }
  label {
    key: 17
    num: 17
  }
}
sample {
  location_id: 3
  location_id: 4
  value: 1
  value: 20
}
mapping {
  id: 2
  memory_start: 4198400
  memory_limit: 4231424
  file_offset: 4096
  filename: 8
  build_id: 9
  has_functions: true
  has_filenames: true
  has_line_numbers: true
  has_inline_frames: true
}
mapping {
  id: 1
  filename: 6
  has_functions: true
  has_filenames: true
  has_line_numbers: true
  has_inline_frames: true
}
location {
  id: 1
  line {
    function_id: 1
  }
}
location {
  id: 2
  mapping_id: 1
  address: 18446744071578845200
  line {
    function_id: 2
  }
}
location {
  id: 3
  mapping_id: 2
  address: 4198432
  line {
    function_id: 3
    line: 12
  }
  line {
    function_id: 4
    line: 34
  }
}
location {
  id: 4
  address: 139637976732212
  line {
    function_id: 5
  }
}
function {
  id: 1
  name: 5
  system_name: 5
}
function {
  id: 2
  name: 7
  system_name: 7
}
function {
  id: 3
  name: 10
  system_name: 10
  filename: 11
}
function {
  id: 4
  name: 12
  system_name: 12
  filename: 13
}
function {
  id: 5
  name: 14
  system_name: 14
}
string_table: ""
string_table: "waits"
string_table: "count"
string_table: "delay"
string_table: "nanoseconds"
string_table: "vfs_read"
string_table: "[kernel.kallsyms]"
string_table: "ksys_read"
string_table: "/usr/bin/tool"
string_table: "abcdef01"
string_table: "get"
string_table: "/src/get.h"
string_table: "main"
string_table: "/src/main.c"
string_table: "[anonymous]"
string_table: "comm"
string_table: "a\357\277\275"
string_table: "pid"
time_nanos: 1700000000000000000
default_sample_type: 3
)";

TEST(Pprof, IsWhatProtocDecodes) {
    const ProfiledSymbols symbols;
    CallerNames names(symbols);
    const std::array kinds{PprofProfile::Kind{"waits", "count"}, PprofProfile::Kind{"delay", "nanoseconds"}};
    PprofProfile profile(names, kinds);
    profile.set_time(1700000000000000000);
    const Value kernel{100, 0, ARGTRACE_TYPE_STACK, true}, user{200, 0, ARGTRACE_TYPE_STACK, true};
    std::vector<StackFrame> frames = stack_frames(names, {&kernel, &user});
    frames.push_back({names.number("vfs_read")});
    profile.add(frames, std::array<std::uint64_t, 2>{3, 1500}, {{"comm", "a\xff"}, {"pid", "17"}});
    frames.erase(frames.end() - 2, frames.end());
    profile.add(frames, std::array<std::uint64_t, 2>{1, 20}, {});
    EXPECT_EQ(test::decoded_profile(profile.finish()), decoded);
}

/// Two programs and a library, which has the most frames of these.
class SomeObjects : public Symbols {
public:
    std::optional<Symbol> find(CodePlace) const override { return Symbol{0xffffffff81000000, "f", "", 0}; }
    std::optional<Stack> stack(std::uint64_t id, StackRoom & /*room*/) const override {
        return id == 100 ? Stack{kernel_, false} : Stack{user_, false, CodeSpace::user};
    }
    std::optional<CodeObject> object(std::uint32_t number) const override {
        return CodeObject{number == 16 ? "/lib/libc.so.6" : number == 17 ? "/bin/program" : "/bin/other", ""};
    }

private:
    static std::uint64_t word(std::uint32_t object, std::uint64_t offset) { return UserFrame(object, offset, false).word(); }

    std::vector<std::uint64_t> kernel_{0xffffffff81000010, 0xffffffff81000020, 0xffffffff81000030, 0xffffffff81000040};
    std::vector<std::uint64_t> user_{word(16, 1), word(16, 2), word(16, 3), word(18, 1), word(17, 1), word(17, 2)};
};

TEST(Pprof, TheProgramWithTheMostFramesIsTheFirstMappingAndTheKernelTheLast) {
    const SomeObjects symbols;
    CallerNames names(symbols);
    const PprofProfile::Kind calls{"calls", "count"};
    PprofProfile profile(names, std::span(&calls, 1));
    const Value kernel{100, 0, ARGTRACE_TYPE_STACK, true}, user{200, 0, ARGTRACE_TYPE_STACK, true};
    profile.add(stack_frames(names, {&kernel, &user}), std::array<std::uint64_t, 1>{7}, {});
    const std::string text = test::decoded_profile(profile.finish());
    std::vector<int> files;
    for (std::size_t at = text.find("mapping {"); at != text.npos; at = text.find("\nmapping {", at + 1))
        files.push_back(std::atoi(&text[text.find("filename: ", at) + 10]));
    std::vector<std::string> strings;
    constexpr std::string_view field = "string_table: \"";
    for (std::size_t at = text.find(field); at != text.npos; at = text.find(field, at + 1))
        strings.push_back(text.substr(at + field.size(), text.find('"', at + field.size()) - at - field.size()));
    ASSERT_EQ(files.size(), 4u);
    EXPECT_EQ(strings.at(static_cast<std::size_t>(files[0])), "/bin/program");
    EXPECT_EQ(strings.at(static_cast<std::size_t>(files[1])), "/bin/other");
    EXPECT_EQ(strings.at(static_cast<std::size_t>(files[2])), "/lib/libc.so.6");
    EXPECT_EQ(strings.at(static_cast<std::size_t>(files[3])), "[kernel.kallsyms]");
}

} // namespace
} // namespace argtrace
