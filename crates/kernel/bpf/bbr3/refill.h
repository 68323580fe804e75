/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* REFILL. The twin of `congestion::bbr3::probe_bw::refill`. */
#pragma once

#include "growth.h"
#include "probe_timing.h"
#include "short_term.h"

/* Starts a probe whose growth begins as if it had already doubled this many times. */
static inline void refill_and_grow_from(struct controller *bbr, u64 doublings)
{
	short_term_reset(&bbr->short_term);
	growth_restart(&bbr->growth, doublings);
	bbr->caution.is_precautionary = false;
	bbr->ack_phase = ACKS_REFILLING;
	bbr->round.end = bbr->delivered;
	bbr->mode = REFILL;
}

static inline void start_refill(struct controller *bbr)
{
	refill_and_grow_from(bbr, 0);
}

/* Whether only marks have limited this cycle, and they have ended, so that the next probe begins at once. */
static inline bool are_marks_over(const struct controller *bbr)
{
	const struct ecn *ecn = &bbr->ecn;

	return ecn->is_eligible && ecn->is_in_cycle && !ecn->is_loss_in_cycle && !ecn->is_reduced && !bbr->is_recovering;
}

/* Enough doublings for a growth by about half of the bound in the first round. */
static inline u64 doublings_after_marks(const struct controller *bbr)
{
	u64 bound = bbr->inflight_long_term == INFINITE ? 0 : bbr->inflight_long_term;
	u64 packets = bound / bbr->mss / 2;
	u64 doublings = 0;

	/* The growth uses no more doublings. */
	for (int i = 0; i < GROWTH_MOST_DOUBLINGS && packets > 1; i++) {
		packets /= 2;
		doublings++;
	}
	return doublings;
}

/* Returns whether a probe begins. */
static inline bool probe_if_it_is_time(struct controller *bbr, u64 now)
{
	if (are_marks_over(bbr))
		refill_and_grow_from(bbr, doublings_after_marks(bbr));
	else if (is_time_to_probe(bbr, now))
		start_refill(bbr);
	else
		return false;
	return true;
}

static inline void start_up(struct controller *bbr, const struct ack *ack)
{
	bbr->ack_phase = ACKS_PROBE_STARTING;
	bbr->round.end = bbr->delivered;
	full_pipe_restart(&bbr->full_pipe, rate_or_zero(ack));
	bbr->mode = UP;
	growth_raise_slope(&bbr->growth, bbr->cwnd, bbr->mss);
}

static inline void check_refill(struct controller *bbr, const struct ack *ack)
{
	if (!bbr->round.has_just_started)
		return;
	bbr->is_probe_sample = true;
	start_up(bbr, ack);
}
