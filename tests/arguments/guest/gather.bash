# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Runs /root/work.py twice, with the same addresses: once while argtrace records the functions in /root/functions, and once in gdb, which stops at
# each of them once. An archive of what both have said is written to stdout.
set -u
export PATH=$PATH:/root HOME=/tmp
mkdir -p /tmp/arguments
tar -C / -xf /root/files.tar || exit 1
cd /tmp/arguments || exit 1

# The same environment, files and addresses in both runs: Python asks where it is in a file that it prints to.
quietly='exec env -i PYTHONHASHSEED=0 /root/setarch -R /root/python3.11 -S -B /root/work.py </dev/null >/dev/null 2>/dev/null'
argtrace record -o recording -F u:/root/python3.11:Py_BytesMain @/root/functions -- sh -c "$quietly" 2>argtrace.err || {
	cat argtrace.err >&2
	exit 1
}
cat argtrace.err >&2
argtrace report --json recording >argtrace.json || exit 1
rm recording
# Uprobes take a page of the process when the first instruction is executed out of line, which is that of Py_BytesMain() both times.
# The modules that gdb itself uses stay as they are.
SHELL=/bin/sh PYTHONDONTWRITEBYTECODE=1 argtrace count u:/root/python3.11:Py_BytesMain -- gdb -nx -batch -x /root/gdb_arguments.py /root/python3.11 >gdb.out 2>gdb.err </dev/null || {
	cat gdb.err >&2
	exit 1
}
tar -cf - -- *
