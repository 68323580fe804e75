/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The effect of marks on the state. The twin of the second half of `congestion::bbr3::ecn`. */
#pragma once

#include "refill.h"
#include "startup.h"

static inline void check_startup_marks(struct controller *bbr, u64 share)
{
	if (bbr->full_pipe.is_reached)
		return;
	bbr->ecn.startup_rounds = share >= ECN_THRESHOLD ? bbr->ecn.startup_rounds + 1 : 0;
	if (bbr->ecn.startup_rounds >= ECN_STARTUP_ROUNDS)
		set_pipe_full(bbr);
}

static inline void update_ecn(struct controller *bbr, const struct ack *ack)
{
	u64 share;

	if (!config.has_ecn)
		return;
	bbr->ecn.is_eligible |= bbr->min_rtt.least.is_known && bbr->min_rtt.least.nanos <= config.ecn_max_rtt;
	if (!bbr->ecn.is_eligible)
		return;
	if (bbr->round.has_just_started && ecn_next_share(&bbr->ecn, &ack->rate, &share)) {
		ecn_average(&bbr->ecn, share);
		check_startup_marks(bbr, share);
	}
	bbr->ecn.is_in_round |= ack->ce_marked != 0;
}
