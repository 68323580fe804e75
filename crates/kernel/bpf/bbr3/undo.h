/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The effects of losses, which are undone if the losses were spurious. The twin of `congestion::bbr3::undo`. */
#pragma once

#include "refill.h"

static inline void save_state_upon_loss(struct controller *bbr, u64 now)
{
	struct undo *undo = &bbr->undo;

	if (undo->has_losses && undo->losses_at == now)
		return;
	undo->has_losses = true;
	undo->losses_at = now;
	undo->losses.to = TO_NOTHING;
	undo->losses.short_term = bbr->short_term;
	undo->losses.inflight_long_term = bbr->inflight_long_term;
}

static inline void begin_recovery(struct controller *bbr, u64 now)
{
	save_cwnd(bbr);
	save_state_upon_loss(bbr, now);
	if (!bbr->is_recovering) {
		bbr->is_recovering = true;
		bbr->undo.recovery = bbr->undo.losses;
	}
}

static inline void handle_spurious_loss(struct controller *bbr)
{
	const struct before *before = &bbr->undo.recovery;

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
	bbr->undo.recovery.to = TO_NOTHING;
}
