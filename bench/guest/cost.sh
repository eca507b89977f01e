#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in a guest whose TSC counts instructions (bench/gate). Prints the cost of a recorded call, the bytes of its record, the cost
# of a rejected call, those of a call in a flight recorder and of overwriting a packet there, those of a call that is recorded when it
# returns and its bytes, the cost of one with a value that is kept from its entry, of calls that programs reject, fetch values for or
# describe, of calls that are added up, and the longest time in milliseconds until a live trace has shown a call.
# shellcheck disable=SC1091,SC2154 # what lies in the guest
. /root/common.sh
. /root/latency.sh

none=0xfffffffffff # what no call has

settle
floor_cost
echo "floor $cost"
argtrace_cost vfs_read || exit
echo "recorded $cost"
echo "bytes $bytes"
rejected_cost || exit
echo "rejected $cost"
buffer=128K argtrace_cost --flight vfs_read || exit
echo "flight $cost"
switch_cost || exit
echo "switch $cost"
argtrace_cost -r vfs_read || exit
echo "followed $cost"
echo "followed_bytes $bytes"
argtrace_cost 'vfs_read(file, buf, count, pos, *pos)=' || exit
echo "kept $cost"
argtrace_cost "vfs_read if count == $none" || exit
echo "rejected_argument $cost"
argtrace_cost "vfs_read if file->f_inode->i_ino == $none" || exit
echo "rejected_inode $cost"
argtrace_cost 'vfs_read(file, buf, count, pos, file->f_inode->i_ino)' || exit
echo "inode $cost"
argtrace_cost -d vfs_read || exit
echo "described $cost"
answer_cost count vfs_read || exit
echo "counted $cost"
answer_cost count --by comm vfs_read || exit
echo "counted_comm $cost"
answer_cost hist 'vfs_read(count)' || exit
echo "log2 $cost"
answer_cost stacks vfs_read || exit
echo "counted_stack $cost"
watch
latest=0
for _ in 1 2 3; do
	thin_latency
	close_latency
	latest=$(printf '%s\n' "$latest" "$thin" "$close" | sort -g | tail -n 1)
done
echo "shown_ms $latest"
