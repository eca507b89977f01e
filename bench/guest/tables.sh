#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in a guest whose TSC counts instructions (bench/run). Prints the tables of one kernel that are named.
. /root/common.sh
. /root/calls.sh
. /root/pipeline.sh
. /root/arming.sh
. /root/start.sh

settle
echo "Linux $(uname -r), pread64 of /dev/null untraced: $untraced instructions"
for table; do
	echo
	"table_$table"
done
