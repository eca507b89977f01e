# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# strace's test programs, with those of their system calls that this kernel has described by argtrace. An archive of all that was printed is
# written to stdout.
set -u
mkdir -p /tmp/strace/printed /tmp/strace/errors /tmp/strace/status
tar -xf /root/programs.tar -C /tmp/strace || exit 1
cd /tmp/strace || exit 1
mapfile -t calls < <(argtrace list 's:*' | grep -oE 's:\w+' | sort -u | comm -12 - <(sort -u /root/calls.list))
argtrace trace -d -r --no-header -f tid,func,args,ret -b 64M -F "${calls[@]}" -- bash /root/programs.bash >argtrace.out 2>argtrace.err || {
	cat argtrace.err >&2
	exit 1
}
cat argtrace.err >&2
tar -cf - printed errors status argtrace.out
