# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# bash that waits for ever: waits.bash KIND.
recurse() {
	if (($1 > 0)); then
		recurse $(($1 - 1)) "$2"
	else
		$2
	fi
}

reads() { read -r _ <>"$fifo"; }
reads_for_long() { read -r -t 100000 _ <>"$fifo"; }
waits() { sleep 100000 & wait; }
runs() { sleep 100000; }
substitutes() { echo "$(recurse 2 runs)"; }
in_a_trap() {
	trap runs USR1
	kill -USR1 $$
	:
}

fifo=$(mktemp -u)
mkfifo "$fifo"
recurse 3 "$1"
