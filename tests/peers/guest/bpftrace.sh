# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# One program's reads, added up by bpftrace and by argtrace at the same time. The arguments are sizes: see sized_reads.c.
set -u
PATH=$PATH:/root
cd /tmp || exit 1
# shellcheck source=tests/peers/guest/followers.bash
. /root/followers.bash
followers=()
follow() { # NAME ARGUMENT...
	argtrace "${@:2}" --json >"$1.out" 2>"$1.err" &
	followers+=($!)
}
follow hist hist 'vfs_read(count) if comm == "sized_reads"'
follow linear hist --linear 0,5000,500 'vfs_read(count) if comm == "sized_reads"'
follow count count --by count 'vfs_read if comm == "sized_reads"'
follow sum sum 'vfs_read(count) if comm == "sized_reads"'
until_armed ./*.err
bpftrace -f json -c "/root/sized_reads $*" -e 'kfunc:vfs_read /comm == "sized_reads"/ { @hist = hist(args->count);
	@count[args->count] = count(); @linear = lhist(args->count, 0, 5000, 500); @sum = sum(args->count); @min = min(args->count);
	@max = max(args->count); }' >bpftrace.out 2>bpftrace.err
kill -TERM "${followers[@]}"
wait "${followers[@]}"
for name in bpftrace hist linear count sum; do
	echo "== $name"
	cat $name.out
done
cat -- *.err >&2
