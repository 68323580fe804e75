/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* REFILL. The twin of `congestion::bbr3::probe_bw::refill`. */
#pragma once

#include "growth.h"
#include "probe_timing.h"
#include "short_term.h"

static inline void start_refill(struct controller *bbr)
{
	short_term_reset(&bbr->short_term);
	growth_restart(&bbr->growth);
	bbr->caution.is_precautionary = false;
	bbr->ack_phase = ACKS_REFILLING;
	bbr->round.end = bbr->delivered;
	bbr->mode = REFILL;
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
