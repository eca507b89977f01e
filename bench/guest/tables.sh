#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in a guest (bench/run). Prints the tables of one kernel: tables.sh UNIT TABLE..., UNIT being what its TSC counts.
# shellcheck disable=SC1091,SC2034,SC2154 # what lies in the guest
. /root/common.sh
. /root/calls.sh
. /root/pipeline.sh
. /root/arming.sh
. /root/start.sh
. /root/latency.sh

unit=$1
shift
passes=1
[ "$unit" = instructions ] || { passes=6; export PREAD_LOOP_NAPS=10; }
taskset -pc 0 $$ >/dev/null # the statistics are those of the first processor
settle
echo "Linux $(uname -r), pread64 of /dev/null untraced: $untraced $unit"
for table; do
	echo
	"table_$table"
done
