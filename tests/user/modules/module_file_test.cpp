// SPDX-License-Identifier: GPL-2.0-only
#include "modules/module_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <unistd.h>

#include "support/thrown.h"
#include "symbols/kallsyms.h"
#include "symbols/traceable.h"

namespace argtrace {
namespace {

using testing::HasSubstr;

class InFolder : public testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directory(folder); }
    void TearDown() override { std::filesystem::remove_all(folder); }

    std::string write(const std::string &name, const std::string &content) {
        const std::string path = folder + '/' + name;
        std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
        return path;
    }

    static void shell(const std::string &command) { ASSERT_EQ(std::system(command.c_str()), 0); }

    const std::string folder =
        testing::TempDir() + "argtrace_module_file_test_" + std::to_string(getpid());
};

#if defined(__x86_64__)

// As the kernel's build makes them: ENDBR before the call in some, none in a notrace one.
constexpr const char *module_source = R"(
	.section .modinfo, "a"
	.asciz "license=GPL"
	.asciz "srcversion=0123456789ABCDEF"
	.asciz "name=foo_bar"
	.section .BTF
	.ascii "types"

	.text
	.macro function name, before
	.balign 16
	.type \name, @function
\name:
	.if \before
	.skip \before, 0x90
	.endif
1:	call __fentry__
	ret
	.size \name, . - \name
	.pushsection __mcount_loc, "a"
	.quad 1b
	.popsection
	.endm

	function plain, 0
	function with_endbr, 4
	.balign 16
	.type untraceable, @function
untraceable:
	ret
	.size untraceable, . - untraceable
	function plain, 0

	.section .init.text, "ax"
	function foo_init, 4
	.globl init_module
	.type init_module, @function
	.set init_module, foo_init
)";

class ModuleFiles : public InFolder {
protected:
    /// "plain" is there twice, which an assembler takes only in two files.
    void SetUp() override {
        InFolder::SetUp();
        std::string source = module_source;
        const std::size_t second = source.rfind("\tfunction plain, 0\n");
        source.erase(second, std::string("\tfunction plain, 0\n").size());
        write("one.s", source);
        write("two.s", std::string(source, source.find("\t.text"),
                                   source.find("\tfunction plain") - source.find("\t.text")) +
                           "\tfunction plain, 0\n");
        shell("cd " + folder + " && cc -c one.s two.s && ld -r -o foo-bar.ko one.o two.o");
        path = folder + "/foo-bar.ko";
    }

    std::string path;
};

TEST_F(ModuleFiles, HaveTheModulesFunctions) {
    const ModuleFile module = ModuleFile::read(path);
    EXPECT_EQ(module.name, "foo_bar");
    EXPECT_EQ(module.srcversion, "0123456789ABCDEF");
    EXPECT_EQ(view(module.types), "types");
    EXPECT_TRUE(module.base.empty());

    const Kallsyms symbols = Kallsyms::parse(module.symbols);
    EXPECT_EQ(symbols.all().size(), 5u);
    EXPECT_EQ(symbols.named("plain").size(), 2u);
    EXPECT_EQ(symbols.named("plain").at(0).module, "foo_bar");
    EXPECT_EQ(symbols.named("untraceable").size(), 1u);
    EXPECT_TRUE(symbols.named("init_module").empty()) << "an alias of foo_init";

    const Traceable traceable = Traceable::parse(module.traceable);
    EXPECT_EQ(traceable.all().size(), 4u);
    EXPECT_TRUE(traceable.contains("plain", "foo_bar"));
    EXPECT_TRUE(traceable.contains("with_endbr", "foo_bar"));
    EXPECT_TRUE(traceable.contains("foo_init", "foo_bar"));
    EXPECT_FALSE(traceable.contains("untraceable", "foo_bar"));
}

