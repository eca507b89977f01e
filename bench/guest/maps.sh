# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016 # scripts
#
# What calls cost that are counted or added up, beside others. Sourced by tables.sh.

map_cell() { # JOB
	cell "$(/root/map_cost "$1" /root/pread_loop 2>/dev/null | cut -d' ' -f1)"
}

# A trigger of an fprobe event, which keeps a histogram for all processors.
trigger_cell() { # TRIGGER
	[ "$1" ] && has_event "$fprobe_args" || { printf -; return; }
	begin
	echo "$1" >$tracing/events/fprobes/bench/trigger 2>/dev/null || { event_off; printf -; return; }
	event_on
	cell "$(loop)"
	echo "!$1" >$tracing/events/fprobes/bench/trigger
	event_off
}

answer_line() { # NAME COMMAND BPF BPFTRACE TRIGGER
	printf '| %s | %s | %s | %s | %s |\n' "$1" "$(cell "$(answer $2 vfs_read)")" "$(bpf_cell "$3")" "$(bpftrace_cell "$4")" \
		"$(trigger_cell "$5")"
}

map_line() { # NAME JOB BPF BPFTRACE TRIGGER
	printf '| %s | %s | %s | %s | %s |\n' "$1" "$(map_cell "$2")" "$(bpf_cell "$3")" "$(bpftrace_cell "$4")" \
		"$(trigger_cell "$5")"
}

table_maps() {
	echo '| vfs_read | argtrace | BPF fentry | bpftrace | fprobe event, trigger |'
	echo '|---|--:|--:|--:|--:|'
	map_line 'counted' count count 'kfunc:vfs_read { @ = count(); }' ''
	map_line 'counted by process' count_by_tgid count_by_tgid 'kfunc:vfs_read { @[pid] = count(); }' 'hist:keys=common_pid'
	map_line 'by `comm`' count_by_comm count_by_comm 'kfunc:vfs_read { @[comm] = count(); }' 'hist:keys=common_pid.execname'
	map_line 'by two numbers' count_by_two '' 'kfunc:vfs_read { @[pid, args->pos] = count(); }' 'hist:keys=common_pid,pos'
	map_line 'histogram of `count`, by powers of two' log2 log2_count 'kfunc:vfs_read { @ = hist(args->count); }' 'hist:keys=count.log2'
	map_line 'the same by `comm`' log2_by_comm log2_by_comm 'kfunc:vfs_read { @[comm] = hist(args->count); }' \
		'hist:keys=common_pid.execname,count.log2'
	map_line 'the same by two numbers' log2_by_two '' 'kfunc:vfs_read { @[pid, args->pos] = hist(args->count); }' \
		'hist:keys=common_pid,pos,count.log2'
	map_line 'histogram in steps of 16' linear '' 'kfunc:vfs_read { @ = lhist(args->count, 0, 512, 16); }' 'hist:keys=count.buckets=16'
	map_line 'count, sum, least and greatest of `count`, by `comm`' values_by_comm values_by_comm \
		'kfunc:vfs_read { @[comm] = stats(args->count); @min[comm] = min(args->count); @max[comm] = max(args->count); }' \
		'hist:keys=common_pid.execname:vals=count'
	map_line 'the same by two numbers' values_by_two '' '' 'hist:keys=common_pid,pos:vals=count'
	answer_line 'counted by stack, of three callers' 'stacks --stack=kernel' count_by_stack 'kfunc:vfs_read { @[kstack] = count(); }' \
		'hist:keys=common_stacktrace'
	answer_line 'counted by that and the user stack, of six functions' stacks '' 'kfunc:vfs_read { @[kstack, ustack] = count(); }' ''
	answer_line 'histogram of durations, by function' latency log2_duration \
		'kfunc:vfs_read { @at[tid] = nsecs; } kretfunc:vfs_read { @ = hist(nsecs - @at[tid]); delete(@at[tid]); }' ''
}
