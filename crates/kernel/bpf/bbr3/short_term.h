/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The bounds from the losses of the present cycle. The twin of `congestion::bbr3::short_term`. */
#pragma once

#include "cwnd.h"

static inline void short_term_reset(struct short_term *bounds)
{
	bounds->bw = INFINITE;
	bounds->inflight = INFINITE;
}

static inline u64 rate_or_zero(const struct ack *ack)
{
	return ack->rate.has_delivery_rate ? ack->rate.delivery_rate : 0;
}

static inline bool is_of_the_path(const struct controller *bbr, const struct ack *ack)
{
	return !config.ignores_self_limited || !is_in_slow_stretch(&bbr->self_limited, ack->rate.prior_delivered);
}

static inline bool is_slow_on_purpose(const struct controller *bbr)
{
	return bbr->mode == DRAIN || bbr->mode == DOWN || bbr->mode == PROBE_RTT;
}

static inline void update_latest(struct controller *bbr, const struct ack *ack)
{
	bbr->loss_round.has_just_started = false;
	if (is_of_the_path(bbr, ack)) {
		bbr->latest.is_known = true;
		bbr->latest.bw = max(bbr->latest.bw, rate_or_zero(ack));
		bbr->latest.inflight = max(bbr->latest.inflight, ack->rate.delivered);
	}
	if (ack->rate.prior_delivered >= bbr->loss_round.end) {
		bbr->loss_round.end = ack->rate.total_delivered;
		bbr->loss_round.has_just_started = true;
	}
}

static inline void advance_latest(struct controller *bbr, const struct ack *ack)
{
	if (!bbr->loss_round.has_just_started)
		return;
	bbr->latest.is_known = is_of_the_path(bbr, ack);
	bbr->latest.bw = bbr->latest.is_known ? rate_or_zero(ack) : 0;
	bbr->latest.inflight = bbr->latest.is_known ? ack->rate.delivered : 0;
}

static inline void reset_congestion_signals(struct controller *bbr)
{
	bbr->loss_round.is_lossy = false;
	bbr->latest.is_known = false;
	bbr->latest.bw = 0;
	bbr->latest.inflight = 0;
	ecn_start_cycle(&bbr->ecn);
}

static inline void lower_short_term_bounds(struct controller *bbr)
{
	struct short_term *bounds = &bbr->short_term;
	u64 bw = bounds->bw == INFINITE ? max_bw(bbr) : bounds->bw;
	u64 inflight = bounds->inflight == INFINITE ? bbr->cwnd : bounds->inflight;

	bounds->bw = max(bbr->latest.bw, scale(bw, config.beta));
	bounds->inflight = max(bbr->latest.inflight, scale(inflight, config.beta));
}

static inline void respond_to_congestion(struct controller *bbr)
{
	if (!bbr->loss_round.has_just_started)
		return;
	if (!is_probing_bw(bbr)) {
		u64 bound = bbr->short_term.inflight == INFINITE ? bbr->cwnd : bbr->short_term.inflight;

		if (bbr->loss_round.is_lossy && bbr->latest.is_known)
			lower_short_term_bounds(bbr);
		if (bbr->ecn.is_in_round)
			bbr->short_term.inflight = min(bbr->short_term.inflight, ecn_cut(&bbr->ecn, bound));
	}
	bbr->loss_round.is_lossy = false;
	bbr->ecn.is_in_round = false;
}
