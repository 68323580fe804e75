/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The state of a connection. It is too large for `icsk_ca_priv`, and is therefore in socket storage. CONTROLLER is included before. */
#pragma once

#include "helpers.h"
#include "history.h"
#include "types.h"

struct flow {
	struct snapshot seen; /* first, because programs outside look it up by the socket */
	struct controller controller;
	/* In bytes since the controller began. The kernel counts packets, whose size may change. */
	u64 delivered;
	u64 lost;
	u64 newly_lost;
	u64 delivered_ce;
	/* The kernel's counters when they were last read. */
	u32 delivered_packets;
	u32 lost_packets;
	u64 losses_told_at;
	u32 marked_packets;
	/* The kernel's state of recovery, now and at the latest ACK; and when it was last CWR without marks. */
	u32 ca_state;
	u32 told_ca_state;
	u64 cwr_at;
	/* For the latest sample: the data that had been delivered when its packet left, and whether the application had limited it. */
	u32 sampled_at;
	bool was_app_limited;
	u64 losses; /* the number of loss reports */
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
