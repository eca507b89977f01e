// SPDX-License-Identifier: GPL-2.0-only
// A program that does nothing but make one system call from functions with names of its own, for UserMappings
// (tests/vm/guest/sinks/user_mappings_test.cpp): it is compiled once for each NAME and NUMBER, which the call has as its second argument.
//
//	user_stacks_mark		the call
//	user_stacks_mark FIFO		the call when the FIFO has been opened for writing, and again for each line that it has
#include <stdio.h>

#include "raw_call.h"

#define TAG	0x41524755	// the first argument of prctl(), which knows no such option

#define JOINED(a, b)	a##b
#define JOIN(a, b)	JOINED(a, b)
#define INNER		JOIN(NAME, _inner)
#define OUTER		JOIN(NAME, _outer)

#define noinline __attribute__((noinline, noclone))

// So that no function of one program is where that of another is.
#define PAD	__asm__ volatile(".rept " PADDING "; nop; .endr")

noinline void INNER(void)
{
	PAD;
	raw_prctl(TAG, NUMBER);
}

noinline void OUTER(void)
{
	INNER();
	__asm__ volatile("" ::: "memory"); // no tail call
}

int main(int argc, char **argv)
{
	char line[16];
	FILE *fifo;

	if (argc > 1) {
		fifo = fopen(argv[1], "r");
		if (!fifo)
			return 1;
		OUTER();
		while (fgets(line, sizeof(line), fifo))
			OUTER();
		return 0;
	}
	OUTER();
	__asm__ volatile("" ::: "memory");
	return 0;
}
