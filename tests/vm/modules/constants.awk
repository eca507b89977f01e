# SPDX-License-Identifier: GPL-2.0-only
# The constants of the kernel alone in user/spec/calls.table, as HAS(NAME, VALUE), for constants.c. What the comment above them names is
# MAY_HAVE(NAME, VALUE) where the kernel has it.
/^# Constants of the kernel alone/ { inside = 1 }
inside && /^#/ {
	for (i = 2; i <= NF; i++)
		if ($i ~ /^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/)
			newer[$i] = 1
	next
}
inside && /^$/ { exit }
inside && /^flags / {
	for (i = 3; i <= NF; i++) {
		split($i, part, "=")
		sub(/.*\//, "", part[1])
		if (part[1] in newer)
			printf "#ifdef %s\nMAY_HAVE(%s, %s)\n#endif\n", part[1], part[1], part[2]
		else
			printf "HAS(%s, %s)\n", part[1], part[2]
	}
}
