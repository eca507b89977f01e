# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # variables of common.sh
#
# The cost of a system call that is traced as such, by tracer: with the functions of calls.sh. Sourced by tables.sh.

# Its event is the kernel's own, and is always there.
pread_event() { # NAME
	local enable=$tracing/events/syscalls/sys_enter_pread64/enable
	begin
	echo 1 >"$enable"
	measure_ftrace "$1"
	echo 0 >"$enable"
}

table_syscalls() {
	local pass cost
	echo "| a pread64, traced by | $unit | / floor | / argtrace | clock | bytes |"
	echo '|---|--:|--:|--:|---|--:|'
	for ((pass = 0; pass < passes; pass++)); do
		row untraced - - "$(above)"
		floor_cost
		row 'an empty ftrace_ops of its function: the floor' - - "$cost"
		argtrace_cost s:pread64 || exit
		row '**argtrace**' "$counter" "$bytes" "$cost"
		own_row 'argtrace, rejected by an argument' - 's:pread64 if count == 7'
		own_row 'argtrace -r' "$counter" -r s:pread64
		own_row 'argtrace -d -r, with the path of its file' "$counter" -d -r s:pread64
		own_row 'argtrace -r, errors alone' - 's:pread64= if ret < 0'
		bpf 'BPF tp_btf sys_enter, record to a ring buffer' monotonic 64 sys_enter_record
		pread_event 'the event of ftrace'
		script 'bpftrace tracepoint, count()' - 'tracepoint:syscalls:sys_enter_pread64 { @ = count(); }'
	done
}
