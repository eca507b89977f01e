# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2086,SC2154 # scripts; variables of common.sh and constants without blanks
#
# What a tick of a timer costs, which looks where its processor is. Sourced by tables.sh.

tick_frequency=10000

# work WHERE [COMMAND...]: what the work takes while the command, whose child it is, has timers tick.
work() {
	local where=$1
	shift
	rm -f /tmp/took
	"$@" /root/tick_cost "$where" /tmp/took >/tmp/shown 2>/tmp/errors && cat /tmp/took
}

# tick_cell TOOK QUIET: of one tick. A clock that counts instructions takes each for a nanosecond.
tick_cell() {
	[ "$1" ] && calc '%.0f' "($1-$2)/($1*$tick_frequency/1000000000)" || printf -
}

floor_of_ticks() { # WHERE
	echo $tick_frequency >$bench/ticks
	work "$1"
	echo 0 >$bench/ticks
}

tick_line() { # NAME [COMMAND...]
	local name=$1
	shift
	printf '| %s | %s | %s |\n' "$name" "$(tick_cell "$(work user "$@")" "$user_quiet")" "$(tick_cell "$(work kernel "$@")" "$kernel_quiet")"
}

table_ticks() {
	local user_quiet kernel_quiet
	user_quiet=$(work user)
	kernel_quiet=$(work kernel)
	# Else the kernel makes them rarer where they take long.
	echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
	echo '| a tick of the CPU clock | in user space | in the kernel |'
	echo '|---|--:|--:|'
	printf '| an empty handler: the floor | %s | %s |\n' "$(tick_cell "$(floor_of_ticks user)" "$user_quiet")" \
		"$(tick_cell "$(floor_of_ticks kernel)" "$kernel_quiet")"
	tick_line '**argtrace profile**, counted by both stacks' argtrace profile -e cpu-clock -F $tick_frequency --
	tick_line '**argtrace profile --stack=kernel**' argtrace profile -e cpu-clock -F $tick_frequency --stack=kernel --
	tick_line 'the same --by comm' argtrace profile -e cpu-clock -F $tick_frequency --stack=kernel --by comm --
	tick_line 'the same -o FILE.dat' argtrace profile -e cpu-clock -F $tick_frequency --stack=kernel -o $files/ticks.dat --
	rm -f $files/ticks.dat
	if [ -x /root/bpftrace ]; then
		tick_script 'bpftrace, counted by kernel stack' "profile:hz:$tick_frequency { @[kstack] = count(); }"
		tick_script 'bpftrace, counted by both stacks and `comm`' "profile:hz:$tick_frequency { @[kstack, ustack, comm] = count(); }"
	fi
	if [ -x /root/perf ]; then
		tick_line 'perf record' /root/perf record -q -a -m 16M -e cpu-clock -F $tick_frequency -o $files/perf.data --
		tick_line 'perf record -g' /root/perf record -q -a -m 16M -g -e cpu-clock -F $tick_frequency -o $files/perf.data --
		rm -f $files/perf.data
	fi
}

# What bpftrace runs, it is told in one word.
tick_script() { # NAME SCRIPT
	local user kernel
	user=$(script_work user "$2")
	kernel=$(script_work kernel "$2")
	printf '| %s | %s | %s |\n' "$1" "$(tick_cell "$user" "$user_quiet")" "$(tick_cell "$kernel" "$kernel_quiet")"
}

script_work() { # WHERE SCRIPT
	rm -f /tmp/took
	/root/bpftrace -B full -o /tmp/shown -e "$2" -c "/root/tick_cost $1 /tmp/took" >/dev/null 2>/tmp/errors
	cat /tmp/took 2>/dev/null
}
