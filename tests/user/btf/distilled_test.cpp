// SPDX-License-Identifier: GPL-2.0-only
#include "btf/distilled.h"

#include <gmock/gmock.h>

#include "support/btf_builder.h"
#include "support/thrown.h"

namespace argtrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A kernel with a few types more in front of these than another one.
BtfBuilder make_base_with(int more) {
    BtfBuilder b;
    for (int i = 0; i < more; i++)
        b.structure(("other" + std::to_string(i)).c_str(), 8);
    const int number = b.integer("int", 4, BTF_INT_SIGNED);
    const int word = b.integer("long unsigned int", 8);
    b.floating("double", 8);
    b.structure("file", 16, {{"f_flags", number, 0}, {"f_pos", word, 64}});
    b.structure("list_head", 16, {{"next", b.pointer(word), 0}, {"prev", b.pointer(word), 64}});
    b.structure("list_head", 24); // another one of that name
    b.union_("both", 8, {{"a", number, 0}, {"b", word, 0}});
    b.enumeration("kind", 4, 3);
    b.function("vfs_open", 0, {{"file", number}});
    return b;
}

// What pahole leaves of the kernel's types for a module: no members, and FWD where the size does
// not matter.
class Distilled : public testing::Test {
protected:
    Distilled() : module(base_filled()) {
        const int device = module.structure(
            "device", 32, {{"list", list, 0}, {"both", both, 128}, {"kind", kind, 192}});
        module.enumeration64("wide", 8, false);
        const int name = module.name("device_t", device);
        const int files = module.array(number, module.pointer(file), 4);
        const int callback = module.proto(number, {{"file", module.pointer(file)}});
        module.function("m_open", number,
                        {{"device", module.pointer(name)},
                         {"files", module.pointer(files)},
                         {"callback", module.pointer(callback)},
                         {"scale", scale}});
        module.function("m_close", 0, {{"file", module.pointer(file)}});
    }

    btf *base_filled() {
        // In another order than the kernel's.
        kind = base.enumeration("kind", 4, 0);
        number = base.integer("int", 4, BTF_INT_SIGNED);
        list = base.structure("list_head", 16);
        file = base.forward("file", BTF_FWD_STRUCT);
        scale = base.floating("double", 8);
        both = base.union_("both", 8);
        return base.get();
    }

    BtfPtr load(btf *kernel) {
        return load_distilled(raw_btf(module.get()), raw_btf(base.get()), "m.ko", kernel);
    }

    BtfBuilder base;
    int number = 0, file = 0, list = 0, kind = 0, both = 0, scale = 0;
    BtfBuilder module;
};

TEST_F(Distilled, BuildsOnTheKernelThatRuns) {
    for (const int more : {0, 1, 50}) {
        KernelTypes types(make_base_with(more).take());
        types.add_module("m", load(types.kernel()));
        EXPECT_THAT(types.functions("m"), ElementsAre("m_close", "m_open"));
        EXPECT_EQ(types.prototypes("m_open", "m").at(0).text,
                  "int m_open(device_t *device, struct file *(*files)[4], "
                  "int (*callback)(struct file *file), double scale)");
        EXPECT_EQ(types.prototypes("m_close", "m").at(0).text, "void m_close(struct file *file)");
        // What the kernel says, not the name alone.
        const btf *module_types = types.prototypes("m_close", "m").at(0).source.types;
        const btf *kernel = types.kernel();
        EXPECT_EQ(btf__base_btf(module_types), kernel);
        const btf_type *device = nullptr;
        for (std::uint32_t id = btf__type_cnt(kernel); id < btf__type_cnt(module_types); id++) {
            const btf_type *type = btf__type_by_id(module_types, id);
            if (btf_is_struct(type))
                device = type;
        }
        ASSERT_NE(device, nullptr);
        ASSERT_EQ(btf_vlen(device), 3);
        const char *const members[] = {"list", "both", "kind"};
        const char *const members_types[] = {"list_head", "both", "kind"};
        const unsigned elements[] = {2, 2, 1};
        for (int i = 0; i < 3; i++) {
            const btf_member &member = btf_members(device)[i];
            const btf_type *type = btf__type_by_id(kernel, member.type);
            EXPECT_STREQ(btf__name_by_offset(module_types, member.name_off), members[i]);
            EXPECT_STREQ(btf__name_by_offset(kernel, type->name_off), members_types[i]);
            EXPECT_EQ(btf_vlen(type), elements[i]);
        }
    }
}

TEST_F(Distilled, NeedsWhatItWasBuiltFor) {
    BtfBuilder kernel;
    kernel.integer("int", 4, BTF_INT_SIGNED);
    kernel.floating("double", 8);
    kernel.structure("file", 16);
    kernel.structure("list_head", 24);
    kernel.union_("both", 8);
    kernel.enumeration("kind", 4, 3);
    EXPECT_EQ(thrown([&] { load(kernel.get()); }),
              "m.ko: it needs the type list_head, which this kernel has not, or in another form: "
              "build it for the kernel that runs");
    kernel.structure("list_head", 16);
    EXPECT_NE(load(kernel.get()), nullptr);
    kernel.structure("list_head", 16, {{"other", 1, 0}});
    EXPECT_EQ(thrown([&] { load(kernel.get()); }),
              "m.ko: it needs the type list_head, of which the kernel has several, and does not "
              "tell which");
}

// What is only pointed to need not have its size, and may be known by its name alone.
TEST_F(Distilled, MayHaveGrownWhereThatDoesNotMatter) {
    BtfBuilder small;
    const int grown = small.structure("grown", 8), hidden = small.forward("hidden", BTF_FWD_STRUCT);
    BtfBuilder user(small.get());
    user.function("m_use", 0, {{"grown", user.pointer(grown)}, {"hidden", user.pointer(hidden)}});
    BtfBuilder kernel;
    kernel.forward("hidden", BTF_FWD_STRUCT);
    kernel.structure("grown", 16);
    KernelTypes types(kernel.take());
    const auto load_user = [&] {
        return load_distilled(raw_btf(user.get()), raw_btf(small.get()), "m.ko", types.kernel());
    };
    types.add_module("m", load_user());
    EXPECT_EQ(types.prototypes("m_use", "m").at(0).text,
              "void m_use(struct grown *grown, struct hidden *hidden)");

    user.structure("with_it", 16, {{"grown", user.array(grown, grown, 2), 0}});
    EXPECT_THAT(thrown(load_user), HasSubstr("it needs the type grown"));
}

TEST_F(Distilled, ThatIsDamagedIsRefused) {
    const BtfBuilder kernel = make_base_with(3);
    const std::string types(raw_btf(module.get())), below(raw_btf(base.get()));
    for (std::size_t length = 0; length < below.size(); length += 5)
        EXPECT_THAT(
            thrown([&] { load_distilled(types, below.substr(0, length), "m.ko", kernel.get()); }),
            HasSubstr("m.ko: "));
    for (std::size_t length = 0; length < types.size(); length += 5)
        EXPECT_THAT(
            thrown([&] { load_distilled(types.substr(0, length), below, "m.ko", kernel.get()); }),
            HasSubstr("m.ko: "));
    for (std::size_t at = sizeof(btf_header); at + 4 <= types.size(); at += 4) {
        std::string changed = types;
        changed.replace(at, 4, "\xff\xff\xff\x7f");
        try {
            load_distilled(changed, below, "m.ko", kernel.get());
        } catch (const Error &) {
            // Most are; what is not must have been read within its bytes.
        }
    }
}

} // namespace
} // namespace argtrace
