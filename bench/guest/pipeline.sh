# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2086,SC2154 # variables of common.sh and constants without blanks; markdown
#
# The cost of an event from the call to a file: the kernel's part, the reader's, and what the kernel does for the
# reader. All that the machine does counts, idle time does not. It is the difference between few and many calls, so that starting
# and ending do not count. Sourced by tables.sh.

few=50000 many=850000

# once CALLS COMMAND...: instructions of the whole machine while it runs, where one of its words is CALLS, that many.
once() {
	local calls=$1
	shift
	MEASURE_OUTPUT=/tmp/said /root/measure "${@//CALLS/$calls}"
}

# slope COMMAND...: sets cost, instructions per call above untraced, size, bytes a call in the file, and lost.
slope() {
	local few_cost many_cost few_size
	# A first run, for what happens only once (perf fills a cache).
	once 1 "$@" >/dev/null || return
	rm -f $files/trace*
	few_cost=$(once $few "$@") || return
	few_size=$(stat -c %s $files/trace 2>/dev/null || echo 0)
	rm -f $files/trace*
	many_cost=$(once $many "$@") || return
	size=$(calc '%.0f' "($(stat -c %s $files/trace 2>/dev/null || echo 0)-$few_size)/($many-$few)")
	rm -f $files/trace*
	cost=$(calc '%.2f' "($many_cost-$few_cost)/($many-$few)-${plain:-0}")
}

own_pipeline=''
# pipeline NAME LOST COMMAND...: a row; LOST is a command that says how many events have been lost.
pipeline() {
	local name=$1 lost=$2
	shift 2
	if slope "$@"; then
		own_pipeline=${own_pipeline:-$cost}
		printf '| %s | %s | %s | %s | %s |\n' "$name" "$(calc '%.0f' "$cost")" "$(calc '%.2f' "$cost/$own_pipeline")" \
			"$size" "$($lost)"
	else
		printf '| %s | absent: %s | | | |\n' "$name" "$(reason /tmp/said)"
	fi
}
lost_by_argtrace() { sed -nE 's/.* ([0-9]+) lost.*/\1/p' /tmp/said | tail -n 1; }
lost_by_bpf() { sed -n 's/^lost //p' /tmp/said; }
lost_by_perf() { sed -nE 's/.*LOST ([0-9]+).*/\1/p' /tmp/said | awk '{ n += $1 } END { print n + 0 }'; }
lost_by_trace_cmd() { awk '/overrun:/ { n += $NF } END { print n + 0 }' /tmp/said; }

ftrace_pipeline() { # NAME COMMAND...
	local name=$1
	shift
	begin 16384
	echo 1 >$tracing/tracing_on
	pipeline "$name" overrun "$@"
	echo 0 >$tracing/tracing_on
}

table_pipeline() {
	local loop='/root/pread_loop calls CALLS' plain='' size cost
	# shellcheck disable=SC2206 # words
	loop=($loop)
	once $few "${loop[@]}" >/dev/null
	slope "${loop[@]}"
	plain=$cost
	echo "| vfs_read, all that a recorded call costs | instructions | / argtrace | bytes in the file | lost |"
	echo '|---|--:|--:|--:|--:|'
	pipeline '**argtrace record**' lost_by_argtrace argtrace record -o $files/trace vfs_read -- "${loop[@]}"
	plain='' pipeline 'of that, writing as many bytes and nothing else' true /root/pread_loop write $files/trace CALLS
	pipeline 'argtrace record --compress' lost_by_argtrace argtrace record --compress --buffer 32M -o $files/trace vfs_read -- "${loop[@]}"
	pipeline 'argtrace record -r' lost_by_argtrace argtrace record -r -o $files/trace vfs_read -- "${loop[@]}"
	pipeline 'BPF fentry, ring buffer polled' lost_by_bpf /root/bpf_peer -o $files/trace record "${loop[@]}"
	pipeline 'BPF fexit, with what it returns, ring buffer polled' lost_by_bpf /root/bpf_peer -o $files/trace return_record "${loop[@]}"
	function_on
	ftrace_pipeline 'function tracer, no arguments, spliced' /root/splice_record $files/trace "${loop[@]}"
	if [ -e $tracing/options/func-args ]; then
		func_args 1
		ftrace_pipeline 'function tracer, func-args, spliced' /root/splice_record $files/trace "${loop[@]}"
		func_args 0
	else
		echo "| function tracer, func-args, spliced | absent: $no_func_args | | | |"
	fi
	function_off
	if has_event "$fprobe_args"; then
		event_on
		ftrace_pipeline 'fprobe event with `$arg*`, spliced' /root/splice_record $files/trace "${loop[@]}"
		event_off
	else
		echo '| fprobe event with `$arg*`, spliced | absent: this kernel does not take it | | | |'
	fi
	# A kernel without fprobe events uses a kprobe event.
	local event=fprobes:bench
	if ! has_event "$fprobe_args"; then
		event=kprobes:bench
		has_event "$kprobe_args"
	fi
	pipeline "trace-cmd record -e $event" lost_by_trace_cmd /root/trace-cmd record -q --compression none -o $files/trace \
		-C x86-tsc -b 16384 -e $event "${loop[@]}"
	pipeline "perf record -e $event" lost_by_perf /root/perf record -q -B -N -m 2048 -o $files/trace -e $event "${loop[@]}"
	event_off
	pipeline 'bpftrace, count()' true /root/bpftrace -e 'kfunc:vfs_read { @ = count(); }' -c "${loop[*]}"
}
