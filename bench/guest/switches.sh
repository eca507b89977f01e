# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2154 # scripts; variables of common.sh
#
# What it costs to follow where tasks wait: two tasks hand each other a byte, so that each waits for the other. Sourced by tables.sh.

# switch_cells MEDIAN MEAN: of one switch, of which a call of the loop is two. Now and then a batch has the reader's work in it, which
# the mean has and the median has not.
switch_cells() {
	[ "${2-}" ] && printf '%s | %s' "$(calc '%.0f' "($1-$quiet_median)/2")" "$(calc '%.0f' "($2-$quiet_mean)/2")" || printf -- '- | -'
}

switch_line() { # NAME COMMAND...: of which the loop is the child
	local name=$1 took
	shift
	took=$("$@" /root/pread_loop 2>/tmp/errors | grep -E '^[0-9.]+ [0-9.]+$')
	printf '| %s | %s |\n' "$name" "$(switch_cells $took)"
	rm -f "$files"/switches.*
}

switch_script() { # NAME SCRIPT
	local took
	took=$(/root/bpftrace -B full -o /tmp/shown -e "$2" -c /root/pread_loop 2>/tmp/errors | grep -E '^[0-9.]+ [0-9.]+$')
	printf '| %s | %s |\n' "$1" "$(switch_cells $took)"
}

bpftrace_off_cpu='tracepoint:sched:sched_switch {
	@since[args->prev_pid] = nsecs; @stack[args->prev_pid] = kstack;
	if (@since[args->next_pid]) {
		@[@stack[args->next_pid]] = sum(nsecs - @since[args->next_pid]);
		delete(@since[args->next_pid]); delete(@stack[args->next_pid]);
	}
}'

table_switches() {
	local quiet_median quiet_mean
	export PREAD_LOOP_SWITCHES=1
	read -r quiet_median quiet_mean < <(/root/pread_loop)
	echo '| a switch of tasks, and the wakeup before it, followed by | in the kernel | with the reader |'
	echo '|---|--:|--:|'
	printf '| nobody: what they take themselves | %s | %s |\n' "$(calc '%.0f' "$quiet_median/2")" "$(calc '%.0f' "$quiet_mean/2")"
	switch_line '**argtrace offcpu**, by both stacks and task' argtrace offcpu -o /tmp/answer --fold --
	switch_line '**argtrace offcpu --stack=kernel**' argtrace offcpu --stack=kernel -o /tmp/answer --fold --
	switch_line 'argtrace offcpu --no-stack' argtrace offcpu --no-stack -o /tmp/answer --json --
	switch_line 'argtrace offcpu --wakers' argtrace offcpu --stack=kernel --wakers -o /tmp/answer --fold --
	switch_line 'argtrace offcpu -o FILE.dat' argtrace offcpu --stack=kernel -o "$files/switches.dat" --
	switch_line "argtrace record 't:sched:sched_switch'" argtrace record -o "$files/switches.dat" t:sched:sched_switch --
	[ ! -x /root/bpftrace ] || switch_script 'bpftrace, the time off a CPU by kernel stack' "$bpftrace_off_cpu"
	[ ! -x /root/perf ] || switch_line 'perf sched record' /root/perf sched record -q -m 16M -o "$files/switches.perf"
	[ ! -x /root/perf ] ||
		switch_line 'perf record -g of sched_switch' /root/perf record -q -a -g -m 16M -e sched:sched_switch -o "$files/switches.perf" --
	[ ! -x /root/trace-cmd ] || switch_line 'trace-cmd record of sched_switch and sched_waking' \
		/root/trace-cmd record -q -e sched:sched_switch -e sched:sched_waking -o "$files/switches.trace"
	unset PREAD_LOOP_SWITCHES
}
