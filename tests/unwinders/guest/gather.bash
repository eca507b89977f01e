# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Has the programs in /root/commands wait, while argtrace follows all of their system calls, and perf those of ppoll(). When all of them wait, both end,
# and gdb says where each of them is. What all of them have said, and /proc, is written to stdout as an archive.
set -u
mkdir -p /tmp/unwinders /tmp/empty
tar -C / -xf /root/python.tar
[[ ! -e /root/libc.so ]] || ln -s /root/libc.so /lib/ld-musl-x86_64.so.1
cd /tmp/unwinders || exit 1
export PATH=$PATH:/root HOME=/tmp/empty

perf=()
if type -P perf >/dev/null; then
	perf record -q -a -e syscalls:sys_enter_ppoll --call-graph fp -m 1024 -o perf.data sleep 100000 >perf.err 2>&1 &
	perf=($!)
	until [[ -s perf.data ]]; do sleep 0.1; done
	sleep 1
fi
argtrace trace --json --stack=user -F --force --stack-table-size 16384 -b 16M s:{ppoll,pause,read,clock_nanosleep,futex,poll,select,pselect6,wait4,epoll_wait,rt_sigsuspend} -- bash /root/start.bash >argtrace.json 2>argtrace.err || {
	cat argtrace.err >&2
	exit 1
}
cat argtrace.err >&2
if ((${#perf[@]})); then
	pkill -INT -P "${perf[0]}" sleep
	wait "${perf[0]}"
	perf script -i perf.data --no-inline -F tid,ip,sym,symoff,dso >perf.txt 2>>perf.err
fi

declare -A names=()
while read -r name leader; do names[$leader]=$name; done <started
while read -r session pid state comm; do
	# Those that wait for a child of vfork() do not stop.
	[[ ${names[$session]-} && $state != D* ]] || continue
	echo "${names[$session]} $pid $comm" >>processes
	cat "/proc/$pid/maps" >"$pid.maps"
	for task in "/proc/$pid/task/"*; do echo "$pid ${task##*/}"; done >>threads
	printf '%s\n' "echo == $pid\\n" "attach $pid" 'thread apply all bt' 'thread apply all frame apply all -q p/x $pc' detach file >>commands.gdb
done < <(ps -eo sid=,pid=,state=,comm=)
gdb -nx -batch -iex 'set debuginfod enabled off' -x /root/settings.gdb -x commands.gdb >gdb.txt 2>gdb.err </dev/null
# What node compiles has its names in a file of node's own.
if type -P node >/dev/null; then
	timeout 300 node --perf-basic-prof --interpreted-frames-native-stack /root/waits.js >node.out 2>node.err &
	for ((round = 0; round < 600; round++)); do
		[[ ! -s node.out ]] || break
		sleep 0.2
	done
	node=$(pgrep -x node)
	timeout 120 argtrace trace --json -n 20 --stack=user -p "$node" s:futex >node.json 2>>node.err
	cat "/tmp/perf-$node.map" >node.map
	kill -KILL "$node"
fi
while read -r _ pid _; do
	kill -KILL "$pid"
done <processes
tar -cf - -- *
