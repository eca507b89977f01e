#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in a guest whose TSC counts instructions (bench/gate). Prints the cost of a recorded call, the bytes of its record, the cost
# of a rejected call, those of a call in a flight recorder and of overwriting a packet there, those of a call that is recorded when it
# returns and its bytes, the cost of one of a function with an int at the end of its record, of one with a value that is kept from its entry, of one that the kernel's fprobe or kretprobe follows, of calls that a condition rejects, and of those that
# are recorded with what lies behind their pointers, and with what has to be computed, that of one whose duration is added to a histogram and of one that is counted by
# its stack, that of a pass of a tracepoint, those of an mmap() with its munmap() while user stacks are taken, and the longest
# time in milliseconds until a live trace has shown a call.
# shellcheck disable=SC1091,SC2154 # what lies in the guest
. /root/common.sh
. /root/latency.sh

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
argtrace_cost -r security_file_permission || exit
echo "followed_int $cost"
argtrace_cost 'vfs_read(file, buf, count, pos, *pos)=' || exit
echo "kept $cost"
argtrace_cost -r --return-by fprobe vfs_read || exit
echo "by_fprobe $cost"
argtrace_cost -r --return-by kretprobe vfs_read || exit
echo "by_kretprobe $cost"
argtrace_cost 'vfs_read if count == 12345' || exit
echo "by_argument $cost"
argtrace_cost 'vfs_read if file->f_inode->i_ino == 0xfffffffffff' || exit
echo "by_inode $cost"
argtrace_cost 'vfs_read if count == 1 && file->f_inode->i_mode & S_IFCHR && file->f_inode->i_ino == 0xfffffffffff' || exit
echo "by_three $cost"
argtrace_cost 'vfs_read(file, buf, count, pos, file->f_inode->i_ino)' || exit
echo "inode $cost"
argtrace_cost 'vfs_read(file, buf, count, pos, str(file->f_path.dentry->d_name.name))' || exit
echo "name $cost"
argtrace_cost 'vfs_read(file, buf, count, pos, path(file))' || exit
echo "path $cost"
argtrace_cost 'vfs_read(file, buf, count, pos, count + 1)' || exit
echo "computed $cost"
echo "latency $(calc '%.2f' "$(answer latency vfs_read)-$untraced")"
echo "stacks $(calc '%.2f' "$(answer stacks --stack=kernel vfs_read)-$untraced")"
echo "both_stacks $(calc '%.2f' "$(answer stacks vfs_read)-$untraced")"
export PREAD_LOOP_RENAMES=1
untraced=$(loop)
argtrace_cost t:task:task_rename || exit
echo "tracepoint $cost"
unset PREAD_LOOP_RENAMES
mapping_cost data || exit
echo "mapped $cost"
mapping_cost code || exit
echo "mapped_code $cost"
watch
latest=0
for _ in 1 2 3; do
	thin_latency
	close_latency
	latest=$(printf '%s\n' "$latest" "$thin" "$close" | sort -g | tail -n 1)
done
echo "shown_ms $latest"
