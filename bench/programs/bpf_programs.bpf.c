// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one would write in BPF instead of argtrace; bpf_peer.c loads one of them. Each is called at the entry of vfs_read, when
 * it returns, or at the tracepoint task_rename, in the cheapest way that BPF has. Programs whose names begin with reject_ reject every call, after they have looked.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define never 0x123456789abcull	/* a count that vfs_read is not called with */

/* 56 bytes, as argtrace's record of vfs_read, whose context and caller fentry does not know: 0, and the function. */
struct record {
	__u64 time;
	__u32 tid;
	__u32 context;
	__u64 function;
	__u64 args[4];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} calls SEC(".maps");

__u64 lost;

/* Room for a record; NULL: it is counted as lost. */
static __always_inline void *reserve(__u64 size)
{
	void *record = bpf_ringbuf_reserve(&ring, size, 0);

	if (!record)
		__sync_fetch_and_add(&lost, 1);
	return record;
}

/* The reader polls: a wake-up for each record costs far more. */
static __always_inline void submit(void *record)
{
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

static __always_inline void fill(struct record *record, __u64 *ctx, __u64 time)
{
	record->time = time;
	record->tid = bpf_get_current_pid_tgid();
	record->context = 0;
	record->function = bpf_get_func_ip(ctx);
	record->args[0] = ctx[0];
	record->args[1] = ctx[1];
	record->args[2] = ctx[2];
	record->args[3] = ctx[3];
}

static __always_inline int write_record(__u64 *ctx, __u64 time)
{
	struct record *record = reserve(sizeof(*record));

	if (!record)
		return 0;
	fill(record, ctx, time);
	submit(record);
	return 0;
}

SEC("fentry/vfs_read")
int empty(__u64 *ctx)
{
	return 0;
}

SEC("fentry/vfs_read")
int reject(__u64 *ctx)
{
	return ctx[2] == never ? write_record(ctx, bpf_ktime_get_ns()) : 0;
}

static __always_inline void count_here(void)
{
	__u32 zero = 0;
	__u64 *here = bpf_map_lookup_elem(&calls, &zero);

	if (here)
		++*here;
}

SEC("fentry/vfs_read")
int count(__u64 *ctx)
{
	count_here();
	return 0;
}

SEC("fentry/vfs_read")
int record(__u64 *ctx)
{
	return write_record(ctx, bpf_ktime_get_ns());
}

SEC("fentry/vfs_read")
int record_untimed(__u64 *ctx)
{
	return write_record(ctx, 0);
}

/* The members of the kernel's structs that are used; libbpf finds them by their names. */
struct super_block {
	char s_id[32];
} __attribute__((preserve_access_index));

struct inode {
	__u16 i_mode;
	unsigned long i_ino;
	struct super_block *i_sb;
} __attribute__((preserve_access_index));

struct qstr {
	const unsigned char *name;
} __attribute__((preserve_access_index));

struct dentry {
	struct qstr d_name;
} __attribute__((preserve_access_index));

struct path {
	struct dentry *dentry;
} __attribute__((preserve_access_index));

struct file {
	struct inode *f_inode;
	struct path f_path;
} __attribute__((preserve_access_index));

#define unused_number 0xfffffffffffull	/* of an inode, a cgroup, a user */

SEC("fentry/vfs_read")
int reject_inode(__u64 *ctx)
{
	struct file *file = (void *)ctx[0];

	return file->f_inode->i_ino == unused_number ? write_record(ctx, bpf_ktime_get_ns()) : 0;
}

SEC("fentry/vfs_read")
int reject_comm(__u64 *ctx)
{
	const union {
		char text[16];
		__u64 words[2];
	} wanted = { .text = "no_such_task" };
	__u64 comm[2];

	bpf_get_current_comm(comm, sizeof(comm));
	return comm[0] == wanted.words[0] && comm[1] == wanted.words[1] ? write_record(ctx, bpf_ktime_get_ns()) : 0;
}

SEC("fentry/vfs_read")
int reject_device(__u64 *ctx)
{
	struct super_block *block = ((struct file *)ctx[0])->f_inode->i_sb;

	return block->s_id[0] == 's' && block->s_id[1] == 'd' && block->s_id[2] == 'a' && block->s_id[3] == '1' &&
	       !block->s_id[4] ? write_record(ctx, bpf_ktime_get_ns()) : 0;
}

SEC("fentry/vfs_read")
int reject_three(__u64 *ctx)
{
	struct inode *inode = ((struct file *)ctx[0])->f_inode;

	return ctx[2] == 1 && inode->i_mode & 0020000 && inode->i_ino == unused_number ?
	       write_record(ctx, bpf_ktime_get_ns()) : 0;
}

SEC("fentry/vfs_read")
int reject_cgroup(__u64 *ctx)
{
	return bpf_get_current_cgroup_id() == unused_number ? write_record(ctx, bpf_ktime_get_ns()) : 0;
}

SEC("fentry/vfs_read")
int reject_user(__u64 *ctx)
{
	return (__u32)bpf_get_current_uid_gid() == (__u32)unused_number ? write_record(ctx, bpf_ktime_get_ns()) : 0;
}

/* One call in a thousand, as argtrace's --sample 1000. */
SEC("fentry/vfs_read")
int sample(__u64 *ctx)
{
	__u32 zero = 0;
	__u64 *here = bpf_map_lookup_elem(&calls, &zero);

	if (!here || ++*here < 1000)
		return 0;
	*here = 0;
	return write_record(ctx, bpf_ktime_get_ns());
}

struct record_with_inode {
	struct record record;
	__u64 inode;
};

struct record_with_name {
	struct record record;
	char name[64];
};

SEC("fentry/vfs_read")
int record_inode(__u64 *ctx)
{
	struct record_with_inode *record = reserve(sizeof(*record));

	if (!record)
		return 0;
	fill(&record->record, ctx, bpf_ktime_get_ns());
	record->inode = ((struct file *)ctx[0])->f_inode->i_ino;
	submit(record);
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u64[127]);
} stacks SEC(".maps");

