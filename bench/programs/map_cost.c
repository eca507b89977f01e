// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a command while calls of vfs_read are counted, or added to a map.
 *
 *   map_cost JOB COMMAND...
 *
 * The jobs are in a table below. After the command it checks that the map has every call that the probe's counts have.
 */
#include <bpf/btf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "uapi/argtrace.h"

#define NAME "vfs_read"

enum { slots = 1024, count_arg = 2, max_outputs = 4 };

/* What a key is made of. */
enum part { none, tgid, comm, function };

static const struct job {
	const char *name;
	enum part key[2];
	int has_value;			/* the argument `count` */
	uint16_t buckets;
} jobs[] = {
	{ "count", { none }, 0, ARGTRACE_BUCKETS_NONE },
	{ "count_by_tgid", { tgid }, 0, ARGTRACE_BUCKETS_NONE },
	{ "count_by_comm", { comm }, 0, ARGTRACE_BUCKETS_NONE },
	{ "count_by_two", { tgid, function }, 0, ARGTRACE_BUCKETS_NONE },
	{ "log2", { none }, 1, ARGTRACE_BUCKETS_LOG2 },
	{ "log2_by_comm", { comm }, 1, ARGTRACE_BUCKETS_LOG2 },
	{ "log2_by_two", { tgid, function }, 1, ARGTRACE_BUCKETS_LOG2 },
	{ "linear", { none }, 1, ARGTRACE_BUCKETS_LINEAR },
	{ "values_by_comm", { comm }, 1, ARGTRACE_BUCKETS_NONE },
	{ "values_by_two", { tgid, function }, 1, ARGTRACE_BUCKETS_NONE },
};

static void check(int bad, const char *what)
{
	if (bad) {
		perror(what);
		exit(3);
	}
}

static uint64_t address_of(const char *function)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	unsigned long long addr = 0;
	char line[512], name[256];

	check(!file, "/proc/kallsyms");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx %*c %255s", &addr, name) == 2 && !strcmp(name, function))
			break;
		addr = 0;
	}
	fclose(file);
	return addr;
}

static int offset_in_task(const char *member)
{
	static struct btf *kernel;
	const struct btf_type *task;
	int i, at = -1;

	if (!kernel)
		kernel = btf__load_vmlinux_btf();
	check(!kernel, "BTF");
	task = btf__type_by_id(kernel, btf__find_by_name_kind(kernel, "task_struct", BTF_KIND_STRUCT));
	for (i = 0; i < btf_vlen(task); i++) {
		if (!strcmp(btf__name_by_offset(kernel, btf_members(task)[i].name_off), member))
			at = btf_member_bit_offset(task, i) / 8;
	}
	return at;
}

/* A probe with its program, in the layout of the ABI. */
static struct {
	struct argtrace_probe head;
	struct argtrace_arg args[max_outputs];
	char strings[16];
	struct argtrace_program program;
	struct argtrace_insn insns[max_outputs];
} probe;

static unsigned int outputs;
static uint16_t key_words;

static void add_output(struct argtrace_insn insn)
{
	insn.mask = ~0ull;
	if (!insn.action)
		insn.action = ARGTRACE_DO_OUT;
	if (!insn.arg)
		insn.arg = 8;
	probe.args[outputs] = (struct argtrace_arg){
		.loc = ARGTRACE_LOC_PROGRAM, .size = insn.arg,
		.type = insn.action == ARGTRACE_DO_STR ? ARGTRACE_TYPE_STR :
			insn.arg == 4 ? ARGTRACE_TYPE_U32 : ARGTRACE_TYPE_U64,
	};
	probe.insns[outputs++] = insn;
}

static void add_key(enum part part)
{
	if (part == tgid)
		add_output((struct argtrace_insn){ .source = ARGTRACE_SOURCE_TASK, .loads = 1, .width = 4, .arg = 4,
						   .offset = { offset_in_task("tgid") } });
	else if (part == comm)
		add_output((struct argtrace_insn){ .source = ARGTRACE_SOURCE_TASK, .action = ARGTRACE_DO_STR,
						   .arg = ARGTRACE_COMM_LEN, .offset = { offset_in_task("comm") } });
	else if (part == function)
		add_output((struct argtrace_insn){ .source = ARGTRACE_SOURCE_CONST, .span = 1 });
	key_words += part == none ? 0 : part == comm ? 2 : 1;
}

