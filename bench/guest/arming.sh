# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2086,SC2154 # variables of common.sh and constants without blanks; markdown
#
# The cost of adding and removing functions, in millions of instructions of the whole machine. Sourced by tables.sh.

millions() { calc '%.0f' "$1/1000000"; }
memory() { argtrace info --json | sed -E 's/.*"memory_used":([0-9]+).*/\1/'; }

table_arming() {
	local options add remove used empty count empty_on empty_off on off
	echo '| functions | | empty ftrace_ops on | argtrace on | ratio | empty off | argtrace off | ratio | `argtrace add` | `rm` | KiB |'
	echo '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|'
	set -f
	# Those whose returns are followed come last: for such calls the module stays.
	for options in vfs_read 'vfs_*' 'n*' '*' '-r vfs_read' '-r vfs_*' '-r n*' '-r *'; do
		# A session that is there already, with its rings.
		argtrace add --buffer 64M vfs_write 2>/dev/null
		argtrace rm vfs_write
		empty=$(memory)
		add=$(/root/measure argtrace add $options 2>/dev/null)
		used=$(memory)
		remove=$(/root/measure argtrace rm '*' 2>/dev/null)
		argtrace add $options 2>/dev/null
		if ! read -r count empty_on empty_off on off < <(/root/arm_cost 2>/tmp/errors); then
			echo "| $options | absent: $(reason /tmp/errors) | | | | | | | | | |"
			argtrace clear
			continue
		fi
		printf '| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n' "$options" "$count" \
			"$(millions "$empty_on")" "$(millions "$on")" "$(calc '%.2f' "$on/$empty_on")" \
			"$(millions "$empty_off")" "$(millions "$off")" "$(calc '%.2f' "$off/$empty_off")" \
			"$(millions "$add")" "$(millions "$remove")" "$(calc '%.0f' "($used-$empty)/1024")"
	done
	set +f
}

# One probe among all: the same calls as with these ten alone. Nobody reads, so there must be room for all that is called: a
# call that is lost, or that overwrites others, costs otherwise.
table_among() {
	local words plain=() few=() among count lost
	for ((words = 0; words < 10; words++)); do
		plain[words]=$(median_of $words)
	done
	argtrace add --buffer 256M 'argtrace_bench:bench_args_*' 2>/dev/null
	for ((words = 0; words < 10; words++)); do
		few[words]=$(median_of $words)
	done
	argtrace clear
	argtrace add --buffer 256M '*' 2>/dev/null
	count=$(($(argtrace status --json | wc -l) - 1))
	echo "| argtrace, a function of N words | one of 10 | one of $count | more |"
	echo '|---|--:|--:|--:|'
	for ((words = 0; words < 10; words++)); do
		among=$(median_of $words)
		printf '| %s | %s | %s | %s |\n' $words "$(calc '%.1f' "(${few[words]}-${plain[words]})/100")" \
			"$(calc '%.1f' "($among-${plain[words]})/100")" "$(calc '%+.1f' "($among-${few[words]})/100")"
	done
	lost=$(argtrace status --json | sed -n '$s/.*"full":\([0-9]*\).*/\1/p')
	((lost == 0)) || echo "| $lost calls lost: not comparable | | | |"
	argtrace clear
}
