// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of a 32-bit program, without a C library, of those that the kernel describes. Their numbers are those of asm/unistd_32.h.
 */
static int call(int number, long one, long two, long three, long four, long five)
{
	int result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(one), "c"(two), "d"(three), "S"(four), "D"(five) : "memory");
	return result;
}

void _start(void)
{
	static char room[4096];
	int fd;

	fd = call(295, -100, (long)"/etc/passwd", 02000000, 0, 0); /* openat */
	call(3, fd, (long)room, 20, 0, 0); /* read */
	call(197, fd, (long)room, 0, 0, 0); /* fstat64 */
	call(4, 1, (long)"hello\n", 6, 0, 0); /* write */
	call(20, 0, 0, 0, 0, 0); /* getpid */
	call(33, (long)"/etc", 4, 0, 0, 0); /* access */
	call(41, fd, 0, 0, 0, 0); /* dup */
	call(37, 0, 0, 0, 0, 0); /* kill */
	call(5, (long)"/nonexistent", 0, 0600, 0, 0); /* open */
	call(6, fd, 0, 0, 0, 0); /* close */
	call(122, (long)room, 0, 0, 0, 0); /* uname */
	call(1, 0, 0, 0, 0, 0); /* exit */
}
