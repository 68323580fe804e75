/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The memories of client networks, which outlive the program's rules. */
#pragma once

#include "rule.h"

/* A client network, by its first address. */
struct around {
	u64 first[2];
};

/* If the map is full, a network that was not used for long makes room. A word of another layout takes another name. */
struct {
	int (*type)[BPF_MAP_TYPE_LRU_HASH];
	int (*max_entries)[1]; /* set by the loader */
	struct around *key;
	u64 *value; /* see resent.h */
} resent SECTION(".maps");

static inline u64 *memory_of(const struct unit *unit, const u64 *client, struct around *network)
{
	network_of(network->first, unit, client);
	return bpf_map_lookup_elem(&resent, network);
}

static inline u64 remembered_share(const struct unit *unit, const u64 *client)
{
	struct around network;
	u64 *memory = memory_of(unit, client, &network);

	return memory ? share_of(*memory) : UNKNOWN_SHARE;
}

static inline u64 resent_by(const struct tcp_sock *tp)
{
	return resent_with_data(tp->total_retrans, tp->bytes_retrans, tp->data_segs_out);
}

static inline void remember_end(const struct bpf_sock_ops *context, const struct tcp_sock *tp)
{
	u64 sent = tp->data_segs_out, now;
	struct around network;
	struct unit unit;
	u64 client[2], *memory;

	if (!sent)
		return;
	own_unit(&unit);
	client_of(context, client);
	memory = memory_of(&unit, client, &network);
	now = remember(memory ? *memory : 0, sent, resent_by(tp));
	/* Of two connections that end at the same instant, one may be lost. */
	if (memory)
		*memory = now;
	else
		bpf_map_update_elem(&resent, &network, &now, 0);
}
