/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* What is kept of a connection: too much for `icsk_ca_priv`, and so in socket storage. CONTROLLER is included before. */
#pragma once

#include "helpers.h"
#include "history.h"
#include "types.h"

struct flow {
	struct snapshot seen; /* first: programs outside look it up by the socket */
	struct controller controller;
	/* Bytes since the controller began, as the kernel counts packets, and those may change their size. */
	u64 delivered;
	u64 lost;
	u64 newly_lost;
	u64 delivered_ce;
	/* The kernel's counters at the latest look. */
	u32 delivered_packets;
	u32 lost_packets;
	u64 losses_told_at;
	u32 marked_packets;
	/* The state of recovery, as the kernel has it and as the latest ACK found it; and when it was last CWR without marks. */
	u32 ca_state;
	u32 told_ca_state;
	u64 cwr_at;
	/* Of the latest sample: how much had been delivered when its packet left, and whether the application had held it back. */
	u32 sampled_at;
	bool was_app_limited;
	u64 losses; /* how often there were any */
	struct history history;
};

struct {
	int (*type)[BPF_MAP_TYPE_SK_STORAGE];
	int (*map_flags)[BPF_F_NO_PREALLOC];
	int *key;
	struct flow *value;
} flows SECTION(".maps");

static inline struct flow *flow_of(struct tcp_sock *tp)
{
	return bpf_sk_storage_get(&flows, tp, 0, 0);
}
