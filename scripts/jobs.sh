# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Several commands at once. Sourced, by who has sourced lib.sh.
#
#   jobs_begin DIR [COUNT]    where their output may lie until they have ended, and how many at once: as many as there are
#                             processors, unless COUNT says otherwise
#   job HEADING COMMAND...    begins a command, or waits until it may
#   jobs_end                  waits for all; status 0 if all of them were good
#
# The output of each comes in one piece, under its heading, when it has ended. Each is a process group of its own (set -m),
# so that it can be ended whole when we are; what runs beside them in the foreground is not, so that Ctrl-C ends both.

# shellcheck disable=SC2317 # called by the trap
jobs_stop() {
	local group
	for group in $(jobs -p); do
		kill -- "-$group" 2>/dev/null || true
	done
	wait
	exit 143
}

jobs_begin() {
	jobs_dir=$1 jobs_most=${2:-$(nproc)} jobs_number=0 jobs_running=0 jobs_status=0
	trap jobs_stop HUP INT TERM
}

jobs_wait_for_one() {
	wait -n || jobs_status=1
	jobs_running=$((jobs_running - 1))
}

job() {
	local heading=$1
	shift
	if ((jobs_running == jobs_most)); then
		jobs_wait_for_one
	fi
	jobs_number=$((jobs_number + 1))
	set -m
	{
		local status=0 printing
		"$@" >"$jobs_dir/job.$jobs_number" 2>&1 || status=$?
		exec {printing}>"$jobs_dir/job.printing"
		flock "$printing"
		printf '\n%s\n' "$heading"
		cat "$jobs_dir/job.$jobs_number"
		exit "$status"
	} &
	set +m
	jobs_running=$((jobs_running + 1))
}

jobs_end() {
	while ((jobs_running)); do
		jobs_wait_for_one
	done
	return "$jobs_status"
}
