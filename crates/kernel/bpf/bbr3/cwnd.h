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

	return with_budget(bbr, add(bdp(bbr, bbr->bw, cwnd_gain(bbr)), extra));
}

static inline u64 present_probe_rtt_cwnd(const struct controller *bbr)
{
	return max(bdp(bbr, bbr->bw, config.probe_rtt_cwnd_gain), min_cwnd(bbr));
}

static inline u64 probe_rtt_cwnd(const struct controller *bbr)
{
	return config.has_bbr1_min_rtt ? bbr->probe_rtt.held_cwnd : present_probe_rtt_cwnd(bbr);
}

static inline void hold_probe_rtt_cwnd(struct controller *bbr)
{
	if (config.has_bbr1_min_rtt && bbr->mode != PROBE_RTT)
		bbr->probe_rtt.held_cwnd = present_probe_rtt_cwnd(bbr);
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

/* Called before the ACK's deliveries count: the window was full when so much was delivered. */
static inline void window_use_update(struct controller *bbr, bool is_full)
{
	if (!is_full)
		return;
	bbr->window_use.is_known = true;
	bbr->window_use.full_at = bbr->delivered;
}

/* Whether the window was full within the round trip of the packet that the ACK acknowledges. */
static inline bool is_cwnd_limited(const struct controller *bbr, const struct ack *ack)
{
	return bbr->window_use.is_known && bbr->window_use.full_at >= ack->rate.prior_delivered;
}
