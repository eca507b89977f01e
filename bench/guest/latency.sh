# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # variables of common.sh
#
# How long after a call a live trace has written it, on a processor that takes a nanosecond for an instruction. Sourced
# by tables.sh.

# CLOCK_MONOTONIC; to read it is a part of what is measured.
monotonic() {
	local word number
	while read -r word _ number _; do
		[[ $word != now ]] || break
	done </proc/timer_list
	echo "$number"
}

shown_after() { # reads one event
	local time
	read -r time _ <&"$events"
	calc '%.1f' "($(monotonic)-${time/./})/1000000"
}

# Starts a live trace of what `call` does.
watch() {
	made=0
	exec {events}< <(argtrace trace --no-header vfs_mkdir 2>/dev/null)
	until grep -q '^vfs_mkdir ' $tracing/enabled_functions; do
		sleep 0.1
	done
}
call() { mkdir "$files/$((++made))"; }

# They set thin and close: the latency of an event after half a second without any, and of one right after another.
thin_latency() { sleep 0.5; call; thin=$(shown_after); }
close_latency() { sleep 0.5; call; shown_after >/dev/null; call; close=$(shown_after); }

table_latency() {
	watch
	echo '| an event of vfs_mkdir that a live trace shows | milliseconds after the call |'
	echo '|---|--:|'
	for _ in 1 2 3 4 5; do
		thin_latency
		close_latency
		echo "| after half a second without any | $thin |"
		echo "| right after another one that has been shown | $close |"
	done
	exec {events}<&-
}
