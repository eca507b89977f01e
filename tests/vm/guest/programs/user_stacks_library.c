// SPDX-License-Identifier: GPL-2.0-only
// A library that calls back from functions with names of its own: compiled for each NAME, with the functions elsewhere, and as large.
#define JOINED(a, b)	a##b
#define JOIN(a, b)	JOINED(a, b)
#define INNER		JOIN(NAME, _inner)
#define OUTER		JOIN(NAME, _outer)

#define noinline __attribute__((noinline, noclone))

#define FILLER(function, count)	\
	noinline void JOIN(NAME, function)(void) { __asm__ volatile(".rept " count "; nop; .endr"); }

FILLER(_before, BEFORE)

noinline void INNER(void (*call)(int), int number)
{
	call(number);
	__asm__ volatile("" ::: "memory"); // no tail call
}

FILLER(_between, BETWEEN)

noinline void OUTER(void (*call)(int), int number)
{
	INNER(call, number);
	__asm__ volatile("" ::: "memory");
}

void enter(void (*call)(int), int number)
{
	OUTER(call, number);
	__asm__ volatile("" ::: "memory");
}

FILLER(_behind, BEHIND)
