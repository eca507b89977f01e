# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the commands of the cases may call.

# calls FILE COUNT: has argtrace_test call its functions; FILE is burst, run or storm (tests/vm/modules/argtrace_test.c).
calls() { echo "$2" >"/sys/kernel/debug/argtrace_test/$1"; }

# is_armed FUNCTION: whether ftrace calls somebody for it.
is_armed() { grep -q "^$1 " /sys/kernel/tracing/enabled_functions; }

# until_true COMMAND...: waits until it is true, for at most half a minute.
until_true() {
	local _
	for _ in {1..600}; do
		if "$@"; then
			return
		fi
		sleep 0.05
	done
	echo "never came true: $*" >&2
	return 1
}
