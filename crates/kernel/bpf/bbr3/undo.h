/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The effects of losses, which are undone if the losses were spurious. The twin of `congestion::bbr3::undo`. */
#pragma once

#include "refill.h"

static inline struct before before_losses(const struct controller *bbr)
{
	return (struct before){
		.to = TO_NOTHING,
		.short_term = bbr->short_term,
		.inflight_long_term = bbr->inflight_long_term,
	};
}

static inline void save_state_upon_loss(struct controller *bbr)
{
	save_cwnd(bbr);
	bbr->undo.at_entry = before_losses(bbr);
	bbr->undo.saved = bbr->undo.at_entry;
}

static inline void note_losses(struct controller *bbr, u64 now)
{
	struct undo *undo = &bbr->undo;

	if (undo->has_losses && undo->losses_at == now)
		return;
	undo->has_losses = true;
	undo->losses_at = now;
	undo->at_entry = before_losses(bbr);
}

static inline void begin_recovery(struct controller *bbr, u64 now)
{
	save_cwnd(bbr);
	note_losses(bbr, now);
	bbr->undo.saved = bbr->undo.at_entry;
	bbr->is_recovering = true;
}

static inline void handle_spurious_loss(struct controller *bbr)
{
	const struct before *before = &bbr->undo.saved;

	restore_cwnd(bbr);
	bbr->loss_round.is_lossy = false;
	full_pipe_restart(&bbr->full_pipe, 0);
	bbr->short_term.bw = max(bbr->short_term.bw, before->short_term.bw);
	bbr->short_term.inflight = max(bbr->short_term.inflight, before->short_term.inflight);
	bbr->inflight_long_term = max(bbr->inflight_long_term, before->inflight_long_term);
	if (before->to == TO_STARTUP && bbr->mode != STARTUP) {
		bbr->full_pipe.is_reached = false;
		if (bbr->mode != PROBE_RTT)
			bbr->mode = STARTUP;
	} else if (before->to == TO_UP && bbr->mode != UP && bbr->mode != PROBE_RTT) {
		start_refill(bbr);
	}
	bbr->undo.saved.to = TO_NOTHING;
}
