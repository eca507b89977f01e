// SPDX-License-Identifier: GPL-2.0-only
/*
 * A socket's addresses. The file of the socket is in use, and so are the socket and its struct
 * sock; a peer may be released meanwhile. Nothing relies on either, as every load may fail and
 * lengths are bounded.
 */
#include <linux/net.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/un.h>
#include <asm/byteorder.h>
#include <net/af_unix.h>
#include <net/sock.h>

#include "read/load.h"
#include "read/socket.h"

static u64 load_member(u64 from, unsigned int width, bool *failed)
{
	u64 value = 0;

	if (!argtrace_load(from, width, false, &value))
		*failed = true;
	return value;
}

#define LOAD(type, member, from, failed) \
	load_member((from) + offsetof(type, member), sizeof_field(type, member), failed)

/* The ports and addresses of IPv4 and IPv6, which are all members of struct sock_common. */
static void read_internet(struct argtrace_socket *to, u64 sock, bool *failed)
{
	to->local_port = LOAD(struct sock, sk_num, sock, failed);
	to->peer_port = be16_to_cpu((__force __be16)LOAD(struct sock, sk_dport, sock, failed));
#if IS_ENABLED(CONFIG_IPV6)
	if (to->family == AF_INET6) {
		const u64 local = sock + offsetof(struct sock, sk_v6_rcv_saddr);
		const u64 peer = sock + offsetof(struct sock, sk_v6_daddr);
		u32 i;

		for (i = 0; i < sizeof(to->local); i += sizeof(u64)) {
			*(u64 *)(to->local + i) = load_member(local + i, sizeof(u64), failed);
			*(u64 *)(to->peer + i) = load_member(peer + i, sizeof(u64), failed);
		}
		return;
	}
#endif
	*(u32 *)to->local = LOAD(struct sock, sk_rcv_saddr, sock, failed);
	*(u32 *)to->peer = LOAD(struct sock, sk_daddr, sock, failed);
}

/* The number of the inode of a peer that is still connected afterwards, or 0. */
static u64 peer_inode(u64 sock)
{
	const u64 peer = sock + offsetof(struct unix_sock, peer);
	bool failed = false;
	const u64 other = load_member(peer, sizeof(u64), &failed);
	/* It has none when it has been closed, or waits to be accepted. */
	const u64 socket = LOAD(struct sock, sk_socket, other, &failed);
	const u64 inode = socket + offsetof(struct socket_alloc, vfs_inode);
	const u64 number = LOAD(struct inode, i_ino, inode, &failed);

	return !failed && load_member(peer, sizeof(u64), &failed) == other && !failed ? number : 0;
}

/* The name is bound once and for the life of the socket: unix_bind() in net/unix/af_unix.c. */
static void read_unix(struct argtrace_socket *to, u8 *name, u64 sock, bool *failed)
{
	const u64 address = LOAD(struct unix_sock, addr, sock, failed);
	u32 length, i;

	to->peer_inode = peer_inode(sock);
	if (*failed || !address)
		return;
	length = LOAD(struct unix_address, len, address, failed);
	if (*failed || length <= offsetof(struct sockaddr_un, sun_path) ||
	    length > sizeof(struct sockaddr_un))
		return;
	to->name_size = length - offsetof(struct sockaddr_un, sun_path);
	for (i = 0; i < to->name_size; i++)
		name[i] = load_member(address + offsetof(struct unix_address, name) +
			       offsetof(struct sockaddr_un, sun_path) + i, 1, failed);
}

u32 argtrace_read_socket(u8 *to, u64 inode)
{
	const u64 socket = inode - offsetof(struct socket_alloc, vfs_inode);
	struct argtrace_socket read = { };
	bool failed = false;
	const u64 sock = LOAD(struct socket, sk, socket + offsetof(struct socket_alloc, socket),
			      &failed);

	read.family = LOAD(struct sock, sk_family, sock, &failed);
	if (failed)
		return 0;
	if (read.family == AF_UNIX)
		read_unix(&read, to + sizeof(read), sock, &failed);
	else if (read.family == AF_INET || read.family == AF_INET6)
		read_internet(&read, sock, &failed);
	else
		return 0;
	if (failed) {
		memset(to + sizeof(read), 0, read.name_size);
		return 0;
	}
	memcpy(to, &read, sizeof(read));
	return sizeof(read) + read.name_size;
}