/* The parts follow one another without what is unused of the arrays. */
static size_t seal(char *to)
{
	const size_t program = sizeof(probe.program) + outputs * sizeof(probe.insns[0]);
	char *at = to + sizeof(probe.head);

	memcpy(at, probe.args, outputs * sizeof(probe.args[0]));
	at += outputs * sizeof(probe.args[0]);
	memcpy(at, probe.strings, sizeof(probe.strings));
	at += sizeof(probe.strings);
	memcpy(at, &probe.program, sizeof(probe.program));
	memcpy(at + sizeof(probe.program), probe.insns, outputs * sizeof(probe.insns[0]));
	probe.head.size = at - to + program;
	probe.head.nr_args = outputs;
	probe.head.strings = sizeof(probe.strings);
	probe.head.program = program;
	memcpy(to, &probe.head, sizeof(probe.head));
	return probe.head.size;
}

static uint64_t count_in_map(int fd, const struct argtrace_map *map)
{
	const size_t size = (size_t)map->slots * map->slot_size;
	const char *start = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, ARGTRACE_MMAP_OFFSET(0, ARGTRACE_MMAP_MAP + map->id));
	uint64_t sum = 0;
	size_t at;

	check(start == MAP_FAILED, "mmap");
	for (at = 0; at < size; at += map->slot_size)
		sum += ((const struct argtrace_map_slot *)(start + at))->count;
	return sum;
}

int main(int argc, char **argv)
{
	struct argtrace_session_attr session = { .size = sizeof(session), .clock = ARGTRACE_CLOCK_BEST };
	struct argtrace_map map = { .size = sizeof(map), .slots = slots };
	struct argtrace_counts counts;
	struct argtrace_list list = { .size = sizeof(list), .buffer = (uintptr_t)&counts, .length = sizeof(counts) };
	struct argtrace_probe_add add = { .size = sizeof(add), .count = 1 };
	const struct job *job = jobs, *end = jobs + sizeof(jobs) / sizeof(jobs[0]);
	int fd = open(ARGTRACE_DEVICE, O_RDWR | O_CLOEXEC), status;
	static char bytes[sizeof(probe)];
	pid_t child;

	while (argc > 2 && job < end && strcmp(job->name, argv[1]))
		job++;
	if (argc < 3 || job == end)
		return 2;
	check(fd < 0 || ioctl(fd, ARGTRACE_IOC_SESSION, &session), "a session");
	add_key(job->key[0]);
	add_key(job->key[1]);
	if (job->has_value)
		add_output((struct argtrace_insn){ .source = ARGTRACE_SOURCE_REG, .index = count_arg });
	probe.program.nr_insns = outputs;
	probe.program.sink = key_words || job->has_value ? ARGTRACE_SINK_MAP : ARGTRACE_SINK_COUNT;
	strcpy(probe.strings, NAME);
	probe.head.addr = address_of(NAME);
	map.key_words = key_words;
	map.buckets = job->buckets;
	map.flags = job->has_value ? ARGTRACE_MAP_VALUE : 0;
	if (job->buckets == ARGTRACE_BUCKETS_LINEAR) {
		map.step = 16;
		map.nr_buckets = 32;
	}
	if (probe.program.sink == ARGTRACE_SINK_MAP)
		check(ioctl(fd, ARGTRACE_IOC_MAP, &map), "ARGTRACE_IOC_MAP");
	add.length = seal(bytes);
	add.probes = (uintptr_t)bytes;
	check(ioctl(fd, ARGTRACE_IOC_PROBE_ADD, &add), "ARGTRACE_IOC_PROBE_ADD");
	child = fork();
	if (!child) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	waitpid(child, &status, 0);
	probe.head.addr = 0;
	check(ioctl(fd, ARGTRACE_IOC_PROBE_REMOVE, &(struct argtrace_probe_remove){
			.size = sizeof(struct argtrace_probe_remove), .flags = ARGTRACE_REMOVE_ALL }),
	      "ARGTRACE_IOC_PROBE_REMOVE");
	list.flags = ARGTRACE_LIST_REMOVED;
	check(ioctl(fd, ARGTRACE_IOC_COUNTS, &list), "ARGTRACE_IOC_COUNTS");
	if (list.count != 1 || !counts.records || (probe.program.sink == ARGTRACE_SINK_MAP && count_in_map(fd, &map) != counts.records)) {
		fprintf(stderr, "map_cost: %s: the map does not have all calls\n", job->name);
		return 1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
