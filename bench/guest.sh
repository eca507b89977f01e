#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in a guest whose TSC counts instructions (bench/run). Prints the tables of one kernel.
set -u

tracing=/sys/kernel/tracing
bench=/sys/module/argtrace_bench/parameters
mountpoint -q $tracing || mount -t tracefs tracefs $tracing

loop() { /root/pread_loop | cut -d' ' -f1; }
calc() { awk "BEGIN { printf \"$1\", $2 }"; }

# The medians need the machine to have come to rest.
insmod /root/argtrace_bench.ko
sleep 4
untraced=$(loop)
floor='' own=''

# row NAME BYTES COST: one line of the table.
row() {
	printf '| %-58s | %7s | %6s | %6s | %5s |\n' "$1" "$(calc '%.0f' "$3")" "$(calc '%.1f' "$3/${floor:-$3}")" \
		"$(calc '%.2f' "$3/${own:-$3}")" "$2"
}
absent() { printf '| %-58s | %s |\n' "$1" "absent: $2"; }

# above: instructions per call above untraced, now.
above() { calc '%.2f' "$(loop)-$untraced"; }

# argtrace_cost OPTION...: sets cost. The bytes of its records follow from their layout (include/uapi/argtrace.h).
argtrace_cost() {
	argtrace add --buffer 16M "$@" >/dev/null 2>&1 || return 1
	cost=$(above)
	argtrace clear
}

# An empty buffer, large enough, with the cheapest clock; then what it took for each event.
begin() { echo 0 >$tracing/tracing_on; echo x86-tsc >$tracing/trace_clock; echo 32768 >$tracing/buffer_size_kb; echo >$tracing/trace; }
per_event() {
	local stats=$tracing/per_cpu/cpu0/stats
	awk '/^bytes:/ { b = $2 } /^entries:/ { n = $2 } END { if (n) printf "%.0f", b / n; else printf "-" }' $stats
}
measure_ftrace() { # NAME
	local cost
	echo 1 >$tracing/tracing_on
	cost=$(above)
	echo 0 >$tracing/tracing_on
	row "$1" "$(per_event)" "$cost"
}

echo "Linux $(uname -r), pread64 of /dev/null untraced: $untraced instructions"
echo
echo '| vfs_read traced by                                         | instr.  | /floor | /ours  | bytes |'
echo '|---|--:|--:|--:|--:|'
echo 1 >$bench/empty
floor=$(above)
echo 0 >$bench/empty
argtrace_cost vfs_read && own=$cost
row 'empty ftrace_ops: the floor' - "$floor"
row 'argtrace' 56 "$own"
argtrace_cost --clock mono vfs_read && row 'argtrace --clock mono' 56 "$cost"
argtrace_cost --no-caller vfs_read && row 'argtrace --no-caller' 48 "$cost"
argtrace_cost 'vfs_read(count)' && row "argtrace 'vfs_read(count)'" 32 "$cost"
argtrace_cost --encoding named vfs_read && row 'argtrace --encoding named' 88 "$cost"

# A process that reads the session is filtered: it is the rejected call.
argtrace add vfs_read >/dev/null 2>&1
rejected=$(/root/pread_loop excluded | cut -d' ' -f1)
argtrace clear
row 'argtrace, a call of an excluded process' 0 "$(calc '%.2f' "$rejected-$untraced")"

# The loop is a child of this shell; followed, it is recorded, and else it is another process.
argtrace_cost -F -p $$ vfs_read && row 'argtrace -p, a call of such a process' 56 "$cost"
argtrace_cost -p $$ vfs_read && row 'argtrace -p, a call of another process' 0 "$cost"

begin
echo vfs_read >$tracing/set_ftrace_filter
echo function >$tracing/current_tracer
measure_ftrace 'function tracer'
if [ -e $tracing/options/func-args ]; then
	begin
	echo 1 >$tracing/options/func-args
	measure_ftrace 'function tracer, func-args'
	echo 0 >$tracing/options/func-args
else
	absent 'function tracer, func-args' 'Linux 6.15 or later'
fi
echo nop >$tracing/current_tracer
echo >$tracing/set_ftrace_filter

# event NAME DEFINITION
event() {
	if ! echo "$2" >$tracing/dynamic_events 2>/dev/null; then
		absent "$1" 'this kernel does not take it'
		return
	fi
	begin
	for group in $tracing/events/fprobes $tracing/events/kprobes; do
		[ ! -e "$group/bench" ] || echo 1 >"$group/bench/enable"
	done
	measure_ftrace "$1"
	for group in $tracing/events/fprobes $tracing/events/kprobes; do
		[ ! -e "$group/bench" ] || echo 0 >"$group/bench/enable"
	done
	echo >$tracing/dynamic_events
}
event 'fprobe event without arguments' 'f:fprobes/bench vfs_read'
# shellcheck disable=SC2016 # not the shell's
event 'fprobe event with $arg*' 'f:fprobes/bench vfs_read $arg*'
event 'kprobe event with four registers' 'p:kprobes/bench vfs_read a=%di b=%si c=%dx d=%cx'

echo
echo '| argtrace, a function of N words | instr. | more than N - 1 |'
echo '|---|--:|--:|'
before=''
for n in 0 1 2 3 4 5 6 7 8 9; do
	echo $n >$bench/median; plain=$(cat $bench/median)
	argtrace add --buffer 16M "argtrace_bench:bench_args_$n" >/dev/null 2>&1 || { absent "$n" 'cannot be added'; continue; }
	echo $n >$bench/median; traced=$(cat $bench/median)
	argtrace clear
	cost=$(calc '%.1f' "($traced-$plain)/100")
	printf '| %s | %s | %s |\n' $n "$cost" "${before:+$(calc '%+.1f' "$cost-$before")}"
	before=$cost
done

# Instructions in millions: the clock counts them as nanoseconds.
now() { date +%s%N; }
millions() { calc '%.0f' "($2-$1)/1000000"; }
memory() { argtrace info --json | sed -E 's/.*"memory_used":([0-9]+).*/\1/'; }

echo
echo '| argtrace add, and rm again | functions | add, million instr. | rm, million instr. | KiB, without the rings |'
echo '|---|--:|--:|--:|--:|'
for what in vfs_read 'vfs_*' 'n*' '*'; do
	# A session that is there already, with its rings.
	argtrace add vfs_write 2>/dev/null
	argtrace rm vfs_write
	empty=$(memory)
	start=$(now); argtrace add "$what" 2>/dev/null; added=$(now)
	used=$(memory)
	count=$(($(argtrace status --json | wc -l) - 1))
	removing=$(now); argtrace rm '*'; removed=$(now)
	argtrace clear
	printf '| %s | %s | %s | %s | %s |\n' "$what" "$count" "$(millions "$start" "$added")" \
		"$(millions "$removing" "$removed")" "$(calc '%.0f' "($used-$empty)/1024")"
done
