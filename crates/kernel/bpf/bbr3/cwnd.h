/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The bounds on inflight. The twin of `congestion::bbr3::cwnd`. */
#pragma once

#include "gains.h"

#define UP_PACKETS 2

static inline u64 with_budget(const struct controller *bbr, u64 inflight)
{
	u64 offload = times(bbr->pacing.quantum, config.offload_quanta);

	inflight = max(max(inflight, offload), min_cwnd(bbr));
	return bbr->mode == UP ? add(inflight, times(bbr->mss, UP_PACKETS)) : inflight;
}

static inline u64 inflight_at(const struct controller *bbr, u64 bandwidth)
{
	return with_budget(bbr, bdp(bbr, bandwidth, ONE));
}

static inline u64 max_inflight(const struct controller *bbr)
{
	u64 extra = max_filter_get(&bbr->extra_acked.filter);

	return with_budget(bbr, add(bdp(bbr, bw(bbr), cwnd_gain(bbr)), extra));
}

static inline u64 probe_rtt_cwnd(const struct controller *bbr)
{
	return max(bdp(bbr, bw(bbr), config.probe_rtt_cwnd_gain), min_cwnd(bbr));
}

/* INFINITE if there is no bound. */
static inline u64 inflight_with_headroom(const struct controller *bbr)
{
	u64 bound = bbr->inflight_long_term;

	if (bound == INFINITE)
		return INFINITE;
	return max(sub(bound, max(scale(bound, config.headroom), bbr->mss)), min_cwnd(bbr));
}

static inline u64 model_bound(const struct controller *bbr)
{
	u64 long_term = INFINITE;

	if (bbr->mode == DOWN || bbr->mode == REFILL || bbr->mode == UP)
		long_term = bbr->inflight_long_term;
	else if (bbr->mode == CRUISE || bbr->mode == PROBE_RTT)
		long_term = inflight_with_headroom(bbr);
	return max(min(long_term, bbr->short_term.inflight), min_cwnd(bbr));
}

/* The data that will be in the network when the next packet leaves. */
static inline u64 in_network(const struct controller *bbr, const struct ack *ack, u64 inflight)
{
	return sub(inflight, bytes_in(bw(bbr), since(ack->next_departure, ack->now)));
}

static inline void set_cwnd(struct controller *bbr, const struct ack *ack)
{
	u64 most = max_inflight(bbr);

	bbr->cwnd = approach(bbr->cwnd, most, ack, bbr->full_pipe.is_reached, bbr->initial_cwnd);
	bbr->cwnd = max(bbr->cwnd, min_cwnd(bbr));
	if (bbr->mode == PROBE_RTT)
		bbr->cwnd = min(bbr->cwnd, probe_rtt_cwnd(bbr));
	bbr->cwnd = min(bbr->cwnd, model_bound(bbr));
}

static inline void save_cwnd(struct controller *bbr)
{
	bool is_cut = bbr->is_recovering || bbr->mode == PROBE_RTT;

	bbr->saved_cwnd = is_cut ? max(bbr->cwnd, bbr->saved_cwnd) : bbr->cwnd;
}

static inline void restore_cwnd(struct controller *bbr)
{
	bbr->cwnd = max(bbr->cwnd, bbr->saved_cwnd);
}

static inline void window_use_update(struct window_use *use, bool is_full, bool is_round_start)
{
	if (is_round_start) {
		use->in_the_round_before = use->in_this_round;
		use->in_this_round = false;
	}
	use->in_this_round |= is_full;
}

static inline bool window_was_full(const struct controller *bbr)
{
	return bbr->window_use.in_this_round || bbr->window_use.in_the_round_before;
}
