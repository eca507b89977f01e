# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2086,SC2154 # variables of common.sh and constants without blanks; markdown
#
# The cost of a traced call, by tracer. Sourced by tables.sh.

# row NAME CLOCK BYTES COST [REMARK]: a line from which bench/tables.py makes a row of the table. COST is above `untraced`.
row() { printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "${5-}"; }
absent() { printf '%s\tabsent: %s\n' "$1" "$2"; }

own_row() { # NAME CLOCK ARGUMENT...
	local name=$1 clock=$2
	shift 2
	if argtrace_cost "$@"; then
		row "$name" "$clock" "$bytes" "$cost"
	else
		absent "$name" 'argtrace refuses it'
	fi
}

measure_ftrace() { # NAME
	local cost
	echo 1 >$tracing/tracing_on
	cost=$(above)
	echo 0 >$tracing/tracing_on
	row "$1" "$ftrace_clock" "$(per_event)" "$cost" "$(missed_by_ftrace)"
}
# A tracer of returns may have no more room for calls, which then cost less.
missed_by_ftrace() {
	awk -v calls=50000 '/^(entries|overrun):/ { n += $2 }
		END { if (n < calls) printf " (%d of %d calls recorded)", n, calls }' $tracing/per_cpu/cpu0/stats
}

event() { # NAME DEFINITION
	if ! has_event "$2"; then
		absent "$1" 'this kernel does not take it'
		return
	fi
	begin
	event_on
	measure_ftrace "$1"
	event_off
}

bpf() { # NAME CLOCK BYTES PROGRAM
	local cost
	if cost=$(/root/bpf_peer "$4" /root/pread_loop 2>/tmp/errors | cut -d' ' -f1) && [ "$cost" ]; then
		row "$1" "$2" "$3" "$(calc '%.2f' "$cost-$untraced")"
	else
		absent "$1" "$(reason /tmp/errors)"
	fi
}

script() { # NAME CLOCK SCRIPT
	local cost
	cost=$(/root/bpftrace -B full -o /tmp/shown -e "$3" -c "$looped" 2>/tmp/errors | cut -d' ' -f1)
	if [ "$cost" ]; then
		row "$1" "$2" - "$(calc '%.2f' "$cost-$untraced")" "$(lost_by_bpftrace)"
	else
		absent "$1" "$(reason /tmp/errors)"
	fi
}
lost_by_bpftrace() {
	cat /tmp/shown /tmp/errors | awk '/^Lost [0-9]+ events/ { n += $2 } /^call / { shown++ }
		END { if (n) printf " (%d events lost, %d shown)", n, shown }'
}

pass_of_calls() {
	row untraced - - "$(above)"
	floor_cost
	row 'an empty ftrace_ops: the floor' - - "$cost"
	argtrace_cost vfs_read || exit
	row '**argtrace**' "$counter" "$bytes" "$cost"
	own_row 'argtrace --clock mono' monotonic --clock mono vfs_read
	own_row 'argtrace --no-caller' "$counter" --no-caller vfs_read
	own_row "argtrace 'vfs_read(count)'" "$counter" 'vfs_read(count)'
	own_row 'argtrace --encoding named' "$counter" --encoding named vfs_read
	rejected_cost && row 'argtrace, a call of an excluded process' - 0 "$cost"
	buffer=64K argtrace_cost vfs_read && row 'argtrace, a call that is lost, as its ring is full' - 0 "$cost"
	# The loop is a child of this shell; followed, it is recorded, and else it is another process.
	own_row 'argtrace -p, a call of such a process' "$counter" -F -p $$ vfs_read
	if argtrace_cost -p $$ vfs_read; then
		row 'argtrace -p, a call of another process' - 0 "$cost"
	fi
	bpf 'BPF fentry, empty' - - empty
	bpf 'BPF fentry, rejects by an argument' - 0 reject
	bpf 'BPF fentry, counts' - - count
	bpf 'BPF fentry, record to a ring buffer' monotonic 64 record
	bpf 'BPF fentry, record without a time' none 64 record_untimed
	begin
	function_on
	measure_ftrace 'function tracer, no arguments'
	if [ -e $tracing/options/func-args ]; then
		begin
		func_args 1
		measure_ftrace 'function tracer, func-args'
		func_args 0
	else
		absent 'function tracer, func-args' "$no_func_args"
	fi
	function_off
	event 'fprobe event without arguments' 'f:fprobes/bench vfs_read'
	event 'fprobe event with `$arg*`' "$fprobe_args"
	event 'kprobe event with four registers' "$kprobe_args"
	script 'bpftrace, count()' - 'kfunc:vfs_read { @ = count(); }'
	script 'bpftrace, hist() of an argument' - 'kfunc:vfs_read { @ = hist(args->count); }'
	script 'bpftrace, printf() of four arguments' none \
		'kfunc:vfs_read { printf("call %p %p %lu %p\n", args->file, args->buf, args->count, args->pos); }'
}

table_calls() {
	local pass
	echo "| vfs_read traced by | $unit | / floor | / argtrace | clock | bytes |"
	echo '|---|--:|--:|--:|---|--:|'
	for ((pass = 0; pass < passes; pass++)); do
		pass_of_calls
	done
}

table_words() {
	local before='' n cost
	echo '| argtrace, a function of N words | instructions | more than N - 1 |'
	echo '|---|--:|--:|'
	for n in 0 1 2 3 4 5 6 7 8 9; do
		words_cost $n || { echo "| $n | cannot be added | |"; continue; }
		printf '| %s | %s | %s |\n' $n "$cost" "${before:+$(calc '%+.1f' "$cost-$before")}"
		before=$cost
	done
}

# Whatever the context is, it has to be found out and said.
table_contexts() {
	local before='' context name cost
	echo '| argtrace, a function of 4 words, called | instructions | more than in a task |'
	echo '|---|--:|--:|'
	while read -r context name; do
		echo "$context" >$bench/context
		words_cost 4 || { echo "| $name | cannot be added | |"; continue; }
		: "${before:=$cost}"
		printf '| %s | %s | %s |\n' "$name" "$cost" "$(calc '%+.1f' "$cost-$before")"
	done <<-END
		task in a task
		preemption_off with preemption off
		interrupts_off with interrupts off
		bottom_halves_off with bottom halves off
		interrupt in an interrupt
	END
	echo task >$bench/context
}
