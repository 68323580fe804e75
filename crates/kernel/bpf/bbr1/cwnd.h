/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The bounds on inflight. The twin of `congestion::bbr1::cwnd`. */
#pragma once

#include "gains.h"
#include "recovery.h"

#define END_HOST_QUANTA 3
#define PACKETS_PER_ACK 2

static inline u64 with_end_host_budget(const struct controller *bbr, u64 inflight)
{
	u64 pair = times(bbr->mss, PACKETS_PER_ACK);
	u64 even = next_multiple(add(inflight, times(bbr->pacing.quantum, END_HOST_QUANTA)), pair);

	return bbr->mode == PROBE_BW && bbr->probe_bw.phase == UP ? add(even, pair) : even;
}

static inline u64 inflight_at(const struct controller *bbr, ratio gain)
{
	return with_end_host_budget(bbr, bdp_of(btl_bw(bbr), bbr->rtprop.least, gain, bbr->initial_cwnd));
}

/* The part of `inflight` that will be in the network when the next packet leaves. */
static inline u64 in_network(const struct controller *bbr, const struct ack *ack, u64 inflight)
{
	u64 delivered = bytes_in(bw(bbr), since(ack->next_departure, ack->now));

	return sub(inflight, delivered / bbr->mss * bbr->mss);
}

static inline u64 target_cwnd(const struct controller *bbr)
{
	u64 target = bdp_of(bw(bbr), bbr->rtprop.least, cwnd_gain(bbr), bbr->initial_cwnd);

	if (bbr->full_pipe.is_reached)
		target = add(target, aggregation_allowance(&bbr->ack_aggregation, bw(bbr)));
	return with_end_host_budget(bbr, target);
}

static inline void set_cwnd(struct controller *bbr, const struct ack *ack)
{
	if (!conserve_packets(bbr, ack)) {
		u64 cwnd = approach(bbr->cwnd, target_cwnd(bbr), ack, bbr->full_pipe.is_reached, bbr->initial_cwnd);

		bbr->cwnd = max(cwnd, min_cwnd(bbr));
	}
	if (bbr->mode == PROBE_RTT)
		bbr->cwnd = min(bbr->cwnd, min_cwnd(bbr));
}
