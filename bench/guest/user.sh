# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # variables of common.sh
#
# The cost of a call of a program's function, by tracer: with the functions of calls.sh. Sourced by tables.sh.

# An event of ftrace's at that offset, and one when the function returns if RETURN is given.
user_event() { # NAME ARGUMENTS [RETURN]
	local group=$tracing/events/uprobes at
	at=/root/pread_loop:$(printf '0x%x' "$place")
	if ! echo "p:uprobes/bench $at$2" >$tracing/uprobe_events 2>/dev/null ||
		{ [ "${3:-}" ] && ! echo "r:uprobes/bench_return $at value=\$retval" >>$tracing/uprobe_events 2>/dev/null; }; then
		absent "$1" 'this kernel does not take it'
		return
	fi
	begin
	echo 1 >"$group/enable"
	measure_ftrace "$1"
	echo 0 >"$group/enable"
	echo >$tracing/uprobe_events
}

# What is added up, by the tool that runs the loop.
user_answer() { # NAME ARGUMENT...
	local name=$1 cost
	shift
	cost=$(answer "$@")
	if [ "$cost" ]; then
		row "$name" - - "$(calc '%.2f' "$cost-$untraced")"
	else
		absent "$name" 'argtrace refuses it'
	fi
}

table_user() {
	local pass untraced place cost function='u:/root/pread_loop:bench_function'
	local prototype='void bench_function(const char *text, long a, int b, unsigned char c)'
	export PREAD_LOOP_FUNCTION=1
	untraced=$(loop)
	place=$(/root/pread_loop place)
	echo "| a function of a program, traced by | $unit | / floor | / argtrace | clock | bytes |"
	echo '|---|--:|--:|--:|---|--:|'
	for ((pass = 0; pass < passes; pass++)); do
		row untraced - - "$(above)"
		echo "/root/pread_loop $place" >"$bench/empty_uprobe"
		row 'an empty uprobe: the floor' - - "$(above)"
		echo - >"$bench/empty_uprobe"
		argtrace_cost --proto "$prototype" $function || exit
		row '**argtrace**' "$counter" "$bytes" "$cost"
		own_row 'argtrace, a text of 14 characters' "$counter" --proto "$prototype" "$function(str(text))"
		own_row 'argtrace, rejected by an argument' - --proto "$prototype" "$function if b == 7"
		own_row 'argtrace --stack' "$counter" --stack --proto "$prototype" $function
		own_row 'argtrace -r: entry and return, by a breakpoint at the return' "$counter" -r --proto "$prototype" $function
		own_row 'argtrace -r --return-by uretprobe' "$counter" -r --return-by uretprobe --proto "$prototype" $function
		user_answer 'argtrace, counted' count --proto "$prototype" $function
		user_answer 'argtrace, counted by the text' count --by 'str(text)' --proto "$prototype" $function
		user_event 'uprobe event' ''
		user_event 'uprobe event with four registers' ' a=%di b=%si c=%dx d=%cx'
		user_event 'uprobe event with the text' ' text=+0(%di):string'
		user_event 'uprobe and uretprobe events with the value' '' return
		script 'bpftrace, count()' - 'uprobe:/root/pread_loop:bench_function { @ = count(); }'
		script 'bpftrace, count() by the text' - 'uprobe:/root/pread_loop:bench_function { @[str(arg0)] = count(); }'
	done
	unset PREAD_LOOP_FUNCTION
}
