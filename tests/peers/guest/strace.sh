# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The system calls of one program, by strace and by argtrace at the same time.
set -u
PATH=$PATH:/root
cd /tmp || exit 1
argtrace trace -r --json 's:*' -F -- strace -f -e raw=all -e signal=none -o strace.out /root/known_calls >argtrace.out 2>argtrace.err
echo "== strace"
cat strace.out
echo "== argtrace"
grep -E "\"tid\":($(cut -d ' ' -f 1 strace.out | sort -u | paste -sd '|'))," argtrace.out
cat argtrace.err >&2
