/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* DOWN and CRUISE. The twin of `congestion::bbr3::probe_bw::down` and `cruise`. */
#pragma once

#include "refill.h"

static inline void start_down(struct controller *bbr, u64 now)
{
	reset_congestion_signals(bbr);
	bbr->growth.acked_per_packet = 0;
	pick_wait(&bbr->probe_timing, now);
	bbr->ack_phase = ACKS_PROBE_STOPPING;
	bbr->round.end = bbr->delivered;
	bbr->mode = DOWN;
}

static inline bool is_time_to_cruise(const struct controller *bbr, const struct ack *ack)
{
	return ack->inflight <= inflight_with_headroom(bbr) && ack->inflight <= inflight_at(bbr, max_bw(bbr));
}

static inline void check_down(struct controller *bbr, const struct ack *ack)
{
	if (!probe_if_it_is_time(bbr, ack->now) && is_time_to_cruise(bbr, ack))
		bbr->mode = CRUISE;
}

static inline void check_cruise(struct controller *bbr, const struct ack *ack)
{
	probe_if_it_is_time(bbr, ack->now);
}
