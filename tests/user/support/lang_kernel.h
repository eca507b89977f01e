// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "abi/calling_convention.h"
#include "btf/kernel_types.h"
#include "lang/compile.h"
#include "lang/scope.h"
#include "model/probe_kind.h"
#include "support/compiled_c.h"

namespace argtrace {

/// A kernel in small: types of the shapes that the real one has, described by the compiler.
inline constexpr const char *small_kernel = R"(
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32;
typedef unsigned long u64; typedef signed char s8; typedef int s32; typedef long s64;
typedef u16 __be16; typedef u32 __be32; typedef u64 __be64;
typedef u64 size_t; typedef s64 loff_t; typedef u16 umode_t; typedef u32 uid_t;
typedef _Bool bool; typedef u32 fmode_t; typedef const volatile u32 flags_t;
typedef struct { uid_t val; } kuid_t; typedef struct { uid_t val; } kgid_t;
struct unknown;
struct list_head { struct list_head *next, *prev; };
enum color { RED, GREEN = 5, BLUE = -1 };
enum wide { WIDE = 0x123456789abcdef0 };
enum __attribute__((packed)) small_enum { SMALL = 7 };
enum req_flag_bits { __REQ_FAILFAST_DEV = 8, __REQ_SYNC = 11, __REQ_NR_BITS };
enum _slab_flag_bits { _SLAB_POISON = 2, _SLAB_FLAGS_LAST_BIT };
enum gfp_bits { ___GFP_DMA_BIT, ___GFP_IO_BIT = 6, ___GFP_FS_BIT = 7, ___GFP_DIRECT_RECLAIM_BIT = 10,
       ___GFP_KSWAPD_RECLAIM_BIT = 11, BIG = 0x80000000 };
struct super_block { u32 s_magic; char s_id[32]; struct inode *s_root_inode; };
struct inode { umode_t i_mode; kuid_t i_uid; u64 i_ino; struct super_block *i_sb; loff_t i_size; };
struct qstr { union { struct { u32 hash, len; }; u64 hash_len; }; const unsigned char *name; };
struct hlist_bl_node { struct hlist_bl_node *next, **pprev; };
struct dentry { u32 d_flags; struct hlist_bl_node d_hash; struct dentry *d_parent;
                struct qstr d_name; struct inode *d_inode; u8 d_iname[32]; };
struct vfsmount { struct dentry *mnt_root; struct super_block *mnt_sb; };
struct mnt_namespace { long common[4]; struct mount *root; };
struct mount { void *mnt_hash; struct mount *mnt_parent; struct dentry *mnt_mountpoint;
               struct vfsmount mnt; struct mnt_namespace *mnt_ns; };
struct path { struct vfsmount *mnt; struct dentry *dentry; };
struct file_operations { long (*read)(struct file *, char *, size_t, loff_t *); void *owner; };
struct file { fmode_t f_mode; u32 f_flags; struct inode *f_inode; loff_t f_pos;
              const struct file_operations *f_op; struct path f_path; void *private_data;
              struct unknown *f_unknown; };
struct kernfs_node { int count; u64 id; struct kernfs_node *parent; const char *name; };
struct cgroup { struct kernfs_node *kn; };
struct css_set { void *subsys[3]; struct cgroup *dfl_cgrp; };
struct cred { kuid_t uid; kgid_t gid; };
struct task_struct { long state; int pid, tgid; struct task_struct *real_parent; char comm[16];
                     const struct cred *cred; struct css_set *cgroups; };
struct sock_common { union { __be32 skc_daddr; u64 skc_addrpair; }; __be16 skc_dport; u16 skc_num;
                     __be64 wide; };
struct sock { struct sock_common __sk_common; int sk_type : 16, sk_protocol : 8; bool sk_ok : 1;
              u8 flags; };
struct fields { u32 a : 3, b : 7, c : 22; s32 d : 5, e : 27; u64 f : 40, g : 24; bool h : 1;
                s64 i : 63; enum small_enum j : 4; u8 k : 4, l : 4; };
struct __attribute__((packed)) packed_fields { u8 pad; u32 x : 31; u64 y : 50; s32 z; };
struct shapes {
    s8 s8_; u8 u8_; short s16_; u16 u16_; s32 s32_; u32 u32_; s64 s64_; u64 u64_; bool bool_; char char_;
    enum color color; enum wide wide; enum small_enum small; const volatile int cv; flags_t flags;
    int array[4]; char text[8]; char name[6]; u8 bytes[5]; struct fields fields;
    union { int u_int; float u_float; struct { u8 low, high; }; };
    struct { int inner; struct { long innermost; }; } nested;
    struct fields many[2]; int (*function)(int); struct shapes *self; int *pint; char *pchar; void *pvoid;
    int (*parray)[4]; struct list_head list; __int128 huge; double real; struct packed_fields packed;
    const char *const *names; u64 address; int flexible[];
};
struct sockaddr_in6 { u16 sin6_family; u8 rest[26]; };
struct page { unsigned long flags; u64 rest[7]; };
struct folio { struct page page; u64 more[8]; };
struct pair { int first; u8 second; short third[2]; struct { u16 x : 4, y : 12; } fourth; };
struct large { long a, b, c; };
typedef int row_t[4];
typedef int handler_t(int);
long vfs_read(struct file *file, char *buf, size_t count, loff_t *pos) { return 0; }
int vfs_open(const struct path *path, struct file *file) { return 0; }
int tcp_connect(struct sock *sk, int size) { return 0; }
int arrange(row_t *rows, handler_t *handler) { return 0; }
int migrate(struct page *page, struct folio *folio, size_t pfn) { return 0; }
int bind(struct sockaddr_in6 *address) { return 0; }
int look(struct shapes *p, int index, u32 unsigned_index, s8 narrow, bool flag, enum color color) { return 0; }
int by_value(struct pair pair, struct large large, __int128 huge, __be16 port, double real) { return 0; }
int many(int a, int b, int c, int d, int e, int f, short g, struct file *h) { return 0; }
double blend(double x, double y, float f, float g, int n, struct shapes *p) { return 0; }
float shrink(long a, long b, long c, long d, long e, long f, short g, double x, struct pair pair, struct large large) { return 0; }
void use(struct task_struct *task, struct mount *mount, struct dentry *dentry, struct vfsmount *mnt, enum gfp_bits bits,
         enum req_flag_bits request, enum _slab_flag_bits slab) {}
)";

