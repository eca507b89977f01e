# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Those that follow calls in the background. Sourced by the scripts that compare them with others.

# until_armed FILE...: returns when each has said in its FILE that it follows. One that has ended has failed. How long that may take is
# the business of the virtual machine's time limit. The caller has their numbers in `followers`.
until_armed() {
	local pid
	# shellcheck disable=SC2154
	until [[ $(cat -- "$@" | grep -c 'until Ctrl-C') == "$#" ]]; do
		for pid in "${followers[@]}"; do
			kill -0 "$pid" 2>/dev/null || { cat -- "$@" >&2; exit 1; }
		done
		sleep 0.1
	done
}
