# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What each COMMAND, a recipe for disks, says of some requests, and how the block layer counts them. Each request takes COMPLETION
# nanoseconds.
set -u
PATH=$PATH:/root
cd /root || exit 1
completion=$1
shift
unxz -f ./*.ko.xz 2>/dev/null
[ ! -e configfs.ko ] || insmod configfs.ko
insmod null_blk.ko nr_devices=1 queue_mode=2 irqmode=2 completion_nsec="$completion" gb=1 || exit 1
cd /tmp || exit 1
# shellcheck source=tests/peers/guest/followers.bash
. /root/followers.bash
stat=/sys/block/nullb0/stat
followers=() told=()
for recipe in "$@"; do
	bash -c "exec $recipe --json" >"${#followers[@]}.out" 2>"${#followers[@]}.err" &
	told+=("./${#followers[@]}.err")
	followers+=($!)
done
until_armed "${told[@]}"
sleep 0.2
cat $stat >before
dd if=/dev/nullb0 of=/dev/null bs=4k count=100 iflag=direct 2>/dev/null
dd if=/dev/zero of=/dev/nullb0 bs=8k count=50 oflag=direct 2>/dev/null
cat $stat >after
kill -TERM "${followers[@]}"
wait "${followers[@]}"
for name in before after "${!followers[@]}"; do
	echo "== $name"
	cat "$name" 2>/dev/null || cat "$name.out"
done
cat -- *.err >&2
