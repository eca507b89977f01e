// SPDX-License-Identifier: GPL-2.0-only
/*
 * What programs do with files and memory beside reading and writing.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
	static char room[8192], other[100];
	struct iovec parts[2] = {{room, 10}, {other, 20}};
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 3, .l_len = 4};
	struct timespec times[2] = {{1, 2}, {0, UTIME_OMIT}};
	struct rlimit64 limit;
	struct rusage usage;
	struct utsname name;
	struct sysinfo info;
	struct statvfs volume;
	struct statx more;
	struct stat status;
	struct timeval now;
	cpu_set_t cpus;
	loff_t offset = 5;
	int fd, copy, pipe_fds[2], watch, bytes;

	fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0640);
	(void)!write(fd, "some text\n\1\377 in a file", 22);
	(void)!pwrite(fd, "over", 4, 100);
	(void)!writev(fd, parts, 2);
	(void)!preadv(fd, parts, 2, 3);
	(void)!pwritev2(fd, parts, 2, -1, RWF_DSYNC);
	fallocate(fd, FALLOC_FL_KEEP_SIZE, 4096, 8192);
	fcntl(fd, F_SETLK, &lock);
	fcntl(fd, F_GETLK, &lock);
	fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK);
	fcntl(fd, F_GETFL);
	fcntl(fd, F_DUPFD_CLOEXEC, 50);
	flock(fd, LOCK_EX | LOCK_NB);
	ioctl(fd, FIONREAD, &bytes);
	copy = open("copy", O_WRONLY | O_CREAT, 0600);
	sendfile(copy, fd, &offset, 10);
	copy_file_range(fd, &offset, copy, NULL, 10, 0);
	(void)!pipe2(pipe_fds, O_CLOEXEC);
	splice(fd, NULL, pipe_fds[1], NULL, 10, SPLICE_F_MOVE);
	(void)!read(pipe_fds[0], room, sizeof(room));
	fsetxattr(fd, "user.name", "value", 5, XATTR_CREATE);
	getxattr("file", "user.name", room, 100);
	listxattr("file", room, 100);
	futimens(fd, times);
	stat("file", &status);
	lstat("/nonexistent", &status);
	statx(AT_FDCWD, "file", AT_STATX_DONT_SYNC, STATX_BASIC_STATS | STATX_BTIME, &more);
	statvfs("/", &volume);
	faccessat(AT_FDCWD, "file", R_OK | X_OK, AT_EACCESS);
	rename("copy", "moved");
	renameat2(AT_FDCWD, "moved", AT_FDCWD, "file", RENAME_EXCHANGE);
	symlink("file", "link");
	(void)!readlink("link", room, sizeof(room));
	unlink("link");
	closedir(opendir("/etc"));
	watch = inotify_init1(IN_NONBLOCK);
	inotify_add_watch(watch, ".", IN_CREATE | IN_DELETE);
	mkdir("folder", 0755);
	(void)!read(watch, room, sizeof(room));
	eventfd(3, EFD_SEMAPHORE);
	memfd_create("memory", MFD_CLOEXEC);
	mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	madvise(mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), 4096, MADV_DONTNEED);
	getrlimit64(RLIMIT_NOFILE, &limit);
	setrlimit64(RLIMIT_CORE, &limit);
	getrusage(RUSAGE_SELF, &usage);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0});
	uname(&name);
	sysinfo(&info);
	getrandom(room, 8, GRND_NONBLOCK);
	syscall(SYS_gettimeofday, &now, NULL);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, 1000}, NULL);
	syscall(SYS_clock_gettime, CLOCK_BOOTTIME, times);
	syscall(SYS_openat2, AT_FDCWD, "file", &(unsigned long[3]){O_RDONLY | O_CLOEXEC, 0, 8}, 24);
	syscall(SYS_close_range, 60, ~0U, 0);
	syscall(9999, 1, 2, 3);
	return 0;
}