TEST_F(ModuleFiles, MayBePacked) {
    const std::string symbols = ModuleFile::read(path).symbols;
    for (const char *packer : {"xz --check=crc32 --lzma2=dict=1MiB", "zstd -q", "gzip"}) {
        shell(std::string(packer) + " -c " + path + " >" + folder + "/packed");
        EXPECT_EQ(ModuleFile::read(folder + "/packed").symbols, symbols) << packer;
        std::filesystem::resize_file(folder + "/packed",
                                     std::filesystem::file_size(folder + "/packed") / 2);
        EXPECT_THAT(thrown([&] { ModuleFile::read(folder + "/packed"); }),
                    HasSubstr("packed: is damaged: it cannot be unpacked"))
            << packer;
    }
}

TEST_F(ModuleFiles, ThatAreCutOffAnywhereDoNoHarm) {
    std::ifstream in(path, std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(in), {}};
    for (std::size_t length = 0; length < whole.size(); length += 13) {
        const std::string cut = write("cut.ko", whole.substr(0, length));
        thrown([&] { ModuleFile::read(cut); }); // refused, or with less in it
    }
    for (std::size_t at = 0; at < whole.size(); at += 3) {
        std::string spoilt = whole;
        spoilt[at] = static_cast<char>(~spoilt[at]);
        thrown([&] { ModuleFile::read(write("spoilt.ko", spoilt)); });
    }
}

TEST_F(ModuleFiles, ThatAreNoneAreRefused) {
    EXPECT_THAT(thrown([&] { ModuleFile::read(folder + "/none.ko"); }),
                HasSubstr("none.ko: cannot be read: No such file"));
    EXPECT_THAT(thrown([&] { ModuleFile::read(write("text.ko", "obj-m := m.o\n")); }),
                HasSubstr("text.ko: is no kernel module"));
    EXPECT_THAT(thrown([] { ModuleFile::read("/proc/self/exe"); }),
                HasSubstr("is no kernel module"));
    shell("echo .text >" + folder + "/other.s && cc -c -o " + folder + "/other.o " + folder +
          "/other.s");
    EXPECT_THAT(thrown([&] { ModuleFile::read(folder + "/other.o"); }),
                HasSubstr("is no kernel module: it does not say its name"));
}

#endif

class ModuleFolder : public InFolder {
protected:
    void SetUp() override {
        InFolder::SetUp();
        write("modules.dep", "kernel/sound/snd-hda.ko.xz: kernel/sound/snd.ko.xz\n"
                             "updates/dummy_one.ko:\n"
                             "/elsewhere/absolute.ko.zst:\n");
        write("modules.builtin", "kernel/fs/ext4/ext4.ko\n");
    }

    std::string error(const std::string &module) {
        return thrown([&] { find_module_file(module, folder); });
    }
};

TEST_F(ModuleFolder, IsSearchedAsModprobeDoes) {
    EXPECT_EQ(find_module_file("snd_hda", folder), folder + "/kernel/sound/snd-hda.ko.xz");
    EXPECT_EQ(find_module_file("snd-hda", folder), folder + "/kernel/sound/snd-hda.ko.xz");
    EXPECT_EQ(find_module_file("dummy-one", folder), folder + "/updates/dummy_one.ko");
    EXPECT_EQ(find_module_file("absolute", folder), "/elsewhere/absolute.ko.zst");
}

TEST_F(ModuleFolder, SaysWhatIsWrong) {
    EXPECT_THAT(error("dumy_one"),
                HasSubstr("no such module in " + folder + "; did you mean dummy_one?"));
    EXPECT_THAT(error("ext4"), HasSubstr("is built into the kernel and is never loaded"));
    std::filesystem::remove(folder + "/modules.dep");
    EXPECT_THAT(error("dummy_one"), HasSubstr("run depmod"));
}

TEST(ModulePath, IsToldFromAName) {
    EXPECT_TRUE(is_module_path("./foo"));
    EXPECT_TRUE(is_module_path("foo.ko"));
    EXPECT_TRUE(is_module_path("foo.ko.xz"));
    EXPECT_FALSE(is_module_path("snd-hda"));
}

} // namespace
} // namespace argtrace
