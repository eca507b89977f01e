# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2086,SC2154 # variables of common.sh and constants without blanks; markdown
#
# What programs do until they have started, in millions of instructions of the whole machine. Sourced by tables.sh.

start_row() { # NAME COMMAND...
	local name=$1 cost
	shift
	if cost=$(MEASURE_OUTPUT=/tmp/said /root/measure "$@"); then
		echo "| $name | $(calc '%.0f' "$cost/1000000") |"
	else
		echo "| $name | absent: $(reason /tmp/said) |"
	fi
}

table_start() {
	echo '| command | million instructions |'
	echo '|---|--:|'
	start_row 'true: a process' true
	start_row '`cat /proc/kallsyms`: what the kernel takes to print its symbols' cat /proc/kallsyms
	start_row '`cat /sys/kernel/btf/vmlinux`' cat /sys/kernel/btf/vmlinux
	start_row '`argtrace trace vfs_read`, until it is armed' -u argtrace trace vfs_read
	argtrace add vfs_read 2>/dev/null
	start_row '`argtrace trace -n 1`, of what `argtrace add` has added' argtrace trace -n 1
	argtrace clear
	start_row '`argtrace list`' argtrace list
	start_row '`argtrace list vfs_read`' argtrace list vfs_read
	start_row '`argtrace list vfs_reed`, which no function has' sh -c 'argtrace list vfs_reed 2>/dev/null; true'
	start_row '`argtrace status`' argtrace status
	has_event "$fprobe_args" || has_event "$kprobe_args"
	start_row '`trace-cmd record -e` the event of vfs_read, `true`' /root/trace-cmd record -q -o $files/trace -e bench true
	event_off
	start_row '`bpftrace` counting vfs_read, `true`' /root/bpftrace -e 'kfunc:vfs_read { @ = count(); }' -c /usr/bin/true
}
