// SPDX-License-Identifier: GPL-2.0-only
#include "btf/external.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <unistd.h>

#include "support/btf_builder.h"
#include "support/thrown.h"

namespace argtrace {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(ExternalBtfOption, NamesTheModuleOrIsNamedByTheFile) {
    EXPECT_EQ(parse_external("/a/b/foo.ko"), (ExternalBtf{"foo", "/a/b/foo.ko"}));
    EXPECT_EQ(parse_external("snd-hda.btf"), (ExternalBtf{"snd_hda", "snd-hda.btf"}));
    EXPECT_EQ(parse_external("foo=/a=b/types"), (ExternalBtf{"foo", "/a=b/types"}));
    EXPECT_EQ(parse_external("/a=b/foo.ko.debug"), (ExternalBtf{"foo", "/a=b/foo.ko.debug"}));
}

TEST(ExternalBtfOption, ThatIsWrongIsRefused) {
    EXPECT_EQ(thrown([] { parse_external("/a/b c.ko"); }),
              "--btf /a/b c.ko: 'b c' is no module's name: give it as --btf MODULE=FILE");
    EXPECT_THAT(thrown([] { parse_external("/a/"); }), HasSubstr("'' is no module's name"));
    EXPECT_EQ(thrown([] { parse_external("foo="); }), "--btf foo=: the file is missing");
    EXPECT_THAT(thrown([] { parse_external("vmlinux=x"); }), HasSubstr("it is for modules"));
}

class ExternalBtfFile : public testing::Test {
protected:
    void TearDown() override { std::filesystem::remove(path); }

    void write(const std::string &content) {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
    }

    void write(const btf *types) { write(std::string(raw_btf(types))); }

    BtfPtr load(btf *kernel) { return load_external({"m", path}, kernel); }

    std::string refused(btf *kernel) {
        return thrown([&] { load(kernel); });
    }

    const std::string path =
        testing::TempDir() + "argtrace_external_test_" + std::to_string(getpid());
};

// A kernel with `structs` types more than another one.
BtfBuilder make_base(int structs) {
    BtfBuilder b;
    for (int i = 0; i < structs; i++)
        b.structure(("s" + std::to_string(i)).c_str(), 8);
    b.structure("file", 16);
    b.function("vfs_open", 0, {});
    return b;
}

void add_open(BtfBuilder &module) {
    const int file = btf__find_by_name_kind(module.get(), "file", BTF_KIND_STRUCT);
    module.function("m_open", 0, {{"file", module.pointer(file)}});
}

TEST_F(ExternalBtfFile, MayBuildOnTheKernelsTypes) {
    const BtfBuilder kernel = make_base(3);
    BtfBuilder module(kernel.get());
    add_open(module);
    write(module.get());

    BtfPtr types = load(kernel.get());
    EXPECT_EQ(btf__base_btf(types.get()), kernel.get());
}

TEST_F(ExternalBtfFile, MayHaveAllItsTypes) {
    BtfBuilder module;
    module.structure("file", 16);
    add_open(module);
    write(module.get());

    const BtfBuilder kernel = make_base(3);
    KernelTypes all(make_base(0).take());
    all.add_module("m", load(kernel.get()));
    EXPECT_EQ(all.prototypes("m_open", "m").at(0).text, "void m_open(struct file *file)");
    EXPECT_THAT(all.functions("m"), ElementsAre("m_open"));
}

TEST_F(ExternalBtfFile, OfAnotherKernelIsRefused) {
    for (const int structs : {0, 1, 2, 4, 5, 40}) {
        const BtfBuilder other = make_base(structs);
        BtfBuilder module(other.get());
        add_open(module);
        write(module.get());
        const BtfBuilder kernel = make_base(3);
        EXPECT_THAT(refused(kernel.get()), HasSubstr("its types do not fit this kernel's"))
            << structs;
    }
}

TEST_F(ExternalBtfFile, WithoutTypesIsRefused) {
    const BtfBuilder kernel = make_base(1);
    EXPECT_THAT(refused(kernel.get()), HasSubstr("cannot be read: No such file"));
    write("obj-m := m.o\n");
    EXPECT_THAT(refused(kernel.get()), HasSubstr("is neither BTF nor an ELF file"));
    write("\xfd"
          "7zXZ and so on");
    EXPECT_THAT(refused(kernel.get()), HasSubstr("is compressed: unpack it first"));
    write("\x9f\xeb and no more");
    EXPECT_THAT(refused(kernel.get()), HasSubstr("do not fit this kernel's"));
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    EXPECT_THAT(thrown([&] {
                    load_external({"m", self}, kernel.get());
                }),
                AllOf(HasSubstr(self), HasSubstr("no .BTF section")));
}

TEST(ExplainNoTypes, NamesTheCommandThatMakesThem) {
    EXPECT_EQ(explain_no_types("/tmp/foo.ko", true),
              "/tmp/foo.ko: has no types (no .BTF section): `pahole -J --btf_base "
              "/sys/kernel/btf/vmlinux /tmp/foo.ko` makes them of its debug information");
    EXPECT_THAT(explain_no_types("foo.ko", false),
                HasSubstr("nor debug information, which building with -g gives it: `pahole"));
    EXPECT_THAT(explain_no_types("foo.ko.xz", true),
                HasSubstr(": unpack it, then `pahole -J --btf_base /sys/kernel/btf/vmlinux "
                          "foo.ko` makes"));
}

} // namespace
} // namespace argtrace
