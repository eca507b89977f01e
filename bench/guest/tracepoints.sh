# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2086,SC2154 # variables of common.sh and constants without blanks
#
# The cost of a pass of the tracepoint task_rename, by tracer: with the functions of calls.sh. Sourced by tables.sh.

# Its event is the kernel's own, and is always there.
rename_event() { # NAME
	local enable=$tracing/events/task/task_rename/enable
	begin
	echo 1 >$enable
	measure_ftrace "$1"
	echo 0 >$enable
}

pass_of_tracepoints() {
	local rename='t:task:task_rename'
	row untraced - - "$(above)"
	echo 1 >$bench/empty_tracepoint
	row 'an empty function: the floor' - - "$(above)"
	echo 0 >$bench/empty_tracepoint
	argtrace_cost $rename || exit
	row '**argtrace**' "$counter" "$bytes" "$cost"
	own_row 'argtrace --clock mono' monotonic --clock mono $rename
	own_row 'argtrace, rejected by an argument' - "$rename if comm == 0"
	own_row 'argtrace, and the name of the task until then' "$counter" "$rename(task, comm, task->comm as before)"
	own_row 'argtrace --stack' "$counter" --stack $rename
	bpf 'BPF tp_btf, empty' - - rename_empty
	bpf 'BPF tp_btf, counted' - - rename_count
	bpf 'BPF tp_btf, record to a ring buffer' monotonic 40 rename_record
	rename_event 'the event of ftrace'
	script 'bpftrace tracepoint, count()' - 'tracepoint:task:task_rename { @ = count(); }'
	script 'bpftrace rawtracepoint, count()' - 'rawtracepoint:task_rename { @ = count(); }'
}

table_tracepoints() {
	local pass untraced
	export PREAD_LOOP_RENAMES=1
	untraced=$(loop)
	echo "| a pass of task_rename, traced by | $unit | / floor | / argtrace | clock | bytes |"
	echo '|---|--:|--:|--:|---|--:|'
	for ((pass = 0; pass < passes; pass++)); do
		pass_of_tracepoints
	done
	unset PREAD_LOOP_RENAMES
}
