# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2086,SC2154 # variables of common.sh and constants without blanks; markdown
#
# The cost of a call that is recorded when it returns, by tracer: with the functions of calls.sh. Sourced by tables.sh.

function_graph() { # NAME [OPTION]
	local option=${2-}
	if [ "$option" ] && [ ! -e "$tracing/options/$option" ]; then
		absent "$1" 'this kernel does not have it'
		return
	fi
	begin
	echo vfs_read >$tracing/set_ftrace_filter
	echo function_graph >$tracing/current_tracer
	[ -z "$option" ] || echo 1 >"$tracing/options/$option"
	measure_ftrace "$1"
	[ -z "$option" ] || echo 0 >"$tracing/options/$option"
	function_off
}

pass_of_returns() {
	local none='0xfffffffffff'
	row untraced - - "$(above)"
	floor_cost
	row 'an empty ftrace_ops: the floor' - - "$cost"
	argtrace_cost -r vfs_read || exit
	row '**argtrace -r**' "$counter" "$bytes" "$cost"
	own_row 'argtrace -r --clock mono' monotonic -r --clock mono vfs_read
	own_row 'argtrace -r, rejected at entry by an argument' - "vfs_read= if count == $none"
	own_row 'argtrace -r, rejected by what it returns' - 'vfs_read= if ret < 0'
	own_row 'argtrace -r, rejected by how long it took' - 'vfs_read= if duration > 1s'
	own_row 'argtrace -r, and `*pos` at entry' "$counter" 'vfs_read(file, buf, count, pos, *pos)='
	own_row 'argtrace -r, and `*pos` at return' "$counter" 'vfs_read(file, buf, count, pos, *pos@ret)='
	own_row 'argtrace --changes' "$counter" --changes vfs_read
	own_row 'argtrace -r, and the path at entry' "$counter" 'vfs_read(file, buf, count, pos, path(file))='
	own_row 'argtrace without -r: the entry alone' "$counter" vfs_read
	own_row 'argtrace -r --return-by fprobe' "$counter" -r --return-by fprobe vfs_read
	own_row 'argtrace -r --return-by kretprobe' "$counter" -r --return-by kretprobe vfs_read
	bpf 'BPF fexit, empty' - - return_empty
	bpf 'BPF fexit, record to a ring buffer' monotonic 72 return_record
	bpf 'BPF fentry and fexit, record with the duration' monotonic 80 return_timed
	event 'fprobe return event with `$arg*` and `$retval`' 'f:fprobes/bench vfs_read%return $arg* ret=$retval'
	event 'fprobe return event with `$retval`' 'f:fprobes/bench vfs_read%return ret=$retval'
	event 'kretprobe event with `$retval`' 'r:kprobes/bench vfs_read ret=$retval'
	function_graph 'function_graph'
	function_graph 'function_graph, funcgraph-retval' funcgraph-retval
	function_graph 'function_graph, funcgraph-args' funcgraph-args
	script 'bpftrace kretfunc, count()' - 'kretfunc:vfs_read { @ = count(); }'
	script 'bpftrace kretfunc, count() by what it returns' - 'kretfunc:vfs_read { @[retval] = count(); }'
	script 'bpftrace, hist() of the duration' monotonic \
		'kfunc:vfs_read { @at[tid] = nsecs; } kretfunc:vfs_read { @ = hist(nsecs - @at[tid]); delete(@at[tid]); }'
}

table_returns() {
	local pass
	echo "| vfs_read with what it returns, traced by | $unit | / floor | / argtrace | clock | bytes |"
	echo '|---|--:|--:|--:|---|--:|'
	for ((pass = 0; pass < passes; pass++)); do
		pass_of_returns
	done
}
