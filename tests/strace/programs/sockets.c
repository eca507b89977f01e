// SPDX-License-Identifier: GPL-2.0-only
/*
 * A server and its client, over each of TCP, UDP and UNIX sockets, and descriptors that are passed.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void serve(int listener, int type)
{
	struct epoll_event event = {EPOLLIN | EPOLLET, {.fd = listener}};
	struct sockaddr_storage from;
	socklen_t size = sizeof(from);
	int epoll = epoll_create1(EPOLL_CLOEXEC), peer = listener;
	char room[100];

	epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
	epoll_wait(epoll, &event, 1, -1);
	if (type == SOCK_STREAM)
		peer = accept4(listener, (struct sockaddr *)&from, &size, SOCK_CLOEXEC);
	size = sizeof(from);
	recvfrom(peer, room, sizeof(room), 0, (struct sockaddr *)&from, &size);
	sendto(peer, "answer", 6, MSG_NOSIGNAL, type == SOCK_STREAM ? NULL : (struct sockaddr *)&from, type == SOCK_STREAM ? 0 : size);
	close(peer);
	_exit(0);
}

static void try(int domain, int type, struct sockaddr *address, socklen_t size)
{
	int listener = socket(domain, type | SOCK_CLOEXEC, 0), one = 1, client;
	struct timeval limit = {1, 500};
	struct iovec parts[2] = {{"ques", 4}, {"tion\n", 5}};
	struct msghdr message = {.msg_name = type == SOCK_STREAM ? NULL : address, .msg_namelen = type == SOCK_STREAM ? 0 : size, .msg_iov = parts, .msg_iovlen = 2};
	struct pollfd waited = {.events = POLLIN | POLLRDHUP};
	struct sockaddr_storage own;
	socklen_t own_size = sizeof(own);
	char room[100];

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	bind(listener, address, size);
	if (type == SOCK_STREAM)
		listen(listener, 5);
	getsockname(listener, (struct sockaddr *)&own, &own_size);
	message.msg_name = message.msg_name ? &own : NULL;
	message.msg_namelen = message.msg_name ? own_size : 0;
	if (fork() == 0)
		serve(listener, type);
	client = socket(domain, type, 0);
	setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (type == SOCK_STREAM) {
		connect(client, (struct sockaddr *)&own, own_size);
		if (domain == AF_INET)
			setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	}
	sendmsg(client, &message, MSG_NOSIGNAL);
	waited.fd = client;
	poll(&waited, 1, 1000);
	recv(client, room, sizeof(room), MSG_DONTWAIT);
	shutdown(client, SHUT_RDWR);
	close(client);
	close(listener);
	wait(NULL);
}

static void pass_descriptor(void)
{
	char room[CMSG_SPACE(sizeof(int))] = "", byte = 'x';
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	struct timeval none = {0, 10};
	int pair[2];
	fd_set set;

	socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	*(int *)CMSG_DATA(header) = 2;
	sendmsg(pair[0], &message, 0);
	FD_ZERO(&set);
	FD_SET(pair[1], &set);
	select(pair[1] + 1, &set, NULL, NULL, &none);
	recvmsg(pair[1], &message, MSG_CMSG_CLOEXEC);
	recvmsg(pair[1], &message, MSG_DONTWAIT);
}

int main(void)
{
	struct sockaddr_in four = {AF_INET, htons(7777), {htonl(INADDR_LOOPBACK)}, ""};
	struct sockaddr_un path = {AF_UNIX, "socket"}, hidden = {AF_UNIX, "\0hidden"};

	try(AF_INET, SOCK_STREAM, (struct sockaddr *)&four, sizeof(four));
	try(AF_INET, SOCK_DGRAM, (struct sockaddr *)&four, sizeof(four));
	try(AF_UNIX, SOCK_STREAM, (struct sockaddr *)&path, sizeof(path));
	try(AF_UNIX, SOCK_STREAM, (struct sockaddr *)&hidden, sizeof(sa_family_t) + 7);
	connect(socket(AF_INET6, SOCK_STREAM, 0), (struct sockaddr *)&four, sizeof(four));
	pass_descriptor();
	return 0;
}