SEC("fentry/vfs_read")
int record_stack(__u64 *ctx)
{
	struct record_with_inode *record = reserve(sizeof(*record));

	if (!record)
		return 0;
	fill(&record->record, ctx, bpf_ktime_get_ns());
	record->inode = bpf_get_stackid(ctx, &stacks, 0);
	submit(record);
	return 0;
}

SEC("fentry/vfs_read")
int record_name(__u64 *ctx)
{
	struct record_with_name *record = reserve(sizeof(*record));

	if (!record)
		return 0;
	fill(&record->record, ctx, bpf_ktime_get_ns());
	bpf_probe_read_kernel_str(record->name, sizeof(record->name),
				  ((struct file *)ctx[0])->f_path.dentry->d_name.name);
	submit(record);
	return 0;
}

struct record_with_path {
	struct record record;
	char path[256];
};

/* BPF gives paths in a few functions only. This one is called by vfs_read, once, with the file and another argument. */
SEC("fentry/security_file_permission")
int record_path(__u64 *ctx)
{
	struct record_with_path *record = reserve(sizeof(*record));

	if (!record)
		return 0;
	record->record.time = bpf_ktime_get_ns();
	record->record.tid = bpf_get_current_pid_tgid();
	record->record.function = bpf_get_func_ip(ctx);
	record->record.args[0] = ctx[0];
	record->record.args[1] = ctx[1];
	bpf_d_path(&((struct file *)ctx[0])->f_path, record->path, sizeof(record->path));
	submit(record);
	return 0;
}

/* What calls come to, in the maps of each CPU that BPF has. */
struct name_key {
	__u64 words[2];
	__u64 bucket;
};

struct totals {
	__u64 count, sum, min, max;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u64);
} by_tgid SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct name_key);
	__type(value, __u64);
} by_comm SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 65);
	__type(key, __u32);
	__type(value, __u64);
} buckets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct name_key);
	__type(value, struct totals);
} totals_by_comm SEC(".maps");

static __always_inline void add_one(void *map, const void *key)
{
	const __u64 one = 1;
	__u64 *here = bpf_map_lookup_elem(map, key);

	if (here)
		++*here;
	else
		bpf_map_update_elem(map, key, &one, BPF_NOEXIST);
}

/* There is no instruction of BPF for it. */
static __always_inline __u32 log2_bucket(__u64 value)
{
	__u32 bucket = 0, shift;

	if (!value)
		return 0;
	for (shift = 32; shift; shift /= 2) {
		if (value >> shift) {
			bucket += shift;
			value >>= shift;
		}
	}
	return bucket + 1;
}

SEC("fentry/vfs_read")
int count_by_tgid(__u64 *ctx)
{
	const __u32 tgid = bpf_get_current_pid_tgid() >> 32;

	add_one(&by_tgid, &tgid);
	return 0;
}

SEC("fentry/vfs_read")
int count_by_comm(__u64 *ctx)
{
	struct name_key key = {};

	bpf_get_current_comm(key.words, sizeof(key.words));
	add_one(&by_comm, &key);
	return 0;
}

SEC("fentry/vfs_read")
int log2_count(__u64 *ctx)
{
	const __u32 bucket = log2_bucket(ctx[2]);

	add_one(&buckets, &bucket);
	return 0;
}

SEC("fentry/vfs_read")
int log2_by_comm(__u64 *ctx)
{
	struct name_key key = { .bucket = log2_bucket(ctx[2]) };

	bpf_get_current_comm(key.words, sizeof(key.words));
	add_one(&by_comm, &key);
	return 0;
}

SEC("fentry/vfs_read")
int values_by_comm(__u64 *ctx)
{
	const __u64 value = ctx[2];
	const struct totals first = { 1, value, value, value };
	struct name_key key = {};
	struct totals *here;

	bpf_get_current_comm(key.words, sizeof(key.words));
	here = bpf_map_lookup_elem(&totals_by_comm, &key);
	if (!here) {
		bpf_map_update_elem(&totals_by_comm, &key, &first, BPF_NOEXIST);
		return 0;
	}
	here->count++;
	here->sum += value;
	if (value < here->min)
		here->min = value;
	if (value > here->max)
		here->max = value;
	return 0;
}

