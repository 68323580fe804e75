/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* ProbeRTT. The twin of `congestion::bbr3::probe_rtt`. */
#pragma once

#include "down.h"

static inline void check_probe_rtt_done(struct controller *bbr, u64 now)
{
	if (bbr->mode != PROBE_RTT || bbr->probe_rtt.is_draining || now <= bbr->probe_rtt.end)
		return;
	bbr->min_rtt.recent_at = now;
	restore_cwnd(bbr);
	short_term_reset(&bbr->short_term);
	if (bbr->full_pipe.is_reached) {
		start_down(bbr, now);
		bbr->mode = CRUISE;
	} else {
		bbr->mode = STARTUP;
	}
}

static inline void stay_in_probe_rtt(struct controller *bbr, const struct ack *ack)
{
	u64 most = probe_rtt_cwnd(bbr);

	bbr->slow_stretch.to = add(bbr->delivered, ack->inflight);
	if (!bbr->probe_rtt.is_draining) {
		bbr->probe_rtt.has_round_passed |= bbr->round.has_just_started;
		if (bbr->probe_rtt.has_round_passed)
			check_probe_rtt_done(bbr, ack->now);
	} else if (ack->inflight <= most) {
		bbr->probe_rtt.is_draining = false;
		bbr->probe_rtt.has_round_passed = false;
		bbr->probe_rtt.end = add(ack->now, config.probe_rtt_duration);
		bbr->round.end = bbr->delivered;
	}
}

static inline void check_probe_rtt(struct controller *bbr, const struct ack *ack)
{
	if (bbr->mode != PROBE_RTT && bbr->min_rtt.is_expired && !bbr->is_restarting_from_idle) {
		bbr->mode = PROBE_RTT;
		save_cwnd(bbr);
		bbr->probe_rtt.is_draining = true;
		bbr->ack_phase = ACKS_PROBE_STOPPING;
		bbr->round.end = bbr->delivered;
		bbr->slow_stretch.from = bbr->delivered;
	}
	if (bbr->mode == PROBE_RTT)
		stay_in_probe_rtt(bbr, ack);
	if (ack->rate.delivered)
		bbr->is_restarting_from_idle = false;
}
