# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Runs each of our commands in an empty folder, under strace.
set -u
cd /tmp/ordinary || exit 1
while read -r name line; do
	mkdir "$name"
	cd "$name" || exit 1
	timeout --foreground 120 strace -f -o "../$name.strace" bash -c "$line" </dev/null >"../$name.out" 2>&1
	cd ..
done < <(grep '^\w' /root/commands)
