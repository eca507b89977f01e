# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Reads of three processes, added up by bpftrace and by argtrace at the same time. The arguments are sizes: see sized_reads.c. One process
# makes these reads, and two of another name the first of them, in other ways.
set -u
PATH=$PATH:/root
cd /tmp || exit 1
# shellcheck source=tests/peers/guest/followers.bash
. /root/followers.bash
ln -s /root/sized_reads sized_at
cat >reads <<END
/root/sized_reads $* &
echo \$! >one
/tmp/sized_at ${*:1:5} &
echo \$! >two
/tmp/sized_at ${*:1:4}
wait
END
followers=()
follow() { # NAME ARGUMENT...
	argtrace "${@:2}" --json >"$1.out" 2>"$1.err" &
	followers+=($!)
}
one='if comm == "sized_reads"'
all='if comm ~ "sized_*"'
follow hist hist "vfs_read(count) $one"
follow linear hist --linear 0,5000,500 "vfs_read(count) $one"
follow count count --by count "vfs_read $one"
follow sum sum "vfs_read(count) $one"
follow avg avg "vfs_read(count) $one"
follow comm count --by comm "vfs_read $all"
follow pid count --by pid "vfs_read $all"
follow stack stacks "vfs_read $all"
follow duration latency "vfs_read $all"
until_armed ./*.err
bpftrace -f json -c "/bin/bash /tmp/reads" -e 'kfunc:vfs_read /comm == "sized_reads"/ { @hist = hist(args->count);
	@count[args->count] = count(); @linear = lhist(args->count, 0, 5000, 500); @sum = sum(args->count); @min = min(args->count);
	@max = max(args->count); @avg = avg(args->count); }
	kfunc:vfs_read /strncmp(comm, "sized_", 6) == 0/ { @comm[comm] = count(); @pid[pid] = count(); @stack[kstack] = count();
	@begin[tid] = nsecs; }
	kretfunc:vfs_read /@begin[tid]/ { @duration = hist(nsecs - @begin[tid]); delete(@begin[tid]); }' >bpftrace.out 2>bpftrace.err
kill -TERM "${followers[@]}"
wait "${followers[@]}"
for name in bpftrace hist linear count sum avg comm pid stack duration; do
	echo "== $name"
	cat $name.out
done
cat -- *.err >&2
