/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Drain. The twin of `congestion::bbr3::drain`. */
#pragma once

#include "long_term.h"

#define DRAIN_MOST_ROUNDS 3

static inline void check_drain_done(struct controller *bbr, const struct ack *ack)
{
	if (bbr->mode != DRAIN)
		return;
	if (ack->inflight <= inflight_at(bbr, bbr->bw) ||
	    bbr->round.count > bbr->drain_start_round + DRAIN_MOST_ROUNDS)
		start_down(bbr, ack->now);
}
