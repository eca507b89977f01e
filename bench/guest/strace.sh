# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # variables of common.sh and pipeline.sh; bpftrace's own
#
# What it takes to show a system call with its names, its file and its result, from the call to a file of text: all that the machine
# does, measured as in pipeline.sh, whose functions these are. Sourced by tables.sh.

# strace stops the process twice for each call; that shows in few of them.
strace_few=2000 strace_many=22000

# shown_rows NAME CALL SCRIPT COMMAND...: the rows of one system call. SCRIPT is bpftrace's.
shown_rows() {
	local name=$1 call=$2 script=$3 few=$strace_few many=$strace_many plain='' size cost own_pipeline=''
	shift 3
	local loop=("$@")
	once $few "${loop[@]}" >/dev/null
	slope "${loop[@]}"
	plain=$cost
	pipeline "**argtrace trace -d -r**, $name" lost_by_argtrace \
		bash -c "exec argtrace trace -d -r -F --no-header s:$call -- ${loop[*]} >$files/trace"
	pipeline "argtrace record -d -r, $name" lost_by_argtrace argtrace record -d -r -F -o $files/trace "s:$call" -- "${loop[@]}"
	pipeline "strace -f -y --seccomp-bpf, $name" true /root/strace -f -y --seccomp-bpf -e "trace=$call" -o $files/trace "${loop[@]}"
	pipeline "strace -f -y, $name" true /root/strace -f -y -e "trace=$call" -o $files/trace "${loop[@]}"
	pipeline "perf trace, $name" true /root/perf trace -e "$call" -o $files/trace "${loop[@]}"
	pipeline "bpftrace, $name" lost_by_bpftrace /root/bpftrace -B full -o $files/trace -e "$script" -c "${loop[*]}"
}

table_strace() {
	local enter='tracepoint:syscalls:sys_enter' leave='tracepoint:syscalls:sys_exit' mine='/comm == "pread_loop"/'
	local shown='printf("%s %d'
	echo '| a system call that is shown, all that it takes | instructions | / argtrace | bytes of text | lost |'
	echo '|---|--:|--:|--:|--:|'
	shown_rows 'pread64 with its file' pread64 \
		"${enter}_pread64 $mine { @fd[tid] = args->fd; @n[tid] = args->count; }
		 ${leave}_pread64 $mine { $shown pread64(fd=%d, count=%d) = %d\\n\", comm, tid, @fd[tid], @n[tid], args->ret); }" \
		/root/pread_loop calls CALLS
	shown_rows 'openat with its name' openat \
		"${enter}_openat $mine { @name[tid] = args->filename; @flags[tid] = args->flags; }
		 ${leave}_openat $mine { $shown openat(%s, %x) = %d\\n\", comm, tid, str(@name[tid]), @flags[tid], args->ret); }" \
		/usr/bin/env PREAD_LOOP_OPENS=1 /root/pread_loop calls CALLS
}
