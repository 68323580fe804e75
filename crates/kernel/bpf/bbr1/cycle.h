/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The end of a phase of ProbeBW. The twin of `congestion::bbr1::probe_bw`. */
#pragma once

#include "cwnd.h"

static inline bool is_phase_done(const struct controller *bbr, bool is_full_length, const struct ack *ack)
{
	ratio gain = pacing_gain(bbr);

	if (is_less(ONE, gain)) {
		u64 with_next_burst = add(ack->prior_inflight, bbr->pacing.quantum);

		return is_full_length && (lost_by(bbr, ack) ||
					  in_network(bbr, ack, with_next_burst) >= inflight_at(bbr, gain));
	}
	if (is_less(gain, ONE))
		return is_full_length || in_network(bbr, ack, ack->prior_inflight) <= inflight_at(bbr, ONE);
	return is_full_length;
}

static inline void check_cycle_phase(struct controller *bbr, const struct ack *ack)
{
	u64 rtprop = bbr->rtprop.least.is_known ? bbr->rtprop.least.nanos : U64_MAX;
	bool is_full_length;

	if (bbr->mode != PROBE_BW)
		return;
	is_full_length = since(ack->now, bbr->probe_bw.phase_start) > rtprop;
	if (is_phase_done(bbr, is_full_length, ack)) {
		bbr->probe_bw.phase = (bbr->probe_bw.phase + 1) % cycle_phases();
		bbr->probe_bw.phase_start = ack->now;
	}
}
