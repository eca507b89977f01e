# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Never ends, for UserStacksOfPrograms: recursion, substitutions, and children that end.
recurse() {
	if (($1 > 0)); then
		recurse $(($1 - 1))
	else
		echo "${text//a/b}"
	fi
}

text=abcabcabc
echo ready
exec >/dev/null
while :; do
	for i in 1 2 3; do
		text+=$i
		[[ $text =~ ([0-9]+)$ ]] && digits=${BASH_REMATCH[1]}
	done
	recurse 5
	shown=$(printf '%s\n' {1..20} "$digits" && recurse 2)
	((${#text} < 100)) || text=${shown::3}
	true & wait
done