/* As argtrace's record of a call that has returned; the caller is not known, nor, without a program at the entry, the duration. */
struct record_of_return {
	struct record record;
	__u64 value;
	__u64 duration[];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} entered SEC(".maps");

SEC("fexit/vfs_read")
int return_empty(__u64 *ctx)
{
	return 0;
}

SEC("fexit/vfs_read")
int return_record(__u64 *ctx)
{
	struct record_of_return *record = reserve(sizeof(*record));

	if (!record)
		return 0;
	fill(&record->record, ctx, bpf_ktime_get_ns());
	record->value = ctx[4];
	submit(record);
	return 0;
}

SEC("fentry/vfs_read")
int return_timed__entry(__u64 *ctx)
{
	__u64 *at = bpf_task_storage_get(&entered, bpf_get_current_task_btf(), 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (at)
		*at = bpf_ktime_get_ns();
	return 0;
}

SEC("fexit/vfs_read")
int return_timed__return(__u64 *ctx)
{
	__u64 *at = bpf_task_storage_get(&entered, bpf_get_current_task_btf(), 0, 0);
	struct record_of_return *record = reserve(sizeof(*record) + sizeof(__u64));

	if (!record)
		return 0;
	fill(&record->record, ctx, bpf_ktime_get_ns());
	record->value = ctx[4];
	record->duration[0] = at ? record->record.time - *at : 0;
	submit(record);
	return 0;
}

SEC("fentry/vfs_read")
int count_by_stack(__u64 *ctx)
{
	const __u32 id = bpf_get_stackid(ctx, &stacks, 0);

	add_one(&by_tgid, &id);
	return 0;
}

SEC("fentry/vfs_read")
int log2_duration__entry(__u64 *ctx)
{
	__u64 *at = bpf_task_storage_get(&entered, bpf_get_current_task_btf(), 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (at)
		*at = bpf_ktime_get_ns();
	return 0;
}

SEC("fexit/vfs_read")
int log2_duration__return(__u64 *ctx)
{
	__u64 *at = bpf_task_storage_get(&entered, bpf_get_current_task_btf(), 0, 0);
	const __u32 bucket = at ? log2_bucket(bpf_ktime_get_ns() - *at) : 0;

	add_one(&buckets, &bucket);
	return 0;
}

/* 40 bytes, as argtrace's record of a tracepoint with two arguments. */
struct record_of_rename {
	__u64 time;
	__u32 tid;
	__u32 context;
	__u64 caller;
	__u64 args[2];
};

SEC("tp_btf/task_rename")
int rename_empty(__u64 *ctx)
{
	return 0;
}

SEC("tp_btf/task_rename")
int rename_count(__u64 *ctx)
{
	count_here();
	return 0;
}

SEC("tp_btf/task_rename")
int rename_record(__u64 *ctx)
{
	struct record_of_rename *record = reserve(sizeof(*record));

	if (!record)
		return 0;
	record->time = bpf_ktime_get_ns();
	record->tid = bpf_get_current_pid_tgid();
	record->context = 0;
	record->caller = 0;
	record->args[0] = ctx[0];
	record->args[1] = ctx[1];
	submit(record);
	return 0;
}

/* What is read of the registers of user space, and the number of pread64. */
#ifdef __TARGET_ARCH_arm64
struct pt_regs {
	__u64 regs[31];
} __attribute__((preserve_access_index));
#define first_of(passed) ((passed)->regs[0])
#define second_of(passed) ((passed)->regs[1])
#define third_of(passed) ((passed)->regs[2])
#define fourth_of(passed) ((passed)->regs[3])
enum { pread64_number = 67 }; /* include/uapi/asm-generic/unistd.h */
#else
struct pt_regs {
	unsigned long r10, dx, si, di;
} __attribute__((preserve_access_index));
#define first_of(passed) ((passed)->di)
#define second_of(passed) ((passed)->si)
#define third_of(passed) ((passed)->dx)
#define fourth_of(passed) ((passed)->r10)
enum { pread64_number = 17 }; /* arch/x86/entry/syscalls/syscall_64.tbl */
#endif

/* The tracepoint of all system calls, whose number is its second argument. */
SEC("tp_btf/sys_enter")
int sys_enter_record(__u64 *ctx)
{
	const struct pt_regs *regs = (const void *)ctx[0];
	struct record *record;

	if (ctx[1] != pread64_number)
		return 0;
	record = reserve(sizeof(*record));
	if (!record)
		return 0;
	record->time = bpf_ktime_get_ns();
	record->tid = bpf_get_current_pid_tgid();
	record->context = 0;
	record->function = ctx[1];
	record->args[0] = first_of(regs);
	record->args[1] = second_of(regs);
	record->args[2] = third_of(regs);
	record->args[3] = fourth_of(regs);
	submit(record);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
