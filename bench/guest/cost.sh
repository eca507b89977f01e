#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in a guest whose TSC counts instructions (bench/gate). Prints what a call costs that argtrace records, its record's bytes, and
# what one costs that it rejects.
# shellcheck disable=SC1091,SC2154 # what lies in the guest
. /root/common.sh

settle
floor_cost
echo "floor $cost"
argtrace_cost vfs_read || exit
echo "recorded $cost"
echo "bytes $bytes"
rejected_cost || exit
echo "rejected $cost"
