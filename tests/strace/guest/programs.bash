# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Runs strace's test programs one after the other, each in an empty folder. What it prints are the lines that strace has to print.
set -u
cd /tmp/strace || exit 1
while read -r name; do
	mkdir "$name.dir"
	cd "$name.dir" || exit 1
	timeout --foreground 120 "../$name" </dev/null >"../printed/$name" 2>"../errors/$name"
	echo $? >"../status/$name"
	cd ..
done </root/programs.list
