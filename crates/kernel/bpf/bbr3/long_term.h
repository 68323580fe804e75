/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The inflight above which losses are too high. The twin of `congestion::bbr3::long_term`. */
#pragma once

#include "up.h"

static inline bool is_inflight_too_high(const struct controller *bbr, u64 lost, u64 inflight_at_send)
{
	return lost > scale(inflight_at_send, config.loss_threshold) || (lost && !bbr->has_selective_acks);
}

/* The inverse of 1 minus the threshold. */
static inline ratio per_kept(void)
{
	u64 all = denominator(config.loss_threshold);

	return RATIO(all, max(sub(all, numerator(config.loss_threshold)), 1));
}

/* The inflight at which the losses reached the threshold. If they were above it before this packet, it lies before it. */
static inline u64 inflight_at_loss(u64 size, u64 inflight, u64 lost)
{
	u64 before = sub(inflight, size);
	u64 lost_before = sub(lost, size);
	u64 allowed = scale(before, config.loss_threshold);

	before = add(before, scale(sub(allowed, lost_before), per_kept()));
	return sub(before, scale(sub(lost_before, allowed), per_kept()));
}

static inline void handle_inflight_too_high(struct controller *bbr, u64 now, u64 bound, bool is_app_limited)
{
	bbr->caution.was_too_high = true;
	bbr->is_probe_sample = false;
	if (!is_app_limited)
		bbr->inflight_long_term = bound;
	if (bbr->mode == UP) {
		note_end_of(&bbr->undo, TO_UP);
		start_down(bbr, now);
	}
}

static inline void handle_lost_packet(struct controller *bbr, const struct lost *lost)
{
	u64 lost_since_send = sub(lost->total_lost, lost->prior_lost);
	u64 bound;

	if (!bbr->is_probe_sample || !is_inflight_too_high(bbr, lost_since_send, lost->inflight_at_send))
		return;
	bound = max(inflight_at_loss(lost->bytes, lost->inflight_at_send, lost_since_send),
		    scale(target_inflight(bbr), config.beta));
	handle_inflight_too_high(bbr, lost->now, bound,
				 is_held_back(bbr, lost->is_app_limited, lost->prior_delivered));
}

/* The bound after too many marks: the inflight at sending, but at least a share of the target inflight. */
static inline u64 bound_after_marks(const struct controller *bbr, const struct ack *ack)
{
	u64 target = min(inflight_at(bbr, bbr->bw), bbr->cwnd);

	return max(ack->rate.inflight_at_send, scale(target, config.beta));
}

/* Returns whether the state has changed. */
static inline bool adapt_long_term_model(struct controller *bbr, const struct ack *ack)
{
	bool is_round_start = bbr->round.has_just_started;
	u64 bound;

	if (bbr->ack_phase == ACKS_PROBE_STARTING && is_round_start)
		bbr->ack_phase = ACKS_PROBE_FEEDBACK;
	if (bbr->ack_phase == ACKS_PROBE_STOPPING && is_round_start) {
		bbr->is_probe_sample = false;
		bbr->ack_phase = ACKS_INIT;
		if (is_in_probe_bw(bbr)) {
			if (!is_sample_held_back(bbr, ack))
				bbr->max_bw.cycle = add(bbr->max_bw.cycle, 1);
			if (bbr->caution.is_precautionary && !bbr->caution.was_too_high) {
				start_refill(bbr);
				return true;
			}
		}
	}
	if (is_inflight_too_high(bbr, ack->rate.lost_since_send, ack->rate.inflight_at_send))
		return false;
	if (ecn_is_marked_too_much(&bbr->ecn, &ack->rate)) {
		if (bbr->is_probe_sample)
			handle_inflight_too_high(bbr, ack->now, bound_after_marks(bbr, ack),
						 is_sample_held_back(bbr, ack));
		return false;
	}
	if (bbr->inflight_long_term == INFINITE)
		return false;
	bound = max(bbr->inflight_long_term, ack->rate.inflight_at_send);
	bbr->inflight_long_term = bound;
	if (bbr->mode == UP)
		raise_long_term_bound(bbr, ack, bound);
	return false;
}

static inline void update_cycle(struct controller *bbr, const struct ack *ack)
{
	if (!bbr->full_pipe.is_reached || adapt_long_term_model(bbr, ack))
		return;
	if (bbr->mode == DOWN)
		check_down(bbr, ack);
	else if (bbr->mode == CRUISE)
		check_cruise(bbr, ack);
	else if (bbr->mode == REFILL)
		check_refill(bbr, ack);
	else if (bbr->mode == UP)
		check_up(bbr, ack);
}
