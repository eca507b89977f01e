# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Traces each of our commands by strace, and all of them by argtrace meanwhile. An archive of what both have printed is written to stdout.
set -u
mkdir -p /tmp/ordinary
cd /tmp/ordinary || exit 1
export PATH=$PATH:/root
argtrace trace -d -r --no-header -f tid,func,args,ret -b 128M -F --force --if 'comm != "strace"' 's:*' 's:ia32:*' -- bash /root/commands.bash \
	>argtrace.out 2>argtrace.err || {
	cat argtrace.err >&2
	exit 1
}
cat argtrace.err >&2
tar -cf - -- *.strace *.out
