# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034 # its variables are used by those who source it
#
# Shared by the tables. Sourced in the guest by tables.sh and cost.sh.
set -u

tracing=/sys/kernel/tracing
bench=/sys/module/argtrace_bench/parameters
files=/dev/shm
mountpoint -q $tracing || mount -t tracefs tracefs $tracing

# The program whose calls are timed.
looped=/root/pread_loop

loop() { $looped "$@" | cut -d' ' -f1; }
calc() { awk "BEGIN { printf \"$1\", $2 }"; }

# median_of N: what a call of the bench's function of N words costs now, in hundredths of an instruction.
median_of() { echo "$1" >$bench/median && cat $bench/median; }

# reason FILE: why a program failed, from what it said.
reason() { grep -aiE -m 1 'error|fail|cannot|unable|no such' "$1" || sed '/^$/d' "$1" | tail -n 1; }

# above [excluded]: instructions per call above untraced, now.
above() { calc '%.2f' "$(loop "$@")-$untraced"; }

# The medians need the machine to have come to rest.
settle() {
	insmod /root/argtrace_bench.ko
	sleep 4
	untraced=$(loop)
}

# argtrace_cost OPTION...: sets cost and bytes.
argtrace_cost() {
	argtrace add --buffer "${buffer:-16M}" "$@" >/dev/null 2>&1 || return 1
	cost=$(above)
	bytes=-
	[ $looped != /root/pread_loop ] || bytes=$($looped bytes)
	argtrace clear
}

# What a call takes that the tool has the kernel add up.
answer() { # ARGUMENT...
	argtrace "$@" -o /tmp/answer -- $looped 2>/dev/null | cut -d' ' -f1
}

# words_cost N: sets cost, of the bench's function of N words.
words_cost() {
	local plain traced
	plain=$(median_of "$1")
	argtrace add --buffer 16M "argtrace_bench:bench_args_$1" >/dev/null 2>&1 || return 1
	traced=$(median_of "$1")
	argtrace clear
	cost=$(calc '%.1f' "($traced-$plain)/100")
}

# Calls of the process that reads the session are rejected.
rejected_cost() {
	argtrace add vfs_read >/dev/null 2>&1 || return 1
	cost=$(above excluded)
	argtrace clear
}

# The flight recorder has two packets of 64 KiB, so that there is one to overwrite each time.
switch_cost() {
	argtrace add --flight --buffer 128K vfs_read >/dev/null 2>&1 || return 1
	/root/pread_loop calls 5000
	cost=$(/root/pread_loop switch)
	argtrace clear
}

# An mmap() with its munmap(), of which user stacks have to hear. Sets untraced as well. What the kernel frees later makes the median
# change from run to run by more than they take, so it is the quickest batch that counts.
mapping_cost() { # data, or code
	export PREAD_LOOP_MAPS=$1 PREAD_LOOP_FILE=/root/pread_loop PREAD_LOOP_NAPS=0
	untraced=$(loop)
	argtrace add --stack=user vfs_write >/dev/null 2>&1 || return 1
	cost=$(above)
	argtrace clear
	unset PREAD_LOOP_MAPS PREAD_LOOP_FILE PREAD_LOOP_NAPS
}

floor_cost() {
	echo 1 >$bench/empty
	cost=$(above)
	echo 0 >$bench/empty
}

# begin [KIB]: an empty buffer, large enough, with the cheapest clock.
begin() {
	echo 0 >$tracing/tracing_on
	echo "$ftrace_clock" >$tracing/trace_clock
	echo "${1:-32768}" >$tracing/buffer_size_kb
	echo >$tracing/trace
}

# The first processor's, all there is: what each event took, and how many were lost.
per_event() {
	awk '/^bytes:/ { b = $2 } /^entries:/ { n = $2 } END { if (n) printf "%.0f", b / n; else printf "-" }' \
		$tracing/per_cpu/cpu0/stats
}
overrun() { awk '/^(overrun|dropped events|commit overrun):/ { n += $NF } END { print n + 0 }' $tracing/per_cpu/cpu0/stats; }

# Switching ftrace's events and tracers for vfs_read on and off.
has_event() { echo "$1" >$tracing/dynamic_events 2>/dev/null; }
event_on() { # [0]
	local group
	for group in $tracing/events/fprobes $tracing/events/kprobes; do
		[ ! -e "$group/bench" ] || echo "${1:-1}" >"$group/bench/enable"
	done
}
event_off() { event_on 0; echo >$tracing/dynamic_events; }
function_on() {
	echo vfs_read >$tracing/set_ftrace_filter
	echo function >$tracing/current_tracer
}
function_off() { echo nop >$tracing/current_tracer; echo >$tracing/set_ftrace_filter; }
func_args() { [ ! -e $tracing/options/func-args ] || echo "$1" >$tracing/options/func-args; }

no_func_args='Linux 6.15 or later'
fprobe_args='f:fprobes/bench vfs_read $arg*'
if [ "$(uname -m)" = aarch64 ]; then
	counter=cntvct ftrace_clock=local
	kprobe_args='p:kprobes/bench vfs_read a=%x0 b=%x1 c=%x2 d=%x3'
else
	counter=TSC ftrace_clock=x86-tsc
	kprobe_args='p:kprobes/bench vfs_read a=%di b=%si c=%dx d=%cx'
fi
