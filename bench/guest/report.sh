#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in a guest (bench/report): records the same calls with argtrace, trace-cmd and perf, few and many of them, with
# argtrace also when they return, and writes the files as a tar archive to stdout.
set -euo pipefail

# load CALLS: so many of vfs_read, by four processes on four CPUs.
load() {
	local cpu
	for cpu in 0 1 2 3; do
		taskset -c "$cpu" dd if=/dev/zero of=/dev/null bs=1 count=$(($1 / 4)) status=none &
	done
	wait
}

if [[ ${1-} == load ]]; then
	load "$2"
	exit
fi

mkdir -p /tmp/files
cd /tmp/files
# shellcheck disable=SC2016 # the kernel reads it
echo 'f:calls/vfs_read vfs_read $arg*' >/sys/kernel/tracing/dynamic_events
for size in few many; do
	calls=$([[ $size == few ]] && echo "$1" || echo "$2")
	command=(bash "$0" load "$calls")
	argtrace record --buffer 16M -o $size.argtrace vfs_read -- "${command[@]}"
	argtrace record -r --buffer 16M -o $size.returns vfs_read -- "${command[@]}"
	/root/trace-cmd record -q -b 32768 -o $size.trace-cmd -e calls:vfs_read "${command[@]}"
	/root/perf record -q -a -m 32M -e calls:vfs_read -o $size.perf -- "${command[@]}"
done >&2
tar -cf - ./*
