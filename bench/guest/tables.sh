#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in a guest (bench/run). Prints the tables of one kernel: tables.sh UNIT TABLE..., where UNIT is what its TSC counts. Each is
# headed by its name, `calls` by `wall` where the TSC counts ticks, as bench/tables.py reads them.
# shellcheck disable=SC1091,SC2034,SC2154 # what lies in the guest
. /root/common.sh
. /root/calls.sh
. /root/returns.sh
. /root/values.sh
. /root/maps.sh
. /root/tracepoints.sh
. /root/syscalls.sh
. /root/user.sh
. /root/go.sh
. /root/strace.sh
. /root/ticks.sh
. /root/switches.sh
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
echo "Linux $(uname -r), pread64 of /dev/null untraced: $(calc '%.0f' "$untraced") $unit"
for table; do
	[ "$unit" = instructions ] && name=$table || name=wall
	printf '\n## %s\n\n' "$name"
	"table_$table"
done
