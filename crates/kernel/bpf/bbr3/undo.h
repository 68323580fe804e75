/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* What losses did, to be undone if there were none. The twin of `congestion::bbr3::undo`. */
#pragma once

#include "refill.h"

static inline void save_state_upon_loss(struct controller *bbr, u64 now)
{
	if (bbr->is_recovering || (bbr->undo.has_saved && bbr->undo.saved_at == now))
		return;
	save_cwnd(bbr);
	bbr->undo.to = TO_NOTHING;
	bbr->undo.short_term = bbr->short_term;
	bbr->undo.inflight_long_term = bbr->inflight_long_term;
	bbr->undo.has_saved = true;
	bbr->undo.saved_at = now;
}

static inline void handle_spurious_loss(struct controller *bbr)
{
	const struct undo *undo = &bbr->undo;

	restore_cwnd(bbr);
	bbr->loss_round.is_lossy = false;
	full_pipe_restart(&bbr->full_pipe, 0);
	bbr->short_term.bw = max(bbr->short_term.bw, undo->short_term.bw);
	bbr->short_term.inflight = max(bbr->short_term.inflight, undo->short_term.inflight);
	bbr->inflight_long_term = max(bbr->inflight_long_term, undo->inflight_long_term);
	if (undo->to == TO_STARTUP && bbr->mode != STARTUP) {
		bbr->full_pipe.is_reached = false;
		if (bbr->mode != PROBE_RTT)
			bbr->mode = STARTUP;
	} else if (undo->to == TO_UP && bbr->mode != UP && bbr->mode != PROBE_RTT) {
		start_refill(bbr);
	}
	bbr->undo.to = TO_NOTHING;
}
