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

table_latency() {
	local thin close
	exec {events}< <(argtrace trace --no-header vfs_statfs 2>/dev/null)
	until grep -q '^vfs_statfs ' $tracing/enabled_functions; do
		sleep 0.1
	done
	echo '| an event of vfs_statfs that a live trace shows | milliseconds after the call |'
	echo '|---|--:|'
	for _ in 1 2 3 4 5; do
		sleep 0.5
		stat -f / >/dev/null
		thin=$(shown_after)
		sleep 0.5
		stat -f / >/dev/null
		shown_after >/dev/null
		stat -f / >/dev/null
		close=$(shown_after)
		echo "| after half a second without any | $thin |"
		echo "| right behind another one that has been shown | $close |"
	done
	exec {events}<&-
}
