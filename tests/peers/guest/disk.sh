# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Requests of a disk, paired by argtrace, and as the block layer counts them. Each takes COMPLETION nanoseconds.
set -u
PATH=$PATH:/root
cd /root || exit 1
completion=$1
unxz -f ./*.ko.xz 2>/dev/null
[ ! -e configfs.ko ] || insmod configfs.ko
insmod null_blk.ko nr_devices=1 queue_mode=2 irqmode=2 completion_nsec="$completion" gb=1 || exit 1
cd /tmp || exit 1
stat=/sys/block/nullb0/stat
follow() { # NAME FROM TO
	argtrace latency --include-self --from "$2" --to "$3" --on rq --json >"$1.out" 2>"$1.err" &
	peers+=($!)
}
peers=()
follow functions blk_mq_start_request blk_mq_end_request
follow tracepoints t:block:block_rq_issue t:block:block_rq_complete
for _ in {1..600}; do
	[[ $(cat -- *.err | grep -c 'until Ctrl-C') == 2 ]] && break
	sleep 0.1
done
sleep 0.2
cat $stat >before
dd if=/dev/nullb0 of=/dev/null bs=4k count=100 iflag=direct 2>/dev/null
dd if=/dev/zero of=/dev/nullb0 bs=8k count=50 oflag=direct 2>/dev/null
cat $stat >after
kill -TERM "${peers[@]}"
wait "${peers[@]}"
for name in functions tracepoints before after; do
	echo "== $name"
	cat $name 2>/dev/null || cat $name.out
done
cat -- *.err >&2
