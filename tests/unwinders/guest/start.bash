# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Starts the programs in /root/commands, each in a session of its own, and returns when all of their threads wait. `started` has their names and
# processes.
set -u

# Where all threads of the programs wait: system calls with their arguments. Those that are in none are `running`.
places() {
	local session pid task place
	while read -r session pid task; do
		[[ ${leaders[$session]-} ]] || continue
		read -r place <"/proc/$pid/task/$task/syscall"
		echo "$pid $task $place"
	done < <(ps -eLo sid=,pid=,lwp=)
}

# The first process with a file waits for its table, and others do not.
declare -A known=()
while read -r name line; do
	setsid bash -c "echo $name \$\$ >>started; exec $line" </dev/null >>out.txt 2>&1 &
	[[ ${known[${line%% *}]-} ]] || sleep 1
	known[${line%% *}]=1
done </root/commands
total=$(grep -c '^\w' /root/commands)
until [[ -s started && $(wc -l <started) == "$total" ]]; do sleep 0.5; done
declare -A leaders=()
while read -r _ leader; do leaders[$leader]=1; done <started
before= now=none
for ((round = 0; round < 60; round++)); do
	now=$(places 2>/dev/null)
	[[ $now != "$before" || $now == *running* ]] || break
	before=$now
	sleep 3
done
((round < 60)) || grep running <<<"$now" >&2
