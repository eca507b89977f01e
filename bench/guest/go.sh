# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154 # variables of common.sh
#
# The cost of a call of a function of Go, by tracer: with the functions of calls.sh and user.sh. Sourced by tables.sh.

table_go() {
	local pass untraced place cost looped=/root/go_loop function='u:/root/go_loop:main.benchFunction'
	untraced=$(loop)
	place=$(/root/go_loop place) || exit
	echo "| a function of Go, traced by | $unit | / floor | / argtrace | clock | bytes |"
	echo '|---|--:|--:|--:|---|--:|'
	for ((pass = 0; pass < passes; pass++)); do
		row untraced - - "$(above)"
		echo "/root/go_loop $place" >"$bench/empty_uprobe"
		row 'an empty uprobe behind the check of the stack: the floor' - - "$(above)"
		echo - >"$bench/empty_uprobe"
		argtrace_cost $function || exit
		row '**argtrace**' "$counter" - "$cost"
		own_row 'argtrace, rejected by an argument' - "$function if b == 7"
		own_row 'argtrace, with the number of the goroutine' "$counter" "$function(text, a, b, c, goid)"
		own_row 'argtrace -r: entry and return, by a breakpoint at the return' "$counter" -r $function
		user_answer 'argtrace, counted' count $function
		user_answer 'argtrace, counted by the text' count --by text $function
		script 'bpftrace at the entry, count()' - 'uprobe:/root/go_loop:"main.benchFunction" { @ = count(); }'
		script 'bpftrace at the entry, count() by the text' - \
			'uprobe:/root/go_loop:"main.benchFunction" { @[str(reg("ax"), reg("bx"))] = count(); }'
	done
}
