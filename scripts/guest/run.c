// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the command of scripts/vm in the guest, as process 1, and reports to the host how it ended.
 *
 *   run [--serial] FILE          FILE holds the words of the command, each ended by '\0'
 *   run [--serial] --fail TEXT   says that there is no point in running it
 *
 * Three virtio-serial ports lead to the host: argtrace.out and argtrace.err carry the command's output, argtrace.status
 * one line: "exit STATUS TAINT" (TAINT as in /proc/sys/kernel/tainted), or "fail TEXT". With --serial these are serial lines, for
 * machines without virtio.
 *
 * The command writes to pipes rather than to the ports: a port can be open only once, so that >/dev/stderr would fail.
 * From pipe to port the data is spliced. That costs less than reading and writing, and above all it does not call
 * vfs_read() and vfs_write(): a tracer of those that prints what it sees would otherwise see its own output for ever.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define CHUNK 65536
#define PORT_BUFFERS 256 /* more than there can be: QEMU's queues have 128 */

struct stream {
	int pipe; /* what the command wrote; -1 after its end */
	int port;
	bool ready; /* the pipe has data; now the port is waited for */
};

static volatile sig_atomic_t child_changed;
static bool serial;

static void on_child(int sig)
{
	(void)sig;
	child_changed = 1;
}

/* The machine ends here; qemu runs with -no-reboot. */
static _Noreturn void power_off(void)
{
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

/* Without a port the reason goes to the console, and the host finds no status. */
static _Noreturn void give_up(const char *what)
{
	fprintf(stderr, "run: %s: %s\n", what, strerror(errno));
	power_off();
}

static int open_port_now(const char *name)
{
	static const char class[] = "/sys/class/virtio-ports";
	char path[512], found[64];
	struct dirent *entry;
	int port = -1;
	DIR *dir = opendir(class);

	if (!dir)
		return -1;
	while (port < 0 && (entry = readdir(dir))) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s/name", class, entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fscanf(file, "%63s", found) == 1 && !strcmp(found, name)) {
			snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
			port = open(path, O_WRONLY | O_CLOEXEC);
		}
		fclose(file);
	}
	closedir(dir);
	return port;
}

/* The first is the console. */
static int open_line(const char *name)
{
	const char *path = !strcmp(name, "argtrace.out") ? "/dev/ttyS1" : !strcmp(name, "argtrace.err") ? "/dev/ttyS2" : "/dev/ttyS3";
	int line = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	struct termios settings;

	if (line < 0 || tcgetattr(line, &settings) < 0)
		give_up(path);
	cfmakeraw(&settings);
	cfsetspeed(&settings, B115200);
	if (tcsetattr(line, TCSANOW, &settings) < 0)
		give_up(path);
	return line;
}

/* Ports appear some time after their driver. */
static int open_port(const char *name)
{
	int port;

	if (serial)
		return open_line(name);
	for (int tries = 0; (port = open_port_now(name)) < 0; tries++) {
		if (tries == 6000)
			give_up(name);
		usleep(10000);
	}
	return port;
}

static void write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			give_up("write to the host");
		data += n;
		size -= n;
	}
}

/*
 * The line, and then as many empty ones as a port may have under way: when the last has been taken, so has the line, and
 * what the other ports got before it. What is still under way when the machine ends may be lost. Closing a serial line waits.
 */
static _Noreturn void report(int port, const char *line)
{
	write_all(port, line, strlen(line));
	if (serial) {
		close_range(3, ~0u, 0);
		power_off();
	}
	for (int i = 0; i < PORT_BUFFERS; i++)
		write_all(port, "\n", 1);
	power_off();
}

static unsigned long taint(void)
{
	unsigned long value = 0;
	FILE *file = fopen("/proc/sys/kernel/tainted", "re");

	if (file) {
		if (fscanf(file, "%lu", &value) != 1)
			value = 0;
		fclose(file);
	}
	return value;
}

/* The words of the command, as an argument vector. */
static char **read_words(const char *path)
{
	struct stat st;
	char *data, **argv;
	size_t count = 0, at = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0)
		give_up(path);
	data = malloc(st.st_size + 1);
	if (!data || read(fd, data, st.st_size) != st.st_size)
		give_up(path);
	close(fd);
	for (off_t i = 0; i < st.st_size; i++)
		count += !data[i];
	argv = calloc(count + 1, sizeof(*argv));
	if (!argv)
		give_up("memory");
	for (size_t i = 0; i < count; i++) {
		argv[i] = data + at;
		at += strlen(data + at) + 1;
	}
	return argv;
}

