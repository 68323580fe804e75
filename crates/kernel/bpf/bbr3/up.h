/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* UP. The twin of `congestion::bbr3::probe_bw::up`. */
#pragma once

#include "down.h"

static inline bool is_time_to_go_down(struct controller *bbr, const struct ack *ack)
{
	u64 bound = bbr->inflight_long_term;

	if (bbr->caution.was_too_high && ack->inflight >= bound) {
		bbr->caution.is_precautionary = true;
		return true;
	}
	if (is_cwnd_limited(bbr, ack) && bbr->cwnd >= bound) {
		full_pipe_restart(&bbr->full_pipe, rate_or_zero(ack));
		return false;
	}
	return bbr->full_pipe.is_now;
}

static inline void check_up(struct controller *bbr, const struct ack *ack)
{
	if (!is_time_to_go_down(bbr, ack))
		return;
	bbr->caution.was_too_high = false;
	start_down(bbr, ack->now);
}

static inline void raise_long_term_bound(struct controller *bbr, const struct ack *ack, u64 bound)
{
	if (!is_cwnd_limited(bbr, ack) || bbr->cwnd < bound)
		return;
	bbr->inflight_long_term = add(bound, times(bbr->mss, growth_on_acked(&bbr->growth, ack->newly_acked)));
	if (bbr->round.has_just_started)
		growth_raise_slope(&bbr->growth, bbr->cwnd, bbr->mss);
}
