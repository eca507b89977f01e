# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Starts the programs in /root/commands, each in a session of its own, and returns when all of their threads wait. `started` has their names and
# processes. argtrace is its parent.
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

# Until argtrace, which has started this, has nothing to do: the tables of what has been mapped are made.
settle() {
	local before='' now=none round
	for ((round = 0; round < 30; round++)); do
		[[ $now != "$before" ]] || return
		before=$now
		sleep 1
		# The processor's time of the process: the fourteenth and fifteenth word.
		now=$(cut -d ' ' -f 14,15 "/proc/$PPID/stat")
	done
}

# A process waits for a table, but not for ever. So each program has run once before, by itself, and is not among those that are compared.
declare -A known=()
while read -r _ line; do
	[[ ! ${known[${line%% *}]-} ]] || continue
	known[${line%% *}]=1
	setsid bash -c "exec $line" </dev/null >/dev/null 2>&1 &
	settle
	kill -KILL -- "-$!"
	{ wait "$!"; } 2>/dev/null
done < <(grep '^\w' /root/commands)

while read -r name line; do
	setsid bash -c "echo $name \$\$ >>started; exec $line" </dev/null >>out.txt 2>&1 &
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
