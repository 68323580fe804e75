/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* ProbeRTT. The twin of `congestion::bbr1::probe_rtt`. */
#pragma once

#include "probe_bw.h"
#include "recovery.h"

/* Leaves ProbeRTT when its time with the smallest window is over. */
static inline void check_probe_rtt_done(struct controller *bbr, u64 now)
{
	if (bbr->mode != PROBE_RTT || !bbr->probe_rtt.is_at_least_window || now <= bbr->probe_rtt.end)
		return;
	rtprop_mark_seen(&bbr->rtprop, now);
	if (bbr->full_pipe.is_reached)
		enter_probe_bw(bbr, now);
	else
		bbr->mode = STARTUP;
	restore_cwnd(bbr);
}

static inline void stay_in_probe_rtt(struct controller *bbr, const struct ack *ack)
{
	bbr->slow_stretch.to = add(ack->rate.total_delivered, ack->inflight);
	if (bbr->probe_rtt.is_at_least_window) {
		bbr->probe_rtt.has_round_passed |= bbr->round.has_just_started;
		if (bbr->probe_rtt.has_round_passed)
			check_probe_rtt_done(bbr, ack->now);
	} else if (ack->inflight <= min_cwnd(bbr)) {
		bbr->probe_rtt.is_at_least_window = true;
		bbr->probe_rtt.has_round_passed = false;
		bbr->probe_rtt.end = add(ack->now, config.probe_rtt_duration);
		bbr->round.end = ack->rate.total_delivered;
	}
}

static inline void check_probe_rtt(struct controller *bbr, const struct ack *ack)
{
	if (bbr->rtprop.is_expired && !bbr->is_restarting_from_idle && bbr->mode != PROBE_RTT) {
		save_cwnd(bbr);
		bbr->mode = PROBE_RTT;
		bbr->probe_rtt.is_at_least_window = false;
		bbr->slow_stretch.from = ack->rate.total_delivered;
	}
	if (bbr->mode == PROBE_RTT)
		stay_in_probe_rtt(bbr, ack);
}
