/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The time of the next probe for bandwidth. The twin of `congestion::bbr3::probe_timing`. */
#pragma once

#include "cwnd.h"

static inline void pick_wait(struct probe_timing *timing, u64 now)
{
	timing->rounds = random_next(&timing->random) & 1;
	timing->wait = add(config.least_probe_wait,
			   times(config.random_probe_wait, random_next(&timing->random)) >> 32);
	timing->cycle_start = now;
}

static inline u64 target_inflight(const struct controller *bbr)
{
	return min(bdp(bbr, bbr->bw, ONE), bbr->cwnd);
}

static inline bool is_time_to_probe(const struct controller *bbr, u64 now)
{
	u64 packets = target_inflight(bbr) / bbr->mss;

	return now > add(bbr->probe_timing.cycle_start, bbr->probe_timing.wait) ||
	       bbr->probe_timing.rounds >= min(packets, config.most_probe_rounds);
}
