# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2086,SC2154 # variables of common.sh and constants without blanks; markdown
#
# The cost of adding and removing functions, in millions of instructions of the whole machine. Sourced by tables.sh.

millions() { calc '%.0f' "$1/1000000"; }
memory() { argtrace info --json | sed -E 's/.*"memory_used":([0-9]+).*/\1/'; }

table_arming() {
	local what add remove used empty count empty_on empty_off on off
	echo '| functions | | empty ftrace_ops on | argtrace on | ratio | empty off | argtrace off | ratio | `argtrace add` | `rm` | KiB |'
	echo '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|'
	for what in vfs_read 'vfs_*' 'n*' '*'; do
		# A session that is there already, with its rings.
		argtrace add --buffer 64M vfs_write 2>/dev/null
		argtrace rm vfs_write
		empty=$(memory)
		add=$(/root/measure argtrace add "$what" 2>/dev/null)
		used=$(memory)
		remove=$(/root/measure argtrace rm '*' 2>/dev/null)
		argtrace add "$what" 2>/dev/null
		if ! read -r count empty_on empty_off on off < <(/root/arm_cost 2>/tmp/errors); then
			echo "| $what | absent: $(reason /tmp/errors) | | | | | | | | | |"
			argtrace clear
			continue
		fi
		printf '| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n' "$what" "$count" \
			"$(millions "$empty_on")" "$(millions "$on")" "$(calc '%.2f' "$on/$empty_on")" \
			"$(millions "$empty_off")" "$(millions "$off")" "$(calc '%.2f' "$off/$empty_off")" \
			"$(millions "$add")" "$(millions "$remove")" "$(calc '%.0f' "($used-$empty)/1024")"
	done
}

# One probe among all: the same call as with it alone. Flight recorders, since nobody reads: what is lost costs otherwise.
table_among() {
	local plain alone among count lost
	echo 4 >$bench/median; plain=$(cat $bench/median)
	argtrace add --flight --buffer 64M argtrace_bench:bench_args_4 2>/dev/null
	echo 4 >$bench/median; alone=$(cat $bench/median)
	argtrace clear
	argtrace add --flight --buffer 64M '*' 2>/dev/null
	count=$(($(argtrace status --json | wc -l) - 1))
	echo 4 >$bench/median; among=$(cat $bench/median)
	lost=$(argtrace status --json | sed -nE '/"bench_args_4"/s/.*"lost":(\{[^}]*\}|[0-9]+).*/\1/p')
	argtrace clear
	echo '| a call with four words | instructions | lost |'
	echo '|---|--:|--:|'
	echo "| its function alone | $(calc '%.1f' "($alone-$plain)/100") | |"
	echo "| one of $count | $(calc '%.1f' "($among-$plain)/100") | $lost |"
}