static _Noreturn void become(char **argv, int out, int err)
{
	int null = open("/dev/null", O_RDONLY);

	setsid();
	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(126);
	close(null);
	execvp(argv[0], argv);
	dprintf(2, "vm: %s: %s\n", argv[0], errno == ENOENT ? "no such command in the guest" : strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* Moves what is in the pipe to the port; the port is writable. */
static void forward(struct stream *stream)
{
	ssize_t n = splice(stream->pipe, NULL, stream->port, NULL, CHUNK, SPLICE_F_NONBLOCK);

	stream->ready = false;
	if (n < 0 && errno != EINTR && errno != EAGAIN)
		give_up("splice to the host");
	if (n == 0) {
		close(stream->pipe);
		stream->pipe = -1;
	}
}

/* One step of both streams; false when there was nothing to do for timeout milliseconds, or when a signal came. */
static bool step(struct stream *streams, int count, const struct timespec *timeout, const sigset_t *mask)
{
	struct pollfd fds[2];

	for (int i = 0; i < count; i++) {
		struct stream *stream = &streams[i];

		fds[i].fd = stream->pipe < 0 ? -1 : stream->ready ? stream->port : stream->pipe;
		fds[i].events = stream->ready ? POLLOUT : POLLIN;
		fds[i].revents = 0;
	}
	if (ppoll(fds, count, timeout, mask) <= 0)
		return false;
	for (int i = 0; i < count; i++) {
		if (!fds[i].revents)
			continue;
		if (streams[i].ready)
			forward(&streams[i]);
		else
			streams[i].ready = true;
	}
	return true;
}

/* Process 1 inherits orphans. True when the command itself has ended. */
static bool reap(pid_t command, int *status)
{
	bool ended = false;
	int other;
	pid_t pid;

	while ((pid = waitpid(-1, &other, WNOHANG)) > 0) {
		if (pid == command) {
			*status = other;
			ended = true;
		}
	}
	return ended;
}

static int run(char **argv, int out_port, int err_port)
{
	const struct timespec settle = { .tv_sec = 1 };
	int out[2], err[2], status = 0;
	struct stream streams[2];
	sigset_t blocked, before;
	pid_t command;

	/* SIGCHLD arrives only while ppoll() waits, so none is missed between a look and a wait. */
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	signal(SIGCHLD, on_child);

	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
		give_up("pipe");
	command = fork();
	if (command < 0)
		give_up("fork");
	if (!command) {
		signal(SIGCHLD, SIG_DFL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		become(argv, out[1], err[1]);
	}
	close(out[1]);
	close(err[1]);
	streams[0] = (struct stream){ .pipe = out[0], .port = out_port };
	streams[1] = (struct stream){ .pipe = err[0], .port = err_port };

	for (;;) {
		step(streams, 2, NULL, &before);
		if (child_changed) {
			child_changed = 0;
			if (reap(command, &status))
				break;
		}
	}

	/* What it left running ends with it; then both pipes end, unless something is stuck in the kernel. */
	kill(-1, SIGKILL);
	while (streams[0].pipe >= 0 || streams[1].pipe >= 0)
		if (!step(streams, 2, &settle, &blocked) && !streams[0].ready && !streams[1].ready)
			break;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/*
 * Runs on kernels with kmemleak. Its file is opened early, as the command may lock debugfs down. The findings go to the
 * console.
 */
static void leakcheck(int kmemleak)
{
	sigset_t none;
	pid_t pid;

	if (kmemleak < 0)
		return;
	pid = fork();
	if (!pid) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		if (kmemleak == 3 ? !fcntl(3, F_SETFD, 0) : dup2(kmemleak, 3) == 3)
			execl("/vm/leakcheck", "leakcheck", NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		give_up("leakcheck");
}

int main(int argc, char **argv)
{
	char line[512];
	int port;

	if (argc > 1 && !strcmp(argv[1], "--serial")) {
		serial = true;
		argc--;
		argv++;
	}
	if (argc == 3 && !strcmp(argv[1], "--fail")) {
		port = open_port("argtrace.status");
		snprintf(line, sizeof(line), "fail %s\n", argv[2]);
		report(port, line);
	}
	if (argc != 2)
		give_up("usage");
	int out = open_port("argtrace.out"), err = open_port("argtrace.err");
	int kmemleak = open("/sys/kernel/debug/kmemleak", O_RDWR | O_CLOEXEC);
	int status;

	port = open_port("argtrace.status");
	status = run(read_words(argv[1]), out, err);
	leakcheck(kmemleak);
	snprintf(line, sizeof(line), "exit %d %lu\n", status, taint());
	report(port, line);
}
