/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The interface through which a connection's data leave. It is the interface of the route that the kernel keeps with the
 * socket. The route is there when the handshake is complete: tcp_v4_connect and tcp_v6_connect look it up for a connecting
 * socket, tcp_v4_syn_recv_sock and tcp_v6_syn_recv_sock for an accepted one.
 *
 * Names are compared, and not numbers. The same number is another interface in another network namespace, and an
 * interface that is removed and made again has another number.
 */
#pragma once

#include "bounds.h"
#include "context.h"

/* A name with zeros after its end. Without a name, all is zero. */
struct interface {
	u64 words[INTERFACE_NAME_BYTES / 8];
};

/* Clears the bytes from the first zero byte on. A renamed interface has the rest of its earlier name there. */
static inline u64 until_zero(u64 word)
{
	u64 zeros = (word - 0x0101010101010101ULL) & ~word & 0x8080808080808080ULL;

	return word & (((zeros & -zeros) >> 7) - 1);
}

static inline void interface_of(const struct bpf_sock_ops *context, struct interface *interface)
{
	void *sk = context->sk;
	struct dst_entry *route;
	struct net_device *device;

	interface->words[0] = 0;
	interface->words[1] = 0;
	/* A TCP socket begins with its generic part. */
	sk = sk ? (void *)bpf_skc_to_tcp_sock(sk) : 0;
	if (!sk)
		return;
	route = ((struct sock *)sk)->sk_dst_cache;
	device = route ? route->dev : 0;
	if (!device)
		return;
	interface->words[0] = until_zero(*(const u64 *)&device->name[0]);
	if (interface->words[0] >> 56)
		interface->words[1] = until_zero(*(const u64 *)&device->name[8]);
}
