/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
#pragma once

#include "../snapshot.h"
#include "bbr3.h"

static inline struct snapshot controller_snapshot(const struct controller *bbr)
{
	return (struct snapshot){
		.cwnd = controller_cwnd(bbr),
		.pacing_rate = bbr->pacing.rate,
		.send_quantum = bbr->pacing.quantum,
		.mode = bbr->mode,
		.bw = max_bw(bbr),
		.min_rtt = bbr->min_rtt.least.is_known ? bbr->min_rtt.least.nanos : U64_MAX,
		.pacing_gain = pacing_gain(bbr),
		.cwnd_gain = cwnd_gain(bbr),
		.round = bbr->round.count,
		.short_term_bw = bbr->short_term.bw,
		.short_term_inflight = bbr->short_term.inflight,
		.long_term_inflight = bbr->inflight_long_term,
	};
}
