/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Startup. The twin of `congestion::bbr3::startup`. */
#pragma once

#include "drain.h"

static inline void startup_losses_note(struct startup_losses *losses, u64 sequence)
{
	if (!losses->stretches || sequence != losses->latest + 1)
		losses->stretches = losses->stretches == U32_MAX ? U32_MAX : losses->stretches + 1;
	losses->latest = sequence;
}

static inline void set_pipe_full(struct controller *bbr)
{
	bbr->full_pipe.is_now = true;
	bbr->full_pipe.is_reached = true;
	bbr->inflight_long_term = max(bdp(bbr, bbr->bw, ONE), bbr->latest.inflight);
}

/* Whether the fast recovery that lasts, or that this ACK ends, has lasted for a round trip. */
static inline bool has_recovered_for_a_round(const struct controller *bbr, const struct ack *ack)
{
	return bbr->is_in_fast_recovery && ack->rate.prior_delivered >= bbr->fast_recovery_since;
}

static inline bool are_startup_losses_too_many(const struct controller *bbr, const struct ack *ack)
{
	if (!bbr->has_selective_acks)
		return bbr->is_in_fast_recovery && bbr->startup_losses.stretches;
	return bbr->loss_round.has_just_started && has_recovered_for_a_round(bbr, ack) &&
	       bbr->startup_losses.stretches >= config.full_losses &&
	       is_inflight_too_high(bbr, ack->rate.lost_since_send, ack->rate.inflight_at_send);
}

static inline void check_startup_high_loss(struct controller *bbr, const struct ack *ack)
{
	if (!are_startup_losses_too_many(bbr, ack))
		return;
	note_end_of(&bbr->undo, TO_STARTUP);
	set_pipe_full(bbr);
}

static inline void check_startup_done(struct controller *bbr, const struct ack *ack)
{
	if (bbr->mode == STARTUP) {
		check_startup_high_loss(bbr, ack);
		if (bbr->full_pipe.is_reached) {
			bbr->mode = DRAIN;
			bbr->drain_start_round = bbr->round.count;
		}
	}
	if (bbr->loss_round.has_just_started) {
		bbr->startup_losses.stretches = 0;
		bbr->startup_losses.latest = 0;
	}
}
