// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one would write in BPF instead of argtrace; bpf_peer.c loads one of them. Each is called at the entry of vfs_read,
 * in the cheapest way that BPF has.
 */
#include <linux/bpf.h>
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

static __always_inline int write_record(__u64 *ctx, __u64 time)
{
	struct record *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	record->time = time;
	record->tid = bpf_get_current_pid_tgid();
	record->context = 0;
	record->function = bpf_get_func_ip(ctx);
	record->args[0] = ctx[0];
	record->args[1] = ctx[1];
	record->args[2] = ctx[2];
	record->args[3] = ctx[3];
	/* The reader polls: a wake-up for each record costs far more. */
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
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

SEC("fentry/vfs_read")
int count(__u64 *ctx)
{
	__u32 zero = 0;
	__u64 *here = bpf_map_lookup_elem(&calls, &zero);

	if (here)
		++*here;
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

char LICENSE[] SEC("license") = "GPL";
