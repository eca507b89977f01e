// SPDX-License-Identifier: GPL-2.0-only

// What is refused, and in which words.

#include "lang/check.h"

#include <gmock/gmock.h>

#include "lang/constants.h"
#include "lang/glob_pattern.h"
#include "support/btf_builder.h"
#include "support/lang_kernel.h"
#include "support/thrown.h"

namespace argtrace::lang {
namespace {

std::string refused_by(const char *function, const std::string &text) {
    const Scope scope = SmallKernel::get().scope(function);
    return thrown([&] { check_condition(scope, parse_condition(text)); });
}

// The parts of an error that matter here: the sentence, and the position of the caret.
struct Refusal {
    std::string sentence;
    std::size_t at;
    bool operator==(const Refusal &) const = default;
};

std::ostream &operator<<(std::ostream &out, const Refusal &refusal) {
    return out << refusal.at << ": " << refusal.sentence;
}

Refusal refusal(const char *function, const std::string &text, bool value = false) {
    const Scope scope = SmallKernel::get().scope(function);
    const std::string all = thrown([&] {
        const Expression expression = parse_condition(text);
        value ? check_value(scope, expression) : check_condition(scope, expression);
    });
    if (all.empty())
        return {"", 0};
    return {all.substr(0, all.find('\n')), all.size() - all.rfind('\n') - 4};
}

Refusal in_read(const std::string &text) {
    return refusal("vfs_read", text);
}

Refusal in_look(const std::string &text) {
    return refusal("look", text);
}

TEST(CheckError, PointsAtTheToken) {
    EXPECT_EQ(refused_by("vfs_read", "file->f_inod->i_ino == 1"),
              "struct file has no f_inod; did you mean f_inode?\n"
              "  file->f_inod->i_ino == 1\n"
              "        ^");
}

TEST(CheckError, Names) {
    EXPECT_EQ(
        in_read("cuont > 1"),
        (Refusal{"vfs_read has no argument cuont, and it is no builtin or constant either; did "
                 "you mean count?",
                 0}));
    EXPECT_EQ(in_read("$pdi"), (Refusal{"there is no builtin $pdi; did you mean $pid?", 0}));
    EXPECT_EQ(in_read("file->f_flags & O_DIRCT"),
              (Refusal{"vfs_read has no argument O_DIRCT, and it is no builtin or constant either; "
                       "did you mean O_DIRECT?",
                       16}));
    EXPECT_EQ(in_read("umode_t == 1"),
              (Refusal{"vfs_read has no argument umode_t, and it is no builtin or constant either; "
                       "it is a type, which can be cast to: (umode_t)(...)",
                       0}));
    EXPECT_EQ(in_read("ntop(file)"),
              (Refusal{"there is no function ntop; there are str, buf, text, array, records, pointers, on_page, head, strs, path, cgroup_path, fd, pfn, flags, "
                       "name, sockaddr, sym, cpus, only, user, kernel, this_cpu, per_cpu, reg, len, cap, element, type",
                       0}));
    EXPECT_EQ(in_read("cgroup_path(file)"),
              (Refusal{"cgroup_path() is that of the current task, and has no operands", 12}));
    EXPECT_EQ(in_read("cgroup_path() == 1"),
              (Refusal{"cgroup_path() can be recorded, and nothing else; what can be compared is cgroup, its number", 0}));
    EXPECT_EQ(in_read("cgroup_path() ~ \"/system.slice/*\""), in_read("cgroup_path() == 1"));
    EXPECT_EQ(in_read("sockaddr(buf) == \"10.0.0.1:443\""),
              (Refusal{"sockaddr() can be recorded, and nothing else", 0}));
    EXPECT_EQ(in_read("sockaddr(file)"),
              (Refusal{"sockaddr() takes a struct sockaddr *, and file is a struct file *; cast it, as in "
                       "sockaddr((struct sockaddr *)NAME)",
                       9}));
    const std::string unknown = "vfs_read has no argument {}, and it is no builtin or constant either; {}";
    EXPECT_EQ(in_read("arg2 > 1"), (Refusal{fmt::format(fmt::runtime(unknown), "arg2", "arguments go by their names: file, buf, count, pos"), 0}));
    EXPECT_EQ(in_read("args->count").sentence, fmt::format(fmt::runtime(unknown), "args", "arguments go by their names: file, buf, count, pos"));
    EXPECT_EQ(in_read("nsecs > 1").sentence, fmt::format(fmt::runtime(unknown), "nsecs", "did you mean time?"));
    EXPECT_EQ(in_read("ntohs(count)"), (Refusal{"there is no function ntohs, and no need for one: numbers of the types __be16, __be32 and "
                                                "__be64 are converted when they are read",
                                                0}));
    EXPECT_EQ(in_read("1 + pth(file)"),
              (Refusal{"there is no function pth; did you mean path?", 4}));
}

TEST(CheckError, ArraysOfTypes) {
    const std::string arrays = "u32 is a type, and arrays of it cannot be written; pointers can, as in (u32 *)";
    EXPECT_EQ(in_read("(u32 [4])*buf"), (Refusal{arrays, 5}));
    EXPECT_EQ(in_read("sizeof(u32 [4])"), (Refusal{arrays, 11}));
    EXPECT_EQ(in_read("(count)[4]").sentence, "(count) is neither an array nor a pointer: size_t");
}

TEST(CheckError, OnlyAndCpus) {
    EXPECT_EQ(in_read("cpus(file)"), (Refusal{"BTF does not describe struct cpumask", 0}));
    EXPECT_EQ(in_read("only(file->f_flags)"),
              (Refusal{"it is only(VALUE, CONDITION), with 2 operands", 0}));
    const std::string in_memory =
        "the value of only() is a member, what a pointer to one of the kernel's types points to, or a text, bytes or a path";
    EXPECT_EQ(in_read("only(count, 1)"), (Refusal{in_memory, 5}));
    EXPECT_EQ(in_read("only(file->f_flags + 1, 1)"), (Refusal{in_memory, 5}));
    EXPECT_EQ(in_read("only(*(int *)buf, 1)"), (Refusal{in_memory, 5}));
    EXPECT_EQ(in_look("only(p->fields.a, 1)"), (Refusal{in_memory, 5}));
    EXPECT_EQ(in_read("only(file->f_flags, 1 + 1)"),
              (Refusal{"this condition is the same for all calls", 20}));
    EXPECT_EQ(in_look("only(p->flexible, 1)"),
              (Refusal{"int[0] has 0 bytes, and 1 to 1024 are recorded", 5}));
    EXPECT_EQ(in_read("only(file->f_path, count).mnt"),
              (Refusal{"only() can be recorded, and nothing else", 0}));
    EXPECT_EQ(in_read("only(file->f_flags, file->f_path)").sentence,
              "this is a struct path: name one of its members");
}

TEST(CheckError, NamesOfValues) {
    EXPECT_EQ(in_read("flags(count)"),
              (Refusal{"it is flags(VALUE, \"GLOB\"), with 2 operands", 0}));
    EXPECT_EQ(in_read("flags(count, O_CREAT)"),
              (Refusal{"this is a glob in quotes of the names of constants, as in \"O_*\"", 13}));
    EXPECT_EQ(in_read("name(count, \"NOTHING_*\")"),
              (Refusal{"no constant has such a name", 12}));
    EXPECT_EQ(in_read("flags(count, \"*\")").at, 13u);
}

TEST(CheckError, Members) {
    EXPECT_EQ(refusal("tcp_connect", "sk->skc_dport == 443"),
              (Refusal{"struct sock has no skc_dport; did you mean __sk_common.skc_dport?", 4}));
    EXPECT_EQ(in_read("file.f_flags"), (Refusal{"file is a struct file *: write '->'", 5}));
    EXPECT_EQ(in_read("file->f_path->mnt"),
              (Refusal{"file->f_path is a struct path, no pointer to one: write '.'", 14}));
    EXPECT_EQ(in_read("count->x"),
              (Refusal{"count is no pointer: size_t; cast it, as in (struct file *)NAME", 7}));
    EXPECT_EQ(in_look("index->x"), (Refusal{"index is no pointer: int", 7}));
    EXPECT_EQ(in_read("count.x"), (Refusal{"count is a size_t, which has no members", 6}));
    EXPECT_EQ(in_read("pos->x"), (Refusal{"pos is a loff_t *, which has no members", 5}));
    EXPECT_EQ(
        in_read("file->private_data->x"),
        (Refusal{"file->private_data is a void *, and what it points to has no type: cast it, "
                 "as in (struct file *)NAME",
                 20}));
    EXPECT_EQ(
        in_read("*file->private_data == 1"),
        (Refusal{"file->private_data is a void *, and what it points to has no type: cast it, "
                 "as in (struct file *)NAME",
                 0}));
    EXPECT_EQ(in_read("file->f_unknown->x"),
              (Refusal{"BTF knows nothing of struct unknown but its name", 17}));
    EXPECT_EQ(in_read("file->f_op->read->x"),
              (Refusal{"file->f_op->read points to a function, which is not read", 18}));
    EXPECT_EQ(in_read("*count"),
              (Refusal{"count is no pointer: size_t; cast it, as in (struct file *)NAME", 0}));
    EXPECT_EQ(in_read("count[1]"), (Refusal{"count is neither an array nor a pointer: size_t", 5}));
    EXPECT_EQ(in_look("p->array[1][2] == 3"),
              (Refusal{"p->array[1] is one int: BTF has an array of several dimensions as one row of "
                       "elements, of which this is [i][j]: p->array[i * COLUMNS + j]",
                       11}));
    EXPECT_EQ(in_look("p->self[1][2] == 3"),
              (Refusal{"p->self[1] is neither an array nor a pointer: struct shapes", 10}));
    EXPECT_EQ(in_read("buf[file]"),
              (Refusal{"an index must be an integer, and this is a struct file *", 4}));
}

TEST(CheckError, Types) {
    EXPECT_EQ(in_read("((struct fil *)buf)->f_pos"),
              (Refusal{"there is no type struct fil; did you mean file?", 2}));
    EXPECT_EQ(in_read("(struct umode_t *)buf"),
              (Refusal{"there is no type struct umode_t; did you mean umode_t?", 1}));
    EXPECT_EQ(
        in_read("(struct file)buf"),
        (Refusal{"nothing can be cast to struct file; to a pointer it can, as in (struct file "
                 "*)",
                 1}));
    EXPECT_EQ(in_read("(row_t)buf"),
              (Refusal{"nothing can be cast to row_t; to a pointer it can, as in (row_t *)", 1}));
    EXPECT_EQ(in_read("(handler_t)buf"),
              (Refusal{"nothing can be cast to handler_t; to a pointer it can, as in (handler_t *)", 1}));
    EXPECT_EQ(in_read("(*(row_t *)buf)[2] == 1"), (Refusal{"", 0}));
    EXPECT_EQ(in_read("(handler_t *)buf == 0"), (Refusal{"", 0}));
    EXPECT_EQ(in_read("1 + (const unsigned int [4])buf"),
              (Refusal{"nothing can be cast to an array; to a pointer it can, as in (const unsigned int *)", 24}));
    EXPECT_EQ(in_read("(struct file [2])buf"),
              (Refusal{"nothing can be cast to an array; to a pointer it can, as in (struct file *)", 13}));
    EXPECT_EQ(in_read("(int (int))buf"),
              (Refusal{"nothing can be cast to a function; any address is a (void *)", 5}));
    EXPECT_EQ(in_read("(int (*)(int))buf"),
              (Refusal{"pointers to arrays and functions cannot be written; any address is a (void *)", 5}));
    EXPECT_EQ(in_look("p->huge == 1"),
              (Refusal{"__int128 has 128 bits: there are no operators for that", 0}));
    EXPECT_EQ(in_read("file->f_path"),
              (Refusal{"this is a struct path: name one of its members", 0}));
    EXPECT_EQ(in_read("file->f_unknown + 1"),
              (Refusal{"BTF does not say how large struct unknown is, so that file->f_unknown + 1 "
                       "cannot be computed",
                       16}));
    EXPECT_EQ(in_look("sizeof(p->fields.a)"), (Refusal{"a bit-field has no size", 7}));
    EXPECT_EQ(in_look("&p->fields.a"),
              (Refusal{"p->fields.a is a bit-field, which has no address", 0}));
    EXPECT_EQ(in_look("&index"), (Refusal{"index is not in memory: it has no address", 0}));
    EXPECT_EQ(in_read("container_of(pos, struct file, f_flags)"),
              (Refusal{"pos is a loff_t *, and that member is a u32", 13}));
    EXPECT_EQ(in_look("container_of(p, struct shapes, self->u8_)"),
              (Refusal{"this member has no offset that is the same for all calls", 31}));
}

TEST(CheckError, Operators) {
    EXPECT_EQ(
        in_read("file * 2"),
        (Refusal{"'*' takes no pointers, and file is a struct file *; cast it to unsigned long",
                 5}));
    EXPECT_EQ(in_read("file - pos"),
              (Refusal{"a struct file * and a loff_t * have no distance", 5}));
    EXPECT_EQ(in_read("-file"),
              (Refusal{"this operand must be an integer, and this is a struct file *", 1}));
    EXPECT_EQ(in_read("count / 0"), (Refusal{"this divides by zero", 6}));
    EXPECT_EQ(in_look("index << 32"), (Refusal{"int has 32 bits, and cannot be shifted by 32", 6}));
    EXPECT_EQ(in_look("index >> -1"), (Refusal{"int has 32 bits, and cannot be shifted by -1", 6}));
    EXPECT_EQ(in_read("count ? file : pos"),
              (Refusal{"this is either a struct file * or a loff_t *: cast one of them", 6}));
}

TEST(CheckError, Texts) {
    EXPECT_EQ(in_read("count == \"x\""),
              (Refusal{"count is a size_t, not text: text is an array of characters, a pointer to "
                       "one, or str(ADDRESS)",
                       0}));
    EXPECT_EQ(in_read("buf == \"" + std::string(256, 'x') + "\""),
              (Refusal{"texts are compared with 255 characters at most", 4}));
    EXPECT_EQ(
        in_read("comm == \"averyveryverylong\""),
        (Refusal{"this never holds: comm has room for 16 characters, and the text has 17", 5}));
    EXPECT_EQ(in_read("comm ~ count"),
              (Refusal{"on the right of ~ stands a glob in quotes, as in comm ~ \"kworker*\"", 7}));
    EXPECT_EQ(in_read("str(buf)"),
              (Refusal{"str() is a text, which can be recorded, or compared with a literal", 0}));
    EXPECT_EQ(in_read("str(buf) == comm"),
              (Refusal{"two texts are compared only if one of them is written here, as in comm == "
                       "\"sh\"",
                       9}));
    EXPECT_EQ(in_read("\"x\" + 1"),
              (Refusal{"a text can be compared with ==, != and ~, and nothing else", 0}));
    EXPECT_EQ(in_read("str(buf, 0) == \"x\""), (Refusal{"a length is 1 to 1024", 9}));
    EXPECT_EQ(in_read("str(buf, count) == \"x\""), (Refusal{"the length of str() is a constant, as the text ends at its NUL; buf(ADDRESS, LENGTH) takes a length that differs from call to call", 9}));
    EXPECT_EQ(in_read("str() == \"x\""),
              (Refusal{"it is str(ADDRESS) or str(ADDRESS, LENGTH), with 1 or 2 operands", 0}));
    EXPECT_EQ(in_read("str(file) == \"x\""),
              (Refusal{"file is a struct file *, and no pointer to characters; cast it, as in "
                       "str((char *)NAME)",
                       4}));
    EXPECT_EQ(
        in_read("path(pos)"),
        (Refusal{"path() takes a struct file *, struct path * or struct dentry *, and pos is a "
                 "loff_t *",
                 5}));
    EXPECT_EQ(in_read("path(file) == \"/x\""),
              (Refusal{"path() can be recorded, and nothing else; the last name of it can be compared, as in "
                       "file->f_path.dentry->d_name.name == \"passwd\"",
                       0}));
    EXPECT_EQ(in_read("path(file) ~ \"*.log\""), in_read("path(file) == \"/x\""));
    EXPECT_EQ(in_read("file->f_path.dentry->d_name.name == \"passwd\"").sentence, "");
    const std::string unquoted = "vfs_read has no argument dd, and it is no builtin or constant either";
    EXPECT_EQ(in_read("comm == dd"), (Refusal{unquoted + "; text stands in quotes: \"dd\"", 8}));
    EXPECT_EQ(in_read("dd != str(buf)"), (Refusal{unquoted + "; text stands in quotes: \"dd\"", 0}));
    EXPECT_EQ(in_read("count == dd"), (Refusal{unquoted, 9}));
    EXPECT_EQ(in_read("dd == dd"), (Refusal{unquoted, 0}));
}

TEST(CheckError, Values) {
    EXPECT_EQ(refusal("vfs_read", "\"x\"", true),
              (Refusal{"a text that is written here is the same for all calls", 0}));
    EXPECT_EQ(
        refusal("look", "p->flexible", true),
        (Refusal{"int[0] has no size: name one of its elements, or write buf(ADDRESS, LENGTH)",
                 0}));
    EXPECT_EQ(refusal("vfs_read", "*file", true), (Refusal{"", 0}));
}

TEST(CheckError, NumbersOfPages) {
    EXPECT_EQ(in_read("pfn(file) == 1"),
              (Refusal{"pfn() takes a struct page * or struct folio *, and file is a struct file *", 4}));
    EXPECT_EQ(in_read("pfn(count) == 1"),
              (Refusal{"pfn() takes a struct page * or struct folio *, and count is a size_t", 4}));
    EXPECT_EQ(in_read("pfn()"), (Refusal{"it is pfn(POINTER), with 1 operand", 0}));
    EXPECT_EQ(refusal("migrate", "pfn((struct page *)pfn) == pfn(folio)"), (Refusal{"", 0}));

    const Types types(SmallKernel::get().types().btf_object());
    const Prototype migrate = SmallKernel::get().prototype("migrate");
    const Scope scope(types, migrate, sysv_x86_64(migrate));
    EXPECT_EQ(thrown([&] { check_condition(scope, parse_condition("1 + pfn(page)")); }),
              "the number of a page is not known on this kernel: it has no variable vmemmap_base, or "
              "/proc/kallsyms does not list it\n"
              "  1 + pfn(page)\n"
              "      ^");
}

TEST(Check, PerCpuPointersAreNotFollowed) {
    BtfBuilder types;
    const int number = types.integer("int", 4, BTF_INT_SIGNED);
    const int stats = types.structure("stats", 4, {{"calls", number, 0}});
    const int pointer = types.pointer(types.tag("percpu", stats));
    const int user = types.pointer(types.tag("user", stats));
    const int proto = types.proto(0, {{"p", pointer}, {"u", user}});
    const Types all(types.get());
    Prototype prototype;
    prototype.function = "f";
    prototype.source = {types.get(), static_cast<std::uint32_t>(proto)};
    Argument p, u;
    p.loc = u.loc = ARGTRACE_LOC_REG;
    p.name = "p";
    u.name = "u";
    u.index = 1;
    const Argument places[]{p, u};
    const Scope scope(all, prototype, places);
    EXPECT_EQ(thrown([&] { check_condition(scope, parse_condition("p->calls")); }),
              "p is a per-cpu pointer: each CPU has its own, and this address is none of them; write this_cpu(p) for that of the CPU "
              "that runs, or per_cpu(p, CPU)\n"
              "  p->calls\n"
              "     ^");
    EXPECT_NE(check_condition(scope, parse_condition("p && u->calls")), nullptr);
}

TEST(Check, ArgumentsHideBuiltins) {
    BtfBuilder types;
    const int number = types.integer("long", 8, BTF_INT_SIGNED);
    const int proto = types.proto(0, {{"cpu", number}});
    const Types all(types.get());
    Prototype prototype;
    prototype.function = "f";
    prototype.source = {types.get(), static_cast<std::uint32_t>(proto)};
    Argument place;
    place.loc = ARGTRACE_LOC_REG;
    place.name = "cpu";
    const Scope scope(all, prototype, std::span(&place, 1));
    EXPECT_EQ(check_condition(scope, parse_condition("cpu"))->type,
              Type::btf(static_cast<std::uint32_t>(number)));
    EXPECT_EQ(check_condition(scope, parse_condition("$cpu"))->type, uint_type);
    EXPECT_EQ(thrown([&] { check_condition(scope, parse_condition("pid == 1")); }),
              "pid is not known on this kernel: BTF does not describe struct task_struct\n"
              "  pid == 1\n"
              "  ^");
}

TEST(Check, ConstantsOfTheKernel) {
    EXPECT_EQ(macro_constant("O_TRUNC"), 01000);
    EXPECT_EQ(macro_constant("S_IFMT"), 0170000);
    EXPECT_EQ(macro_constant("SIGKILL"), 9);
    EXPECT_EQ(macro_constant("ENOENT"), 2);
    EXPECT_EQ(macro_constant("EPROBE_DEFER"), 517);
    EXPECT_EQ(macro_constant("EWOULDBLOCK"), 11);
    EXPECT_EQ(macro_constant("AF_INET6"), 10);
    EXPECT_EQ(macro_constant("PROT_EXEC"), 4);
    EXPECT_EQ(macro_constant("NULL"), 0);
    EXPECT_EQ(macro_constant("TASK_UNINTERRUPTIBLE"), 2);
    EXPECT_EQ(macro_constant("PF_KTHREAD"), 0x200000);
    EXPECT_EQ(macro_constant("VM_SHARED"), 8);
    EXPECT_EQ(macro_constant("ETH_P_IPV6"), 0x86dd);
    EXPECT_EQ(macro_constant("EPOLLRDHUP"), 0x2000);
    EXPECT_EQ(macro_constant("EPOLLET"), 0x80000000);
    EXPECT_EQ(macro_constant("SO_REUSEPORT"), 15);
    EXPECT_EQ(macro_constant("SOL_TLS"), 282);
    EXPECT_EQ(macro_constant("AF_CAN"), 29);
    EXPECT_EQ(macro_constant("FMODE_OPENED"), 0x80000);
    EXPECT_EQ(macro_constant("SB_RDONLY"), 1);
    EXPECT_EQ(macro_constant("IOCB_DIRECT"), 0x20000);
    EXPECT_EQ(macro_constant("FALLOC_FL_PUNCH_HOLE"), 2);
    EXPECT_EQ(macro_constant("RENAME_EXCHANGE"), 2);
    EXPECT_EQ(macro_constant("SA_RESTART"), 0x10000000);
    EXPECT_EQ(macro_constant("MS_RELATIME"), 1 << 21);
    EXPECT_EQ(macro_constant("MAP_DROPPABLE"), 8);
    EXPECT_EQ(macro_constant("MADV_COLD"), 20);
    EXPECT_EQ(macro_constant("LOOKUP_CREATE"), std::nullopt) << "differs between kernels";
    EXPECT_EQ(macro_constant("EXIT"), std::nullopt);
    EXPECT_EQ(macro_constant("GFP_KERNEL"), std::nullopt) << "differs between kernels";
#ifdef __x86_64__
    EXPECT_EQ(macro_constant("O_LARGEFILE"), 0100000) << "the kernel's, not libc's 0";
#endif
}

TEST(Check, ConstantsThatNeedAllBitsAreUnsigned) {
    const Scope scope = SmallKernel::get().scope("vfs_read");
    EXPECT_EQ(check_condition(scope, parse_condition("SB_NOUSER"))->type, uint_type);
    EXPECT_EQ(check_condition(scope, parse_condition("SB_ACTIVE"))->type, int_type);
}

TEST(Check, NoNameStandsForTwoConstants) {
    std::vector<std::string_view> names = macro_names();
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(Types, StructsOfOneNameAndSizeAreOne) {
    BtfBuilder builder;
    const int word = builder.integer("int", 4, BTF_INT_SIGNED);
    const int one = builder.structure("file", 8, {{"a", word, 0}});
    const int again = builder.structure("file", 8, {{"a", word, 0}});
    const int larger = builder.structure("file", 16, {{"a", word, 0}});
    const int other = builder.structure("path", 8, {{"a", word, 0}});
    const int pointer = builder.pointer(one), second = builder.pointer(builder.constant(again));
    const int unnamed = builder.structure(nullptr, 8), too = builder.structure(nullptr, 8);
    const int alike = builder.union_("file", 8, {{"a", word, 0}});
    const Types types(builder.get());
    const auto same = [&](int a, int b) {
        return types.same(Type::btf(static_cast<std::uint32_t>(a)),
                          Type::btf(static_cast<std::uint32_t>(b)));
    };
    EXPECT_TRUE(same(one, again));
    EXPECT_TRUE(same(pointer, second));
    EXPECT_FALSE(same(one, larger));
    EXPECT_FALSE(same(one, other));
    EXPECT_FALSE(same(one, alike));
    EXPECT_FALSE(same(unnamed, too));
}

TEST(GlobPattern, IsTheSimplestThatDoes) {
    const auto kind = [](const char *glob) {
        const TextPattern pattern = simplest_pattern(glob);
        return fmt::format("{} {}", static_cast<int>(pattern.match), pattern.text);
    };
    EXPECT_EQ(kind("abc"), "0 abc");
    EXPECT_EQ(kind("abc*"), "1 abc");
    EXPECT_EQ(kind("abc**"), "1 abc");
    EXPECT_EQ(kind("*abc"), "2 abc");
    EXPECT_EQ(kind("*abc*"), "3 abc");
    EXPECT_EQ(kind("*"), "1 ");
    EXPECT_EQ(kind(""), "0 ");
    EXPECT_EQ(kind("a*c"), "4 a*c");
    EXPECT_EQ(kind("a?"), "4 a?");
    EXPECT_EQ(kind("[ab]*"), "4 [ab]*");
    EXPECT_EQ(kind("a\\*b"), "0 a*b");
    EXPECT_EQ(kind("a\\?*"), "1 a?");
    EXPECT_EQ(kind("a\\"), "4 a\\");
}

} // namespace
} // namespace argtrace::lang
