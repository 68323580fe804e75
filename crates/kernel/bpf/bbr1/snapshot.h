/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
#pragma once

#include "../snapshot.h"
#include "bbr1.h"

static inline struct snapshot controller_snapshot(const struct controller *bbr)
{
	return (struct snapshot){
		.cwnd = controller_cwnd(bbr),
		.pacing_rate = bbr->pacing.rate,
		.send_quantum = bbr->pacing.quantum,
		.mode = bbr->mode,
		.bw = bw(bbr),
		.min_rtt = bbr->rtprop.least.is_known ? bbr->rtprop.least.nanos : U64_MAX,
		.pacing_gain = pacing_gain(bbr),
		.cwnd_gain = cwnd_gain(bbr),
		.round = bbr->round.count,
		.short_term_bw = U64_MAX,
		.short_term_inflight = U64_MAX,
		.long_term_inflight = U64_MAX,
	};
}