/// Compiled once; kept for all tests of the process.
/// Where the variable is.
inline constexpr std::uint64_t small_kernel_vmemmap_base = 0xffffffff82000008;
inline constexpr std::uint64_t small_kernel_per_cpu_offset = 0xffffffff82001000;

class SmallKernel {
public:
    static SmallKernel &get() {
        static SmallKernel kernel;
        return kernel;
    }

    Prototype prototype(const char *function) {
        const std::vector<Prototype> found = kernel_.prototypes(function);
        EXPECT_EQ(found.size(), 1u) << function;
        return found.at(0);
    }

    lang::Scope scope(const char *function) {
        const Prototype found = prototype(function);
        return {types_, found, sysv_x86_64(found)};
    }

    /// The same of a function of a program.
    lang::Scope user_scope(const char *function) {
        const Prototype found = prototype(function);
        lang::Scope scope(types_, found, user_functions_x86_64.places(found), user_kind);
        scope.set_operands(user_functions_x86_64.operands(found));
        return scope;
    }

    const lang::Types &types() const { return types_; }
    const CompiledC &compiled() const { return compiled_; }

private:
    static std::optional<std::uint64_t> find_variable(std::string_view name) {
        return name == "vmemmap_base"       ? std::optional(small_kernel_vmemmap_base)
               : name == "__per_cpu_offset" ? std::optional(small_kernel_per_cpu_offset)
                                            : std::nullopt;
    }

    SmallKernel()
        : compiled_(small_kernel), kernel_(compiled_.take_types()), types_(kernel_.kernel(), find_variable) {}

    CompiledC compiled_;
    KernelTypes kernel_;
    lang::Types types_;
};

} // namespace argtrace
